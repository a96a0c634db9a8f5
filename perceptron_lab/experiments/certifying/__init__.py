"""Exact certificates of answers, for a standalone checker."""
