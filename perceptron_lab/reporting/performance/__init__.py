"""Costs of runs: courses, performance profiles, conic systems, growth with the size."""
