"""Separation of two classes: complete, quasi-complete or none, and which coefficients diverge."""
