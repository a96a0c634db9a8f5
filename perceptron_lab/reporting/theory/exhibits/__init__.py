"""The exhibits of `plab theory`, one per file: each a function without arguments."""
