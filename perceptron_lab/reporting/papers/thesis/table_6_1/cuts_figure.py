"""Norms and depths of the cuts along a run, one panel each, for both rivals of Table 6.1."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.thesis.table_6_1.cuts import Course, course_of, suits
from perceptron_lab.reporting.papers.thesis.table_6_1.oracles import pairs_of
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look
from perceptron_lab.reporting.summary import summaries


@needs(suits, pairs_of)
def cuts(evidence: Evidence) -> Figure:
    """Mean depth above and mean norm below of the matrix cuts between records, against updates.

    PRA on the left, EA on the right, a colour per oracle and a line per problem: the thicker, the
    larger the problem. First seeds only.
    """
    pairs = pairs_of(evidence)
    entries = {(entry.label, entry.problem): entry for entry in summaries(evidence.frame)}
    looks = drawing.looks(list(pairs))
    problems = evidence.problems()
    figure = drawing.canvas(7.0, 4.4)
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    drawn = 0
    for oracle, pair in pairs.items():
        for column, label in enumerate(pair):
            for place, problem in enumerate(problems):
                course = course_of(evidence, entries[label, problem])
                if course is None:
                    continue
                width = 0.5 + 1.1 * place / max(1, len(problems) - 1)
                _draw(panels[0][column], course, course.depths, looks[oracle], width)
                _draw(panels[1][column], course, course.norms, looks[oracle], width)
                drawn += 1
    if not drawn:
        raise DataError("cuts: no run has a trace; run the experiment again")
    for axes in panels.flat:
        drawing.rule_logarithmic(axes, "x")
        drawing.rule_logarithmic(axes, "y")
    for axes, title in zip(panels[0], ("PRA", "EA"), strict=True):
        axes.set_title(title, loc="left")
    panels[0][0].set_ylabel("mean depth of the cuts")
    panels[1][0].set_ylabel("mean norm of the cuts")
    for axes in panels[1]:
        axes.set_xlabel("updates")
    names = {oracle: oracle or "as in the thesis" for oracle in pairs}
    drawing.legend_above(figure, drawing.handles(looks, names=names))
    if len(problems) > 1:
        figure.supxlabel(f"from thin to thick: {', '.join(problems)}", fontsize=7)
    return figure


def _draw(axes: Axes, course: Course, values: FloatArray, look: Look, width: float) -> None:
    axes.set(xscale="log", yscale="log")
    shown = np.isfinite(values[:, 1]) & (values[:, 1] > 0.0) & (course.updates > 0.0)
    style: dict[str, Any] = {"color": look["color"], "marker": look["marker"], "markersize": 2.5}
    axes.plot(course.updates[shown], values[shown, 1], linewidth=width, **style)
