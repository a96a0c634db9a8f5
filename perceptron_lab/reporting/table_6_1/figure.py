"""Table 6.1 of the thesis as a figure: every number is a marker, ours filled, its own hollow."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.drawing import (
    LETTER,
    STYLE,
    Look,
    canvas,
    cross_handle,
    legend_above,
    looks,
    points,
    rule,
    rule_logarithmic,
)
from perceptron_lab.reporting.table_6_1.comparison import Comparison, Entry, compare


def table_6_1(evidence: Evidence) -> Figure:
    """Draw Table 6.1: queries above and seconds below, per problem, on logarithmic axes.

    Filled markers are ours, hollow ones of the same colour and shape are the thesis's. A cross is
    an entry that is not a proved feasible point, at the lower edge where it has no number at all.

    Parameters
    ----------
    evidence
        Of runs of homogenised systems.

    Raises
    ------
    DataError
        If one problem has several dimensions.
    """
    comparison = compare(evidence.frame)
    with style.context(STYLE):
        figure = _canvas(comparison)
        upper, lower = figure.subplots(2, 1, sharex=True)
        _panel(upper, comparison, "oracle queries", *_QUERIES)
        _panel(lower, comparison, "seconds", *_SECONDS)
        _name_problems(lower, list(comparison.orders), figure.get_figwidth())
        # Ours above the thesis's.
        rows = 2 if any(map(comparison.has_thesis, comparison.labels)) else 1
        legend_above(figure, _handles(comparison), rows)
    return figure


_Value = Callable[[Entry], float | None]
_QUERIES: tuple[_Value, _Value] = (
    lambda entry: entry.queries,
    lambda entry: entry.thesis.queries if entry.thesis else None,
)
_SECONDS: tuple[_Value, _Value] = (
    lambda entry: entry.seconds,
    lambda entry: entry.thesis.seconds if entry.thesis else None,
)


def _canvas(comparison: Comparison) -> Figure:
    """Half a page wide, and wider only where the markers would no longer keep apart."""
    slots = len(comparison.orders) * (1 + len(comparison.labels))
    return canvas(min(7.2, max(3.5, 0.07 * slots)), 4.2)


def _panel(axes: Axes, comparison: Comparison, name: str, ours: _Value, thesis: _Value) -> None:
    axes.set_yscale("log")
    axes.set_ylabel(name)
    labels = comparison.labels
    for i, (label, look) in enumerate(looks(labels).items()):
        # Side by side within the width of a problem, so that equal numbers do not hide each other.
        shift = (i - (len(labels) - 1) / 2) * 0.7 / len(labels)
        entries = list(enumerate(comparison.column(label)))
        answers = [(j + shift, ours(e)) for j, e in entries if e.proved]
        others = [(j + shift, ours(e)) for j, e in entries if not e.proved]
        printed = [(j + shift, thesis(e)) for j, e in entries if e.thesis]
        points(axes, answers, f"{label} proved", look, markersize=3.2)
        points(axes, printed, f"{label} thesis", look, markersize=6, fillstyle="none")
        cross: Look = {**look, "marker": "x"}
        points(axes, others, f"{label} not proved", cross, markersize=5)
    rule_logarithmic(axes, "y")
    rule(axes, "x", "0.95")
    axes.tick_params(axis="x", length=0)


def _name_problems(axes: Axes, names: list[str], width: float) -> None:
    fitting = max(map(len, names)) * LETTER < 0.8 * width / len(names)
    axes.set_xticks(range(len(names)), names, rotation=0 if fitting else 90)
    axes.set_xlim(-0.6, len(names) - 0.4)


def _handles(comparison: Comparison) -> list[Line2D]:
    handles = []
    for label, look in looks(comparison.labels).items():
        ours = Line2D([], [], label=label, markersize=3.2, markeredgewidth=0.8, **look)
        handles.append(ours)
        if comparison.has_thesis(label):
            name = f"{label}, thesis"
            handles.append(Line2D([], [], label=name, markersize=6, fillstyle="none", **look))
    for handle in handles:
        handle.set_linestyle("none")
    if not all(entry.proved for entry in comparison.entries.values()):
        handles.append(cross_handle())
    return handles
