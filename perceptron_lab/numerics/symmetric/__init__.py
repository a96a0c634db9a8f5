"""Symmetric matrices on a sparsity pattern: elimination, factors, lowest eigenvalues."""
