"""Table 8.1 of `Kharechko2009` as a figure: average precision per category, with its spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import learners_among, needs
from perceptron_lab.reporting.papers.thesis.table_8_1.precisions import (
    HARD,
    SVM,
    Entry,
    entries,
    mean_spread,
    thesis_column,
    thesis_precisions,
)
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look
from perceptron_lab.reporting.summary import by_label

MEAN = "mean"
"""The last line: the mean over the categories."""
_LOOK: dict[str, Any] = {"color": "black", "linestyle": "none", "markeredgewidth": 1.2}


class Printed(NamedTuple):
    """A column of the thesis's table, with its name in the legend and its marker."""

    column: str
    name: str
    marker: str


def _printed(hard: bool, components: int | None) -> Printed | None:
    """Return the thesis's column for a panel, if it has one."""
    column = thesis_column(HARD if hard else SVM, components)
    names = {
        "ellipsoid_k30": ("thesis, ellipsoid k30", "x"),
        "svm_k30": ("thesis, SVM k30", "+"),
        "svm_n20494": ("thesis, SVM full", "+"),
    }
    return Printed(column, *names[column]) if column else None


@needs(learners_among)
def table_8_1(evidence: Evidence) -> Figure:
    """Average precision per category, ours and the thesis's, with the spread over first pivots.

    A panel per number of features, hard ellipsoids in one of their own; a line per category, and
    the last one for the mean. Markers are means over the seeds, bars reach from the lowest to the
    highest seed, each of which draws a first pivot; black crosses are the thesis's Table 8.1. A
    category without a result in every cell has no marker.
    """
    labels = by_label(entries(evidence))
    problems = [entry.problem for entry in next(iter(labels.values()))]
    panels: dict[tuple[bool, int | None, str], list[Sequence[Entry]]] = {}
    for own in labels.values():
        one = own[0]
        panels.setdefault((one.algorithm == HARD, one.components, one.kernel), []).append(own)
    figure = drawing.canvas(1.2 + 2.0 * len(panels), 1.4 + 0.42 * (len(problems) + 1))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)
    for axes, ((hard, components, kernel), given) in zip(grid[0], panels.items(), strict=True):
        features = "all features" if components is None else f"k = {components}"
        kind = "hard, " * hard + f"{features} {kernel}".strip()
        axes.set_title(kind, loc="left")
        _panel(axes, problems, given, _printed(hard, components))
    lines = [*problems, MEAN]
    grid[0][0].set_yticks(range(len(lines)), lines)
    grid[0][0].set_ylim(len(lines) - 0.5, -0.5)
    return figure


def _panel(
    axes: Axes, problems: Sequence[str], given: Sequence[Sequence[Entry]], printed: Printed | None
) -> None:
    """Draw the labels of one panel, side by side in each line, and the thesis's column."""
    known = drawing.looks([own[0].label for own in given])
    step = 0.8 / len(given)
    for place, own in enumerate(given):
        spreads = [*(entry.spread for entry in own), mean_spread(own)]
        look, shift = known[own[0].label], (place - 0.5 * (len(given) - 1)) * step
        for line, one in enumerate(spreads):
            if one.mean is None or one.lowest is None or one.highest is None:
                continue
            at = line + shift
            axes.plot([one.lowest, one.highest], [at, at], color=look["color"], linewidth=1.2)
            axes.plot([one.mean], [at], color=look["color"], marker=look["marker"], markersize=3.5)
    if printed is not None:
        places, values = _thesis(problems, printed.column)
        axes.plot(values, places, marker=printed.marker, markersize=6.0, **_LOOK)
    for border in range(len(problems)):
        axes.axhline(border + 0.5, color="0.85" if border < len(problems) - 1 else "0.4", lw=0.6)
    axes.set_xlabel("average precision, percent")
    axes.tick_params(axis="y", length=0)
    drawing.rule(axes, "x", "0.92")
    axes.legend(
        handles=_legend(known, printed),
        loc="upper center",
        bbox_to_anchor=(0.45, -0.1 - 0.3 / (len(problems) + 1)),
        frameon=False,
    )


def _thesis(problems: Sequence[str], column: str) -> tuple[list[int], list[float]]:
    """Return the lines and values of a column of the thesis; the mean if it has all categories."""
    known = thesis_precisions()
    found = {line: known[name][column] for line, name in enumerate(problems) if name in known}
    if len(found) == len(problems):
        found[len(problems)] = sum(found.values()) / len(problems)
    return list(found), list(found.values())


def _legend(known: Mapping[str, Look], printed: Printed | None) -> list[Line2D]:
    """Return a handle per label, and one of the thesis."""
    handles = [
        Line2D(
            [], [], color=look["color"], marker=look["marker"], markersize=3.5, lw=1.2, label=name
        )
        for name, look in known.items()
    ]
    if printed is not None:
        handles.append(Line2D([], [], marker=printed.marker, label=printed.name, **_LOOK))
    return handles
