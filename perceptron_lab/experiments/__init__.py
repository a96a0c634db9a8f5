"""Experiments: problems x algorithms x seeds from a YAML file, one row per cell."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perceptron_lab.experiments.configuration.config import ExperimentConfig
    from perceptron_lab.experiments.running.execution import Execution
    from perceptron_lab.experiments.running.runner import Rows, run_cells

_NAMES = {
    "ExperimentConfig": "perceptron_lab.experiments.configuration.config",
    "Execution": "perceptron_lab.experiments.running.execution",
    "Rows": "perceptron_lab.experiments.running.runner",
    "run_cells": "perceptron_lab.experiments.running.runner",
}

__all__ = ["Execution", "ExperimentConfig", "Rows", "run_cells"]


def __getattr__(name: str) -> Any:
    # The command line completes names of configurations without loading what runs them.
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_NAMES[name]), name)
