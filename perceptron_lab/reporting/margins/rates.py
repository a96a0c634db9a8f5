"""Table 1 of `YuKilincCarbonell2014`, measured: iterations beside the theorems' bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.table import Column, Table, counts, reals, texts
from perceptron_lab.reporting.printing.typesetting import NOTHING, escape
from perceptron_lab.reporting.summary import Summary, summaries
from perceptron_lab.results import Bound, Status

SIDES = {
    "feasible": {Status.FEASIBLE},
    "epsilon": {Status.MARGIN_BOUNDED, Status.INFEASIBLE},
}
"""The two columns of the paper's table, LDFP and LAP, by the endings that belong to them."""


def rates(evidence: Evidence) -> Table:
    """Return the bounds of the algorithms' own theorems beside what was measured.

    The paper's Table 1 has an order of growth per algorithm for feasible systems (LDFP) and for
    epsilon-certificates of near infeasibility (LAP). Here every problem and label has a line; its
    bound is a number, from the theorem's own constants and the facts of the problem.

    Columns: ``problem``, ``side`` (``feasible`` or ``epsilon``, by the proved answers; empty where
    there is none in every cell), ``label``, ``seeds``; medians over the seeds of ``iterations``
    (changes of the point: the column ``updates`` of the runs) and ``bound``; where the bound is one
    of the worst case, ``largest ratio`` of the two over the cells, where it is an expectation,
    ``mean ratio``, of the mean iterations to the mean bound: the theorem holds either at 1 or less
    (the latter with many seeds); ``kind`` of the bound; ``theorem``, or the ``reason`` why there is
    no bound; ``status``, the endings of the cells.

    The goal ``margin_upper`` says which epsilon. With it a run whose weights prove even that there
    is no separator (INFEASIBLE) has ended where they reached epsilon all the same.

    Raises
    ------
    DataError
        If the result of a cell is missing or damaged.
    """
    entries = summaries(evidence.frame)
    bounds = [_bounds(evidence, entry) for entry in entries]
    theorems = [_distinct(bound.theorem for bound in found) for found in bounds]
    reasons = [_distinct(bound.reason for bound in found) for found in bounds]
    kinds = [_distinct(b.kind for b in found if b.value is not None) for found in bounds]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        texts("side", [_side(entry) for entry in entries]),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
        counts("iterations", [entry.median("updates") for entry in entries]),
        reals("bound", [entry.median("bound") for entry in entries]),
        reals("largest ratio", _of_kind("worst case", kinds, entries, _largest_ratio)),
        reals("mean ratio", _of_kind("expectation", kinds, entries, _mean_ratio)),
        Column("kind", kinds, None),
        _theorem(theorems, reasons),
        Column("reason", reasons, None, align="l"),
        texts("status", [entry.endings for entry in entries]),
    ]
    return Table("rates", columns, notes=[_NOTE])


_NOTE = (
    "Iterations and bounds are medians over the seeds; largest ratio: iterations over bound, the "
    "largest of the seeds; mean ratio: mean iterations over mean bound, for bounds of the expected "
    "iterations. Bounds are those of the theorems with their constants, at the margin "
    "known or proved. Side epsilon: the weights prove that the margin is at most epsilon "
    "(MARGIN\\_BOUNDED), or even that there is no separator (INFEASIBLE)."
)


def _bounds(evidence: Evidence, entry: Summary) -> list[Bound]:
    found = [evidence.bound(cell) for cell in entry.runs["cell"]]
    return [bound for bound in found if bound is not None]


def _distinct(words: Iterable[str]) -> str:
    return "; ".join(word for word in dict.fromkeys(words) if word)


def _side(entry: Summary) -> str:
    endings = set(entry.runs["status"])
    sides = [side for side, statuses in SIDES.items() if endings <= statuses]
    return sides[0] if entry.answered and sides else ""


def _largest_ratio(entry: Summary) -> float | None:
    """Return the largest ratio of the cells that have a bound, or None."""
    known = _bounded(entry)
    # No update within a bound of 0 is 0 / 0, and any other is infinitely too many.
    return None if known.empty else float((known["updates"] / known["bound"]).fillna(0.0).max())


def _mean_ratio(entry: Summary) -> float | None:
    """Return the ratio of the means of the cells that have a bound, or None."""
    known = _bounded(entry)
    return None if known.empty else float(known["updates"].mean() / known["bound"].mean())


def _bounded(entry: Summary) -> pd.DataFrame:
    return entry.runs.dropna(subset=["bound", "updates"])


def _of_kind(
    kind: str,
    kinds: Iterable[str],
    entries: Iterable[Summary],
    ratio: Callable[[Summary], float | None],
) -> list[float | None]:
    """Return the ratios of the entries whose bounds are all of this kind, and None for others."""
    pairs = zip(kinds, entries, strict=True)
    return [ratio(entry) if found == kind else None for found, entry in pairs]


def _theorem(theorems: list[str], reasons: list[str]) -> Column:
    shown = [
        escape(": ".join(filter(None, (theorem, reason)))) or NOTHING
        for theorem, reason in zip(theorems, reasons, strict=True)
    ]
    return Column("theorem", theorems, shown, align="p{38mm}")
