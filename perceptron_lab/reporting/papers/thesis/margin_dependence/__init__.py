"""Queries against the margin: logarithmic laws and powers."""
