"""Answers of runs as exact certificates, which a checker that stands for itself accepts."""
