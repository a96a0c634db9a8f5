"""The arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from perceptron_lab.experiments.gallery import gallery


def complete_config(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a shipped configuration, or a file."""
    names = [CompletionItem(name) for name in gallery() if name.startswith(incomplete)]
    return [*names, CompletionItem(incomplete, type="file")]


configs_argument = click.argument(
    "configs", metavar="CONFIG...", nargs=-1, required=True, shell_complete=complete_config
)
"""Files, or names of shipped configurations; at least one."""

output_option = click.option(
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder of all results; each experiment has a folder of its own in it.",
)

override_option = click.option(
    "-s",
    "--set",
    "overrides",
    metavar="PATH=VALUE",
    multiple=True,
    help="Override one value, as in -s budget.seconds=5 or -s problems.0.instances=[mcp100].",
)

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print errors only.")

verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Print the message of every cell too."
)
