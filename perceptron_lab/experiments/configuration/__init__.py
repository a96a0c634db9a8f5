"""Configurations: YAML, validation, components, and the expansion of their entries."""
