"""Generators, and the datasets made by them."""
