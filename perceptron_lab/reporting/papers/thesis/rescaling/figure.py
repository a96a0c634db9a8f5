"""Seconds against the condition, by family of cones and by side."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterMathtext

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.thesis.rescaling.conditioned import (
    SIDES,
    Conditioned,
    conditioned,
    conditioned_problems,
)
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look
from perceptron_lab.reporting.summary import Summary

MOST_FAMILIES = 4
"""The most families of cones that are drawn, a row of panels each."""


@needs(conditioned_problems)
def rescaling(evidence: Evidence) -> Figure:
    """Seconds against 1 / delta on log axes: a row of panels per family, a column per side.

    A line with markers per label: medians over the seeds, from quartile to quartile; a cross where
    not every cell has proved what is true by construction. Of more than four families the first
    four are drawn, and the figure says so.
    """
    found = conditioned(evidence)
    families = list(dict.fromkeys(one.problem.family for one in found))
    sides = [side for side in SIDES if any(one.problem.side == side for one in found)]
    drawn = families[:MOST_FAMILIES]
    known = drawing.looks(list(dict.fromkeys(one.entry.label for one in found)))
    figure = drawing.canvas(max(4.6, 2.5 * len(sides)), 1.1 + 1.9 * len(drawn))
    panels = figure.subplots(len(drawn), len(sides), squeeze=False, sharex=True, sharey=True)
    for row, family in enumerate(drawn):
        for column, side in enumerate(sides):
            axes = panels[row][column]
            mine = [o for o in found if (o.problem.family, o.problem.side) == (family, side)]
            _draw(axes, sorted(mine, key=lambda one: -one.problem.delta), known)
            axes.set_title(f"{family}, {side}", loc="left")
    for axes in panels[-1]:
        axes.set_xlabel(r"1 / $\delta$")
        axes.xaxis.set_major_formatter(LogFormatterMathtext())
    for axes in panels[:, 0]:
        axes.set_ylabel("seconds")
    drawing.legend_above(figure, drawing.handles(known, all(one.decided for one in found)))
    drawing.name_left_out(figure, drawn, families, "families")
    return figure


def _draw(axes: Axes, mine: list[Conditioned], known: dict[str, Look]) -> None:
    """Draw the lines of one family and side, by decreasing delta."""
    decided = {id(one.entry): one.decided for one in mine}

    def proved(entry: Summary) -> bool:
        return decided[id(entry)]

    entries = [(1.0 / one.problem.delta, one.entry) for one in mine]
    drawing.draw_medians(axes, known, entries, "seconds", proved)
