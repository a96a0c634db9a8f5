"""Inner loops that numpy cannot vectorise, compiled by numba, each beside its numpy reference."""
