"""The algorithms of the papers, one family per folder, and external solvers, on one contract."""
