"""The table of mistakes on streams beside both bounds."""

from __future__ import annotations

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.perceptron_notes.streamed import (
    largest_ratio,
    online_labels,
    streamed,
)
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, percent, upper_bound
from perceptron_lab.reporting.summary import Summary

_NOTE = (
    "Medians over the seeds. Bounds of the mistakes, proved: Novikoff's (Theorem 1 of "
    "PerceptronNotes), $R^{2} |w^{*}|^{2}$ over all consistent $w^{*}$, where there is one; and "
    "that of Theorem 2, $R^{2} |w^{*}|^{2} + 2 L$ over all $w^{*}$, L the sum of the hinge losses "
    "over all presentations. Largest ratio: mistakes over the smaller bound, the largest of the "
    "seeds; the theorems hold at 1 or less. In print bounds are rounded up. Separated: seeds whose "
    "last pass was without a mistake."
)


@needs(online_labels)
def mistakes(evidence: Evidence) -> Table:
    """Mistakes of perceptrons on streams, beside the bounds of Theorems 1 and 2.

    Columns: ``problem``, ``label``, ``seeds``; medians over the seeds of ``presentations``,
    ``passes`` and ``mistakes``; ``separated``, the seeds whose last pass was without a mistake; the
    medians of ``Novikoff's bound`` (where some w* is consistent) and ``hinge-loss bound``, each
    with ``... least``: no other comparison w* gives a bound below this (in print left out);
    ``largest ratio`` of the mistakes to the smaller of the two bounds over the seeds, at most 1 by
    the theorems; ``error`` on the test examples in percent; ``status``, the endings of the cells.
    """
    entries = streamed(evidence)
    found = {
        name: [entry.median(name) for entry in entries]
        for name in ("presentations", "passes", "mistakes", "error")
    }
    errors = [None if error is None else 100.0 * error for error in found["error"]]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
        *(counts(name, found[name]) for name in ("presentations", "passes", "mistakes")),
        counts("separated", [_separated(entry) for entry in entries]),
        *_bounds("Novikoff's bound", "novikoff_bound", entries),
        *_bounds("hinge-loss bound", "hinge_bound", entries),
        numbers("largest ratio", map(largest_ratio, entries)),
        numbers("error", errors, percent),
        texts("status", [entry.endings for entry in entries]),
    ]
    return Table("mistakes", columns, 2, notes=[_NOTE], long=True)


def _bounds(title: str, name: str, entries: list[Summary]) -> list[Column]:
    """Return the column of a bound, and that of its proved lower end, which is not printed."""
    uppers = [entry.median(f"{name}_upper") for entry in entries]
    lowers = [entry.median(f"{name}_lower") for entry in entries]
    least = numbers(f"{title} least", lowers, lower_bound)
    return [numbers(title, uppers, upper_bound), Column(least.name, least.values, None)]


def _separated(entry: Summary) -> float | None:
    values = entry.runs["separated"].dropna()
    return None if values.empty else float(values.sum())
