"""Runs: the plan, the environment, the cells that are due, and who watches."""
