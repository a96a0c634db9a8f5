"""Coefficients along Newton's steps, coloured by what is proved of their estimates."""

from __future__ import annotations

from math import ceil
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.separation.coefficients import (
    CLASSES,
    FINITE,
    MINUS,
    PLUS,
    UNDETERMINED,
)
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.separation.answers import proving_label

MOST_PANELS: Final = 6
MOST_COEFFICIENTS: Final = 12
"""The most coefficients that are told apart in a panel."""
MOST_STEPS: Final = 20
_BESIDE: Final = 3
_LOWEST: Final = 1e-6  # Of the largest, in a panel
_LOOKS: Final[dict[str, tuple[str, drawing.Line]]] = {
    FINITE: ("#0072B2", "-"),
    PLUS: ("#D55E00", "-"),
    MINUS: ("#D55E00", "--"),
    UNDETERMINED: ("#7F7F7F", ":"),
}


def newton_label(outline: Outline) -> str:
    """Return the label of Newton's steps."""
    for label, method in outline.methods().items():
        if method.algorithm == "newton-steps":
            return label
    raise DataError("no label takes the steps of the learner newton-steps")


@needs(newton_label, proving_label)
def newton_steps(evidence: Evidence) -> Figure:
    """Coefficients of logistic regression along Newton's steps, a panel per problem.

    Absolute values on a logarithmic axis; colours and lines are what is proved of the estimate:
    finite, +infinite, -infinite, or undetermined. Finite ones settle, the others go on. Drawn are
    the first 20 steps: later the information on what diverges is below the 1e-10 that is added to
    it, and the steps lose their way. What is below a millionth of the largest is not seen. Of each
    problem the first seed; problems of more than twelve coefficients are left out, and of the
    others the first six are drawn.
    """
    drawn = {}
    for problem in evidence.problems():
        pair = _courses(evidence, problem)
        if pair is not None and len(pair[1]) <= MOST_COEFFICIENTS:
            drawn[problem] = pair
    if not drawn:
        raise DataError(
            f"no problem of {MOST_COEFFICIENTS} coefficients or fewer has Newton's steps and a "
            "proved verdict"
        )
    shown = list(drawn)[:MOST_PANELS]
    beside = min(_BESIDE, len(shown))
    lines = ceil(len(shown) / beside)
    figure = drawing.canvas(max(4.6, 2.4 * beside), 0.7 + 2.0 * lines)
    panels = list(figure.subplots(lines, beside, squeeze=False).flat)
    for axes, problem in zip(panels, shown, strict=False):
        axes.set_title(problem, loc="left")
        _draw(axes, *drawn[problem])
        axes.set_xlabel("Newton step")
    for axes in panels[:: beside or 1]:
        axes.set_ylabel("absolute coefficient")
    for axes in panels[len(shown) :]:
        axes.remove()
    drawing.legend_above(
        figure,
        [
            Line2D([], [], color=colour, linestyle=dashes, label=name)
            for name, (colour, dashes) in _LOOKS.items()
        ],
    )
    drawing.name_left_out(figure, shown, list(drawn), "problems")
    return figure


def _courses(evidence: Evidence, problem: str) -> tuple[FloatArray, FloatArray] | None:
    """Return coefficients along the steps, and their proved classes, of the first seed."""
    found = []
    for label, name in (
        (newton_label(evidence), "coefficients"),
        (proving_label(evidence), "classes"),
    ):
        runs = evidence.frame
        cells = runs[(runs["problem"] == problem) & (runs["label"] == label)].sort_values("seed")
        trace = evidence.trace(str(cells["cell"].iloc[0])) if len(cells) else None
        if trace is None or name not in trace.measures:
            return None
        found.append(np.asarray(trace.measures[name][0], dtype=float))
    return (found[0], found[1]) if found[0].shape[1:] == found[1].shape else None


def _draw(axes: Axes, coefficients: FloatArray, classes: FloatArray) -> None:
    """Draw the coefficients of a problem; those that are proved finite lie above the others."""
    steps = np.arange(1, min(len(coefficients), MOST_STEPS) + 1)
    for place in np.argsort(-classes, kind="stable").tolist():
        colour, dashes = _LOOKS[CLASSES[int(classes[place])]]
        values = np.abs(coefficients[: len(steps), place])
        axes.plot(steps, np.where(values > 0.0, values, np.nan), dashes, color=colour, lw=1.0)
    axes.set_yscale("log")
    axes.set_ylim(bottom=max(axes.get_ylim()[0], _LOWEST * axes.get_ylim()[1]))
