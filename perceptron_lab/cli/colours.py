"""Statuses in colour, for lines that ``click.echo`` prints."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from perceptron_lab.experiments.running.colours import colour_of

if TYPE_CHECKING:
    from perceptron_lab.experiments.running.colours import Word


def coloured(word: Word) -> str:
    """Return a status with the codes of its colour, which ``click.echo`` drops in pipes and files.

    A variable NO_COLOR that is not empty forbids them.
    """
    return word.value if os.environ.get("NO_COLOR") else click.style(word.value, fg=colour_of(word))
