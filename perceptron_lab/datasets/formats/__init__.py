"""File formats: what is read, how it is checked, and where an error is said to lie."""
