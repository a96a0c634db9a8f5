"""Configurations: YAML, validation, components, and what their entries stand for."""
