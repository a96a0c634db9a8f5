"""``plab run``: experiments from configurations to tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click

from perceptron_lab.cli.options import (
    configs_argument,
    output_option,
    override_option,
    quiet_option,
    verbose_option,
)
from perceptron_lab.cli.progress import ProgressLines
from perceptron_lab.cli.rendering import show_frame, show_table
from perceptron_lab.errors import ConfigError
from perceptron_lab.experiments.config import ExperimentConfig
from perceptron_lab.experiments.execution import Execution, Executor
from perceptron_lab.experiments.plan import plan
from perceptron_lab.experiments.runner import Rows, load_config, run_cells
from perceptron_lab.experiments.wording import counted
from perceptron_lab.reporting import Evidence, cautions, table_frame, write_report


@click.command("run")
@configs_argument
@click.option(
    "-j",
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Cells at a time, each in a process of its own.",
)
@click.option("--fresh", is_flag=True, help="Start over; earlier results are kept, renamed.")
@click.option("--refresh", is_flag=True, help="Run stale cells again: those of other numeric code.")
@click.option(
    "--retries",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Run a cell again that crashed, was killed or raised.",
)
@click.option("--fail-fast", is_flag=True, help="End the run with the first failure.")
@click.option(
    "--executor",
    type=click.Choice(get_args(Executor)),
    default="processes",
    show_default=True,
    help="Where cells run: on this machine, or on a dask cluster.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Of dask's scheduler; without it, N workers on this machine.",
)
@click.option("--dry-run", is_flag=True, help="Print the cells and stop; nothing is loaded.")
@output_option
@override_option
@quiet_option
@verbose_option
def run(
    configs: tuple[str, ...],
    jobs: int,
    fresh: bool,
    refresh: bool,
    retries: int,
    fail_fast: bool,
    executor: Executor,
    scheduler: str | None,
    dry_run: bool,
    output: Path,
    overrides: tuple[str, ...],
    quiet: bool,
    verbose: bool,
) -> int:
    """Run experiments, and write their tables and figures.

    CONFIG is a file or the name of a shipped configuration (`plab list experiments`). Everything
    is checked and loaded before the first cell runs; every row is saved as soon as its cell ends.
    Ctrl-C ends the run and keeps what is finished. The same command goes on where a run ended:
    cells whose row serves are not run again, those that crashed, raised or were killed from outside
    are. `plab status CONFIG` says beforehand which are run, and why.
    """
    execution = Execution(jobs, fresh, refresh, retries, fail_fast, executor, scheduler)
    loaded = [load_config(config, overrides)[0] for config in configs]
    _refuse_same_names(configs, loaded)
    if dry_run:
        for one in loaded:
            _show_cells(one)
        return 0
    failed = False
    for config, one in zip(configs, loaded, strict=True):
        with ProgressLines(one.experiment, quiet=quiet, verbose=verbose) as progress:
            try:
                results = run_cells(
                    config,
                    overrides=overrides,
                    output=output,
                    execution=execution,
                    progress=progress,
                )
            except KeyboardInterrupt:
                _show_saved(progress.done, output / one.experiment)
                raise
        _conclude(one, results, quiet)
        failed |= bool(results.failed)
    return 1 if failed else 0


def _refuse_same_names(configs: Sequence[str], loaded: Sequence[ExperimentConfig]) -> None:
    """Refuse configurations that would overwrite one another's results."""
    names = [one.experiment for one in loaded]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ConfigError(
                f"{configs[names.index(name)]} and {configs[index]} are both called {name!r}; "
                "rename one, or run them into different folders with --output"
            )


def _show_cells(config: ExperimentConfig) -> None:
    cells = plan(config)
    rows = [
        (
            cell.instance.title,
            cell.variant.label,
            str(cell.variant.algorithm),
            " + ".join(map(str, cell.variant.oracles)) or "default",
            str(cell.seed),
        )
        for cell in cells
    ]
    columns = ("problem", "label", "algorithm", "oracle", "seed")
    show_table(f"{config.experiment}: {counted(len(cells), 'cell')}", columns, rows)


def _show_saved(done: int, folder: Path) -> None:
    cells = counted(done, "finished cell is", "finished cells are")
    where = f"{cells} in {folder}" if done else "no cell ended"
    click.echo(f"interrupted; {where}; the same command goes on from there", err=True)


def _conclude(config: ExperimentConfig, results: Rows, quiet: bool) -> None:
    """Write the report; print its tables and the paths of everything written."""
    for row in results.failed:
        text = f"{row['problem']}  {row['label']}  {row['status']}: {row['message']}"
        click.echo(f"failed: {text}", err=True)
    written = write_report(results.folder, config.report.model_dump(), config.title)
    evidence = Evidence.of_folder(results.folder)
    for caution in cautions(results.folder, evidence):
        click.echo(f"warning: {caution}", err=True)
    if quiet:
        return
    for name in config.report.tables:
        show_frame(config.title or name, table_frame(name, evidence))
    for path in (results.folder / "runs.csv", results.folder / "environment.json", *written):
        click.echo(str(path))
