"""Statuses in colour, for lines that :func:`echo` prints."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from perceptron_lab.cli.echo import Coloured
from perceptron_lab.experiments.running.colours import colour_of

if TYPE_CHECKING:
    from perceptron_lab.experiments.running.colours import Word


def coloured(word: Word) -> Coloured:
    """Return a status with the codes of its colour, which ``click.echo`` drops in pipes and files.

    A variable NO_COLOR that is not empty forbids them.
    """
    if os.environ.get("NO_COLOR"):
        return Coloured(word.value)
    return Coloured(click.style(word.value, fg=colour_of(word)))
