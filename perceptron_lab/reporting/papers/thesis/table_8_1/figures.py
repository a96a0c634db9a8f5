"""Table 8.1 and Figure 8.1 of `Kharechko2009` as figures: average precision and its spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.experiments.configuration.rows import as_json
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, learners_among, needs
from perceptron_lab.reporting.papers.thesis.table_8_1.precisions import (
    HARD,
    SVM,
    PrecisionEntry,
    entries,
    features_of,
    mean_spread,
    thesis_column,
    thesis_precisions,
)
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.looks import Look, Style, algorithm_looks, distinct_looks
from perceptron_lab.reporting.summary import by_label, common, grouped

MEAN = "mean"
"""The last line: the mean over the categories."""
_LOOK: Style = {"color": "black", "linestyle": "none", "markeredgewidth": 1.2}


class PrintedColumn(NamedTuple):
    """A column of the thesis's table, with its name in the legend and its marker."""

    column: str
    name: str
    marker: str


def _printed(hard: bool, components: int | None) -> PrintedColumn | None:
    """Return the thesis's column for a panel, if it has one."""
    column = thesis_column(HARD if hard else SVM, components)
    names = {
        "ellipsoid_k30": ("thesis, ellipsoid k30", "x"),
        "svm_k30": ("thesis, SVM k30", "+"),
        "svm_n20494": ("thesis, SVM full", "+"),
    }
    return PrintedColumn(column, *names[column]) if column else None


@needs(learners_among)
def table_8_1(evidence: Evidence) -> Figure:
    """Average precision per category, ours and the thesis's, with the spread over first pivots.

    A panel per number of features, hard ellipsoids in a separate one; a line per category, and
    the last one for the mean. Markers are means over the seeds, bars reach from the lowest to the
    highest seed, each of which draws a first pivot; black crosses are the thesis's Table 8.1. A
    category without a result in every cell has no marker.
    """
    labels = by_label(entries(evidence))
    problems = [entry.problem for entry in next(iter(labels.values()))]
    panels = grouped(
        labels.values(),
        lambda entries: (entries[0].algorithm == HARD, entries[0].components, entries[0].kernel),
    )
    figure = drawing.canvas(1.2 + 2.0 * len(panels), 1.4 + 0.42 * (len(problems) + 1))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)
    for axes, ((hard, components, kernel), entries_by_label) in zip(
        grid[0], panels.items(), strict=True
    ):
        features = "all features" if components is None else f"{components} features"
        kind = f"{features} {kernel}".strip() + ", hard ellipsoids" * hard
        axes.set_title(kind, loc="left")
        _draw_features(axes, problems, entries_by_label, _printed(hard, components))
    lines = [*problems, MEAN]
    grid[0][0].set_yticks(range(len(lines)), lines)
    # The first category at the top, as in the table
    grid[0][0].set_ylim(len(lines) - 0.5, -0.5)
    return figure


def _draw_features(
    axes: Axes,
    problems: Sequence[str],
    groups: Sequence[Sequence[PrecisionEntry]],
    printed: PrintedColumn | None,
) -> None:
    """Draw the labels of one panel, side by side in each line, and the thesis's column."""
    algorithms = {entries[0].label: entries[0].algorithm for entries in groups}
    looks = algorithm_looks(list(algorithms), algorithms, list(algorithms))
    step = 0.8 / len(groups)
    for number, label_entries in enumerate(groups):
        spreads = [*(entry.spread for entry in label_entries), mean_spread(label_entries)]
        look, shift = looks[label_entries[0].label], (number - 0.5 * (len(groups) - 1)) * step
        for line, spread in enumerate(spreads):
            if spread.mean is None or spread.lowest is None or spread.highest is None:
                continue
            at = line + shift
            axes.plot([spread.lowest, spread.highest], [at, at], color=look["color"], linewidth=1.2)
            axes.plot(
                [spread.mean], [at], color=look["color"], marker=look["marker"], markersize=3.5
            )
    if printed is not None:
        heights, values = _thesis(problems, printed.column)
        axes.plot(values, heights, marker=printed.marker, markersize=6.0, **_LOOK)
    for border in range(len(problems)):
        axes.axhline(border + 0.5, color="0.85" if border < len(problems) - 1 else "0.4", lw=0.6)
    axes.set_xlabel("average precision, percent")
    axes.tick_params(axis="y", length=0)
    drawing.rule(axes, "x", "0.92")
    axes.legend(
        handles=_legend(looks, printed),
        loc="upper center",
        bbox_to_anchor=(0.45, -0.1 - 0.3 / (len(problems) + 1)),
        frameon=False,
    )


def _thesis(problems: Sequence[str], column: str) -> tuple[list[int], list[float]]:
    """Return the lines and values of a column of the thesis; the mean if it has all categories."""
    printed = thesis_precisions()
    by_line = {line: printed[name][column] for line, name in enumerate(problems) if name in printed}
    # The thesis's mean over other categories than ours would not compare
    if len(by_line) == len(problems):
        by_line[len(problems)] = sum(by_line.values()) / len(problems)
    return list(by_line), list(by_line.values())


def _legend(looks: Mapping[str, Look], printed: PrintedColumn | None) -> list[Line2D]:
    """Return a handle per label, and one of the thesis."""
    handles = [
        Line2D(
            [], [], color=look["color"], marker=look["marker"], markersize=3.5, lw=1.2, label=name
        )
        for name, look in looks.items()
    ]
    if printed is not None:
        handles.append(Line2D([], [], marker=printed.marker, label=printed.name, **_LOOK))
    return handles


APART = 1.035
"""The ratio of the places of neighbouring problems at one number of features."""
VARIED = ("components", "regularisations", "penalties")
"""The number of features, and the candidates of it, in which labels of a learner may differ."""


def with_features(outline: Outline) -> list[str]:
    """Return the labels of learners that are given a number of features."""
    entries = [
        label
        for label, method in outline.methods().items()
        if features_of(method.parameters)[0] is not None
    ]
    if not entries:
        raise DataError(
            "no label has a number of features; give the learners `components` in a grid"
        )
    return entries


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
    panels: dict[tuple[str, str], list[PrecisionEntry]] = {}
    for entry in swept:
        # As VARIED allows: what else differs is another learner, with its own panel
        settings = {key: value for key, value in entry.parameters.items() if key not in VARIED}
        panels.setdefault((entry.algorithm, as_json(settings)), []).append(entry)
    looks = distinct_looks(list(dict.fromkeys(entry.problem for entry in swept)))
    figure = drawing.canvas(2.6 * len(panels) + 0.6, 3.0)
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)
    for axes, panel_entries in zip(grid[0], panels.values(), strict=True):
        _draw_learner(axes, panel_entries, looks)
    grid[0][0].set_ylabel("average precision, percent")
    drawing.legend_above(figure, drawing.handles(looks, linewidth=0.9))
    return figure


def _draw_learner(axes: Axes, entries: Sequence[PrecisionEntry], looks: dict[str, Look]) -> None:
    ticks = sorted({entry.components or 0 for entry in entries})
    axes.set_xscale("log")
    axes.set_xticks(ticks, [str(tick) for tick in ticks], minor=False)
    axes.set_xticks([], minor=True)
    named = common([entry.label for entry in entries], " ")
    # A point of one seed has no range: its missing bar must not be read as certainty
    alone = {entry.seeds for entry in entries} != {1} and any(entry.seeds == 1 for entry in entries)
    axes.set(
        xlabel="features k (hollow: one seed)" if alone else "features k",
        title=" ".join(part for part in named if part != "*"),
    )
    drawing.rule(axes, "both", "0.92")
    for number, (name, look) in enumerate(looks.items()):
        # By factors, as the axis is logarithmic
        shift = APART ** (number - 0.5 * (len(looks) - 1))
        selected = [entry for entry in entries if entry.problem == name]
        selected.sort(key=lambda entry: entry.components or 0)
        at = [shift * (entry.components or 0) for entry in selected]
        spreads = [entry.spread for entry in selected]
        # NaN breaks the line: joined neighbours would suggest a value between them
        means = [float("nan") if spread.mean is None else spread.mean for spread in spreads]
        axes.plot(at, means, linewidth=0.9, markersize=3.5, **look)
        for k, entry, seed_spread in zip(at, selected, spreads, strict=True):
            if seed_spread.lowest is None or seed_spread.highest is None:
                continue
            drawing.draw_bar(axes, k, [seed_spread.lowest, seed_spread.highest], look["color"], 0.7)
            if alone and entry.seeds == 1:
                axes.plot(
                    [k], [seed_spread.lowest], markersize=3.5, markerfacecolor="white", **look
                )
