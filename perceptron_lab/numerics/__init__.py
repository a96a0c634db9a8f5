"""Exact numbers: as doubles, and as text."""
