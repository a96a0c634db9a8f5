"""Widths of proved intervals against the seconds to the answers."""

from __future__ import annotations

from matplotlib.figure import Figure

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.optima.tables import WIDTH, known_or_none, optima_of
from perceptron_lab.reporting.papers.thesis.figure_6_1.sequences import optimisers_among
from perceptron_lab.reporting.printing import drawing

_LEAST = 1e-16


@needs(of_plan=[optimisers_among])
def proved_optima(evidence: Evidence) -> Figure:
    """Relative width of the proved interval against the seconds to the answer, on log axes.

    A marker for each problem and label with both bounds; left and low is better. Answers of which
    one bound or none is proved are counted in the legend.
    """
    rows = optima_of(evidence)
    known = drawing.looks(list(dict.fromkeys(str(row["label"]) for row in rows)))
    figure = drawing.canvas(4.6, 3.4)
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log", xlabel="seconds", ylabel="width of the proved interval")
    names, shown = {}, 0
    for label, look in known.items():
        mine = [row for row in rows if row["label"] == label]
        widths = [(float(row["seconds"]), known_or_none(row[WIDTH])) for row in mine]
        points = [(time, max(width, _LEAST)) for time, width in widths if width is not None]
        names[label] = f"{label} ({len(points)} of {len(mine)})"
        shown += len(points)
        if points:
            axes.plot(
                [time for time, _ in points],
                [width for _, width in points],
                linestyle="none",
                marker=look["marker"],
                color=look["color"],
                markersize=3.5,
                fillstyle="none",
            )
    if not shown:
        raise DataError("no run has proved both bounds of an optimum: there is nothing to draw")
    drawing.rule_logarithmic(axes, "x")
    drawing.rule_logarithmic(axes, "y")
    drawing.legend_above(figure, drawing.handles(known, names=names), 2)
    return figure
