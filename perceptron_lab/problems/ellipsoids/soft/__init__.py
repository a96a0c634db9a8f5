"""Soft-margin ellipsoids: the separation ratio with slacks, and the squared hinge in low rank."""
