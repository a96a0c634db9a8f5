"""Figure 2 of `YuKilincCarbonell2014`: test error of kernel classifiers along the iterations."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.yu.kernel_errors import (
    ITERATIONS,
    Errors,
    classes_against_rest,
    decisions_along,
    kernel_errors,
)
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look

# Labels stand side by side at one number of iterations, by this factor
_APART = 1.05


@needs(classes_against_rest, of_plan=[decisions_along])
def figure_2(evidence: Evidence) -> Figure:
    """Multi-class test error after 10, 32, 100, 320 and 1000 iterations per classifier.

    Markers are medians over the seeds, joined by a line per label; bars reach from the lowest to
    the highest error. A run that ended earlier keeps its last point; a label all of whose runs end
    before the first number of iterations is a horizontal line. What has no number, since a
    classifier has no result, is a cross at the lower edge; an error of 0 is a marker there.
    """
    lines = kernel_errors(evidence)
    labels = list(dict.fromkeys(line.label for line in lines))
    figure = drawing.canvas(3.8, 3.6)
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="iterations per classifier", ylabel="test error, percent")
    names = drawing.spelt_out(evidence.algorithms())
    entries, factors = [], drawing.nested(labels)
    for i, (label, look) in enumerate(drawing.looks(labels).items()):
        mine = [line for line in lines if line.label == label]
        shift = _APART ** (i - (len(labels) - 1) / 2)
        entry = _draw(axes, mine, shift, look, factors[label])
        entry.set_label(names.get(label, label))
        entries.append(entry)
    axes.set_xticks(ITERATIONS, [str(n) for n in ITERATIONS], minor=False)
    axes.set_xticks([], minor=True)
    drawing.rule_logarithmic(axes, "y")
    drawing.rule(axes, "x", "0.95")
    drawing.legend_above(figure, entries)
    return figure


def _draw(axes: Axes, lines: Sequence[Errors], shift: float, look: Look, factor: float) -> Line2D:
    """Draw one label and return its entry of the legend."""
    label, colour = lines[0].label, look["color"]
    medians = [None if line.median is None else 100.0 * line.median for line in lines]
    # A label that ends before the first number of iterations has one error, and no course.
    at_once = all(line.errors and line.ended == line.classifiers for line in lines)
    if at_once and medians[0]:
        ends = 100.0 * min(lines[0].errors), 100.0 * max(lines[0].errors)
        axes.axhline(medians[0], color=colour, linestyle="--", linewidth=0.9, label=label)
        axes.axhspan(*ends, color=colour, alpha=0.12, linewidth=0)
        return Line2D([], [], label=label, color=colour, linestyle="--", linewidth=0.9)
    places = [line.iterations * shift for line in lines]
    shown = [(x, y) for x, y in zip(places, medians, strict=True) if y]
    style = look["linestyle"]
    axes.plot(*zip(*shown, strict=True), color=colour, linestyle=style, linewidth=factor)
    for x, line in zip(places, lines, strict=True):
        if len(line.errors) > 1:
            ends = 100.0 * min(line.errors), 100.0 * max(line.errors)
            drawing.draw_bar(axes, x, ends, colour)
    numbers = [(x, y) for x, y in zip(places, medians, strict=True) if y is not None]
    absent = [(x, None) for x, y in zip(places, medians, strict=True) if y is None]
    drawing.points(axes, numbers, label, look, markersize=3.5)
    drawing.points(axes, absent, f"{label} without result", {**look, "marker": "x"}, markersize=5)
    return drawing.handles({label: look}, linewidth=0.9)[0]
