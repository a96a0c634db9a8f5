"""Mistakes of perceptrons on streams, compared with both bounds of `PerceptronNotes`.

On the exponential worst case they are drawn against K, with their exact number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError, counted
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, texts
from perceptron_lab.reporting.printing.curves import History, quartile_curve
from perceptron_lab.reporting.printing.drawing import draw_spread
from perceptron_lab.reporting.printing.looks import Line, Look, Style, looks_of
from perceptron_lab.reporting.printing.problem_titles import title_of
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, percent, upper_bound
from perceptron_lab.reporting.summary import Summary, summaries, with_measures

ONLINE = ("online-perceptron", "online-kernel-perceptron")
"""The learners that count their mistakes on a stream."""
COUNTED = ("presentations", "passes", "mistakes", "separated", "error")
BOUNDS = ("novikoff_bound", "hinge_bound")
"""Of Theorem 1 and of Theorem 2: columns ``measure.NAME_upper`` and ``measure.NAME_lower``."""


def online_labels(outline: Outline) -> list[str]:
    """Return the labels of learners that count their mistakes on a stream."""
    labels = [label for label, method in outline.methods().items() if method.algorithm in ONLINE]
    if not labels:
        raise DataError(
            f"no label counts its mistakes on a stream; learners that do are {', '.join(ONLINE)}"
        )
    return labels


def stream_summaries(evidence: Evidence) -> list[Summary]:
    """Return every problem by every label of an online learner, with the measures as columns.

    Columns are called as measures are, without ``measure.``; those that no run has are NaN.
    """
    labels = online_labels(evidence)
    named = [*COUNTED, *(f"{name}_{end}" for name in BOUNDS for end in ("upper", "lower"))]
    return summaries(with_measures(evidence.frame[evidence.frame["label"].isin(labels)], named))


def largest_ratio(entry: Summary) -> float | None:
    """Return mistakes over the smaller of the two bounds, the largest of the cells."""
    bounds = [entry.runs[f"{name}_upper"] for name in BOUNDS]
    # min leaves out the NaN of Novikoff's bound where no w* is consistent
    ratios = entry.runs["mistakes"] / pd.concat(bounds, axis=1).min(axis=1)
    return None if ratios.isna().all() else float(ratios.max())


def drawn_problems(entries: Sequence[Summary]) -> list[str]:
    """Return the problems that have runs, in their order."""
    return list(dict.fromkeys(entry.problem for entry in entries if entry.seeds))


_NOTE = (
    "Medians over the seeds. Novikoff's bound (Theorem 1 of PerceptronNotes): $R^{2} "
    "|w^{*}|^{2}$, the least over all consistent $w^{*}$; empty if there is none. Hinge-loss "
    "bound (Theorem 2): $R^{2} |w^{*}|^{2} + 2 L$, the least over all $w^{*}$, L the sum of the "
    "hinge losses over all presentations. Both bounds of the mistakes are verified, and rounded "
    "up in print. Largest ratio: mistakes over the smaller bound, the largest over the seeds; at "
    "most 1 where the theorems hold. Separated: number of seeds whose last pass had no mistake. "
    "Error: percent of the test examples."
)


@needs(online_labels)
def mistakes_table(evidence: Evidence) -> Table:
    """Mistakes of perceptrons on streams, compared with the bounds of Theorems 1 and 2.

    Columns: ``problem``, ``label``, ``seeds``; medians over the seeds of ``presentations``,
    ``passes`` and ``mistakes``; ``separated``, the seeds whose last pass was without a mistake; the
    medians of ``Novikoff's bound`` (where some w* is consistent) and ``hinge-loss bound``, each
    with ``... least``: no other comparison w* gives a bound below this (in print left out);
    ``largest ratio`` of the mistakes to the smaller of the two bounds over the seeds, at most 1 by
    the theorems; ``error`` on the test examples in percent; ``status``, the statuses of the cells.
    """
    entries = stream_summaries(evidence)
    medians = {
        name: [entry.median(name) for entry in entries]
        for name in ("presentations", "passes", "mistakes", "error")
    }
    errors = [None if error is None else 100.0 * error for error in medians["error"]]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
        *(counts(name, medians[name]) for name in ("presentations", "passes", "mistakes")),
        counts("separated", [_separated(entry) for entry in entries]),
        *_bounds("Novikoff's bound", "novikoff_bound", entries),
        *_bounds("hinge-loss bound", "hinge_bound", entries),
        numbers("largest ratio", map(largest_ratio, entries)),
        numbers("error", errors, percent),
        texts("status", [entry.status_counts for entry in entries]),
    ]
    return Table("mistakes", columns, 2, notes=[_NOTE], long=True)


def _bounds(title: str, name: str, entries: list[Summary]) -> list[Column]:
    """Return the column of a bound, and an unprinted column of its proved lower end."""
    uppers = [entry.median(f"{name}_upper") for entry in entries]
    lowers = [entry.median(f"{name}_lower") for entry in entries]
    least = numbers(f"{title} least", lowers, lower_bound)
    return [numbers(title, uppers, upper_bound), Column(least.name, least.values, None)]


def _separated(entry: Summary) -> float | None:
    values = entry.runs["separated"].dropna()
    return None if values.empty else float(values.sum())


MOST_PANELS = 9
"""The most problems that are drawn: three rows of panels."""
# Measure of the trace -> its line and its name in the legend
_LINES: dict[str, tuple[Line, str]] = {
    "mistaken": ("-", "mistakes"),
    # The same colour per label: a bound belongs to the curve that it bounds
    "hinge_bound": ("--", "Theorem 2 (hinge loss)"),
}
_NOVIKOFF: tuple[Line, str] = (":", "Theorem 1 (Novikoff)")


@needs(online_labels)
def mistakes_figure(evidence: Evidence) -> Figure:
    """Mistakes along the stream and both bounds, a panel per problem.

    Solid: the mistakes in the first t presentations, the median over the seeds, the shade behind it
    from the lower to the upper quartile (of fewer than four seeds thin lines are the runs
    themselves). Dashed: Theorem 2's bound of each beginning, the least of a few comparisons, the
    median over the seeds. Dotted, where the stream is separable: Novikoff's bound, which is the
    same for all beginnings. A colour per label, on logarithmic axes; no solid line of a seed lies
    above its dashed or dotted one. Of more than nine problems the first nine are drawn, and the
    figure states this.
    """
    entries = stream_summaries(evidence)
    problems = drawn_problems(entries)
    drawn = problems[:MOST_PANELS]
    looks = looks_of(evidence, dict.fromkeys(entry.label for entry in entries))
    figure, panels = drawing.panels(len(drawn), 2.5, 0.8, 2.1)
    for axes, problem in zip(panels, drawn, strict=True):
        drawing.entitle(axes, title_of(evidence, problem))
        axes.set(xscale="log", yscale="log")
        for entry in entries:
            if entry.problem == problem:
                _draw(axes, evidence, entry, looks[entry.label])
        drawing.rule_logarithmic(axes, "x", 12.0)
        drawing.rule_logarithmic(axes, "y", 12.0)
        spec = axes.get_subplotspec()
        axes.set_xlabel("presentations")
        if spec is not None and spec.is_first_col():
            axes.set_ylabel("mistakes")
    drawing.legend_above(figure, _legend(looks))
    drawing.name_left_out(figure, drawn, problems, "problems")
    return figure


def _draw(axes: Axes, evidence: Evidence, entry: Summary, look: Look) -> None:
    """Draw the lines of a label."""
    courses: dict[str, list[History]] = {name: [] for name in _LINES}
    for cell in entry.runs["cell"]:
        trace = evidence.trace(cell)
        if trace is None:
            continue
        for name, histories in courses.items():
            if not {name, "presented"} <= trace.measures.keys():
                raise DataError(f"the run {cell} has no trace along its stream; run it again")
            histories.append(
                History(*(np.asarray(trace.measures[n][0]) for n in ("presented", name)))
            )
    colour = look["color"]
    for name, (dashes, _) in _LINES.items():
        curve = quartile_curve(courses[name])
        if curve is None:
            continue
        if name == "mistaken":
            draw_spread(axes, curve, courses[name], colour)
        style: Style = {"color": colour, "linestyle": dashes, "linewidth": 1.0}
        axes.step(
            curve.positions, curve.median, where="post", label=f"{entry.label} {name}", **style
        )
    # With some streams no w* is consistent: then Theorem 1 says nothing
    novikoff = entry.median("novikoff_bound_upper")
    if novikoff is not None:
        axes.axhline(
            novikoff,
            color=colour,
            linestyle=_NOVIKOFF[0],
            linewidth=1.0,
            label=f"{entry.label} novikoff",
        )


def _legend(looks: dict[str, Look]) -> Sequence[Line2D]:
    """Return a handle per label, by its colour, and one per kind of line, in grey."""
    # Colours tell labels and dashes tell quantities: named apart, the legend stays short
    labels = [Line2D([], [], color=look["color"], label=name) for name, look in looks.items()]
    kinds = [*_LINES.values(), _NOVIKOFF]
    return labels + [
        Line2D([], [], color="0.3", linestyle=dashes, linewidth=1.0, label=name)
        for dashes, name in kinds
    ]


_EXACT = "2 K$^2$ - 2 K + 5"
# The most values of K that have a tick each
_TICKS = 12
_NOVIKOFF_NAME = "Theorem 1: 8 K$^2$ + 2"


def steepnesses(outline: Outline) -> dict[str, int]:
    """Return problem -> K, of the worst cases of the dataset streams; two are needed."""
    steepness_of = {}
    for problem in outline.problems():
        parameters = outline.parameters(problem)
        if parameters.get("family") == "worst-case" and isinstance(
            parameters.get("steepness"), int
        ):
            steepness_of[problem] = int(parameters["steepness"])
    if len(steepness_of) < 2:
        raise DataError(
            f"{counted(len(steepness_of), 'problem')} with a worst case, but a figure of mistakes "
            "against K needs 2; give a grid of steepness to {dataset: "
            "streams, family: worst-case}"
        )
    return steepness_of


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
    entries = [entry for entry in stream_summaries(evidence) if entry.problem in known_steepness]
    looks = looks_of(evidence, dict.fromkeys(entry.label for entry in entries))
    drawn_problems = sorted(
        ((float(known_steepness[entry.problem]), entry) for entry in entries),
        key=lambda pair: pair[0],
    )
    figure, axes = drawing.panel(4.6, 3.4)
    drawing.draw_medians(
        axes,
        looks,
        drawn_problems,
        "mistakes",
        lambda entry: bool((entry.runs["separated"] == 1.0).all()),
    )
    values = sorted(set(known_steepness.values()))
    k = np.geomspace(values[0], values[-1], 100)
    # Section 3.1: the mistakes in the order of the notes, and the bound of Theorem 1
    axes.plot(k, 2 * k * k - 2 * k + 5, color="0.6", linewidth=2.4, zorder=1.0, label=_EXACT)
    axes.plot(k, 8 * k * k + 2, color="0.3", linewidth=0.8, linestyle=":", label=_NOVIKOFF_NAME)
    if len(values) <= _TICKS:
        axes.set_xticks(values, [f"{value}" for value in values])
        axes.set_xticks([], minor=True)
    axes.set(xlabel="K (powers of two; the input takes O(log K) bits)", ylabel="mistakes")
    ended = all((entry.runs["separated"] == 1.0).all() for _, entry in drawn_problems)
    lines = [
        Line2D([], [], color="0.6", linewidth=2.4, label=_EXACT),
        Line2D([], [], color="0.3", linewidth=0.8, linestyle=":", label=_NOVIKOFF_NAME),
    ]
    cross = [
        Line2D(
            [],
            [],
            color="0.3",
            marker="x",
            linestyle="none",
            label="ended before a pass without mistakes",
        )
    ]
    drawing.legend_above(figure, [*drawing.handles(looks), *lines, *([] if ended else cross)])
    return figure
