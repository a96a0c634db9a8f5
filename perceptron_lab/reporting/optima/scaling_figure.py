"""Seconds, memory and proved width of generated graphs, against their vertices."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.optima.scaling import Scaled, scaled, suits
from perceptron_lab.reporting.printing import drawing


@needs(suits)
def maxcut_scaling(evidence: Evidence) -> Figure:
    """Seconds, memory and proved width against the number of vertices, on log axes.

    A line joins graphs of one kind (family, dimension of a torus, weights), and of one label where
    there are several. Seconds are those of the search and of its proofs together, memory is that of
    the whole process. A cross: the width that was asked for is not proved.
    """
    lines = scaled(evidence)
    several = len({line.entry.label for line in lines}) > 1
    kinds: dict[str, list[Scaled]] = {}
    for line in lines:
        name = f"{line.kind}, {line.entry.label}" if several else line.kind
        kinds.setdefault(name, []).append(line)
    known = drawing.looks(list(kinds))
    figure = drawing.canvas(7.2, 2.9)
    panels = figure.subplots(1, 3)
    for axes, name in zip(panels, ("seconds", "gigabytes", "proved relative width"), strict=True):
        axes.set(xscale="log", yscale="log", xlabel="vertices", ylabel=name)
    for name, look in known.items():
        mine = sorted(kinds[name], key=lambda line: line.graph.vertices)
        memory = [None if line.memory is None else line.memory / 1e9 for line in mine]
        _draw(panels[0], mine, [line.seconds for line in mine], look)
        _draw(panels[1], mine, memory, look)
        _draw(panels[2], mine, [line.width for line in mine], look)
    for axes in panels:
        for which in ("x", "y"):
            drawing.rule_logarithmic(axes, which)
    drawing.legend_above(figure, _handles(known, all(line.reached for line in lines)))
    return figure


def _draw(
    axes: Axes, lines: Sequence[Scaled], values: Sequence[float | None], look: drawing.Look
) -> None:
    """Draw values above 0 against the vertices, those that missed their goal as crosses."""
    known = [(line, y) for line, y in zip(lines, values, strict=True) if y]
    xs = [line.graph.vertices for line, _ in known]
    axes.plot(xs, [y for _, y in known], color=look["color"], ls=_dashes(look), lw=0.9, zorder=2)
    for reached in (True, False):
        points = [(line.graph.vertices, y) for line, y in known if line.reached is reached]
        marker = look["marker"] if reached else "x"
        drawing.points(axes, points, marker, {**look, "marker": marker}, 4.0, "none")


def _dashes(look: drawing.Look) -> drawing.Line:
    """Return a kind of line that goes with the marker, so that lines are told apart in grey."""
    found: dict[str, drawing.Line] = {"o": "-", "s": "--", "D": ":", "^": "-."}
    return found.get(look["marker"], "-")


def _handles(known: dict[str, drawing.Look], reached: bool) -> list[Line2D]:
    found = [
        Line2D(
            [],
            [],
            label=name,
            color=look["color"],
            marker=look["marker"],
            linestyle=_dashes(look),
            fillstyle="none",
            linewidth=0.9,
            markersize=4.0,
        )
        for name, look in known.items()
    ]
    cross = Line2D([], [], label="goal not proved", color="0.3", marker="x", linestyle="none")
    return found if reached else [*found, cross]
