"""Figure 8.1 of `Kharechko2009`: average precision against the number of features."""

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
    legend_above,
    looks,
    rule,
)
from perceptron_lab.reporting.table_8_1.precisions import Entry, entries, spread

_SWEPT = re.compile(r" components=[0-9]+")


def figure_8_1(evidence: Evidence) -> Figure:
    """Draw the average precision against k, one panel per learner, one line per category.

    Learners are labels without the ``components=k`` that a grid adds. Markers are means over the
    seeds, bars reach from the lowest to the highest; a point without a result in every cell is left
    out, which breaks its line.

    Raises
    ------
    DataError
        If no learner with a number of features was run.
    """
    swept = [entry for entry in entries(evidence) if entry.components is not None]
    if not swept:
        raise DataError("no label has a number of features; give `components` in a grid")
    panels = list(dict.fromkeys(_learner(entry) for entry in swept))
    names = list(dict.fromkeys(entry.problem for entry in swept))
    with style.context(STYLE):
        figure = canvas(2.6 * len(panels) + 0.6, 3.0)
        grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)
        shown = looks(names)
        for axes, panel in zip(grid[0], panels, strict=True):
            _panel(axes, panel, [e for e in swept if _learner(e) == panel], shown)
        grid[0][0].set_ylabel("average precision, percent")
        handles = [
            Line2D([], [], label=name, linewidth=0.9, markersize=3.5, **look)
            for name, look in shown.items()
        ]
        legend_above(figure, handles)
    return figure


def _learner(entry: Entry) -> str:
    return _SWEPT.sub("", entry.label)


def _panel(axes: Axes, title: str, given: Sequence[Entry], shown: dict[str, Look]) -> None:
    ticks = sorted({entry.components for entry in given if entry.components is not None})
    axes.set_xscale("log")
    axes.set_xticks(ticks, [str(tick) for tick in ticks], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_title(title)
    axes.set_xlabel("features k")
    rule(axes, "both", "0.92")
    for name, look in shown.items():
        mine = [entry for entry in given if entry.problem == name]
        own = [
            (e.components or 0, spread(e)) for e in sorted(mine, key=lambda e: e.components or 0)
        ]
        means = [float("nan") if one.mean is None else one.mean for _, one in own]
        axes.plot([k for k, _ in own], means, linewidth=0.9, markersize=3.5, **look)
        for k, one in own:
            if one.lowest is not None and one.highest is not None:
                ends = [one.lowest, one.highest]
                axes.plot([k, k], ends, color=look["color"], linewidth=0.7, solid_capstyle="butt")
