"""An experiment from its configuration to its rows, tables and figures."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perceptron_lab.core.errors import ConfigError, counted
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.visible_text import visible
from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.configuration.config import Curves
from perceptron_lab.experiments.configuration.loader import Named, load_experiment
from perceptron_lab.experiments.running.execution import Execution, Executor
from perceptron_lab.experiments.running.progress_lines import notebook_progress
from perceptron_lab.experiments.running.runner import Rows, run_cells
from perceptron_lab.reporting import report
from perceptron_lab.reporting.evidence import Evidence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_SHOWN: Final = ("problem", "label", "seed", "status", "proved", "margin_lower", "margin_upper")
_COSTS: Final = ("updates", "queries", "seconds", "message")
# Rows that a notebook shows
_MOST = 60


@dataclass(frozen=True)
class Results(Rows):
    """The rows of an experiment, with its tables and figures.

    Parameters
    ----------
    folder, rows
        As in :class:`~perceptron_lab.experiments.running.runner.Rows`.
    title
        Of the experiment.
    cautions
        To be known before the rows are compared, and the tables and figures of the report that
        could not be made of them (``not made: ...``); empty if nothing is amiss.
    """

    title: str = ""
    cautions: tuple[str, ...] = ()

    def table(self, name: str) -> pd.DataFrame:
        """Return a table by its name, such as ``table_6_1``, in full precision.

        There may be no such table (ConfigError), or it cannot be made of these runs (DataError).
        """
        return report.table_frame(name, self._evidence)

    def figure(self, name: str) -> Figure:
        """Return a figure by its name, such as ``figure_2``; errors as of :meth:`table`."""
        return report.figure(name, self._evidence)

    def curves(self, x: str, y: str, by: str = "label") -> Figure:
        """Return medians of a column against another, one line per value of a third.

        Columns are those of runs.csv, such as ``problem.rows`` and ``seconds``. A column may be
        missing, or ``y`` hold no numbers (DataError).
        """
        return report.curves(self._evidence, Curves(x=x, y=y, by=by))

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence.of_rows(self.rows, self.folder)

    def __str__(self) -> str:
        rows = counted(len(self.rows), "row")
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"{self.title or self.folder.name}: {rows}{failed}, in {self.folder}"

    def _repr_html_(self) -> str:
        """Return a table for notebooks; every text in it is escaped."""
        frame = self.to_frame()
        shown = frame[[column for column in (*_SHOWN, *_COSTS) if column in frame.columns]]
        shown = shown.head(_MOST).copy()
        # Bounds are shown as they are proved: a lower one is rounded down, an upper one up.
        for name, rounded in (("margin_lower", text_below), ("margin_upper", text_above)):
            shown[name] = ["" if math.isnan(bound) else rounded(bound) for bound in shown[name]]
        table = shown.to_html(index=False, escape=True, na_rep="", border=0)
        more = f"<p>and {len(frame) - _MOST} more rows</p>" if len(frame) > _MOST else ""
        amiss = "".join(f"<p><b>{escape(caution)}</b></p>" for caution in self.cautions)
        return visible(f"<div><p>{escape(str(self))}</p>{amiss}{table}{more}</div>")


def run(
    config: Named,
    *,
    overrides: Iterable[str] = (),
    output: str | Path | None = None,
    jobs: int = 1,
    fresh: bool = False,
    refresh: bool = False,
    retries: int = 0,
    fail_fast: bool = False,
    executor: Executor = "processes",
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Results:
    """Run an experiment and write its tables and figures; ``plab run`` in Python.

    Cells that have a row from an earlier run are not run again. Every cell runs in a process of its
    own, and its row is stored as soon as it has ended, so that nothing is lost whatever ends the
    run: the next one goes on from there. A table or figure that the rows do not suit is named in
    the results' ``cautions``; the others are written.

    Parameters
    ----------
    config
        A file, the name of a shipped configuration, a mapping with the keys of a file (its relative
        paths start from the current folder), or a configuration.
    overrides
        ``path.to.key=value`` each.
    output
        The folder in which ``<experiment>/`` is made; by default ``results``.
    jobs
        Cells at a time.
    fresh
        Start over; the earlier store is kept under another name.
    refresh
        Run those cells again whose row was made by another version of the numeric core.
    retries
        How often a cell is run again that crashed, was killed or raised.
    fail_fast
        Whether the first failure ends the run.
    executor, scheduler
        ``"dask"`` runs the cells on the workers of a dask cluster: of the scheduler at this
        address, or of one with ``jobs`` workers on this machine.
    progress
        Is told of every cell as it begins and ends; by default a bar in notebooks, and nothing
        elsewhere (nor in notebooks with a plain ``Progress()``).

    Raises
    ------
    ConfigError
        If the configuration or the folder is wrong; no cell was run then.
    DataError
        If a problem cannot be loaded (no cell was run then), or the store is damaged.
    StoreError
        If something could not be written; the rows stored before are intact.
    """
    experiment = load_experiment(config, overrides)
    execution = Execution(jobs, fresh, refresh, retries, fail_fast, executor, scheduler)
    if not isinstance(progress, Progress | None):
        raise ConfigError(
            f"received {progress!r} as progress; leave it out, or give an object of a class "
            "derived from perceptron_lab.experiments.cells.progress.Progress"
        )
    bar = notebook_progress(experiment.name) if progress is None else None
    with bar or nullcontext():
        watcher = progress or bar
        done = run_cells(experiment, output=output, execution=execution, progress=watcher)
    loaded = experiment.config
    made = report.make_report(done.folder, loaded.report.model_dump(), loaded.title, done)
    counts = {"cells": done.cells, "stale": done.stale, "missing": done.missing}
    cautions = (*made.cautions, *(f"not made: {one}" for one in made.failed))
    return Results(done.folder, done.rows, loaded.title, cautions, **counts)
