"""``plab run``: experiments from configurations to tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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
from perceptron_lab.experiments.plan import plan
from perceptron_lab.experiments.runner import Results, load_config
from perceptron_lab.experiments.runner import run as run_experiment
from perceptron_lab.reporting import Evidence, table_frame, write_report


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
@click.option("--dry-run", is_flag=True, help="Print the cells and stop; nothing is loaded.")
@output_option
@override_option
@quiet_option
@verbose_option
def run(
    configs: tuple[str, ...],
    jobs: int,
    dry_run: bool,
    output: Path,
    overrides: tuple[str, ...],
    quiet: bool,
    verbose: bool,
) -> int:
    """Run experiments, and write their tables and figures.

    CONFIG is a file or the name of a shipped configuration (`plab list experiments`). Everything
    is checked and loaded before the first cell runs; every row is saved as soon as its cell ends.
    """
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
                results = run_experiment(
                    config, overrides=overrides, output=output, jobs=jobs, progress=progress
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
    show_table(f"{config.experiment}: {len(cells)} cells", columns, rows)


def _show_saved(done: int, folder: Path) -> None:
    where = f"the {done} finished cells are in {folder / 'runs.csv'}" if done else "no cell ended"
    click.echo(f"interrupted; {where}", err=True)


def _conclude(config: ExperimentConfig, results: Results, quiet: bool) -> None:
    """Write the report; print its tables and the paths of everything written."""
    for row in results.failed:
        text = f"{row['problem']}  {row['label']}  {row['status']}: {row['message']}"
        click.echo(f"failed: {text}", err=True)
    written = write_report(results.folder, config.report.model_dump(), config.title)
    if quiet:
        return
    evidence = Evidence.of_folder(results.folder)
    for name in config.report.tables:
        show_frame(config.title or name, table_frame(name, evidence))
    for path in (results.folder / "runs.csv", results.folder / "environment.json", *written):
        click.echo(str(path))
