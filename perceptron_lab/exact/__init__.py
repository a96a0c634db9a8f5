"""Exact certificates, for a checker that shares no code with this package."""
