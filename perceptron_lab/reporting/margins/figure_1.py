"""Figure 1 of `YuKilincCarbonell2014`: what the difficulty of a system costs each algorithm."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
from perceptron_lab.reporting.summary import Summary, shape_of, summaries

_NAME = re.compile(r"reflected-[0-9]+x[0-9]+-([0-9.e+-]+)")


def figure_1(evidence: Evidence) -> Figure:
    """Draw seconds and iterations against the difficulty kappa, on logarithmic axes.

    Reflected rows of difficulty kappa have margins in proportion to it: the smaller, the harder.
    Markers are medians over the seeds, joined by a line per label; bars reach from the lower to the
    upper quartile. A cross is a median over cells of which some are not proved feasible, at the
    lower edge where there is no number at all: at a limit, the number is where the run was cut off.

    Parameters
    ----------
    evidence
        Of runs on problems such as ``reflected-100x5000-0.3``, whose name ends with kappa.

    Raises
    ------
    DataError
        If a problem has another name, or the problems have several shapes.
    """
    shapes = set(shape_of(evidence.frame).values())
    if len(shapes) > 1:
        raise DataError(
            f"figure_1: problems of {len(shapes)} shapes {sorted(shapes)}; it draws one shape, "
            "put the others into an experiment of their own"
        )
    entries = summaries(evidence.frame)
    labels = list(evidence.frame["label"].unique())
    with style.context(STYLE):
        figure = canvas(7.0, 3.0)
        left, right = figure.subplots(1, 2, sharex=True)
        for axes, column, name in (
            (left, "seconds", "seconds"),
            (right, "updates", "iterations"),
        ):
            _panel(axes, entries, column, looks(labels))
            axes.set_ylabel(name)
        legend_above(figure, _handles(entries, looks(labels)))
    return figure


def difficulty(problem: str) -> float:
    """Return kappa of a problem, from its name.

    Raises
    ------
    DataError
        If the name is not that of reflected rows.
    """
    found = _NAME.fullmatch(problem)
    try:
        return float(found[1] if found else "")
    except ValueError:
        raise DataError(
            f"figure_1: the problem {problem!r} has no difficulty in its name; it draws problems "
            "such as reflected-100x5000-0.3 (dataset margin-sets, family reflected)"
        ) from None


def _panel(axes: Axes, entries: Sequence[Summary], column: str, known: dict[str, Look]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("difficulty $\\kappa$ (smaller is harder)")
    for label, look in known.items():
        mine = [(difficulty(entry.problem), entry) for entry in entries if entry.label == label]
        mine.sort(key=lambda pair: pair[0])
        heights = [(x, entry.median(column), entry) for x, entry in mine]
        line = [(x, y) for x, y, _ in heights if y]
        colour, style = look["color"], look["linestyle"]
        axes.plot(*_coordinates(line), color=colour, linestyle=style, linewidth=0.8)
        for x, entry in mine:
            quartile_bar(axes, x, entry.runs[column], colour)
        answers = [(x, y) for x, y, entry in heights if entry.feasible]
        others = [(x, y) for x, y, entry in heights if not entry.feasible]
        points(axes, answers, f"{label} proved", look, markersize=3.5)
        points(axes, others, f"{label} not proved", {**look, "marker": "x"}, markersize=5)
    for which in ("x", "y"):
        rule_logarithmic(axes, which)


def _coordinates(points: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _handles(entries: Sequence[Summary], known: dict[str, Look]) -> list[Line2D]:
    handles = [
        Line2D([], [], label=label, markersize=3.5, linewidth=0.8, **look)
        for label, look in known.items()
    ]
    proved = all(entry.feasible for entry in entries)
    return handles if proved else [*handles, cross_handle()]
