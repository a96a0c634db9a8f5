"""File formats: readers, their checks, and errors with their place in the file."""
