"""PRA against EA by the density of the graph and by the margin, as a figure."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.thesis.table_6_1.density import Graph, graphs_of, suits
from perceptron_lab.reporting.printing import drawing

_RATIOS: Final = (1, 1.5, 2, 3, 4, 6)
"""Where the axis of ratios has its ticks: they span less than a decade."""


@needs(suits)
def maxcut_density(evidence: Evidence) -> Figure:
    """Queries of PRA over those of EA against n on the left, against n rho^2 on the right.

    Lines on the left join graphs of one kind: of unit weights and one mean degree, or of one margin
    and mean degree, these dashed and hollow. Medians over the seeds; graphs with an answer that is
    not proved are left out, and the figure says so.
    """
    graphs = graphs_of(evidence)
    shown = [one for one in graphs if one.ratio is not None]
    kinds = list(dict.fromkeys((one.margin, one.degree) for one in shown))
    degrees = list(dict.fromkeys(one.degree for one in shown))
    looks = dict(zip(degrees, drawing.looks([f"{d:g}" for d in degrees]).values(), strict=True))
    figure = drawing.canvas(7.0, 3.4)
    left, right = figure.subplots(1, 2, sharey=True)
    handles = []
    for margin, degree in kinds:
        own = [one for one in shown if (one.margin, one.degree) == (margin, degree)]
        style: dict[str, Any] = {
            "color": looks[degree]["color"],
            "marker": looks[degree]["marker"],
            "fillstyle": "full" if margin is None else "none",
            "markersize": 4.0,
        }
        dashes: drawing.Line = "-" if margin is None else "--"
        _plot(left, own, [float(one.vertices) for one in own], {**style, "linestyle": dashes})
        _plot(right, own, [one.relative for one in own], {**style, "linestyle": "none"})
        fixed = "unit weights" if margin is None else f"$\\rho$ = {margin:g}"
        label = f"mean degree {degree:g}, {fixed}"
        handles.append(Line2D([], [], label=label, linewidth=0.8, **style, ls=dashes))
    left.set(xlabel="vertices n", ylabel="queries, PRA / EA", xscale="log", yscale="log")
    right.set(xlabel="n $\\rho^2$", xscale="log")
    for axes in (left, right):
        axes.axhline(1.0, color="0.5", linewidth=0.8)
        drawing.rule_logarithmic(axes, "x")
    drawing.rule_logarithmic(left, "y", steps=_RATIOS)
    left.xaxis.set_major_locator(FixedLocator(sorted({one.vertices for one in shown})))
    left.xaxis.set_minor_locator(NullLocator())
    drawing.rule(right, "both", "0.9")
    drawing.legend_above(figure, handles, 2)
    if len(shown) < len(graphs):
        left_out = len(graphs) - len(shown)
        figure.supxlabel(f"{left_out} graphs with answers that are not proved left out", fontsize=7)
    return figure


def _plot(axes: Axes, own: list[Graph], places: list[float], style: dict[str, Any]) -> None:
    axes.plot(places, [one.ratio or 0.0 for one in own], linewidth=0.8, **style)
