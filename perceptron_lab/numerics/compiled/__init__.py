"""Inner loops that numpy cannot vectorise, compiled by numba, each with a numpy reference."""
