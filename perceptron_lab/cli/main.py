"""The command ``plab``: its table of commands, and its exit codes.

0 success; 1 a cell failed or a saved answer could not be verified; 2 invalid command line,
configuration or data, or results that cannot be written; 3 a bug; 130 Ctrl-C.
"""

from __future__ import annotations

import errno
import os
import platform
import sys
import tempfile
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from io import StringIO
from typing import Final, TextIO

import click
from click.shell_completion import CompletionItem

from perceptron_lab.cli.echo import echo
from perceptron_lab.core.errors import PlabError, did_you_mean
from perceptron_lab.core.version import __version__
from perceptron_lab.core.visible_text import visible

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    # The libraries read them when they are loaded, which nothing above does.
    os.environ.setdefault(_variable, "1")

COMMANDS: Final = {
    "run": ("perceptron_lab.cli.run:run", "Run experiments and write their tables and figures."),
    "status": ("perceptron_lab.cli.status:status", "Show which cells of an experiment are done."),
    "report": (
        "perceptron_lab.cli.report:report",
        "Rebuild tables and figures from saved results.",
    ),
    "solve": (
        "perceptron_lab.cli.solve:command",
        "Solve the problem in a file and verify the answer.",
    ),
    "check": ("perceptron_lab.cli.check:check", "Check configurations without running them."),
    "list": (
        "perceptron_lab.cli.names:listing",
        "List algorithms, datasets, experiments, tables, ...",
    ),
    "show": (
        "perceptron_lab.cli.names:show",
        "Describe an algorithm, dataset, ... and its parameters.",
    ),
    "verify": (
        "perceptron_lab.cli.verify:verify",
        "Verify saved answers again on the original data.",
    ),
    "certify": (
        "perceptron_lab.cli.certify:certify",
        "Write certificates for the standalone checker.",
    ),
    "theory": ("perceptron_lab.cli.theory:theory", "Plot and tabulate the bounds of the papers."),
    "compare": ("perceptron_lab.cli.compare:compare", "Compare two runs of the same problems."),
    "data": ("perceptron_lab.cli.data:data", "Download data files and check their hashes."),
    "help": ("perceptron_lab.cli.main:help_command", "Print this help, or that of a command."),
}
"""Name -> ("module:attribute", summary), so that ``plab --help`` loads none of the modules."""

# Faults of the place that is written to, which users can mend: exit code 2, not a bug's 3
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; return None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of a name; the error for an unknown name suggests the closest."""
        # Unknown options are left to click, whose error names them
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            suggestion = did_you_mean(args[0], COMMANDS)
            ctx.fail(f"no command {args[0]!r}{suggestion}; commands: {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names and summaries of the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command in a shell."""
        # Click's own for groups would import every command for its summary
        return completed(incomplete) + click.Command.shell_complete(self, ctx, incomplete)


def completed(incomplete: str) -> list[CompletionItem]:
    """Return the commands whose names start with the given text."""
    named = {name: text for name, (_, text) in COMMANDS.items() if name.startswith(incomplete)}
    return [CompletionItem(name, help=summary) for name, summary in named.items()]


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="plab %(version)s")
def plab() -> None:
    """Decide feasibility of linear and conic systems, verify the answers, compare algorithms.

    `plab solve FILE` answers the question of one file. `plab run quickstart` runs a first
    experiment. `plab list experiments` lists the others.

    Linear algebra uses one thread: OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and MKL_NUM_THREADS are
    set to 1 unless you set them. `plab run --jobs N` runs N cells in parallel.

    `plab run` needs Linux or macOS (on Windows: WSL); the other commands run on Windows too.

    Environment variables: PLAB_DATA_MIRROR is a folder or address where data files are looked up
    first. PLAB_DATA_DIR is the folder for downloads. PLAB_OFFLINE=1 forbids downloads. NO_COLOR=1
    turns colours off. NUMBA_CACHE_DIR is the folder for compiled code.

    Shell completion: add `eval "$(_PLAB_COMPLETE=bash_source plab)"` to ~/.bashrc. For zsh use
    zsh_source and ~/.zshrc; for fish use fish_source.

    Exit codes: 0 success; 1 a cell failed, a saved answer could not be verified, or a table or
    figure could not be made; 2 invalid command line, configuration or data, or results that cannot
    be written; 3 a bug; 130 interrupted.
    """


@click.command("help")
@click.argument(
    "words",
    metavar="[COMMAND]...",
    nargs=-1,
    shell_complete=lambda context, parameter, word: completed(word),
)
@click.pass_context
def help_command(context: click.Context, words: tuple[str, ...]) -> int:
    """Print the help of plab or of a command; the same as `plab COMMAND --help`."""
    assert context.parent is not None
    context.parent.command.main(
        [*words, "--help"], prog_name=context.parent.info_name, standalone_mode=False
    )
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments
        The words after ``plab``; by default those of the process.
    """
    try:
        # Standalone, click would exit by itself, with 1 after Ctrl-C
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            status = plab.main(arguments, prog_name="plab", standalone_mode=False)
    # Click makes this of Ctrl-C
    except click.Abort:
        return 130
    except click.ClickException as error:
        usage = StringIO()
        error.show(usage)
        echo(usage.getvalue(), err=True, nl=False)
        return 2
    except PlabError as error:
        for line in str(error).splitlines():
            echo(f"Error: {line}", err=True)
        return 2
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            text = f"{error.filename or 'the output'} cannot be written ({error.strerror})"
            with suppress(OSError):  # stderr may be closed
                echo(f"Error: {text}; make room there, and try again", err=True)
            return 2
        # So long a name is a mistake on the command line, such as a text in place of a file
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            echo(f"Error: {error.filename}: no such file ({error.strerror})", err=True)
            return 2
        # Imported here: `plab --help` is to load little
        from perceptron_lab.solving.failures import registered_code_error

        if fault := registered_code_error(error):
            echo(f"Error: {fault} (in a plugin, or another file that registers names)", err=True)
            return 1
        _report_bug(error)
        return 3
    # Some commands, such as `plab data fetch`, return nothing where they succeed
    return status if isinstance(status, int) else 0


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a Python warning as one line, without the place in the code that raised it."""
    echo(f"warning: {message}", err=True)


def _report_bug(error: Exception) -> None:
    """Report an unexpected error as a bug, with the path of its log."""
    from perceptron_lab.experiments.provenance.environment import masked, packages

    described = [
        f"plab {' '.join(masked(sys.argv[1:]))}",
        datetime.now(UTC).isoformat(timespec="seconds"),
        f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}",
        ", ".join(f"{name} {version}" for name, version in packages().items()),
        "",
        *traceback.format_exception(error),
    ]
    text = visible("\n".join(described))
    echo(f"Error: a bug of plab: {type(error).__name__}: {error}", err=True)
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", prefix="plab-", suffix=".log", delete=False
        ) as file:
            file.write(text)
    except OSError:
        # Without a folder for temporary files the log is still seen
        echo(text, err=True)
    else:
        echo(f"Error: please report it with this log: {file.name}", err=True)


if __name__ == "__main__":
    sys.exit(main())
