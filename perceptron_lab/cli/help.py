"""``plab help``: the help of ``plab`` or of one of its commands."""

from __future__ import annotations

import click

from perceptron_lab.cli.main import completed


@click.command("help")
@click.argument(
    "words",
    metavar="[COMMAND]...",
    nargs=-1,
    shell_complete=lambda context, parameter, word: completed(word),
)
@click.pass_context
def help_command(context: click.Context, words: tuple[str, ...]) -> int:
    """Print the help of plab, or that of a command, as `plab COMMAND --help` does."""
    assert context.parent is not None
    context.parent.command.main(
        [*words, "--help"], prog_name=context.parent.info_name, standalone_mode=False
    )
    return 0
