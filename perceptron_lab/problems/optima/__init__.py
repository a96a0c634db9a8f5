"""Semidefinite programs min c'x by feasibility problems, with proved bounds of the optimum."""
