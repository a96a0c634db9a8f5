"""Run an experiment: load everything, run the cells that have no row yet, keep every row."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from perceptron_lab.core.errors import ConfigError
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.cells.cell_run import Job, Outcome
from perceptron_lab.experiments.cells.operating_system import require_limited_processes
from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.configuration.loader import Loadable, load_experiment
from perceptron_lab.experiments.configuration.plan import (
    Cell,
    Loaded,
    load_problems,
    plan,
    untaught,
)
from perceptron_lab.experiments.configuration.rows import Row, Run, frame_of, row_of, typed
from perceptron_lab.experiments.provenance.code_digest import CellCode
from perceptron_lab.experiments.provenance.environment import environment
from perceptron_lab.experiments.running.execution import Execution
from perceptron_lab.experiments.storage.reader import shown
from perceptron_lab.experiments.storage.results_folder import output_folder
from perceptron_lab.experiments.storage.reuse import Reuse, ReuseDecision, decide_reuse
from perceptron_lab.experiments.storage.store import Store, set_aside
from perceptron_lab.experiments.storage.stored import Planned

if TYPE_CHECKING:
    import pandas as pd

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_KEPT = (signal.SIG_IGN, None)  # None: a handler that is not Python's, which could not be restored


class Interrupts:
    """Turn SIGINT and SIGTERM into KeyboardInterrupt, but not while something is being stored.

    The first signal ends the run: at once, or as soon as what is being stored is whole. A second
    one interrupts whatever is being done then. A signal that this process ignores, as one started
    in the background of a script does, remains ignored. Python delivers signals to the main thread
    only; elsewhere this does nothing.
    """

    def __init__(self) -> None:
        self._holding = False
        self._pending = False

    @contextmanager
    def watched(self) -> Iterator[Interrupts]:
        """Handle the signals inside, and leave the earlier handlers in place afterwards."""
        in_main_thread = threading.current_thread() is threading.main_thread()
        watched = [
            number
            for number in _SIGNALS
            if in_main_thread and signal.getsignal(number) not in _KEPT
        ]
        earlier = {number: signal.signal(number, self._handle) for number in watched}
        try:
            yield self
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Put a first signal off until the end of the block."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
        if self._pending:
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._pending or not self._holding:
            raise KeyboardInterrupt
        self._pending = True


RESULTS = Path("results")
"""The folder of all results, in the current one."""

EXPORTED_EVERY = 10.0
"""Seconds between two exports of runs.csv during a run; the store itself is never behind."""


@dataclass(frozen=True)
class ExperimentRows:
    """The rows of an experiment, and where they are stored.

    Parameters
    ----------
    folder
        The experiment's folder.
    rows
        One per cell that has ended, in the order of the plan.
    cells
        How many cells the experiment has.
    stale
        How many rows were made by other numeric code, failures aside.
    missing
        How many cells have no row that serves, failures aside: the run ended before it came to
        them.
    """

    folder: Path
    rows: list[Row] = field(repr=False)
    cells: int = field(default=0, kw_only=True)
    stale: int = field(default=0, kw_only=True)
    missing: int = field(default=0, kw_only=True)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a frame, as they are in runs.csv."""
        return typed(frame_of(self.rows))

    @property
    def failed(self) -> list[Row]:
        """The rows whose cell failed; limits are no failures."""
        return [row for row in self.rows if Status(row["status"]).failed]


def run_cells(
    config: Loadable,
    *,
    overrides: Iterable[str] = (),
    output: str | Path | None = None,
    execution: Execution | None = None,
    progress: Progress | None = None,
) -> ExperimentRows:
    """Run the cells of an experiment that have no row which serves.

    Every row is stored as soon as its cell has ended; whatever ends the run, those rows are there,
    and the next run resumes from them.

    Parameters
    ----------
    config
        A file, the name of a shipped configuration, or a configuration.
    overrides
        ``path.to.key=value`` each.
    output
        The folder in which ``<experiment>/`` is made; by default ``results``.
    execution
        How the cells are run.
    progress
        Told what happens.

    Raises
    ------
    ConfigError
        If the configuration or the folder is wrong; no cell was run then.
    DataError
        If a problem cannot be loaded (no cell was run then), or the store is damaged.
    StoreError
        If something could not be written; the rows stored before are intact.
    """
    # No cell can run on Windows: this is reported before anything is loaded or made
    require_limited_processes()
    experiment = load_experiment(config, overrides)
    how = execution or Execution()
    watcher = progress or Progress()
    cells = plan(experiment)
    # All data before the first cell: a missing file is reported in seconds, not after hours
    problems = load_problems(cells, experiment.base)
    planned = _planned(cells, problems)
    folder = output_folder(RESULTS if output is None else Path(output), experiment.name)
    with Interrupts().watched() as interrupts:
        if how.fresh:
            # Before the old store is renamed for a run that cannot begin
            how.refuse_silent_scheduler()
            set_aside(folder)
        with Store.open(folder) as store:
            described = environment()
            store.begin(experiment.config, experiment.base, described, planned)
            # The memory limit in force depends on the number of jobs, so it is stored with each row
            limits = how.limits(experiment.config.process)
            ledger = _Ledger(planned, store, limits)
            run = _StoredRun(cells, problems, ledger, store, interrupts, watcher, limits)
            return run.execute(how, experiment.base, described["id"])


class _Ledger:
    """The cells of a run, each with its verdict and its row, read from the store once."""

    def __init__(self, planned: Sequence[Planned], store: Store, limits: ProcessLimits) -> None:
        stored = store.reader.stored_of(cell.cell for cell in planned)
        self.planned, self.code = planned, CellCode()
        self.verdicts: list[ReuseDecision] = []
        self._rows: dict[str, Row] = {}
        self._ran: set[str] = set()
        for planned_cell in planned:
            stored_row = stored.get(planned_cell.cell)
            # To read the code takes a tenth of a second, in which the first cells can run.
            core = None if stored_row is None else self.code.digest_of(planned_cell.settings)
            self.verdicts.append(decide_reuse(stored_row, planned_cell, core, limits))
            if stored_row is not None and not stored_row.fault:
                self._rows[planned_cell.cell] = shown(planned_cell, stored_row)

    def due(self, *decisions: Reuse) -> list[int]:
        """Return the positions of the cells of which this was decided."""
        return [at for at, verdict in enumerate(self.verdicts) if verdict.decision in decisions]

    def add(self, cell: str, row: Row) -> None:
        """Add the row of a cell that has just ended."""
        self._rows[cell] = row
        self._ran.add(cell)

    @property
    def rows(self) -> list[Row]:
        """The rows of runs.csv, in the order of the plan."""
        return [self._rows[cell.cell] for cell in self.planned if cell.cell in self._rows]

    def left(self, decision: Reuse) -> int:
        """Return of how many cells this was decided that were not run since, failures aside."""
        failed = {cell for cell, row in self._rows.items() if Status(row["status"]).failed}
        cells = {self.planned[at].cell for at in self.due(decision)}
        return len(cells - self._ran - failed)


@dataclass(frozen=True)
class _StoredRun(Progress):
    """A run under way: it notes in the store which cells run, and passes everything on."""

    cells: Sequence[Cell]
    problems: Mapping[str, Loaded]
    ledger: _Ledger
    store: Store
    interrupts: Interrupts
    progress: Progress
    limits: ProcessLimits

    def execute(self, how: Execution, base: Path, environment_id: str) -> ExperimentRows:
        """Run the cells that are due, and store their rows; export the table at every end.

        Returns
        -------
        Rows
            Of all cells that have ended, in this run or before.
        """
        ledger = self.ledger
        again = [Reuse.AGAIN, Reuse.STALE] if how.refresh else [Reuse.AGAIN]
        due = ledger.due(*again)
        total, done = len(self.cells), len(self.cells) - len(due)
        self.progress.planned(total, done, 0 if how.refresh else len(ledger.due(Reuse.STALE)))
        self.progress.queued([self.cells[position] for position in due])
        verdicts = [ledger.verdicts[position] for position in due]
        self.progress.replacing([verdict.reason for verdict in verdicts if verdict.replaces])
        # The cells' processes need not be in this folder.
        due.sort(key=lambda position: not self._missing(position))
        absent = [Outcome(Status.SKIPPED, text) for text in map(self._missing, due) if text]
        jobs = [
            Job(self.cells[p], ledger.planned[p].sha256, base.resolve()) for p in due[len(absent) :]
        ]
        exported = time.monotonic()
        try:
            with closing(how.run(jobs, self.limits, self)) as outcomes:
                ran = ((len(absent) + index, outcome) for index, outcome in outcomes)
                for index, outcome in chain(enumerate(absent), ran):
                    done += 1
                    with self.interrupts.held():
                        row = self._keep(due[index], outcome, environment_id)
                    self.progress.finished(done, total, row)
                    # After the row is stored, so that the failure can be looked at
                    if how.fail_fast and outcome.status.failed:
                        break
                    # An export writes the whole table: after each cell that would be quadratic work
                    if time.monotonic() - exported > EXPORTED_EVERY:
                        self.store.export(ledger.rows)
                        exported = time.monotonic()
        finally:
            # After Ctrl-C and errors too, so that runs.csv has all rows that are stored
            self.store.export(ledger.rows)
        left, stale = ledger.left(Reuse.AGAIN), ledger.left(Reuse.STALE)
        return ExperimentRows(
            self.store.folder, ledger.rows, cells=total, stale=stale, missing=left
        )

    def _missing(self, position: int) -> str:
        """Return why the data of a cell are missing, or an empty string."""
        return self.problems[self.cells[position].problem_key].missing

    def _keep(self, position: int, outcome: Outcome, environment_id: str) -> Row:
        cell, planned = self.cells[position], self.ledger.planned[position]
        problem = self.problems[cell.problem_key]
        row = row_of(run_of(cell, planned.cell, problem, outcome, environment_id))
        core = self.ledger.code.digest_of(planned.settings)
        row = self.store.add(planned, row, outcome, core=core, limits=self.limits)
        self.ledger.add(planned.cell, row)
        return row

    def idle(self, reason: str) -> None:
        self.progress.idle(reason)

    def started(self, cell: Cell) -> None:
        self.store.running(cell.identify(self.problems[cell.problem_key].sha256))
        self.progress.started(cell)

    def advanced(self, cell: Cell, updates: int, margin: float) -> None:
        self.progress.advanced(cell, updates, margin)


def run_of(cell: Cell, name: str, problem: Loaded, outcome: Outcome, environment_id: str) -> Run:
    """Return the run of a cell that has ended, for its row.

    Parameters
    ----------
    cell, name
        The cell, and what :meth:`~perceptron_lab.experiments.configuration.plan.Cell.identify`
        calls it.
    problem
        Its problem.
    outcome
        How it ended.
    environment_id
        Of the environment that it ran in, if the outcome states none.
    """
    algorithm = cell.variant.algorithm
    oracles = [str(oracle) for oracle in cell.variant.oracles] or problem.oracles
    return Run(
        problem=cell.instance.title,
        label=cell.variant.label,
        constraints=problem.constraints,
        dimension=problem.dimension,
        algorithm=algorithm,
        oracles=oracles if algorithm.asks_oracles else (),
        seed=cell.seed,
        status=outcome.status,
        message=outcome.message or f"ended without a reason given ({outcome.status})",
        finding=outcome.finding,
        goal=cell.goal_of_method,
        result=outcome.result,
        partial=outcome.partial,
        measures=outcome.measures,
        problem_parameters=cell.instance.identity["dataset_parameters"],
        cell=name,
        environment=outcome.environment["id"] if outcome.environment else environment_id,
    )


def _planned(cells: Sequence[Cell], problems: Mapping[str, Loaded]) -> list[Planned]:
    """Return the cells as the store sees them; learners need tasks, and names must differ."""
    planned_by_cell: dict[str, Planned] = {}
    for cell in cells:
        if lacking := untaught(cell, problems[cell.problem_key]):
            raise ConfigError(lacking)
        planned = Planned.of(cell, problems[cell.problem_key].sha256)
        # Two cells of one name would share one row
        if planned.cell in planned_by_cell:
            raise ConfigError(
                f"problem {planned.title}: its data are those of "
                f"{planned_by_cell[planned.cell].title}, run "
                "with the same settings; delete one of the two"
            )
        planned_by_cell[planned.cell] = planned
    return list(planned_by_cell.values())
