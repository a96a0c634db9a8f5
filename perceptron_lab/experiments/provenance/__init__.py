"""Provenance of results: code version and environment, without private data."""
