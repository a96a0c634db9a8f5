"""Figure 8.1 of `Kharechko2009`: average precision against the number of features."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.core.errors import DataError
from perceptron_lab.experiments.configuration.rows import as_json
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, learners_among, needs
from perceptron_lab.reporting.papers.thesis.table_8_1.precisions import Entry, entries, features_of
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look
from perceptron_lab.reporting.summary import common

APART = 1.035
"""The ratio of the places of neighbouring problems at one number of features."""
VARIED = ("components", "regularisations", "penalties")
"""The number of features, and the candidates of it, in which labels of a learner may differ."""


def with_features(outline: Outline) -> list[str]:
    """Return the labels of learners that are given a number of features."""
    found = [
        label
        for label, method in outline.methods().items()
        if features_of(method.parameters)[0] is not None
    ]
    if not found:
        raise DataError("no label has a number of features; give `components` in a grid")
    return found


@needs(learners_among, with_features)
def figure_8_1(evidence: Evidence) -> Figure:
    """Average precision against the number of features, one panel per learner.

    The labels of a learner differ in the parameter ``components`` alone, or also in the candidates
    for what is tuned. Markers are means over the seeds, bars reach from the lowest to the highest;
    where a learner has one seed, and more elsewhere, they are hollow. Problems stand side by side
    at each number of features. A point without a result in every cell is left out, which breaks
    its line.
    """
    labels = with_features(evidence)
    swept = [entry for entry in entries(evidence) if entry.label in labels]
    panels: dict[tuple[str, str], list[Entry]] = {}
    for entry in swept:
        settings = {key: value for key, value in entry.parameters.items() if key not in VARIED}
        panels.setdefault((entry.algorithm, as_json(settings)), []).append(entry)
    shown = drawing.looks(list(dict.fromkeys(entry.problem for entry in swept)))
    figure = drawing.canvas(2.6 * len(panels) + 0.6, 3.0)
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)
    for axes, given in zip(grid[0], panels.values(), strict=True):
        _panel(axes, given, shown)
    grid[0][0].set_ylabel("average precision, percent")
    drawing.legend_above(figure, drawing.handles(shown, linewidth=0.9))
    return figure


def _panel(axes: Axes, given: Sequence[Entry], shown: dict[str, Look]) -> None:
    ticks = sorted({entry.components or 0 for entry in given})
    axes.set_xscale("log")
    axes.set_xticks(ticks, [str(tick) for tick in ticks], minor=False)
    axes.set_xticks([], minor=True)
    named = common([entry.label for entry in given], " ")
    alone = {entry.seeds for entry in given} != {1} and any(entry.seeds == 1 for entry in given)
    axes.set(
        xlabel="features k (hollow: one seed)" if alone else "features k",
        title=" ".join(part for part in named if part != "*"),
    )
    drawing.rule(axes, "both", "0.92")
    for place, (name, look) in enumerate(shown.items()):
        shift = APART ** (place - 0.5 * (len(shown) - 1))
        mine = [entry for entry in given if entry.problem == name]
        mine.sort(key=lambda entry: entry.components or 0)
        at = [shift * (entry.components or 0) for entry in mine]
        spreads = [entry.spread for entry in mine]
        means = [float("nan") if one.mean is None else one.mean for one in spreads]
        axes.plot(at, means, linewidth=0.9, markersize=3.5, **look)
        for k, entry, one in zip(at, mine, spreads, strict=True):
            if one.lowest is None or one.highest is None:
                continue
            drawing.draw_bar(axes, k, [one.lowest, one.highest], look["color"], 0.7)
            if alone and entry.seeds == 1:
                axes.plot([k], [one.lowest], markersize=3.5, markerfacecolor="white", **look)
