"""Verification of the certificates of runs."""
