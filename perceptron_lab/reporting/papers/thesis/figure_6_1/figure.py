"""Figure 6.1 of the thesis: the attained objective against updates and against time."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.papers.thesis.figure_6_1.sequences import (
    Optimum,
    best_objectives,
    minimised,
    optima,
    optimisers_among,
    traces_of,
)
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look


def one_problem(outline: Outline) -> str:
    """Return the only problem of an experiment; a DataError where there are several."""
    problems = outline.problems()
    if len(problems) != 1:
        raise DataError(
            f"{len(problems)} problems; it draws the objectives of one: take the others into an "
            "experiment of their own"
        )
    return problems[0]


@needs(one_problem, of_plan=[optimisers_among])
def figure_6_1(evidence: Evidence) -> Figure:
    """The least objective found so far against updates (left) and seconds (right).

    A marker for each level of a sequence, or each look at a search's bounds, joined in steps: every
    height is the proved objective of a feasible point. The line is the optimum, as far as any label
    has proved it: a band between the best lower and the best upper bound. (The thesis's text has
    the plot against time on the left, its caption that against updates; this is the caption's
    order.)

    Parameters
    ----------
    evidence
        Of runs of optimisers on one problem.
    """
    problem = one_problem(evidence)
    entries = minimised(evidence)
    known = drawing.looks([entry.label for entry in entries])
    factors = drawing.nested(known)
    figure = drawing.canvas(7.0, 3.2)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (column, name) in zip(
        panels, (("updates", "updates"), ("seconds", "seconds")), strict=True
    ):
        axes.set(xscale="log", yscale="log", xlabel=name)
        for entry in entries:
            for trace in traces_of(evidence, entry):
                places = np.array(getattr(trace, column), dtype=float)
                _draw(
                    axes, places, best_objectives(trace), known[entry.label], factors[entry.label]
                )
    panels[0].set_ylabel(f"objective of {problem}")
    methods = {
        label: str(method.parameters.get("method", method.algorithm))
        for label, method in evidence.methods().items()
    }
    handles = drawing.handles(known, names=drawing.spelt_out(methods))
    optimum = optima(evidence)[problem]
    if optimum.lower is not None and optimum.upper is not None and optimum.lower > 0.0:
        handles.append(_optimum(list(panels), optimum))
    for axes in panels:
        drawing.rule_logarithmic(axes, "x")
        drawing.rule_logarithmic(axes, "y")
    drawing.legend_above(figure, handles, 2)
    return figure


def _draw(
    axes: Axes, places: FloatArray, objectives: FloatArray, look: Look, factor: float
) -> None:
    shown = (places > 0.0) & (objectives > 0.0)
    if shown.any():
        axes.step(
            places[shown],
            objectives[shown],
            where="post",
            color=look["color"],
            linestyle=look["linestyle"],
            marker=look["marker"],
            markersize=3.2 * factor,
            linewidth=0.8 * factor,
        )


def _optimum(panels: list[Axes], optimum: Optimum) -> Line2D:
    """Draw the optimum across all panels; return its entry of the legend."""
    assert optimum.lower is not None
    assert optimum.upper is not None
    for axes in panels:
        axes.axhspan(optimum.lower, optimum.upper, color="0.75", linewidth=0)
        axes.axhline(optimum.upper, color="0.4", linewidth=0.8, linestyle="--", zorder=0)
    said = f"optimum, proved in [{text_below(optimum.lower, 9)}, {text_above(optimum.upper, 9)}]"
    return Line2D([], [], label=said, color="0.4", linewidth=0.8, linestyle="--")
