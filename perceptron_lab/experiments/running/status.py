"""How far an experiment is: its cells done, running, failed, stale or missing, and why.

No data are loaded, nothing is locked and nothing is written, so that it may be asked at any time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from perceptron_lab import registry
from perceptron_lab.errors import ConfigError, counted
from perceptron_lab.experiments.cells.operating_system import memory_of
from perceptron_lab.experiments.configuration.config import ExperimentConfig, ProcessLimits
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.running.plan import plan
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.core_digest import CellCode, components_of
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.reuse import Decision, judge
from perceptron_lab.experiments.storage.store_lock import holder
from perceptron_lab.experiments.storage.stored import Planned, Stored


class State(StrEnum):
    """How far a cell is."""

    DONE = "done"
    """Its row serves."""
    RUNNING = "running"
    """A run that is alive works on it."""
    FAILED = "failed"
    """It ended in a failure, which its row tells."""
    STALE = "stale"
    """Its row was made by another version of the numeric code."""
    MISSING = "missing"
    """It has no row that serves."""


@dataclass(frozen=True)
class CellStatus:
    """How far one cell is.

    Parameters
    ----------
    problem, label, seed
        As in runs.csv.
    state
        What there is of it.
    why
        In words; empty where there is nothing to be said.
    due
        Whether the next ``plab run`` computes it, one cell at a time as by default: a cell that was
        out of memory among several has more then.
    status
        The status of its row; empty without one.
    cell
        Its name; empty where its data were never loaded, so that nobody knows it.
    """

    problem: str
    label: str
    seed: int
    state: State
    why: str
    due: bool
    status: str = ""
    cell: str = ""


@dataclass(frozen=True)
class ExperimentStatus:
    """How far an experiment is.

    Parameters
    ----------
    experiment
        Its name.
    folder
        Where its results are.
    running
        Whether a run writes there now.
    process
        The number of its process; None without a run, or where it cannot be seen from here.
    cells
        The cells, in the order of the plan.
    """

    experiment: str
    folder: str
    running: bool
    process: int | None
    cells: tuple[CellStatus, ...]

    @property
    def counts(self) -> dict[str, int]:
        """State -> how many cells are in it, all states."""
        found = Counter(cell.state for cell in self.cells)
        return {state.value: found[state] for state in State}

    def as_json(self) -> dict[str, Any]:
        """Return all of it as JSON values, with the counts."""
        found = asdict(self)
        return found | {"counts": self.counts, "cells": list(found["cells"])}

    def __str__(self) -> str:
        states = [f"{number} {state}" for state, number in self.counts.items() if number]
        alive = f"process {self.process} writes there now" if self.process else "running"
        alive = f" ({alive})" if self.running else ""
        return f"{self.folder}: {', '.join(states)} of {counted(len(self.cells), 'cell')}{alive}"


def status(
    target: str | Path | ExperimentConfig,
    *,
    output: str | Path = "results",
    overrides: Iterable[str] = (),
) -> ExperimentStatus:
    """Say how far an experiment is.

    Parameters
    ----------
    target
        The folder of an experiment's results, held against what the latest run was to do; or a
        configuration (a file, a shipped one's name, an object), which is held against its results.
    output
        The folder of all results, where those of a configuration are.
    overrides
        ``path.to.key=value`` each, for a configuration.

    Raises
    ------
    ConfigError
        If the configuration is wrong, or the store is of another version.
    DataError
        If the folder has no results, or the store is damaged.
    """
    folder = None if isinstance(target, ExperimentConfig) else Path(target)
    if folder is not None and folder.is_dir():
        if tuple(overrides):
            raise ConfigError(f"{folder}: a folder of results takes no overrides; name its config")
        with Reader.open(folder) as reader:
            config, planned = reader.config(), reader.plan()
            return _held_against(config, folder, planned, reader)
    experiment = load_experiment(target, overrides, without_plugins=True)
    folder = Path(output) / experiment.name
    known = (folder / schema.NAME).is_file()
    with Reader.open(folder) if known else nullcontext() as store:
        problems = store.problems() if store else {}
        # A cell whose data were never loaded has no sha256.
        planned = [Planned.of(one, problems.get(one.problem_key, "")) for one in plan(experiment)]
        return _held_against(experiment.config, folder, planned, store)


def _held_against(
    config: ExperimentConfig, folder: Path, planned: Sequence[Planned], store: Reader | None
) -> ExperimentStatus:
    process = holder(folder)
    alive = process is not None
    begun = store.running() if store else {}
    kept = store.failed_again() if store else frozenset()
    limits = config.process.model_copy(update={"memory": memory_of(config.process.memory)})
    known = store.stored_of(one.cell for one in planned) if store else {}
    code, cells = CellCode(), []
    for one in planned:
        if alive and one.cell in begun:
            cells.append(_cell(one, State.RUNNING, f"since {begun[one.cell]}", due=False))
        elif not one.sha256:
            cells.append(_cell(one, State.MISSING, "its data were not loaded yet", due=True))
        else:
            cells.append(
                _judged(one, known.get(one.cell), code, limits, one.cell in begun, one.cell in kept)
            )
    return ExperimentStatus(config.experiment, str(folder), alive, process or None, tuple(cells))


def _judged(
    planned: Planned,
    stored: Stored | None,
    code: CellCode,
    limits: ProcessLimits,
    cut_off: bool,
    kept: bool,
) -> CellStatus:
    """Return the state of a cell that does not run just now."""
    named = components_of(planned.settings)
    registered = all(name in registry.names(kind) for kind, name in named)
    core = code.digest_of(planned.settings) if registered else None
    verdict = judge(stored, planned, core, limits)
    due = verdict.decision is Decision.AGAIN
    stale = verdict.decision is Decision.STALE
    if stored is None or stored.fault:
        reason = "it was cut off" if cut_off else verdict.reason
        return _cell(planned, State.MISSING, reason, due)
    unregistered = "its algorithm, oracle or dataset is not registered here: is it the same code?"
    state, why = State.DONE, "" if core else unregistered
    if stored.status.failed:
        parts = [
            stored.row["message"],
            "the next run tries it again" if due else "",
            verdict.reason if stale else "",
            "the store has an earlier result of it" if kept else "",
        ]
        state, why = State.FAILED, "; ".join(filter(None, parts))
    elif due or stale:
        state, why = State.MISSING if due else State.STALE, verdict.reason
    return _cell(planned, state, why, due, str(stored.status))


def _cell(planned: Planned, state: State, why: str, due: bool, status: str = "") -> CellStatus:
    name = planned.cell if planned.sha256 else ""
    seed = planned.settings["seed"]
    return CellStatus(planned.title, planned.label, seed, state, why, due, status, name)
