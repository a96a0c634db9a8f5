"""A user's own files, read before anything is run: every fault of every one, with its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from perceptron_lab.core.errors import MissingDataError, PlabError
from perceptron_lab.experiments.configuration.faults import Crumbs, Fault
from perceptron_lab.experiments.configuration.loader import Experiment
from perceptron_lab.experiments.configuration.plan import Cell, Loaded, canonical, plan, untaught

LARGEST: Final = 20_000_000
"""Bytes up to which a check reads a file."""


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
