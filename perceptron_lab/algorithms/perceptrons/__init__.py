"""Perceptrons: one violated constraint, one step, on linear and relaxed systems."""
