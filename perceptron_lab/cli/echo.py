"""Terminal output of the commands, except tables and progress bars."""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from perceptron_lab.core.visible_text import visible

if TYPE_CHECKING:
    from perceptron_lab.core.results import StatusWord


_QUIET: Final = f"{__name__}.quiet"
_VERBOSE: Final = f"{__name__}.verbose"


def _flag_set(name: str) -> bool:
    # Called from Python, outside of a command, there is no context
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(name))


def is_quiet() -> bool:
    """Return whether the command runs with ``-q`` and prints errors and JSON only."""
    return _flag_set(_QUIET)


def is_verbose() -> bool:
    """Return whether the command runs with ``-v``."""
    return _flag_set(_VERBOSE)


def choose(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Store the option ``-q`` or ``-v`` of a command.

    With ``-v`` the log is printed on stderr; with ``-q`` warnings of the log are not.
    """
    if not value:
        return
    context.meta[_QUIET if parameter.name == "quiet" else _VERBOSE] = True
    handler, verbose = _Echo(logging.INFO), parameter.name == "verbose"
    logger = logging.getLogger(__name__.partition(".")[0])
    level = logger.level
    logger.setLevel(logging.INFO if verbose else logging.ERROR)
    if verbose:
        logger.addHandler(handler)

    def restore() -> None:
        logger.removeHandler(handler)
        logger.setLevel(level)

    # The logger outlives the command where commands are called from Python
    context.call_on_close(restore)


class _Echo(logging.Handler):
    """Prints the package's log on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        echo(self.format(record), err=True)


def print_json(value: object) -> None:
    """Print JSON values, also with ``-q``; infinities and NaN become null."""
    click.echo(visible(json.dumps(_finite(value), indent=2)))


def _finite(value: object) -> Any:
    """Return JSON values with null for infinities and NaN, which JSON lacks."""
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Coloured(str):
    """Text with the codes of a colour, which reach the terminal."""

    __slots__ = ()


def echo(*parts: str, err: bool = False, nl: bool = True, always: bool = False) -> None:
    """Print a line; control characters are escaped except in :class:`Coloured` parts.

    Parameters
    ----------
    parts
        Of the line, printed one behind the other.
    err
        Whether it goes to stderr; what does not is left out with ``-q``.
    nl
        Whether a line feed follows.
    always
        Whether it is printed with ``-q`` as well.
    """
    if is_quiet() and not (err or always):
        return
    visible_parts = [part if isinstance(part, Coloured) else visible(part) for part in parts]
    click.echo("".join(visible_parts), err=err, nl=nl)


def deprecated(former: str, present: str) -> None:
    """Warn that an old spelling is deprecated, unless ``-q`` is set."""
    if not is_quiet():
        echo(f"warning: {former} is deprecated; use {present}", err=True)


def coloured(word: StatusWord) -> Coloured:
    """Return a status with the codes of its colour, which ``click.echo`` drops in pipes and files.

    A variable NO_COLOR that is not empty forbids them.
    """
    if os.environ.get("NO_COLOR"):
        return Coloured(word.value)
    return Coloured(click.style(word.value, fg=word.colour))
