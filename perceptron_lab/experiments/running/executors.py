"""Where the cells of an experiment can be run, by name."""

from __future__ import annotations

from typing import Literal

Executor = Literal["processes", "dask"]
"""On this machine, or on the workers of a dask cluster."""
