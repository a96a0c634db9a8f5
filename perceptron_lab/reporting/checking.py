"""Configurations checked whole, with their tables and figures, and the files they name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from perceptron_lab.experiments.configuration.catalogue import find_config
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.faults import Fault, Place, refuse
from perceptron_lab.experiments.configuration.loader import Experiment, Loadable, load_experiment
from perceptron_lab.experiments.configuration.mapping_source import source_of
from perceptron_lab.experiments.configuration.plan import Cell, plan
from perceptron_lab.experiments.configuration.yaml_source import Source, read_source
from perceptron_lab.experiments.running.own_files import faults_of_files, unread
from perceptron_lab.reporting.needs import unsuitable


def check(config: Loadable, overrides: Iterable[str] = ()) -> list[Cell]:
    """Check a configuration; nothing is downloaded or run. ``plab check`` in Python.

    Tables and figures that the experiment does not suit are faults as well, and so is what is wrong
    in your own files of up to 20 MB, which are read. Plugins that it states are not loaded; cells
    of what only they know are left out.

    Parameters
    ----------
    config
        A file, the name of a shipped configuration, a mapping, or a configuration.
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
    return plan(checked_with_report(config, overrides))


def checked_with_report(config: Loadable, overrides: Iterable[str] = ()) -> Experiment:
    """Load an experiment whose report can be made; errors are those of :func:`check`."""
    if isinstance(config, ExperimentConfig):
        config = Source("", config.model_dump(mode="json"))
    elif isinstance(config, Mapping):
        config = source_of(config)
    elif isinstance(config, str | Path):
        config = read_source(find_config(config))
    experiment = load_experiment(config, overrides, without_plugins=True)
    faults = [*unsuitable(experiment), *faults_of_files(experiment)]
    refuse(faults, config.place if isinstance(config, Source) else _nowhere)
    return replace(experiment, warnings=(*experiment.warnings, *unread(experiment)))


def _nowhere(fault: Fault) -> Place:
    return Place(1, 1, "")
