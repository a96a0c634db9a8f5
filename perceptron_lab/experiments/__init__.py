"""Experiments from a YAML file: configuration, cells, storage, verification, certificates."""
