"""The ellipsoid of maximal separation ratio: programs, solvers, proofs."""
