"""Check a configuration whole, with its tables and figures, and the files that it names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from perceptron_lab.core.errors import MissingDataError, PlabError
from perceptron_lab.experiments.configuration.faults import Crumbs, Fault, FaultPlace, refuse
from perceptron_lab.experiments.configuration.loader import (
    Experiment,
    Loadable,
    load_experiment,
    source_of,
)
from perceptron_lab.experiments.configuration.plan import Cell, Loaded, canonical, plan, untaught
from perceptron_lab.experiments.configuration.yaml_source import Source
from perceptron_lab.experiments.outline import unsuitable

LARGEST: Final = 20_000_000
"""Bytes up to which a check reads a file."""


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
    known = config if isinstance(config, Experiment) else source_of(config)
    experiment = load_experiment(known, overrides, without_plugins=True)
    faults = [*unsuitable(experiment), *faults_of_files(experiment)]
    refuse(faults, known.place if isinstance(known, Source) else lambda fault: FaultPlace(1, 1, ""))
    return replace(experiment, warnings=(*experiment.warnings, *unread(experiment)))


def faults_of_files(experiment: Experiment) -> Iterator[Fault]:
    """Yield what is wrong in the files, and which learners they have no examples for.

    Each is read as its entry says, with the first seed; those above :data:`LARGEST` are not.
    """
    loaded: dict[tuple[Path, str], Loaded | None] = {}
    for cell, path in _own(experiment):
        if _is_large(path):
            continue
        at, key = _place(experiment, cell), (path, canonical(cell.instance.identity))
        if key not in loaded:
            loaded[key] = None
            try:
                loaded[key] = Loaded.of(cell.load(experiment.base))
            except PlabError as error:
                if not (cell.instance.optional and isinstance(error, MissingDataError)):
                    yield Fault(at, str(error))
        found = loaded[key]
        if found is not None and (lacking := untaught(cell, found)):
            yield Fault(at, lacking)


def unread(experiment: Experiment) -> list[str]:
    """Return a sentence on each file that is too large to be read by a check."""
    paths = dict.fromkeys(path for _, path in _own(experiment))
    return [
        f"{path}: not read, as it takes more than {LARGEST / 1e6:g} MB; `plab run` reads it first"
        for path in paths
        if _is_large(path)
    ]


def _own(experiment: Experiment) -> Iterator[tuple[Cell, Path]]:
    """Yield the cells whose problems are read from files of a user's own, with these."""
    for cell in plan(experiment):
        path = cell.own_file(experiment.base)
        if path is not None:
            yield cell, path


def _is_large(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > LARGEST


def _place(experiment: Experiment, cell: Cell) -> Crumbs:
    """Return the place of a file in its entry's list, or that of the entry if a grid has files."""
    crumbs, dataset = cell.instance.crumbs, cell.instance.dataset
    listed = experiment.config.problems[int(crumbs[1])].parameters.get("files")
    if listed is None:
        return crumbs
    return (*crumbs, "files", dataset.record.names().index(cell.instance.name))
