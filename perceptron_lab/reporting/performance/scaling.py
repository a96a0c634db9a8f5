"""How the time to an answer grows with the rows, or with the dimension."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.errors import DataError
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.drawing import (
    STYLE,
    Look,
    canvas,
    cross_handle,
    legend_above,
    looks,
    points,
    quartile_bar,
    rule_logarithmic,
)
from perceptron_lab.reporting.summary import Summary, shape_of

MOST_PANELS = 6
"""The most panels that are drawn: three beside each other, in two rows."""
_BESIDE = 3


_Size = Literal["rows", "dimension"]


class Series(NamedTuple):
    """Problems of one kind that differ in one size alone.

    Parameters
    ----------
    kind
        Their name, with a star in the place of the shape.
    size
        The one in which they differ.
    fixed
        The other one.
    problems
        The varying size -> the problem of that shape.
    """

    kind: str
    size: _Size
    fixed: int
    problems: dict[int, str]

    @property
    def title(self) -> str:
        """What they have in common."""
        fixed = f"dimension {self.fixed}" if self.size == "rows" else f"{self.fixed} rows"
        return f"{self.kind}, {fixed}"


def scaling(evidence: Evidence) -> Figure:
    """Draw seconds against the rows for each dimension, and against the dimension, on log axes.

    A panel holds problems whose names differ in their shape alone, as do reflected-100x5000-0.3 and
    reflected-100x50000-0.3: those of one dimension with several numbers of rows, or of one number
    of rows with several dimensions. Markers are medians over the seeds, joined by a line per label;
    bars reach from the lower to the upper quartile. A cross is a median over cells of which some
    have no proved answer, at the lower edge where there is no number at all: at a limit, the number
    is where the run was cut off. Of more than six panels the first six are drawn, and the figure
    says so.

    Raises
    ------
    DataError
        If a problem has several shapes, or no two problems differ in rows or dimension alone.
    """
    runs = evidence.frame
    found = series_of(runs)
    drawn = found[:MOST_PANELS]
    known = looks(list(runs["label"].unique()))
    columns = min(_BESIDE, len(drawn))
    lines = -(-len(drawn) // columns)
    with style.context(STYLE):
        figure = canvas(max(3.8, 2.6 * columns), 0.6 + 2.4 * lines)
        panels = list(figure.subplots(lines, columns, squeeze=False, sharey=True).flat)
        entries = [
            entry
            for axes, series in zip(panels, drawn, strict=False)
            for entry in _panel(axes, runs, series, known)
        ]
        for axes in panels[len(drawn) :]:
            axes.remove()
        legend_above(figure, _handles(entries, known))
        if len(drawn) < len(found):
            figure.supxlabel(f"the first {len(drawn)} of {len(found)} panels", fontsize=7)
    return figure


def series_of(runs: pd.DataFrame) -> list[Series]:
    """Return the problems of each kind and dimension by their rows, and likewise the other way.

    Parameters
    ----------
    runs
        The checked table of runs.

    Raises
    ------
    DataError
        If a problem has several shapes, or no two of a kind differ in rows or dimension alone.
    """
    grown: dict[tuple[_Size, str, int], dict[int, str]] = {}
    for problem, (dimension, rows) in sorted(shape_of(runs).items(), key=lambda pair: pair[1]):
        kind = re.sub(rf"(?<![0-9]){dimension}x{rows}(?![0-9])", "*", problem)
        grown.setdefault(("rows", kind, dimension), {})[rows] = problem
        grown.setdefault(("dimension", kind, rows), {})[dimension] = problem
    found = [Series(kind, size, fixed, of) for (size, kind, fixed), of in grown.items()]
    several = [series for series in found if len(series.problems) > 1]
    if not several:
        raise DataError(
            "scaling: no two problems differ in the rows of their shape alone, or in its dimension "
            "alone; it draws sweeps such as reflected-100x5000-0.3, reflected-100x50000-0.3"
        )
    return sorted(several, key=lambda series: (series.size == "dimension", series[:3]))


def _panel(axes: Axes, runs: pd.DataFrame, series: Series, known: dict[str, Look]) -> list[Summary]:
    """Draw one panel and return what it shows."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title(series.title, loc="left")
    axes.set_xlabel(series.size)
    axes.set_ylabel("seconds")
    shown = []
    for label, look in known.items():
        mine = [
            (float(size), _summary(runs, label, problem))
            for size, problem in series.problems.items()
        ]
        _draw(axes, label, mine, look)
        shown += [entry for _, entry in mine]
    for which in ("x", "y"):
        rule_logarithmic(axes, which)
    return shown


def _summary(runs: pd.DataFrame, label: str, problem: str) -> Summary:
    mine = (runs["label"] == label) & (runs["problem"] == problem)
    return Summary(problem, label, runs[mine])


def _draw(axes: Axes, label: str, entries: Sequence[tuple[float, Summary]], look: Look) -> None:
    heights = [(x, entry.median("seconds"), entry.answered) for x, entry in entries]
    line = [(x, y) for x, y, _ in heights if y]
    axes.plot(
        [x for x, _ in line],
        [y for _, y in line],
        color=look["color"],
        linestyle=look["linestyle"],
        linewidth=0.8,
    )
    for x, entry in entries:
        quartile_bar(axes, x, entry.runs["seconds"], look["color"])
    answers = [(x, y) for x, y, answered in heights if answered]
    others = [(x, y) for x, y, answered in heights if not answered]
    points(axes, answers, f"{label} proved", look, markersize=3.5)
    points(axes, others, f"{label} not proved", {**look, "marker": "x"}, markersize=5)


def _handles(entries: Sequence[Summary], known: dict[str, Look]) -> list[Line2D]:
    handles = [
        Line2D([], [], label=label, markersize=3.5, linewidth=0.8, **look)
        for label, look in known.items()
    ]
    proved = all(entry.answered for entry in entries)
    return handles if proved else [*handles, cross_handle()]
