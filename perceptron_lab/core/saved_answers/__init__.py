"""Saved answers: the fields of each kind of file, their values, and how each is verified."""
