"""``plab status``: how far experiments are, also while they run."""

from __future__ import annotations

import json
from pathlib import Path

import click

from perceptron_lab.cli.options import (
    complete_config,
    output_option,
    override_option,
)
from perceptron_lab.experiments.running.output_folder import folders_with_results
from perceptron_lab.experiments.running.status import State
from perceptron_lab.experiments.running.status import status as status_of


@click.command("status")
@click.argument("targets", metavar="[CONFIG|FOLDER]...", nargs=-1, shell_complete=complete_config)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of experiments.")
@output_option
@override_option
@click.option("-v", "--verbose", is_flag=True, help="List the cells that are done, too.")
def status(
    targets: tuple[str, ...],
    as_json: bool,
    output: Path,
    overrides: tuple[str, ...],
    verbose: bool,
) -> int:
    """Say which cells of experiments are done, running, failed, stale or missing, and why.

    FOLDER holds results, which are held against what their latest run was to do; CONFIG is held
    against the results of its experiment. Without either, every experiment in the folder of results
    is listed. No data are loaded and nothing is locked: it may be asked while `plab run` runs.
    """
    chosen = targets or folders_with_results(output)
    found = [status_of(target, output=output, overrides=overrides) for target in chosen]
    if as_json:
        click.echo(json.dumps([one.as_json() for one in found], indent=2))
        return 0
    for one in found:
        click.echo(str(one))
        for cell in one.cells:
            if verbose or cell.state is not State.DONE:
                words = [f"  {cell.state}", cell.problem, cell.label, f"seed {cell.seed}"]
                words += [cell.status, " ".join(cell.why.split())]
                click.echo("  ".join(filter(None, words)))
    return 0
