"""Tables as elements of a page: few bytes per cell, heads that a script can make into buttons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import plain

PAPERS = ("thesis", "paper")
"""The words in a column's name that say that its values are printed in a paper."""


@dataclass(frozen=True)
class Head:
    """The head of a column.

    Parameters
    ----------
    text
        Its name.
    number
        Whether its cells are numbers, which stand at the right.
    group
        The name above it and its neighbours of the same group.
    paper
        Whether its values are a paper's.
    kept
        Whether it is shown from the beginning, where columns can be chosen.
    """

    text: str
    number: bool = False
    group: str = ""
    paper: bool = False
    kept: bool = True


def table_markup(
    caption: str,
    heads: Sequence[Head],
    lines: Iterable[Sequence[str]],
    keys: int = 1,
    kind: str = "",
) -> str:
    """Return a table with a caption; end tags that HTML does not need are left out.

    Parameters
    ----------
    caption
        As text.
    heads
        Of the columns.
    lines
        Of cells, which are markup already.
    keys
        How many of the first columns name their line; the last of them is its head.
    kind
        A further class.
    """
    hidden = " ".join(str(place) for place, head in enumerate(heads) if not head.kept)
    hides = f' data-hidden="{hidden}"' if hidden else ""
    style = _styles(heads)
    opened = f'<table class="data{f" {kind}" if kind else ""}{style}"{hides}>'
    body = "\n".join("<tr>" + _line(cells, keys) for cells in lines)
    return (
        f"{_region(caption)}{opened}<caption>{escape(caption)}</caption>"
        f"<thead>{_groups(heads)}<tr>{''.join(map(_head, heads))}</thead>\n"
        f"<tbody>\n{body}</tbody></table></div>"
    )


def _region(caption: str) -> str:
    """Return the start of the region in which a wide table is scrolled, also by the keyboard."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}">'


def _styles(heads: Sequence[Head]) -> str:
    """Return the classes that say which columns hold text: the others stand at the right."""
    return "".join(f" l{place}" for place, head in enumerate(heads, 1) if not head.number)


def _line(cells: Sequence[str], keys: int) -> str:
    named = [*(f"<td>{cell}" for cell in cells[: keys - 1]), f'<th scope="row">{cells[keys - 1]}']
    return "".join([*named, *(f"<td>{cell}" for cell in cells[keys:])])


def _head(head: Head) -> str:
    classes = ' class="paper"' if head.paper else ""
    return f'<th scope="col"{classes}>{escape(head.text)}'


def _groups(heads: Sequence[Head]) -> str:
    """Return the row of the groups' names; empty where there are none."""
    if not any(head.group for head in heads):
        return ""
    cells = []
    for group, together in groupby(heads, key=lambda head: head.group):
        width = len(list(together))
        scope = ' scope="colgroup"' if group else ""
        cells.append(
            f'<th{scope} colspan="{width}">{escape(group)}' if group else f'<td colspan="{width}">'
        )
    return f"<tr>{''.join(cells)}"


def report_table(table: Table, caption: str) -> str:
    """Return a table of a report with its notes, in the rounding of its print."""
    columns = table.printed
    heads = [
        Head(
            column.plain_head,
            column.align == "r",
            column.group,
            any(word in f"{column.group} {column.name}".lower() for word in PAPERS),
        )
        for column in columns
    ]
    shown = []
    for column in columns:
        cells = [escape(plain(cell), quote=False) for cell in column.shown or ()]
        bold = column.bold or [False] * len(cells)
        shown.append(
            [f"<b>{cell}</b>" if one else cell for cell, one in zip(cells, bold, strict=True)]
        )
    notes = "".join(f"<p>{escape(plain(note), quote=False)}</p>" for note in table.notes)
    return table_markup(caption, heads, zip(*shown, strict=True), table.keys) + notes
