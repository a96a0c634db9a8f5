"""Certificates of runs proved again."""
