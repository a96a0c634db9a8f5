"""Mistakes against 1 / rho, above the number that is forced."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatterMathtext

from perceptron_lab.algorithms.resisting.forced import forced
from perceptron_lab.core.errors import counted
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.thesis.resisting.held import Held, held, resisting_problems
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look

MOST_PANELS = 6
"""The most dimensions that are drawn: three beside each other, in two rows."""
_BESIDE = 3
_FORCED = "forced: none makes fewer"
_BOUND = "upper bound of its theorem"
_CROSS = "not ended, so far"
_ROUNDS = "in rounds"
_CIRCLE: Look = {"color": "0.2", "marker": "o", "linestyle": "-"}
# The grid of margins on which the line of the lower bound is drawn
_STEPS = 40


@needs(resisting_problems)
def resisting(evidence: Evidence) -> Figure:
    """Mistakes against 1 / rho for each dimension, on log axes, above the number that is forced.

    The thick grey line is the lower bound of all algorithms. A line with markers per label that
    asks for cuts itself: medians over the seeds, from quartile to quartile; a cross where the
    budget has ended it, at its mistakes so far. Circles are all labels that are run in rounds on
    the rows known, where they have ended: they make the mistakes forced and no other. Dotted, with
    small markers of the label, the upper bound of its theorem, as far as it is within the panel. Of
    more than six dimensions the first six are drawn, and the figure says so.
    """
    lines = held(evidence)
    found = list(dict.fromkeys(line.dimension for line in lines))
    drawn = found[:MOST_PANELS]
    asking = list(dict.fromkeys(line.entry.label for line in lines if not line.in_rounds))
    known = drawing.looks(asking)
    beside = min(_BESIDE, len(drawn))
    rows = -(-len(drawn) // beside)
    figure = drawing.canvas(max(4.6, 2.5 * beside), 0.9 + 2.2 * rows)
    panels = list(figure.subplots(rows, beside, squeeze=False).flat)
    for axes, dimension in zip(panels, drawn, strict=False):
        axes.set_title(f"dimension {dimension}", loc="left")
        mine = [line for line in lines if line.dimension == dimension]
        _draw(axes, sorted(mine, key=lambda line: -line.margin), known)
    for axes in panels[len(drawn) :]:
        axes.remove()
    panels[0].set_ylabel("mistakes")
    drawing.legend_above(figure, _legend(lines, known))
    drawing.name_left_out(figure, drawn, found, "dimensions")
    return figure


def _draw(axes: Axes, lines: list[Held], known: dict[str, Look]) -> None:
    """Draw the lines of one dimension, by decreasing margin."""
    margins = np.geomspace(lines[0].margin, lines[-1].margin, _STEPS)
    least = [forced(lines[0].dimension, float(margin)) for margin in margins]
    axes.plot(1.0 / margins, least, color="0.75", linewidth=3.0, zorder=1.0, label=_FORCED)
    asked = [(1.0 / line.margin, line.entry) for line in lines if not line.in_rounds]
    drawing.draw_medians(axes, known, asked, "mistakes", lambda entry: entry.feasible)
    ended = [
        (1.0 / line.margin, line.entry.median("mistakes"))
        for line in lines
        if line.in_rounds and line.entry.feasible
    ]
    drawing.points(axes, ended, _ROUNDS, _CIRCLE, markersize=5.5, fillstyle="none")
    lowest, highest = axes.get_ylim()
    for label, look in known.items():
        bounds = [(x, entry.median("bound")) for x, entry in asked if entry.label == label]
        points = [(x, bound) for x, bound in bounds if bound is not None]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        style: dict[str, Any] = {"color": look["color"], "marker": look["marker"], "linestyle": ":"}
        axes.plot(xs, ys, fillstyle="none", markersize=2.5, lw=1.0, label=f"{label} bound", **style)
    axes.set_ylim(lowest, highest)
    axes.set_xlabel(r"1 / $\rho$")
    drawing.rule_logarithmic(axes, "x")
    drawing.rule_logarithmic(axes, "y")
    axes.xaxis.set_major_formatter(LogFormatterMathtext())  # decades side by side


def _legend(lines: list[Held], known: dict[str, Look]) -> list[Line2D]:
    """Return a handle per label that asks for cuts, and one per kind of line or marker."""
    in_rounds = {line.entry.label for line in lines if line.in_rounds}
    ended = all(line.entry.feasible for line in lines if not line.in_rounds)
    kinds = [
        Line2D([], [], color="0.75", linewidth=3.0, label=_FORCED),
        Line2D([], [], color="0.3", linewidth=1.0, linestyle=":", label=_BOUND),
    ]
    if in_rounds:
        name = f"{counted(len(in_rounds), 'label')} in rounds"
        kinds.append(
            Line2D(
                *([], []),
                color=_CIRCLE["color"],
                marker="o",
                linestyle="none",
                fillstyle="none",
                markersize=5.5,
                label=name,
            )
        )
    if not ended:
        kinds.append(Line2D([], [], color="0.3", marker="x", linestyle="none", label=_CROSS))
    return [*drawing.handles(known), *kinds]
