"""Perceptrons that ask for a margin: of all rows more than a positive score, or than an angle."""
