"""Kernel features by partial Cholesky and Gram-Schmidt factorisations."""
