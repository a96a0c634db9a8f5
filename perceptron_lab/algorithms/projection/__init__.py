"""Projection and rescaling algorithms: a subspace, and automorphisms of the cone."""
