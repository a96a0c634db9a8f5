"""Reference solvers behind the same contract: their answers are proved like all others."""
