"""The check of a configuration that a run makes before it loads any data."""

from __future__ import annotations

from collections.abc import Iterable

from perceptron_lab.experiments.configuration.loader import Loadable, load_experiment
from perceptron_lab.experiments.running.plan import Cell, plan


def check(config: Loadable, overrides: Iterable[str] = ()) -> list[Cell]:
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

    Examples
    --------
    >>> from perceptron_lab import check
    >>> len(check("quickstart"))
    6
    >>> check("quickstart", ["seeds=[3]"])[0].seed
    3
    """
    return plan(load_experiment(config, overrides))
