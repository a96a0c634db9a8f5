"""Experiments: problems x algorithms x seeds from a YAML file, one row per cell."""
