"""Distribution of the line width among the columns of a table, in points of LaTeX.

Widths are estimated for Computer Modern of 7 points, and rather too large than too small.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil
from typing import Final

from perceptron_lab.reporting.printing.columns import Column
from perceptron_lab.reporting.printing.typesetting import plain

UPRIGHT: Final = 345.0
"""The width of a line of LaTeX's article in 10 points; other classes have wider ones."""
LANDSCAPE: Final = 550.0
"""The height of its page, the width of a line in landscape."""
# Twice the tabcolsep of 2.5 points that the tables set
_BETWEEN = 5.0
# A point of TeX is 1/72.27 of an inch
_MILLIMETRE = 72.27 / 25.4
_STACKED = re.compile(r"\\shortstack(?:\[.\])?\{(.*)\}$")
# Where a cell may be broken: breakable lets LaTeX break after underscores too
_BREAKS = re.compile(r"(?<=[-_ ])")
_CLASSES = ("ijlft.,'|:;! ", "mwMW%", "⁰¹²³⁴⁵⁶⁷⁸⁹", "·≤≥<+=⁻⁺ᵉ")
_WIDTHS = dict.fromkeys(_CLASSES[0], 2.5) | dict.fromkeys(_CLASSES[1], 6.7)
_WIDTHS |= dict.fromkeys(_CLASSES[2], 3.6) | dict.fromkeys(_CLASSES[3], 6.0)
_CAPITAL, _OTHER = 5.8, 4.2
# Bold letters of Computer Modern are about this much wider
_BOLD = 1.15


def formats(columns: Sequence[Column], line: float) -> list[str] | None:
    """Return how LaTeX sets each column of a tabular within a line; None if it cannot.

    Columns of text that are too wide together become paragraphs, the widest first.
    """
    natural = [_natural(column) for column in columns]
    least = [_least(column, width) for column, width in zip(columns, natural, strict=True)]
    room = line - _BETWEEN * len(columns)
    if sum(least) > room:
        return None
    cap = max(natural)
    while sum(widths := [max(w, min(cap, n)) for w, n in zip(least, natural, strict=True)]) > room:
        # The widest columns give way first: narrow ones have little to give
        cap -= 1
    return [
        f">{{\\raggedright\\arraybackslash}}p{{{width:.0f}pt}}" if width < full else column.align
        for column, width, full in zip(columns, widths, natural, strict=True)
    ]


def parts(columns: Sequence[Column], keys: int) -> Iterator[list[Column]]:
    """Divide the columns so that each part fits a line in landscape, as far as one group does.

    Parameters
    ----------
    columns
        Of a table.
    keys
        How many of the first name the lines: every part has them, and a label that follows.
    """
    # A line without its label cannot be told from the others of its problem
    keys += any(column.name == "label" for column in columns[keys : keys + 1])
    part = leading = list(columns[:keys])
    for _, together in groupby(columns[keys:], key=lambda column: column.group or column.name):
        group = list(together)
        # A group wider than a page still has a part of its own: groups are not torn apart
        if part != leading and formats([*part, *group], LANDSCAPE) is None:
            yield part
            part = leading
        part = part + group
    yield part


def height(columns: Sequence[Column]) -> int:
    """Return how many lines a tabular has, with its head and its rules."""
    widths = [_natural(column) for column in columns]
    lines = zip(*(column.shown or () for column in columns), strict=True)
    return 4 + sum(
        max(ceil(_width(plain(cell)) / width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


def breakable(cell: str) -> str:
    """Return a cell of a paragraph with line breaks allowed after underscores."""
    return cell.replace("\\_", "\\_\\allowbreak{}")


def _natural(column: Column) -> float:
    """Return the width of a column that is not broken, or of its paragraphs."""
    paragraph = re.fullmatch(r"p\{(\d+)mm\}", column.align)
    if paragraph:
        return int(paragraph[1]) * _MILLIMETRE
    bold = column.bold or [False] * len(column.shown or ())
    cells = zip(column.shown or (), bold, strict=True)
    return max(_head(column), *(_width(plain(c)) * (_BOLD if b else 1) for c, b in cells), 1.0)


def _least(column: Column, natural: float) -> float:
    """Return the least width of a column; a text column may be as narrow as its longest word."""
    # Numbers are never broken
    if column.align.startswith("r"):
        return natural
    words = (word for cell in column.shown or () for word in _BREAKS.split(plain(cell)))
    return min(natural, max(_head(column), *map(_width, words), 0.0))


def _head(column: Column) -> float:
    stacked = _STACKED.fullmatch(column.tex_head)
    return max(
        _width(plain(line)) for line in (stacked[1] if stacked else column.tex_head).split(r"\\")
    )


def _width(text: str) -> float:
    return sum(
        _WIDTHS.get(character, _CAPITAL if character.isupper() else _OTHER) for character in text
    )
