"""Proofs on the original data, with bounds of every rounding error; no algorithm is trusted."""
