"""The algorithms of the papers and external solvers, behind one interface."""
