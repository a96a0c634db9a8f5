"""Proofs in whole numbers, for a checker that knows nothing of this package."""
