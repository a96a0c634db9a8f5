"""``plab status``: the progress of experiments, also while they run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from perceptron_lab.cli.echo import coloured, echo, is_verbose, print_json
from perceptron_lab.cli.options import (
    answer_options,
    output_option,
    override_option,
    plugin_option,
    targets_argument,
)
from perceptron_lab.core.errors import counted
from perceptron_lab.experiments.running.status import CellState, CellStatus, ExperimentStatus
from perceptron_lab.experiments.running.status import status as status_of
from perceptron_lab.experiments.storage.results_folder import folders_with_results

_ALIKE: Final = 3
"""Largest number of cells with one state and reason that are listed line by line."""


@click.command("status")
@targets_argument
@answer_options(": a list of experiments", "every cell, finished or not")
@output_option
@override_option
@plugin_option
def status(
    targets: tuple[str, ...],
    as_json: bool,
    output: Path,
    overrides: tuple[str, ...],
) -> int:
    """Show which cells of an experiment are done, running, failed, stale or missing, and why.

    FOLDER holds results: they are compared with the configuration of their latest run. CONFIG is a
    configuration: it is compared with the results of its experiment. Without arguments, every
    experiment in the folder of results is listed.

    No data are loaded and no files are locked, so the command is safe while `plab run` runs.
    Running cells are detected on Linux and macOS only.
    """
    selected = targets or folders_with_results(output)
    statuses = [status_of(target, output=output, overrides=overrides) for target in selected]
    if as_json:
        print_json([state.as_json() for state in statuses])
        return 0
    grouped, verbose = False, is_verbose()
    for experiment_status in statuses:
        echo(str(experiment_status))
        for cells in _groups(experiment_status, verbose):
            if len(cells) > _ALIKE and not verbose:
                grouped = True
                echo(*_line_of_all(cells))
            else:
                for cell in cells:
                    echo(*_line(cell, cell.problem, cell.label, f"seed {cell.seed}"))
    if grouped:
        echo("-v lists every cell")
    return 0


def _groups(state: ExperimentStatus, verbose: bool) -> list[list[CellStatus]]:
    """Return the cells to list, grouped by state and reason."""
    if verbose:
        return [list(state.cells)]
    groups: dict[tuple[str, ...], list[CellStatus]] = {}
    for cell in state.cells:
        if cell.state is not CellState.DONE:
            groups.setdefault((cell.state, cell.status, cell.why), []).append(cell)
    return list(groups.values())


def _line(cell: CellStatus, *which: str) -> list[str]:
    """Return the parts of a line."""
    # Messages may have several lines
    words = filter(None, [*which, cell.status, " ".join(cell.why.split())])
    return ["  ", coloured(cell.state), *(f"  {word}" for word in words)]


def _line_of_all(cells: Sequence[CellStatus]) -> list[str]:
    """Return the parts of one line for cells that share state and reason."""
    problems = counted(len({cell.problem for cell in cells}), "problem")
    labels = ", ".join(dict.fromkeys(cell.label for cell in cells))
    return _line(cells[0], f"{counted(len(cells), 'cell')} of {problems} ({labels})")
