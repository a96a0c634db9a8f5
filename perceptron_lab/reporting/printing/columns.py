"""The columns of a table: values with full precision, and their cells in print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from perceptron_lab.reporting.printing import typesetting
from perceptron_lab.reporting.printing.typesetting import escape, plain
from perceptron_lab.reporting.summary import Summary, shape_of

Value = str | float | int | bool | None


@dataclass(frozen=True)
class Column:
    """One column.

    Parameters
    ----------
    name
        In the CSV.
    values
        With full precision, line by line; None for a column that is only printed.
    shown
        In print, line by line, in TeX; None for a column that is only in the CSV.
    align
        How LaTeX sets it: ``r`` for numbers; ``l``, or a paragraph of given width, for text.
    head
        At its head in print, in TeX; by default the name, one word below the other.
    group
        Columns of one group stay together where a table is wider than a page, and have its name
        above their heads.
    bold
        Which cells are in bold; by default none.
    whole
        Whether numbers that are all whole are written without a decimal point in the CSV.
    """

    name: str
    values: Sequence[Value] | None
    shown: Sequence[str] | None
    align: str = "r"
    head: str = ""
    group: str = ""
    bold: Sequence[bool] = ()
    whole: bool = True

    @property
    def plain_head(self) -> str:
        """The head as plain text."""
        return plain(self.head) or self.name.removeprefix(f"{self.group} ")

    @property
    def tex_head(self) -> str:
        """The head in TeX, with one word per line."""
        # One word below the other: heads are mostly wider than the numbers below them
        words = [escape(word) for word in self.plain_head.split()]
        if self.head or len(words) < 2:
            return self.head or "".join(words)
        return f"\\shortstack[{self.align[0]}]{{" + "\\\\".join(words) + "}"

    @property
    def series(self) -> pd.Series:
        """The values as texts, truth values, whole numbers or reals; missing where None."""
        present = [value for value in self.values or () if value is not None]
        # Numbers and texts in one column make it text: the CSV then shows every value as it is
        if self.align != "r" or any(isinstance(value, str) for value in present):
            return pd.Series(["" if v is None else str(v) for v in self.values or ()], dtype=str)
        if present and all(isinstance(value, bool) for value in present):
            return pd.Series([bool(value) for value in present], dtype=bool)
        numbers = [None if value is None else float(value) for value in self.values or ()]
        reals = pd.Series(numbers, dtype="Float64")
        # Medians of counts are whole numbers, unless one lies between two of them.
        integral = self.whole and all(float(value).is_integer() for value in present)
        return reals.astype("Int64") if integral else reals


def texts(name: str, values: Iterable[str]) -> Column:
    """Return a column of text."""
    listed = list(values)
    return Column(name, listed, [escape(value) for value in listed], align="l")


def numbers(
    name: str,
    values: Iterable[float | None],
    show: Callable[[float | None], str] = typesetting.real,
) -> Column:
    """Return a column of numbers, by default printed with three digits."""
    listed = list(values)
    return Column(name, listed, [show(value) for value in listed])


def counts(name: str, values: Iterable[float | None]) -> Column:
    """Return a column of counts, or medians of them."""
    return numbers(name, values, typesetting.count)


def seconds(name: str, values: Iterable[float | None]) -> Column:
    """Return a column of seconds."""
    return numbers(name, values, typesetting.seconds)


def cells(runs: pd.DataFrame, entries: Sequence[Summary], size: str = "rows") -> list[Column]:
    """Return ``problem``, ``dimension``, ``rows`` (or as ``size`` says), ``label``, ``seeds``."""
    shapes = shape_of(runs)
    pairs = [shapes.get(entry.problem, (None, None)) for entry in entries]
    return [
        texts("problem", [entry.problem for entry in entries]),
        counts("dimension", [dimension for dimension, _ in pairs]),
        counts(size, [constraints for _, constraints in pairs]),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
    ]


def medians(
    entries: Sequence[Summary], names: Iterable[str], rivals: Sequence[bool] = ()
) -> list[Column]:
    """Return medians of ``queries``, ``iterations``, ``products`` or ``seconds`` over the seeds.

    The least of each problem is in bold among the lines that are rivals; by default there are none.
    """
    problems = [entry.problem for entry in entries]
    columns = []
    for name in names:
        column, show = _COSTS[name]
        medians_column = numbers(name, [entry.median(column) for entry in entries], show)
        columns.append(in_bold(medians_column, problems, rivals or [False] * len(problems)))
    return columns


# Name -> column of the runs, and how its medians are printed
_COSTS = {
    "queries": ("queries", typesetting.count),
    # Changes of the point
    "iterations": ("updates", typesetting.count),
    "products": ("products", typesetting.real),
    "seconds": ("seconds", typesetting.seconds),
}


def in_bold(column: Column, groups: Sequence[str], counted: Sequence[bool]) -> Column:
    """Return a column of numbers with the least of each group in bold, ties in print included.

    Those lines take part that are counted, as their answers are proved. A group of one such line
    has nothing bold.
    """
    values, texts = column.values or (), column.shown or ()
    bold = [False] * len(texts)
    for group in dict.fromkeys(groups):
        lines = [i for i, g in enumerate(groups) if g == group and counted[i]]
        rivals = [i for i in lines if values[i] is not None]
        if len(rivals) > 1:
            # Numbers that are printed alike are ties.
            best = texts[min(rivals, key=lambda i: float(values[i] or 0.0))]
            for i in rivals:
                bold[i] = texts[i] == best
    return replace(column, bold=bold)
