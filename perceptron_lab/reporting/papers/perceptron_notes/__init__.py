"""Mistakes of perceptrons on streams, beside the bounds of `PerceptronNotes`."""
