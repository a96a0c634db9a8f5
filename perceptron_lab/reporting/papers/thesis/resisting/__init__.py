"""Mistakes against a resisting oracle, beside the number that is forced."""
