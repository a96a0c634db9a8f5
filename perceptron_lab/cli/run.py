"""``plab run``: experiments from configurations to tables.

Little is imported here, so that the server of the cells can be started first and load its modules
while this process loads its own.
"""

from __future__ import annotations

from contextlib import ExitStack
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
from perceptron_lab.experiments.cells import ahead
from perceptron_lab.experiments.configuration.gallery import find_config
from perceptron_lab.experiments.configuration.yaml_source import read_source
from perceptron_lab.experiments.running.executors import Executor


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
    with ExitStack() as stack:
        sources = [read_source(find_config(config)) for config in configs]
        server = None
        if executor == "processes" and not dry_run:
            server = ahead.started_ahead(sources)
        if server is not None:
            stack.callback(server.close)
        from perceptron_lab.cli.running import run_all, show_all
        from perceptron_lab.experiments.running.execution import Execution

        if dry_run:
            return show_all(sources, overrides)
        execution = Execution(
            jobs, fresh, refresh, retries, fail_fast, executor, scheduler, server=server
        )
        return run_all(sources, overrides, output, execution, quiet=quiet, verbose=verbose)
