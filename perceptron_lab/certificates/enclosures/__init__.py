"""Bounds of every rounding error: of sums, of products, of solutions."""
