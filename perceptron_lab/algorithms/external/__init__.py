"""External solvers behind the same interface; their answers are verified like all others."""
