"""Figures 7.1 to 7.4 of the thesis: ellipses, and error rates of rescaled coordinates."""
