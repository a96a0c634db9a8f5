"""The exponential worst case: mistakes against K beside their exact number."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError, counted
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.papers.perceptron_notes.mistakes import online_labels, streamed
from perceptron_lab.reporting.printing import drawing

_EXACT = "2 K$^2$ - 2 K + 5"
# The most values of K that have a tick each
_TICKS = 12
_NOVIKOFF = "Theorem 1: 8 K$^2$ + 2"


def steepnesses(outline: Outline) -> dict[str, int]:
    """Return problem -> K, of the worst cases of the dataset streams; two are needed."""
    found = {}
    for problem in outline.problems():
        given = outline.parameters(problem)
        if given.get("family") == "worst-case" and isinstance(given.get("steepness"), int):
            found[problem] = int(given["steepness"])
    if len(found) < 2:
        raise DataError(
            f"{counted(len(found), 'problem')} with a worst case, and it draws mistakes against K; "
            "give a grid of steepness to {dataset: streams, family: worst-case}"
        )
    return found


@needs(online_labels, steepnesses)
def worst_case(evidence: Evidence) -> Figure:
    """Mistakes on the worst case of `PerceptronNotes`, section 3.1, against K, on log axes.

    Markers are medians over the seeds, joined by a line per label; bars reach from the lower to the
    upper quartile; a cross is a median over streams of which some ended before a pass without a
    mistake. The grey line is the exact number in the order of the notes, 2 K^2 - 2 K + 5, the
    dotted one what Theorem 1 allows, 8 K^2 + 2. The input takes O(log K) bits: the horizontal axis
    is in proportion to its length, along which the mistakes grow exponentially.
    """
    known_steepness = steepnesses(evidence)
    entries = [entry for entry in streamed(evidence) if entry.problem in known_steepness]
    known = drawing.looks(list(dict.fromkeys(entry.label for entry in entries)))
    found = sorted(
        ((float(known_steepness[entry.problem]), entry) for entry in entries),
        key=lambda pair: pair[0],
    )
    figure = drawing.canvas(4.6, 3.4)
    axes = figure.subplots()
    drawing.draw_medians(
        axes, known, found, "mistakes", lambda entry: bool((entry.runs["separated"] == 1.0).all())
    )
    values = sorted(set(known_steepness.values()))
    k = np.geomspace(values[0], values[-1], 100)
    axes.plot(k, 2 * k * k - 2 * k + 5, color="0.6", linewidth=2.4, zorder=1.0, label=_EXACT)
    axes.plot(k, 8 * k * k + 2, color="0.3", linewidth=0.8, linestyle=":", label=_NOVIKOFF)
    if len(values) <= _TICKS:
        axes.set_xticks(values, [f"{value}" for value in values])
        axes.set_xticks([], minor=True)
    axes.set(xlabel="K (powers of two; the input takes O(log K) bits)", ylabel="mistakes")
    ended = all((entry.runs["separated"] == 1.0).all() for _, entry in found)
    lines = [
        Line2D([], [], color="0.6", linewidth=2.4, label=_EXACT),
        Line2D([], [], color="0.3", linewidth=0.8, linestyle=":", label=_NOVIKOFF),
    ]
    cross = [Line2D([], [], color="0.3", marker="x", linestyle="none", label="still mistaken")]
    drawing.legend_above(figure, [*drawing.handles(known), *lines, *([] if ended else cross)])
    return figure
