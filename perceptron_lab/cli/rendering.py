"""Tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from perceptron_lab.cli.echo import is_quiet
from perceptron_lab.experiments.running.console import VisibleConsole

if TYPE_CHECKING:
    import pandas as pd

_WIDTH = 240
"""Columns of a line that goes to a file or a pipe."""
_LONGEST = 44
"""Letters in a line of a cell of text."""
_KEYS = ("problem", "label")
"""Columns that tell the lines of a table apart, as far as it has them; otherwise the first does."""


@dataclass(frozen=True)
class _Column:
    header: str
    cells: list[str]
    justify: Literal["left", "right"]


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of text, which may be wrapped."""
    if is_quiet():
        return
    table = _empty(title)
    for column in columns:
        # Folded, as rich would cut long names
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    _console().print(table)


def show_frame(title: str, frame: pd.DataFrame) -> None:
    """Print a DataFrame with numbers right-aligned and without empty columns.

    What is wider than the terminal is printed in parts, each beginning with the columns that tell
    the lines apart.
    """
    if is_quiet():
        return
    import pandas as pd

    console = _console()
    keys, columns = [], []
    for name in frame.columns:
        cells = [_text(value) for value in frame[name]]
        numeric = pd.api.types.is_numeric_dtype(frame[name])
        column = _Column(str(name), cells, "right" if numeric else "left")
        if name in _KEYS:
            keys.append(column)
        elif any(cells):
            columns.append(column)
    if not keys:
        keys, columns = columns[:1], columns[1:]
    console.print(title)
    for part in _parts(keys, columns, console):
        console.print(_table(part))


def _parts(
    keys: Sequence[_Column], columns: Sequence[_Column], console: Console
) -> list[list[_Column]]:
    """Split the columns into parts that fit the console, each with the key columns."""
    parts = [[*keys, *columns[:1]]]
    for column in columns[1:]:
        table = _table([*parts[-1], column])
        if Measurement.get(console, console.options, table).maximum < console.width:
            parts[-1].append(column)
        else:
            parts.append([*keys, column])
    return parts


def _table(columns: Sequence[_Column]) -> Table:
    table = _empty("")
    for column in columns:
        # One word of a header per line, so that the numbers decide how wide a column is.
        header = "\n".join(column.header.split())
        table.add_column(header, justify=column.justify, no_wrap=True)
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*row)
    return table


def _empty(title: str) -> Table:
    return Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)


def _console() -> Console:
    # Names may have square brackets, which are rich's markup
    console = VisibleConsole(highlight=False, markup=False)
    if not console.is_terminal:
        # For files and pipes rich takes 80 columns
        console.width = _WIDTH
    return console


def _text(value: Any) -> str:
    import pandas as pd

    if pd.isna(value):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else fill(str(value), _LONGEST)
