"""DIMACS errors of solvers' answers before and after an algorithm has gone on from them."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterMathtext

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.postprocessing.continued import (
    Continued,
    continued,
    continued_labels,
)
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look
from perceptron_lab.reporting.summary import Summary

ANSWER = "the answer itself"
"""What the solver's answer is called, before."""
MOST_SOLVERS = 2
"""The most solvers that are drawn, a column of panels per side each."""


@needs(continued_labels)
def postprocessing(evidence: Evidence) -> Figure:
    """The largest DIMACS error against 1 / delta: a row of panels per family of cones.

    A column per solver (the first two) and side. A line for the solver's answer and one per
    algorithm that goes on from it: medians over the seeds, from quartile to quartile; a cross where
    not every cell has proved what is true by construction. Programs without a delta are not drawn.
    """
    found = [one for one in continued(evidence) if one.problem.delta is not None]
    solvers = list(dict.fromkeys(one.first for one in found))
    drawn = solvers[:MOST_SOLVERS]
    found = [one for one in found if one.first in drawn]
    families = list(dict.fromkeys(one.problem.family for one in found))
    columns = list(dict.fromkeys((one.first, one.problem.side) for one in found))
    columns.sort(key=lambda pair: drawn.index(pair[0]))
    known = drawing.looks([ANSWER, *dict.fromkeys(f"then {one.second}" for one in found)])
    figure = drawing.canvas(max(4.6, 2.1 * len(columns)), 1.1 + 1.9 * len(families))
    panels = figure.subplots(len(families), len(columns), squeeze=False, sharex=True, sharey=True)
    proved = True
    for row, family in enumerate(families):
        for column, (solver, side) in enumerate(columns):
            mine = [
                one
                for one in found
                if (one.problem.family, one.first, one.problem.side) == (family, solver, side)
            ]
            proved &= _draw(panels[row][column], mine, known)
            panels[row][column].set_title(f"{family}, {side}\n{solver}", loc="left")
    for axes in panels[-1]:
        axes.set_xlabel(r"1 / $\delta$")
        axes.xaxis.set_major_formatter(LogFormatterMathtext())
    for axes in panels[:, 0]:
        axes.set_ylabel("largest error")
        axes.yaxis.set_major_formatter(LogFormatterMathtext())
    drawing.legend_above(figure, drawing.handles(known, proved))
    drawing.name_left_out(figure, drawn, solvers, "solvers")
    return figure


def _draw(axes: Axes, mine: list[Continued], known: dict[str, Look]) -> bool:
    """Draw the lines of one family, solver and side; return whether all is proved."""
    entries: list[tuple[float, Summary]] = []
    decided: dict[int, bool] = {}
    for one in sorted(mine, key=_condition):
        answer = Summary(one.entry.problem, ANSWER, _renamed(one.entry, "before"))
        after = Summary(one.entry.problem, f"then {one.second}", _renamed(one.entry, "after"))
        decided[id(answer)] = one.decided(one.solver)
        decided[id(after)] = one.decided(one.entry)
        if all(answer.problem != other.problem for _, other in entries):
            entries.append((_condition(one), answer))
        entries.append((_condition(one), after))

    def proved(entry: Summary) -> bool:
        return decided[id(entry)]

    drawing.draw_medians(axes, known, entries, "error", proved)
    return all(proved(entry) for _, entry in entries)


def _condition(one: Continued) -> float:
    """Return 1 / delta, where there is a delta."""
    return 1.0 / (one.problem.delta or 1.0)


def _renamed(entry: Summary, column: str) -> pd.DataFrame:
    """Return the rows of an entry with a column of errors as ``error``."""
    return entry.runs.assign(error=entry.runs[column])
