"""How messages begin that say an answer which is not proved."""

FEASIBLE, INFEASIBLE = "HiGHS calls it feasible", "HiGHS calls it infeasible"
