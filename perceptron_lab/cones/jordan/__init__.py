"""Euclidean Jordan algebras of the cones: spectra and quadratic representations."""
