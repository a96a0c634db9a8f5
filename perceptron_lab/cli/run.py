"""``plab run``: run experiments and write their tables and figures.

Little is imported here, so that the server of the cells can be started first and load its modules
while this process loads its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import click

from perceptron_lab.cli.options import (
    answer_options,
    configs_argument,
    output_option,
    override_option,
    plugin_option,
)
from perceptron_lab.experiments.cells import server_handle
from perceptron_lab.experiments.cells.operating_system import require_limited_processes
from perceptron_lab.experiments.configuration.catalogue import find_config
from perceptron_lab.experiments.configuration.yaml_source import read_source
from perceptron_lab.experiments.running.execution import Execution, Option


def execution_options(command: Callable[..., object]) -> Callable[..., Any]:
    """Add one option for each annotated field of :class:`Execution`."""
    hints = get_type_hints(Execution, include_extras=True)
    # Click lists options in the reverse of the order in which they are added
    for field in reversed(fields(Execution)):
        if get_origin(hints[field.name]) is not Annotated:
            continue
        kind, option = get_args(hints[field.name])
        assert isinstance(option, Option)
        flags = filter(None, (option.short, f"--{field.name.replace('_', '-')}"))
        attributes: dict[str, Any] = {"help": option.help, "metavar": option.metavar}
        if kind is bool:
            attributes["is_flag"] = True
        elif kind is int:
            attributes |= {"type": click.IntRange(min=option.least), "show_default": True}
        elif names := [name for name in get_args(kind) if isinstance(name, str)]:
            attributes |= {"type": click.Choice(names), "show_default": True}
        command = click.option(*flags, default=field.default, **attributes)(command)
    return command


@click.command("run")
@configs_argument
@execution_options
@click.option(
    "--dry-run", is_flag=True, help="List the cells without loading data or running them."
)
@output_option
@override_option
@plugin_option
@answer_options(": the rows of each experiment", "the message of every cell")
def run(
    configs: tuple[str, ...],
    dry_run: bool,
    output: Path,
    overrides: tuple[str, ...],
    as_json: bool,
    **choices: Any,
) -> int:
    """Run experiments and write their tables and figures.

    CONFIG is a file or the name of a shipped configuration (`plab list experiments`). A cell is one
    algorithm on one problem with one seed. All inputs are checked and loaded before the first cell
    runs. Each result is saved as soon as its cell ends, and Ctrl-C keeps the finished cells.

    Run the same command again to resume: finished cells are skipped, and cells that crashed, raised
    an error or were killed from outside run again. `plab status CONFIG` lists beforehand the cells
    that would run, and why.

    Each cell runs in its own process with limits on time and memory; this needs Linux or macOS (on
    Windows: WSL), except for --dry-run. Memory limits work on Linux only.
    """
    if not dry_run:
        # Before anything is read: elsewhere no cell could run
        require_limited_processes()
    with ExitStack() as stack:
        sources = [read_source(find_config(config)) for config in configs]
        server = None
        if choices["executor"] == "processes" and not dry_run:
            server = server_handle.started_ahead(sources)
        if server is not None:
            # Where a configuration is wrong, too, the server must not outlive the command
            stack.callback(server.close)
        from perceptron_lab.cli.running import run_all, show_all

        if dry_run:
            return show_all(sources, overrides, as_json=as_json)
        execution = Execution(**choices, server=server)
        return run_all(sources, overrides, output, execution, as_json=as_json)
