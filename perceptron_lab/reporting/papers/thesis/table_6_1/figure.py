"""Table 6.1 of the thesis as a figure: every number is a marker, ours filled, its own hollow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.thesis.table_6_1.entries import (
    Entry,
    Thesis,
    entries_of,
    has_thesis,
)
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look


def table_6_1(evidence: Evidence) -> Figure:
    """Queries above and seconds below, per problem: ours beside Table 6.1 of the thesis.

    Filled markers are ours, hollow ones of the same colour and shape are the thesis's. A cross is
    an entry that is not a proved feasible point, at the lower edge where it has no number at all.

    Parameters
    ----------
    evidence
        Of runs of homogenised systems.
    """
    labels = entries_of(evidence.frame)
    problems = [entry.problem for entry in next(iter(labels.values()))]
    # Half a page wide, and wider only where the markers would no longer keep apart.
    width = min(7.2, max(3.5, 0.07 * len(problems) * (1 + len(labels))))
    figure = drawing.canvas(width, 4.2)
    upper, lower = figure.subplots(2, 1, sharex=True)
    _draw(upper, labels, "queries")
    _draw(lower, labels, "seconds")
    upper.set_ylabel("oracle queries")
    lower.set_ylabel("seconds")
    fitting = max(map(len, problems)) * drawing.LETTER < 0.8 * width / len(problems)
    lower.set_xticks(range(len(problems)), problems, rotation=0 if fitting else 90)
    lower.set_xlim(-0.6, len(problems) - 0.4)
    names = drawing.spelt_out(evidence.algorithms())
    named = []
    for label, look in drawing.looks(list(labels)).items():
        own: dict[str, Any] = {"label": names.get(label, label), **look}
        named.append(Line2D([], [], markersize=3.2, markeredgewidth=0.8, **own))
        if has_thesis(labels[label]):
            name = f"{label}, thesis"
            named.append(Line2D([], [], label=name, markersize=6, fillstyle="none", **look))
    for handle in named:
        # Its markers are not joined in the panels either.
        handle.set_linestyle("none")
    every = [entry for entries in labels.values() for entry in entries]
    named += drawing.handles({}, all(entry.feasible for entry in every))
    # Ours above the thesis's
    drawing.legend_above(figure, named, 2 if has_thesis(every) else 1)
    return figure


def _draw(axes: Axes, labels: Mapping[str, Sequence[Entry]], column: str) -> None:
    axes.set_yscale("log")
    place = Thesis._fields.index(column)
    for i, (label, look) in enumerate(drawing.looks(list(labels)).items()):
        # Side by side within the width of a problem, so that equal numbers do not hide each other.
        shift = (i - (len(labels) - 1) / 2) * 0.7 / len(labels)
        entries = [(j + shift, entry) for j, entry in enumerate(labels[label])]
        answers = [(x, entry.median(column)) for x, entry in entries if entry.feasible]
        others = [(x, entry.median(column)) for x, entry in entries if not entry.feasible]
        printed = [(x, float(entry.thesis[place])) for x, entry in entries if entry.thesis]
        drawing.points(axes, answers, f"{label} proved", look, markersize=3.2)
        drawing.points(axes, printed, f"{label} thesis", look, markersize=6, fillstyle="none")
        cross: Look = {**look, "marker": "x"}
        drawing.points(axes, others, f"{label} not proved", cross, markersize=5)
    drawing.rule_logarithmic(axes, "y")
    drawing.rule(axes, "x", "0.95")
    axes.tick_params(axis="x", length=0)
