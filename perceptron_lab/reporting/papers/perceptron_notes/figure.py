"""Mistakes along streams, against both bounds."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.perceptron_notes.streamed import (
    drawn_problems,
    online_labels,
    streamed,
)
from perceptron_lab.reporting.performance.curves import Course, quartile_curve
from perceptron_lab.reporting.performance.spread import draw_spread
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look
from perceptron_lab.reporting.summary import Summary

MOST_PANELS = 9
"""The most problems that are drawn: three beside each other, in three rows."""
_BESIDE = 3
# Measure of the trace -> its line and its name in the legend
_LINES: dict[str, tuple[drawing.Line, str]] = {
    "mistaken": ("-", "mistakes"),
    "hinge_bound": ("--", "Theorem 2 (hinge loss)"),
}
_NOVIKOFF: tuple[drawing.Line, str] = (":", "Theorem 1 (Novikoff)")


@needs(online_labels)
def mistakes(evidence: Evidence) -> Figure:
    """Mistakes along the stream, beside both bounds, a panel per problem.

    Solid: the mistakes in the first t presentations, the median over the seeds, the shade behind it
    from the lower to the upper quartile (of fewer than four seeds thin lines are the runs
    themselves). Dashed: Theorem 2's bound of each beginning, the least of a few comparisons, the
    median over the seeds. Dotted, where the stream is separable: Novikoff's bound, which is the
    same for all beginnings. A colour per label, on logarithmic axes; no solid line of a seed lies
    above its dashed or dotted one. Of more than nine problems the first nine are drawn, and the
    figure says so.
    """
    entries = streamed(evidence)
    problems = drawn_problems(entries)
    drawn = problems[:MOST_PANELS]
    known = drawing.looks(list(dict.fromkeys(entry.label for entry in entries)))
    beside = min(_BESIDE, len(drawn))
    lines = ceil(len(drawn) / beside)
    figure = drawing.canvas(max(4.6, 2.5 * beside), 0.8 + 2.1 * lines)
    panels = list(figure.subplots(lines, beside, squeeze=False).flat)
    for axes, problem in zip(panels, drawn, strict=False):
        drawing.entitle(axes, problem)
        axes.set(xscale="log", yscale="log")
        for entry in entries:
            if entry.problem == problem:
                _draw(axes, evidence, entry, known[entry.label])
        drawing.rule_logarithmic(axes, "x", 12.0)
        drawing.rule_logarithmic(axes, "y", 12.0)
    for axes in panels[len(drawn) :]:
        axes.remove()
    for axes in panels[: len(drawn)]:
        place = axes.get_subplotspec()
        axes.set_xlabel("presentations")
        if place is not None and place.is_first_col():
            axes.set_ylabel("mistakes")
    drawing.legend_above(figure, _legend(known))
    drawing.name_left_out(figure, drawn, problems, "problems")
    return figure


def _draw(axes: Axes, evidence: Evidence, entry: Summary, look: Look) -> None:
    """Draw the lines of a label."""
    courses: dict[str, list[Course]] = {name: [] for name in _LINES}
    for cell in entry.runs["cell"]:
        trace = evidence.trace(cell)
        if trace is None:
            continue
        for name, own in courses.items():
            if not {name, "presented"} <= trace.measures.keys():
                raise DataError(f"the run {cell} has no course along its stream; run it again")
            own.append(Course(*(np.asarray(trace.measures[n][0]) for n in ("presented", name))))
    colour = look["color"]
    for name, (dashes, _) in _LINES.items():
        curve = quartile_curve(courses[name])
        if curve is None:
            continue
        if name == "mistaken":
            draw_spread(axes, curve, courses[name], colour)
        style: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.0}
        axes.step(curve.places, curve.median, where="post", label=f"{entry.label} {name}", **style)
    novikoff = entry.median("novikoff_bound_upper")
    if novikoff is not None:
        axes.axhline(
            novikoff,
            color=colour,
            linestyle=_NOVIKOFF[0],
            linewidth=1.0,
            label=f"{entry.label} novikoff",
        )


def _legend(known: dict[str, Look]) -> Sequence[Line2D]:
    """Return a handle per label, by its colour, and one per kind of line, in grey."""
    labels = [Line2D([], [], color=look["color"], label=name) for name, look in known.items()]
    kinds = [*_LINES.values(), _NOVIKOFF]
    return labels + [
        Line2D([], [], color="0.3", linestyle=dashes, linewidth=1.0, label=name)
        for dashes, name in kinds
    ]
