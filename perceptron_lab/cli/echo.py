"""Lines on the terminal: all that a command prints, but tables and progress, passes here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from perceptron_lab.core.visible_text import visible

if TYPE_CHECKING:
    from perceptron_lab.core.results import StatusWord


class Coloured(str):
    """Text with the codes of a colour, which reach the terminal."""

    __slots__ = ()


def echo(*parts: str, err: bool = False, nl: bool = True) -> None:
    """Print a line; only a :class:`Coloured` part keeps its codes, all other text is made visible.

    Parameters
    ----------
    parts
        Of the line, printed one behind the other.
    err
        Whether it goes to stderr.
    nl
        Whether a line feed follows.
    """
    shown = [part if isinstance(part, Coloured) else visible(part) for part in parts]
    click.echo("".join(shown), err=err, nl=nl)


def coloured(word: StatusWord) -> Coloured:
    """Return a status with the codes of its colour, which ``click.echo`` drops in pipes and files.

    A variable NO_COLOR that is not empty forbids them.
    """
    if os.environ.get("NO_COLOR"):
        return Coloured(word.value)
    return Coloured(click.style(word.value, fg=word.colour))
