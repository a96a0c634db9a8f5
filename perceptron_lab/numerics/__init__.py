"""Exact numbers, rounding errors, checks of arrays, factorisations and compiled kernels."""
