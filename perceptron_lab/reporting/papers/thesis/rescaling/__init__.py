"""Rescaling: algorithms beside each other on cones of a controlled condition."""
