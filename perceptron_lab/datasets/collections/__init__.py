"""Registered collections of data."""
