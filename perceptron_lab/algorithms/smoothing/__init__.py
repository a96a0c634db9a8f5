"""Smoothed perceptron and von Neumann algorithms."""
