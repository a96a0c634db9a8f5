"""The point of least norm in the hull of the constraints."""
