"""Proofs of matrix blocks: lowest eigenvalues."""
