"""Table 1 of `YuKilincCarbonell2014`, measured: iterations beside the theorems' bounds."""

from __future__ import annotations

from collections.abc import Iterable

from perceptron_lab.core.claims import RELAXED
from perceptron_lab.core.results import Status
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.columns import Column, counts, medians, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import NOTHING, escape
from perceptron_lab.reporting.stopping_rules import stopping_rules
from perceptron_lab.reporting.summary import Summary, summaries

SIDES = {
    "feasible": {Status.FEASIBLE},
    "epsilon": {Status.MARGIN_BOUNDED, Status.INFEASIBLE},
}
"""The two columns of the paper's table, LDFP and LAP, by the endings that belong to them.

A relaxed answer ends a run as MARGIN_BOUNDED too, and has a side of its own.
"""


def rates(evidence: Evidence) -> Table:
    """Measured iterations beside the bounds of the algorithms' own theorems.

    The paper's Table 1 has an order of growth per algorithm for feasible systems (LDFP) and for
    epsilon-certificates of near infeasibility (LAP). Here every label has a line on each problem
    that it was run on; its bound is a number, from the theorem's own constants and the facts of the
    problem.

    Columns: ``problem``, ``side`` (``feasible``, ``epsilon`` or ``relaxed``, by the proved answers;
    empty where there is none in every cell), ``label``, ``seeds``; medians over the seeds of
    ``iterations`` (changes of the point: the column ``updates`` of the runs) and ``bound``; where
    the bound is one of the worst case, ``largest ratio`` of the two over the cells, where it is an
    expectation, ``mean ratio``, of the mean iterations to the mean bound: the theorem holds either
    at 1 or less (the latter with many seeds); ``kind`` of the bound; ``theorem``, or the ``reason``
    why there is no bound; ``status``, the endings of the cells.

    The goal ``margin_upper`` says which epsilon. With it a run whose weights prove even that there
    is no separator (INFEASIBLE) has ended where they reached epsilon all the same.
    """
    entries = [entry for entry in summaries(evidence.frame) if entry.seeds]
    bounds = [
        [bound for cell in entry.runs["cell"] if (bound := evidence.bound(cell)) is not None]
        for entry in entries
    ]
    theorems = [_distinct(bound.theorem for bound in found) for found in bounds]
    reasons = [_distinct(bound.reason for bound in found) for found in bounds]
    kinds = [_distinct(b.kind for b in found if b.value is not None) for found in bounds]
    largest, mean = zip(*map(_ratios, entries, kinds), strict=True)
    pairs = zip(theorems, reasons, strict=True)
    said = [escape(": ".join(filter(None, pair))) or NOTHING for pair in pairs]
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
        Column("theorem", theorems, said, align="p{38mm}"),
        Column("reason", reasons, None, align="l"),
        texts("status", [entry.endings for entry in entries]),
    ]
    return Table("rates", columns, notes=[_NOTE, *stopping_rules(evidence)], long=True)


_NOTE = (
    "Iterations and bounds are medians over the seeds; largest ratio: iterations over bound, the "
    "largest of the seeds; mean ratio: mean iterations over mean bound, for bounds of the expected "
    "iterations. Bounds are those of the theorems with their constants, at the margin "
    "known or proved. Side epsilon: the weights prove that the margin is at most epsilon "
    "(MARGIN\\_BOUNDED), or even that there is no separator (INFEASIBLE); side relaxed: the point "
    "violates no constraint by more than was allowed, or even none (FEASIBLE)."
)


def _side(entry: Summary) -> str:
    """Return which kind of answer all cells ended with; empty where some have another, or none."""
    if not entry.answered:
        return ""
    runs, statuses = entry.runs, set(entry.runs["status"])
    if "message" in runs:
        relaxed = runs["message"].astype(str).str.startswith(RELAXED)
        if relaxed.any():
            return "relaxed" if (relaxed | (runs["status"] == Status.FEASIBLE)).all() else ""
    return next((side for side, of in SIDES.items() if statuses <= of), "")


def _distinct(words: Iterable[str]) -> str:
    return "; ".join(word for word in dict.fromkeys(words) if word)


def _ratios(entry: Summary, kind: str) -> tuple[float | None, float | None]:
    """Return the largest ratio of updates to bound, and the ratio of the means.

    The former for bounds of the worst case, the latter for bounds of the expected updates.
    """
    known = entry.runs.dropna(subset=["bound", "updates"])
    if known.empty:
        return None, None
    if kind == "worst case":
        # No update within a bound of 0 is 0 / 0, and any other is infinitely too many.
        return float((known["updates"] / known["bound"]).fillna(0.0).max()), None
    if kind == "expectation":
        return None, float(known["updates"].mean() / known["bound"].mean())
    return None, None
