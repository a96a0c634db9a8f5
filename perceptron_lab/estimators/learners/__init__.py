"""Learners of experiments: features, tuning, fitting, and evaluation of rankings."""
