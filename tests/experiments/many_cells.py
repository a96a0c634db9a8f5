"""A configuration of many tiny cells."""

from __future__ import annotations


def many_cells(number: int) -> str:
    """Return an experiment of so many cells, an even number, as YAML."""
    return f"""\
experiment: many
problems:
  - {{dataset: margin-sets, family: gaussian, dimension: 4, rows: 3}}
algorithms:
  - {{name: perceptron}}
  - {{name: von-neumann}}
budget: {{updates: 5}}
seeds: {list(range(number // 2))}
"""
