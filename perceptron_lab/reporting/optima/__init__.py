"""Proved intervals of optima: what solvers' answers prove, and the best of each program."""
