"""Queries against 1 / rho, and the law that fits them better."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatterMathtext

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.thesis.margin_dependence.laws import (
    Dependence,
    dependences,
    known_margins,
)
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look
from perceptron_lab.reporting.summary import Summary

# Points of a fitted curve
_DRAWN = 60


@needs(known_margins)
def margin_dependence(evidence: Evidence) -> Figure:
    """Queries against 1 / rho on log axes, a panel per family of problems.

    A line with markers per label: medians over the seeds, from quartile to quartile; a cross where
    not every cell has proved a point. Dotted: the better of the two fitted laws,
    a + b ln(1 / rho) and c (1 / rho)^p, over the margins that it was fitted to.
    """
    found = dependences(evidence)
    families = list(dict.fromkeys(one.family for one in found))
    known = drawing.looks(list(dict.fromkeys(one.label for one in found)))
    figure = drawing.canvas(max(5.0, 2.5 * len(families)), 3.4)
    panels = figure.subplots(1, len(families), squeeze=False, sharey=True)[0]
    for axes, family in zip(panels, families, strict=True):
        _draw(axes, [one for one in found if one.family == family], known)
        axes.set_title(family, loc="left")
        axes.set_xlabel(r"1 / $\rho$")
        axes.xaxis.set_major_formatter(LogFormatterMathtext())
    panels[0].set_ylabel("queries")
    proved = all(entry.feasible for one in found for entry in one.entries)
    fit = Line2D([], [], label="fitted law", color="0.3", linestyle=":", linewidth=1.2)
    drawing.legend_above(figure, [*drawing.handles(known, proved), fit])
    return figure


def _draw(axes: Axes, mine: list[Dependence], known: dict[str, Look]) -> None:
    """Draw the labels of one family."""
    entries = [
        (1.0 / margin, entry)
        for one in mine
        for margin, entry in zip(one.margins, one.entries, strict=True)
    ]
    drawing.draw_medians(axes, known, sorted(entries, key=_across), "queries", _feasible)
    for one in mine:
        law = one.better
        if law is not None:
            ends = [1.0 / margin for margin, _ in one.proved]
            ratios = np.geomspace(ends[0], ends[-1], _DRAWN)
            fitted = law.at(ratios)
            shown = fitted > 0.0
            axes.plot(
                ratios[shown],
                fitted[shown],
                color=known[one.label]["color"],
                linestyle=":",
                linewidth=1.2,
                label=f"{one.label} law",
            )


def _across(pair: tuple[float, Summary]) -> float:
    return pair[0]


def _feasible(entry: Summary) -> bool:
    return entry.feasible
