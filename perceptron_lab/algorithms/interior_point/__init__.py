"""Newton's method along a central path, on every cone."""
