"""``solve``: the driver of algorithms, the proofs of a run, its trace and its guarantees."""
