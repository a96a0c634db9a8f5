"""``plab run``: experiments from configurations to tables.

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
    """Add the options that the fields of :class:`Execution` declare."""
    hints = get_type_hints(Execution, include_extras=True)
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
@click.option("--dry-run", is_flag=True, help="Print the cells and stop; nothing is loaded.")
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
    """Run experiments, and write their tables and figures.

    CONFIG is a file or the name of a shipped configuration (`plab list experiments`). Everything
    is checked and loaded before the first cell runs; every row is saved as soon as its cell ends.
    Ctrl-C ends the run and keeps what is finished. The same command goes on where a run ended:
    cells whose row serves are not run again, those that crashed, raised or were killed from outside
    are. `plab status CONFIG` says beforehand which are run, and why.

    Cells run in processes that can be limited and killed: this needs Linux or macOS, on Windows
    WSL; --dry-run does not. Limits of memory hold on Linux only.
    """
    if not dry_run:
        require_limited_processes()
    with ExitStack() as stack:
        sources = [read_source(find_config(config)) for config in configs]
        server = None
        if choices["executor"] == "processes" and not dry_run:
            server = server_handle.started_ahead(sources)
        if server is not None:
            stack.callback(server.close)
        from perceptron_lab.cli.running import run_all, show_all

        if dry_run:
            return show_all(sources, overrides, as_json=as_json)
        execution = Execution(**choices, server=server)
        return run_all(sources, overrides, output, execution, as_json=as_json)
