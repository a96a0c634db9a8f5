"""Conic systems: first-order methods beside the rescaled perceptron and the ellipsoid method."""

from __future__ import annotations

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.columns import (
    cells,
    counts,
    in_bold,
    numbers,
    seconds,
    texts,
)
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, upper_bound
from perceptron_lab.reporting.summary import summaries


def conic(evidence: Evidence) -> Table:
    """Return costs and proved brackets on conic systems: one line per problem and label.

    Columns: ``problem``, ``dimension``, ``rank`` (eigenvalues of the cone), ``label``, ``seeds``;
    medians over the seeds of ``queries`` (of a separation oracle), ``iterations`` (changes of the
    point: the column ``updates`` of the runs), ``products`` and ``seconds``, and of the proved
    bracket ``margin lower``, ``margin upper``; ``status``, the endings of the cells.
    """
    entries = summaries(evidence.frame)
    problems = [entry.problem for entry in entries]
    proved = [entry.answered for entry in entries]
    columns = [
        *cells(evidence.frame, entries, "rank"),
        counts("queries", [entry.median("queries") for entry in entries]),
        counts("iterations", [entry.median("updates") for entry in entries]),
        in_bold(numbers("products", [e.median("products") for e in entries]), problems, proved),
        in_bold(seconds("seconds", [e.median("seconds") for e in entries]), problems, proved),
        numbers("margin lower", [e.median("margin_lower") for e in entries], lower_bound),
        numbers("margin upper", [e.median("margin_upper") for e in entries], upper_bound),
        texts("status", [entry.endings for entry in entries]),
    ]
    return Table("conic", columns, keys=3, notes=[_NOTE], long=True)


_NOTE = (
    "Medians over the seeds. Rank: eigenvalues of the cone, 1 per row, 2 per second-order cone, "
    "$n$ per matrix of order $n$. Queries: calls of a separation oracle, of which the methods by "
    "products have few or none. Margin lower, upper: the proved bracket. Bold: the least of a "
    "problem among the runs with a proved answer."
)
