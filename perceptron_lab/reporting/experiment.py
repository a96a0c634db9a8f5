"""An experiment from its configuration to its tables and figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.running.execution import Execution, Executor
from perceptron_lab.experiments.running.progress import Progress
from perceptron_lab.experiments.running.runner import run_cells
from perceptron_lab.reporting.report import make_report
from perceptron_lab.reporting.results import Results


def run(
    config: str | Path | ExperimentConfig,
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
    run: the next one goes on from there.

    Parameters
    ----------
    config
        A file, the name of a shipped configuration, or a configuration.
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
        Is told of every cell as it begins and ends.

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
    done = run_cells(experiment, output=output, execution=execution, progress=progress)
    loaded = experiment.config
    made = make_report(done.folder, loaded.report.model_dump(), loaded.title, done)
    counts = {"cells": done.cells, "stale": done.stale, "missing": done.missing}
    return Results(done.folder, done.rows, loaded.title, made.cautions, **counts)
