"""Reference solvers behind the same contract: what they answer is proved like everything else."""
