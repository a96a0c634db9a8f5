"""Table 6.1 of the thesis as a figure: every number is a marker, ours filled, its own hollow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look
from perceptron_lab.reporting.table_6_1.entries import Entry, entries_of, has_thesis


def table_6_1(evidence: Evidence) -> Figure:
    """Draw Table 6.1: queries above and seconds below, per problem, on logarithmic axes.

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
    _panel(upper, labels, lambda e: e.queries, lambda e: e.thesis.queries if e.thesis else None)
    _panel(lower, labels, lambda e: e.seconds, lambda e: e.thesis.seconds if e.thesis else None)
    upper.set_ylabel("oracle queries")
    lower.set_ylabel("seconds")
    fitting = max(map(len, problems)) * drawing.LETTER < 0.8 * width / len(problems)
    lower.set_xticks(range(len(problems)), problems, rotation=0 if fitting else 90)
    lower.set_xlim(-0.6, len(problems) - 0.4)
    every = [entry for own in labels.values() for entry in own]
    drawing.legend_above(
        figure, _handles(labels), 2 if has_thesis(every) else 1
    )  # ours above the thesis's
    return figure


_Value = Callable[[Entry], float | None]


def _panel(axes: Axes, labels: Mapping[str, Sequence[Entry]], ours: _Value, thesis: _Value) -> None:
    axes.set_yscale("log")
    for i, (label, look) in enumerate(drawing.looks(list(labels)).items()):
        # Side by side within the width of a problem, so that equal numbers do not hide each other.
        shift = (i - (len(labels) - 1) / 2) * 0.7 / len(labels)
        entries = [(j + shift, entry) for j, entry in enumerate(labels[label])]
        answers = [(x, ours(entry)) for x, entry in entries if entry.proved]
        others = [(x, ours(entry)) for x, entry in entries if not entry.proved]
        printed = [(x, thesis(entry)) for x, entry in entries if entry.thesis]
        drawing.points(axes, answers, f"{label} proved", look, markersize=3.2)
        drawing.points(axes, printed, f"{label} thesis", look, markersize=6, fillstyle="none")
        cross: Look = {**look, "marker": "x"}
        drawing.points(axes, others, f"{label} not proved", cross, markersize=5)
    drawing.rule_logarithmic(axes, "y")
    drawing.rule(axes, "x", "0.95")
    axes.tick_params(axis="x", length=0)


def _handles(labels: Mapping[str, Sequence[Entry]]) -> list[Line2D]:
    """Return the legend's entries, the thesis's after each of ours that it has."""
    found = []
    for label, look in drawing.looks(list(labels)).items():
        found.append(Line2D([], [], label=label, markersize=3.2, markeredgewidth=0.8, **look))
        if has_thesis(labels[label]):
            name = f"{label}, thesis"
            found.append(Line2D([], [], label=name, markersize=6, fillstyle="none", **look))
    for handle in found:
        handle.set_linestyle("none")
    return found + drawing.handles(
        {}, all(entry.proved for own in labels.values() for entry in own)
    )
