"""An experiment from its configuration to its rows, tables and figures."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from perceptron_lab.core.errors import ConfigError, counted
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.visible_text import visible
from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.configuration.config import Curves
from perceptron_lab.experiments.configuration.loader import Experiment, Named, load_experiment
from perceptron_lab.experiments.running.execution import Execution, Executor
from perceptron_lab.experiments.running.progress_lines import notebook_progress
from perceptron_lab.experiments.running.runner import ExperimentRows, run_cells

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

REPORTING: Final = "perceptron_lab.reporting.report"
"""The module that makes tables and figures, by its name: like the modules that registries name, it
knows experiments, and not the reverse. It is loaded while the first cells run."""
_SHOWN: Final = ("problem", "label", "seed", "status", "proved", "margin_lower", "margin_upper")
_COSTS: Final = ("updates", "queries", "seconds", "message")
# Rows that a notebook shows
_MOST = 60


@dataclass(frozen=True)
class Results(ExperimentRows):
    """The rows of an experiment, with its tables and figures.

    Parameters
    ----------
    folder, rows
        As in :class:`~perceptron_lab.experiments.running.runner.ExperimentRows`.
    title
        Of the experiment.
    cautions
        To be known before the rows are compared, and the tables and figures of the report that
        could not be made of them (``not made: ...``); empty if nothing is amiss.
    report
        The :class:`~perceptron_lab.reporting.report.Report` that was written of them.

    Examples
    --------
    >>> results = run("quickstart")
    >>> len(results.rows), results.folder.as_posix()
    (6, 'results/quickstart')
    >>> {row["status"] for row in results.rows}
    {'FEASIBLE'}
    """

    title: str = ""
    cautions: tuple[str, ...] = ()
    report: Any = field(default=None, repr=False, compare=False, kw_only=True)

    def as_json(self) -> dict[str, Any]:
        """Return folder, rows and cautions as JSON values; every number is as it is stored."""
        return {"folder": str(self.folder), "rows": self.rows, "cautions": list(self.cautions)}

    def table(self, name: str) -> pd.DataFrame:
        """Return a table by its name, such as ``table_6_1``, in full precision.

        There may be no such table (ConfigError), or it cannot be made of these runs (DataError).
        """
        frame: pd.DataFrame = _reporting().table_frame(name, self._evidence)
        return frame

    def figure(self, name: str) -> Figure:
        """Return a figure by its name, such as ``figure_2``; errors as of :meth:`table`."""
        figure: Figure = _reporting().figure(name, self._evidence)
        return figure

    def curves(self, x: str, y: str, by: str = "label") -> Figure:
        """Return medians of a column against another, one line per value of a third.

        Columns are those of runs.csv, such as ``problem.rows`` and ``seconds``. A column may be
        missing, or ``y`` hold no numbers (DataError).
        """
        figure: Figure = _reporting().curves(self._evidence, Curves(x=x, y=y, by=by))
        return figure

    @cached_property
    def _evidence(self) -> Any:
        return _reporting().Evidence.of_rows(self.rows, self.folder)

    def __str__(self) -> str:
        rows = counted(len(self.rows), "row")
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"{self.title or self.folder.name}: {rows}{failed}, in {self.folder}"

    def _repr_html_(self) -> str:
        """Return a table for notebooks; every text in it is escaped."""
        frame = self.to_frame()
        visible_rows = frame[[column for column in (*_SHOWN, *_COSTS) if column in frame.columns]]
        visible_rows = visible_rows.head(_MOST).copy()
        # Bounds are shown as they are proved: a lower one is rounded down, an upper one up.
        for name, rounded in (("margin_lower", text_below), ("margin_upper", text_above)):
            visible_rows[name] = [
                "" if math.isnan(bound) else rounded(bound) for bound in visible_rows[name]
            ]
        table = visible_rows.to_html(index=False, escape=True, na_rep="", border=0)
        more = f"<p>and {len(frame) - _MOST} more rows</p>" if len(frame) > _MOST else ""
        amiss = "".join(f"<p><b>{escape(warning)}</b></p>" for warning in self.cautions)
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
    run: the next one resumes from there. A table or figure that the rows do not suit is named in
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
        Run the cells again whose row was made by another code version.
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

    Examples
    --------
    Your own configuration, as a mapping:

    >>> problems = [{"dataset": "maxcut", "instances": ["random-50-120"]}]
    >>> config = {"experiment": "mine", "problems": problems, "algorithms": [{"name": "auto"}]}
    >>> results = run(config)
    >>> results.rows[0]["problem"], results.rows[0]["status"], results.rows[0]["proved"]
    ('random-50-120', 'FEASIBLE', True)
    """
    experiment = load_experiment(config, overrides)
    execution = Execution(jobs, fresh, refresh, retries, fail_fast, executor, scheduler)
    if not isinstance(progress, Progress | None):
        raise ConfigError(
            f"received {progress!r} as progress; leave it out, or give an object of a class "
            "derived from perceptron_lab.experiments.cells.progress.Progress"
        )
    watcher = progress or notebook_progress(experiment.name) or Progress()
    return run_experiment(experiment, output=output, execution=execution, progress=watcher)


def run_experiment(
    experiment: Experiment, *, output: str | Path | None, execution: Execution, progress: Progress
) -> Results:
    """Run the cells of a checked experiment that are due, and write its report.

    Parameters and errors are those of :func:`run`; ``progress`` is entered while cells run.
    """
    with progress:
        executed = run_cells(experiment, output=output, execution=execution, progress=progress)
    progress.ended(executed.failed)
    config = experiment.config
    report = _reporting().make_report(
        executed.folder, config.report.model_dump(), config.title, executed
    )
    cautions = (*report.cautions, *(f"not made: {failure}" for failure in report.failed))
    return Results(**vars(executed), title=config.title, cautions=cautions, report=report)


def _reporting() -> Any:
    return import_module(REPORTING)
