"""Status of an experiment: its cells done, running, failed, stale or missing, and why.

No data are loaded, nothing is locked and nothing is written, so that it may be asked at any time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, counted, refuse_flags
from perceptron_lab.core.results import StatusWord
from perceptron_lab.experiments.cells.operating_system import memory_of
from perceptron_lab.experiments.cells.progress import Remaining, remaining
from perceptron_lab.experiments.configuration.config import ExperimentConfig, ProcessLimits
from perceptron_lab.experiments.configuration.loader import Named, load_experiment
from perceptron_lab.experiments.configuration.plan import plan
from perceptron_lab.experiments.provenance.code_digest import CellCode, components_of
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.results_folder import holder, results_named
from perceptron_lab.experiments.storage.reuse import Reuse, decide_reuse
from perceptron_lab.experiments.storage.stored import Planned, Stored


class CellState(StatusWord):
    """The state of a cell."""

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

    @property
    def failed(self) -> bool:
        """Whether a cell has failed."""
        return self is CellState.FAILED


@dataclass(frozen=True)
class CellStatus:
    """The status of one cell.

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
        Its name; empty if its data were never loaded.
    """

    problem: str
    label: str
    seed: int
    state: CellState
    why: str
    due: bool
    status: str = ""
    cell: str = ""


@dataclass(frozen=True)
class ExperimentStatus:
    """The status of an experiment.

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
    remaining
        The time that the run which writes there still takes, by an estimate; None without one.
    unchecked
        What only plugins know, which are not loaded: its cells are not among these.
    """

    experiment: str
    folder: str
    running: bool
    process: int | None
    cells: tuple[CellStatus, ...]
    remaining: Remaining | None = None
    unchecked: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """State -> how many cells are in it, all states."""
        counter = Counter(cell.state for cell in self.cells)
        return {state.value: counter[state] for state in CellState}

    def as_json(self) -> dict[str, Any]:
        """Return all of it as JSON values, with the counts."""
        record = asdict(self)
        return record | {"counts": self.counts, "cells": list(record["cells"])}

    def __str__(self) -> str:
        states = [f"{number} {state}" for state, number in self.counts.items() if number]
        alive = f"process {self.process} writes there now" if self.process else "running"
        left = f"; {self.remaining}" if self.remaining else ""
        alive = f" ({alive}{left})" if self.running else ""
        text = f"{self.folder}: {', '.join(states)} of {counted(len(self.cells), 'cell')}{alive}"
        if not self.unchecked:
            return text
        return f"{text}; not counted, of plugins: {', '.join(self.unchecked)} (add --plugin)"


def status(
    target: Named,
    *,
    output: str | Path = "results",
    overrides: Iterable[str] = (),
    certificates: bool = True,
) -> ExperimentStatus:
    """Return the status of an experiment.

    Parameters
    ----------
    target
        The folder of an experiment's results, held against what the latest run was to do; or a
        configuration (a file, a shipped one's name, a mapping, an object), which is compared with
        its results.
    output
        The folder of all results, where those of a configuration are.
    overrides
        ``path.to.key=value`` each, for a configuration.
    certificates
        Whether a row can be reused only with its certificate, as for a run. Reports need none, and
        published results may come without.

    Raises
    ------
    ConfigError
        If the configuration is wrong, or the store is of another version.
    DataError
        If the folder has no results, or the store is damaged.

    Examples
    --------
    >>> from perceptron_lab import run
    >>> print(status(run("quickstart").folder))
    results/quickstart: 6 done of 6 cells
    """
    refuse_flags(certificates=certificates)
    folder = results_named(target, Path(output))
    if folder is not None:
        if tuple(overrides):
            raise ConfigError(f"{folder}: a folder of results takes no overrides; name its config")
        with Reader.open(folder) as reader:
            config, planned = reader.config(), reader.plan()
            return _held_against(config, folder, planned, reader, certificates)
    experiment = load_experiment(target, overrides, without_plugins=True)
    folder = Path(output) / experiment.name
    # A configuration that was never run has a status too: everything is missing
    with Reader.open(folder) if schema.is_store(folder) else nullcontext() as store:
        problems = store.problems() if store else {}
        # A cell whose data were never loaded has no sha256.
        planned = [
            Planned.of(cell, problems.get(cell.problem_key, "")) for cell in plan(experiment)
        ]
        state = _held_against(experiment.config, folder, planned, store, certificates)
        return replace(state, unchecked=experiment.unchecked)


def _held_against(
    config: ExperimentConfig,
    folder: Path,
    planned: Sequence[Planned],
    store: Reader | None,
    certificates: bool,
) -> ExperimentStatus:
    process = holder(folder)
    # Process 0 is a holder that cannot be seen from here, and is alive as well
    alive = process is not None
    begun = store.running() if store else {}
    failed_again = store.failed_again() if store else frozenset()
    # For one job, the default of the next run
    limits = config.process.model_copy(update={"memory": memory_of(config.process.memory)})
    names = (cell.cell for cell in planned)
    stored = store.stored_of(names, certificates=certificates) if store else {}
    code, cells = CellCode(), []
    for planned_cell in planned:
        # Without a process that holds the lock these cells were cut off
        if alive and planned_cell.cell in begun:
            cells.append(
                _cell(
                    planned_cell, CellState.RUNNING, f"since {begun[planned_cell.cell]}", due=False
                )
            )
        elif not planned_cell.sha256:
            cells.append(
                _cell(planned_cell, CellState.MISSING, "its data were not loaded yet", due=True)
            )
        else:
            cells.append(
                _judged(
                    planned_cell,
                    stored.get(planned_cell.cell),
                    code,
                    limits,
                    planned_cell.cell in begun,
                    planned_cell.cell in failed_again,
                )
            )
    left = _remaining(cells, planned, stored, begun) if alive else None
    name, where = config.experiment, str(folder)
    return ExperimentStatus(name, where, alive, process or None, tuple(cells), left)


def _remaining(
    cells: Sequence[CellStatus],
    planned: Sequence[Planned],
    stored: Mapping[str, Stored],
    begun: Mapping[str, str],
) -> Remaining | None:
    """Return the estimated remaining time of a run, from its finished rows."""
    now, labels = datetime.now(UTC), {cell.cell: cell.label for cell in planned}
    spent = {
        cell: _seconds(row.started, row.ended) for cell, row in stored.items() if not row.fault
    }
    ended = [(labels[cell], seconds) for cell, seconds in spent.items() if cell in labels]
    running = [cell for cell in cells if cell.state is CellState.RUNNING]
    due = [(cell.label, _seconds(begun[cell.cell], now)) for cell in running]
    due += [(cell.label, 0.0) for cell in cells if cell.due]
    return remaining(ended, due, len(running))


def _seconds(began: str, ended: str | datetime) -> float:
    """Return the seconds between two moments, in ISO 8601."""
    last = ended if isinstance(ended, datetime) else datetime.fromisoformat(ended)
    return (last - datetime.fromisoformat(began)).total_seconds()


def _judged(
    planned: Planned,
    stored: Stored | None,
    code: CellCode,
    limits: ProcessLimits,
    cut_off: bool,
    failed_again: bool,
) -> CellStatus:
    """Return the state of a cell that does not run just now."""
    named = components_of(planned.settings)
    registered = all(name in registry.names(kind) for kind, name in named)
    # A component of a plugin that is not loaded has no source to be compared
    core = code.digest_of(planned.settings) if registered else None
    verdict = decide_reuse(stored, planned, core, limits)
    due = verdict.decision is Reuse.AGAIN
    stale = verdict.decision is Reuse.STALE
    # A damaged row is computed again by the next run, so it counts as missing
    if stored is None or stored.fault:
        reason = "it was cut off" if cut_off else verdict.reason
        return _cell(planned, CellState.MISSING, reason, due)
    unregistered = "its algorithm, oracle or dataset is not registered here: is it the same code?"
    state, why = CellState.DONE, "" if core else unregistered
    if stored.status.failed:
        parts = [
            stored.row["message"],
            "the next run tries it again" if due else "",
            verdict.reason if stale else "",
            "the store has an earlier result of it" if failed_again else "",
        ]
        state, why = CellState.FAILED, "; ".join(filter(None, parts))
    elif due or stale:
        state, why = CellState.MISSING if due else CellState.STALE, verdict.reason
    return _cell(planned, state, why, due, str(stored.status))


def _cell(planned: Planned, state: CellState, why: str, due: bool, status: str = "") -> CellStatus:
    name = planned.cell if planned.sha256 else ""
    seed = planned.settings["seed"]
    return CellStatus(planned.title, planned.label, seed, state, why, due, status, name)
