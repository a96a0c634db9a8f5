"""What a run would say of a configuration before it loads any data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.running.plan import Cell, plan
from perceptron_lab.experiments.running.runner import load_config


def check(config: str | Path | ExperimentConfig, overrides: Iterable[str] = ()) -> list[Cell]:
    """Check a configuration; nothing is downloaded or run. ``plab check`` in Python.

    Parameters
    ----------
    config
        A file, the name of a shipped configuration, or a configuration.
    overrides
        ``path.to.key=value`` each.

    Returns
    -------
    list of Cell
        What would be run, in this order.

    Raises
    ------
    ConfigError
        If there is no such file, or anything is wrong in it: all of it, one line each.
    """
    return plan(load_config(config, tuple(overrides))[0])
