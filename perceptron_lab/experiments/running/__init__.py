"""Runs of experiments: the plan, the environment, the cells to run, and progress reports."""
