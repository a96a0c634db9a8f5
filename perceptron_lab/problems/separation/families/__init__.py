"""Generalised linear models whose estimates exist unless a cone holds a direction of divergence."""
