"""A table of one line per problem and label: once for the CSV, once for LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pandas as pd

from perceptron_lab.reporting.printing import typesetting
from perceptron_lab.reporting.printing.typesetting import escape
from perceptron_lab.reporting.summary import shape_of

_MANY = 9
"""From so many columns on, print is smaller, so that a page is wide enough."""

Value = str | float | int | bool | None


class Printable(Protocol):
    """What every table of a report can do."""

    @property
    def frame(self) -> pd.DataFrame:
        """The table with full precision, for CSV and the terminal."""
        ...

    def latex(self, title: str) -> str:
        """Return the table for LaTeX, under a caption whose special characters are escaped."""
        ...


@dataclass(frozen=True)
class Column:
    """One column.

    Parameters
    ----------
    name
        In the CSV, and at its head in print.
    values
        With full precision, line by line; None for a column that is only printed.
    shown
        In LaTeX, line by line; None for a column that is only in the CSV.
    align
        How LaTeX sets it: ``r`` for numbers; ``l``, or a paragraph of given width, for text.
    """

    name: str
    values: Sequence[Value] | None
    shown: Sequence[str] | None
    align: str = "r"

    @property
    def series(self) -> pd.Series:
        """The values as texts, truth values, whole numbers or reals; missing where None."""
        present = [value for value in self.values or () if value is not None]
        if self.align != "r" or any(isinstance(value, str) for value in present):
            return pd.Series(["" if v is None else str(v) for v in self.values or ()], dtype=str)
        if present and all(isinstance(value, bool) for value in present):
            return pd.Series([bool(value) for value in present], dtype=bool)
        numbers = [None if value is None else float(value) for value in self.values or ()]
        reals = pd.Series(numbers, dtype="Float64")
        # Medians of counts are whole numbers, unless one lies between two of them.
        return reals.astype("Int64") if all(float(v).is_integer() for v in present) else reals


def texts(name: str, values: Iterable[str]) -> Column:
    """Return a column of text."""
    listed = list(values)
    return Column(name, listed, [escape(value) for value in listed], align="l")


def counts(name: str, values: Iterable[float | None]) -> Column:
    """Return a column of counts, or medians of them."""
    return _numbers(name, values, typesetting.count)


def seconds(name: str, values: Iterable[float | None]) -> Column:
    """Return a column of seconds."""
    return _numbers(name, values, typesetting.seconds)


def reals(name: str, values: Iterable[float | None]) -> Column:
    """Return a column of numbers."""
    return _numbers(name, values, typesetting.real)


def lower_bounds(name: str, values: Iterable[float | None]) -> Column:
    """Return a column of proved lower bounds; what is printed of them is proved as well."""
    return _numbers(name, values, typesetting.lower_bound)


def upper_bounds(name: str, values: Iterable[float | None]) -> Column:
    """Return a column of proved upper bounds; what is printed of them is proved as well."""
    return _numbers(name, values, typesetting.upper_bound)


def shapes(runs: pd.DataFrame, problems: Sequence[str], size: str = "rows") -> list[Column]:
    """Return the columns ``dimension`` and ``rows`` (or what ``size`` calls it) of problems.

    Raises
    ------
    DataError
        If one problem has several shapes.
    """
    known = shape_of(runs)
    pairs = [known.get(problem, (None, None)) for problem in problems]
    return [
        counts("dimension", [dimension for dimension, _ in pairs]),
        counts(size, [constraints for _, constraints in pairs]),
    ]


def _numbers(
    name: str, values: Iterable[float | None], show: Callable[[float | None], str]
) -> Column:
    listed = list(values)
    return Column(name, listed, [show(value) for value in listed])


@dataclass(frozen=True)
class Table:
    """Columns of equal length, with notes below.

    Parameters
    ----------
    name
        As in a configuration.
    columns
        The columns. Where a line has the same values in the first ``grouped`` of them as the line
        above, print leaves them out; a new value in the first begins a new group.
    grouped
        How many columns are left out when they repeat themselves.
    notes
        Sentences below the table, in LaTeX.
    """

    name: str
    columns: list[Column]
    grouped: int = 1
    notes: list[str] = field(default_factory=list)

    @property
    def frame(self) -> pd.DataFrame:
        """The columns that have values, with full precision."""
        return pd.DataFrame({c.name: c.series for c in self.columns if c.values is not None})

    def latex(self, title: str) -> str:
        r"""Return a ``longtable``; the preamble needs ``\usepackage{booktabs,longtable}``.

        Parameters
        ----------
        title
            The caption; special characters are escaped.
        """
        printed = [column for column in self.columns if column.shown is not None]
        size = "footnotesize" if len(printed) < _MANY else "scriptsize"
        heads = " & ".join(escape(column.name) for column in printed)
        lines = [
            "% needs \\usepackage{booktabs,longtable}",
            f"{{\\{size}\\setlength{{\\tabcolsep}}{{2.5pt}}",
            f"\\begin{{longtable}}{{{''.join(c.align for c in printed)}}}",
            f"\\caption{{{escape(title)}}}\\label{{tab:{self.name}}}\\\\",
            "\\toprule",
            f"{heads} \\\\",
            "\\midrule",
            "\\endfirsthead",
            "\\toprule",
            f"{heads} \\\\",
            "\\midrule",
            "\\endhead",
            *self._body([list(column.shown or ()) for column in printed]),
            "\\bottomrule",
            "\\end{longtable}",
            *self.notes,
            "}",
        ]
        return "\n".join(lines) + "\n"

    def _body(self, columns: list[list[str]]) -> Iterator[str]:
        above: tuple[str, ...] = ()
        for line in zip(*columns, strict=True):
            if above and line[0] != above[0]:
                yield "\\addlinespace"
            repeated = line[: self.grouped] == above[: self.grouped]
            kept = ["" if repeated and i < self.grouped else cell for i, cell in enumerate(line)]
            yield " & ".join(kept) + " \\\\"
            above = line


def in_bold(column: Column, groups: Sequence[str], counted: Sequence[bool]) -> Column:
    r"""Return a column with the least number of each group in bold, ties included.

    Parameters
    ----------
    column
        Of numbers.
    groups
        The group of each line.
    counted
        Which lines take part: answers that are proved. A group of one such line has nothing bold.
    """
    values, shown = list(column.values or ()), list(column.shown or ())
    for group in dict.fromkeys(groups):
        lines = [i for i, g in enumerate(groups) if g == group and counted[i]]
        rivals = [i for i in lines if values[i] is not None]
        if len(rivals) < 2:
            continue
        best = shown[min(rivals, key=lambda i: float(values[i] or 0.0))]
        for i in rivals:
            if shown[i] == best:
                shown[i] = f"\\textbf{{{best}}}"
    return Column(column.name, column.values, shown, column.align)
