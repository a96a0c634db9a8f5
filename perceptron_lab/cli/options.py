"""The arguments and options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from perceptron_lab.cli.echo import choose, deprecated, print_json
from perceptron_lab.core import registry
from perceptron_lab.datasets.regular_files import GENERATED
from perceptron_lab.experiments.configuration.catalogue import gallery

Command = TypeVar("Command", bound=Callable[..., Any])

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


def bytes_of(text: str) -> int:
    """Return the number of bytes of a size such as ``512MB``; kB, MB and GB are powers of 1000."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?(k|M|G)?B?", text.strip(), re.IGNORECASE)
    if match is None:
        raise click.BadParameter(f"received {text!r}; give a size such as 64MB or 2GB")
    number, unit = match.groups()
    return int(float(number) * _UNITS[(unit or "").lower()])


Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def completing(names: Callable[[click.Context], Iterable[str]]) -> Completion:
    """Return a shell completion for the names that a function returns, without duplicates."""
    return lambda context, parameter, incomplete: [
        CompletionItem(name)
        for name in dict.fromkeys(names(context))
        if name.startswith(incomplete)
    ]


def complete_config(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a shipped configuration or a file."""
    names = completing(lambda context: gallery())(context, parameter, incomplete)
    # The shell itself completes paths
    return [*names, CompletionItem(incomplete, type="file")]


def registered(*kinds: str) -> Iterable[str]:
    """Return the registered names of some kinds without importing their modules."""
    return [name for kind in kinds for name in registry.names(kind)]


def complete_registered(*kinds: str) -> Completion:
    """Return a shell completion for the registered names of some kinds."""
    return completing(lambda context: registered(*kinds))


def answer_options(content: str, more: str = "the log") -> Callable[[Command], Command]:
    """Return a decorator that adds ``--json``, ``--json-schema``, ``-q`` and ``-v`` to a command.

    Parameters
    ----------
    content
        Description of the JSON output, such as ``": a list of experiments"``.
    more
        Description of the additional output with ``-v``.
    """
    attributes: dict[str, Any] = {"is_flag": True, "expose_value": False, "callback": choose}
    options = (
        click.option(
            # Eager: it works without the arguments that the command requires
            "--json-schema",
            help="Print the JSON schema of that output and exit.",
            is_eager=True,
            **attributes | {"callback": _print_schema},
        ),
        click.option("-v", "--verbose", help=f"Also print {more}.", **attributes),
        click.option("-q", "--quiet", help="Print only errors (and JSON).", **attributes),
        click.option("--json", "as_json", is_flag=True, help=f"Print JSON{content}."),
    )

    def add(command: Command) -> Command:
        # Click lists options in the reverse of the order in which they are added
        for option in options:
            command = option(command)
        return command

    return add


def _print_schema(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        from perceptron_lab.cli.schemas import schema_of  # it loads what all commands print

        print_json(schema_of(" ".join(context.command_path.split()[1:])))
        context.exit()


configs_argument = click.argument(
    "configs", metavar="CONFIG...", nargs=-1, required=True, shell_complete=complete_config
)
"""One or more configurations: files, or names of shipped configurations."""

targets_argument = click.argument(
    "targets", metavar="[CONFIG|FOLDER]...", nargs=-1, shell_complete=complete_config
)
"""Any number of configurations or folders of results."""

output_option = click.option(
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder of all results; each experiment has its own subfolder.",
)


class Into(click.Command):
    """A command with the option ``--into``; its former name ``--output`` is accepted too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line with ``--output`` replaced by ``--into``."""
        words = [re.sub("^--output(?==|$)", "--into", word) for word in args]
        former = words != args  # before the parser, which takes the words off the list
        positional = super().parse_args(ctx, words)
        # While a shell completes words nothing may be printed
        if former and not ctx.resilient_parsing:
            deprecated("--output", "--into")
        return positional


def into_option(default: Path | None = None) -> Callable[[Command], Command]:
    """Return the option for the output folder of an :class:`Into` command."""
    # Recent versions of click take an explicit None for a default, and require no option then
    settings: dict[str, Any] = {"required": True} if default is None else {"default": default}
    return click.option(
        "--into",
        "output",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        show_default=True,
        help="Folder for the files; it is created if it does not exist.",
        **settings,
    )


base_option = click.option(
    "--base",
    metavar="DIR",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="Folder to which relative paths of data files refer, if they have moved.",
)

generate_option = click.option(
    "--generate",
    type=bytes_of,
    metavar="SIZE",
    default=f"{GENERATED // 10**6}MB",
    show_default=True,
    help="Largest size of the data generated for one problem.",
)

data_option = click.option(
    "--data",
    metavar="FILE",
    type=click.Path(exists=True, path_type=Path),
    help="Data file, or folder of a table in parts, of a result that was saved from Python without "
    "recording its data.",
)

labels_option = click.option(
    "--labels", metavar="COLUMN", help="Column of --data with the class labels, if any."
)

override_option = click.option(
    "-s",
    "--set",
    "overrides",
    metavar="PATH=VALUE",
    multiple=True,
    help="Override one value of the configuration, e.g. -s budget.seconds=5 or "
    "-s problems.0.instances=[mcp100]. May be repeated.",
)


def _loaded(
    context: click.Context, parameter: click.Parameter, files: tuple[Path, ...]
) -> tuple[Path, ...]:
    from perceptron_lab.experiments.plugins import (
        load_plugins,  # its import takes longer than `plab --help`
    )

    load_plugins(files)
    return files


plugin_option = click.option(
    "--plugin",
    metavar="FILE.py",
    type=click.Path(path_type=Path),
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_loaded,
    help="Python file that registers your own algorithms, datasets, ... May be repeated.",
)


def on_target(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that locate the data of saved answers; the command receives a Target."""

    @wraps(command)
    def called(
        target: Path,
        base: Path | None,
        generate: int,
        data: Path | None,
        labels: str | None,
        **options: object,
    ) -> int:
        # It loads the datasets, which other commands do without
        from perceptron_lab.experiments.verification.certified_problem import Target

        return command(Target(target, base, generate, data, labels), **options)

    for option in (plugin_option, generate_option, labels_option, data_option, base_option):
        called = option(called)
    return called
