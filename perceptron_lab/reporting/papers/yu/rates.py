"""Iterations against the bounds of the theorems: Table 1 of `YuKilincCarbonell2014`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.reporting.evidence import Evidence, findings
from perceptron_lab.reporting.papers.yu.costs import stopping_rules
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import Column, counts, medians, numbers, texts
from perceptron_lab.reporting.printing.looks import Style
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import NOTHING, escape
from perceptron_lab.reporting.summary import Summary, summaries

SIDES = {
    "feasible": {Status.FEASIBLE},
    "epsilon": {Status.MARGIN_BOUNDED, Status.INFEASIBLE},
}
"""The two columns of the paper's table, LDFP and LAP, by the statuses that belong to them.

A relaxed answer ends a run as MARGIN_BOUNDED too, and counts as a separate side.
"""


def rates_table(evidence: Evidence) -> Table:
    """Measured iterations compared with the bounds of the algorithms' theorems.

    The paper's Table 1 has an order of growth per algorithm for feasible systems (LDFP) and for
    epsilon-certificates of near infeasibility (LAP). Here every label has a line on each problem
    that it was run on; its bound is a number, from the theorem's own constants and the facts of the
    problem.

    Columns: ``problem``, ``side`` (``feasible``, ``epsilon`` or ``relaxed``, by the proved answers;
    empty unless every cell has one), ``label``, ``seeds``; medians over the seeds of
    ``iterations`` (changes of the point: the column ``updates`` of the runs) and ``bound``; where
    the bound is one of the worst case, ``largest ratio`` of the two over the cells, where it is an
    expectation, ``mean ratio``, of the mean iterations to the mean bound: the theorem holds either
    at 1 or less (the latter with many seeds); ``kind`` of the bound; ``theorem``, or the ``reason``
    why there is no bound; ``status``, the statuses of the cells.

    The goal ``margin_upper`` says which epsilon. With it a run whose weights prove even that there
    is no separator (INFEASIBLE) has ended where they reached epsilon nevertheless.
    """
    entries = [entry for entry in summaries(evidence.frame) if entry.seeds]
    bounds = [
        [bound for cell in entry.runs["cell"] if (bound := evidence.bound(cell)) is not None]
        for entry in entries
    ]
    theorems = [_distinct(bound.theorem for bound in bounds_of_label) for bounds_of_label in bounds]
    reasons = [_distinct(bound.reason for bound in bounds_of_label) for bounds_of_label in bounds]
    kinds = [
        _distinct(b.kind for b in bounds_of_label if b.value is not None)
        for bounds_of_label in bounds
    ]
    largest, mean = zip(*map(_ratios, entries, kinds), strict=True)
    pairs = zip(theorems, reasons, strict=True)
    texts_of_pairs = [escape(": ".join(filter(None, pair))) or NOTHING for pair in pairs]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        texts("side", map(_side, entries)),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
        *medians(entries, ["iterations"]),
        numbers("bound", [entry.median("bound") for entry in entries]),
        numbers("largest ratio", largest),
        numbers("mean ratio", mean),
        Column("kind", kinds, None),
        Column("theorem", theorems, texts_of_pairs, align="p{38mm}"),
        Column("reason", reasons, None, align="l"),
        texts("status", [entry.status_counts for entry in entries]),
    ]
    return Table("rates", columns, notes=[_NOTE, *stopping_rules(evidence)], long=True)


_NOTE = (
    "Iterations, bound: medians over the seeds. Largest ratio: iterations over bound, the "
    "largest over the seeds, for worst-case bounds. Mean ratio: mean iterations over mean bound, "
    "for bounds of the expected iterations. Bounds have the theorems' own constants, at the "
    "known or verified margin. Side epsilon: the weights prove that the margin is at most "
    "epsilon (MARGIN\\_BOUNDED) or that no separator exists (INFEASIBLE). Side relaxed: the "
    "point violates no constraint by more than the allowed amount (MARGIN\\_BOUNDED), or none at "
    "all (FEASIBLE)."
)


def _side(entry: Summary) -> str:
    """Return which kind of answer all cells ended with; empty where some have another, or none."""
    if not entry.answered:
        return ""
    statuses = set(entry.runs["status"])
    # Relaxed answers end as MARGIN_BOUNDED too, and belong to another theorem than epsilon-
    # certificates
    relaxed = [finding.relaxed_margin is not None for finding in findings(entry.runs)]
    if any(relaxed):
        pairs = zip(entry.runs["status"], relaxed, strict=True)
        return "relaxed" if all(at or status == Status.FEASIBLE for status, at in pairs) else ""
    return next((side for side, of in SIDES.items() if statuses <= of), "")


def _distinct(texts: Iterable[str]) -> str:
    return "; ".join(text for text in dict.fromkeys(texts) if text)


def _ratios(entry: Summary, kind: str) -> tuple[float | None, float | None]:
    """Return the largest ratio of updates to bound, and the ratio of the means.

    The former for bounds of the worst case, the latter for bounds of the expected updates.
    """
    # Both means are taken over the same runs
    bounded = entry.runs.dropna(subset=["bound", "updates"])
    if bounded.empty:
        return None, None
    if kind == "worst case":
        # No update within a bound of 0 is 0 / 0, and any other is infinitely too many.
        return float((bounded["updates"] / bounded["bound"]).fillna(0.0).max()), None
    if kind == "expectation":
        # A bound of the expectation says nothing about a single run, only about means
        return None, float(bounded["updates"].mean() / bounded["bound"].mean())
    return None, None


_MARKS: dict[str, tuple[str, str, str, Literal["full", "none"]]] = {
    "feasible": ("feasible", "o", "#0072B2", "full"),
    "epsilon": ("epsilon-certificate", "s", "#D55E00", "none"),
    "relaxed": ("relaxed answer", "^", "#009E73", "full"),
}
"""Side -> how the legend calls it, and its marker, colour and filling."""

_WORDS = ("label", "theorem", "side", "kind")


class BoundRatio(NamedTuple):
    """Updates over the bound, of one algorithm on one problem, by the side of its answers."""

    name: str
    theorem: str
    side: str
    kind: str
    value: float


def bound_ratios(evidence: Evidence) -> list[BoundRatio]:
    """Return the positive ratios of an experiment, by label, in the order of the table ``rates``.

    A ratio to a bound of the worst case is the largest over the seeds; a ratio to a bound of the
    expected updates compares the mean. Problems count where every cell ended with a proved answer.
    """
    lines = []
    for line in rates_table(evidence).frame.to_dict("records"):
        candidates = [line["largest ratio"], line["mean ratio"]]
        value = next((float(ratio) for ratio in candidates if not pd.isna(ratio)), 0.0)
        # A ratio of 0 has no place on a logarithmic axis
        if value > 0.0 and line["side"]:
            label, theorem, side, kind = (str(line[name]) for name in _WORDS)
            lines.append(BoundRatio(label, theorem, side, kind, value))
    return lines


def rates_figure(evidence: Evidence) -> Figure:
    """Measured updates over the bound of each label's own theorem, a mark per problem.

    The marks tell feasible systems, epsilon-certificates and relaxed answers apart. A bound of the
    worst case holds where all marks are at 1 or less, one of the expectation with many seeds. Runs
    without any update, and labels without a bound, are not drawn; the table ``rates`` has them.
    """
    ratios = bound_ratios(evidence)
    if not ratios:
        raise DataError(
            "nothing to draw: no run ended with a proved answer whose updates a theorem bounds"
        )
    titles = drawing.spelt_out(evidence.algorithms())
    return draw_ratios(
        (titles.get(line.name, line.name), line.side, [line.value]) for line in ratios
    )


def draw_ratios(bars: Iterable[tuple[str, str, Sequence[float]]]) -> Figure:
    """Draw names, their sides and ratios above 0: a row of marks for each name."""
    listed = list(bars)
    names = list(dict.fromkeys(name for name, _, _ in listed))
    figure, axes = drawing.panel(6.0, 0.7 + 0.23 * len(names))
    axes.set(xscale="log", xlabel="updates / bound of the theorem")
    for name, side, values in listed:
        _, marker, colour, fill = _MARKS[side]
        style: Style = {"color": colour, "marker": marker, "fillstyle": fill}
        axes.plot(values, [names.index(name)] * len(values), ls="none", markersize=4.0, **style)
    # At 1 a theorem is as tight as it can be; a mark to the right would refute it
    axes.axvline(1.0, color="0.3", linewidth=0.8)
    axes.set_yticks(range(len(names)), names)
    # In the order of the table, from above
    axes.invert_yaxis()
    drawing.rule_logarithmic(axes, "x")
    drawing.rule(axes, "y", "0.92")
    sides = {side for _, side, _ in listed}
    handles = [
        Line2D([], [], color=colour, marker=marker, fillstyle=fill, linestyle="none", label=words)
        for side, (words, marker, colour, fill) in _MARKS.items()
        if side in sides
    ]
    drawing.legend_above(figure, handles)
    return figure
