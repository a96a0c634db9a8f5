"""How results are kept: one store per experiment, its rows, traces and certificates."""
