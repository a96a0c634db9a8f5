"""Proofs and their costs: conic systems, and epsilon-certificates of near infeasibility."""

from __future__ import annotations

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.yu.table_1 import stopping_rules
from perceptron_lab.reporting.printing.columns import cells, medians, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, upper_bound
from perceptron_lab.reporting.summary import summaries


def conic(evidence: Evidence) -> Table:
    """Costs and proved brackets of the margin, on rows, matrices and second-order cones.

    Columns: ``problem``, ``dimension``, ``rank`` (eigenvalues of the cone), ``label``, ``seeds``;
    medians over the seeds of ``queries`` (of a separation oracle), ``iterations`` (changes of the
    point: the column ``updates`` of the runs), ``products`` and ``seconds``, and of the proved
    bracket ``margin lower``, ``margin upper``; ``status``, the endings of the cells.
    """
    entries = summaries(evidence.frame)
    columns = [
        *cells(evidence.frame, entries, "rank"),
        *medians(entries, ["queries", "iterations"]),
        *medians(entries, ["products", "seconds"], [entry.answered for entry in entries]),
        numbers("margin lower", [e.median("margin_lower") for e in entries], lower_bound),
        numbers("margin upper", [e.median("margin_upper") for e in entries], upper_bound),
        texts("status", [entry.endings for entry in entries]),
    ]
    note = (
        "Medians over the seeds. Rank: eigenvalues of the cone, 1 per row, 2 per second-order "
        "cone, $n$ per matrix of order $n$. Queries: calls of a separation oracle, of which the "
        "methods by products have few or none. Margin lower, upper: the proved bracket. Bold: the "
        "least of a problem among the runs with a proved answer."
    )
    return Table("conic", columns, keys=3, notes=[note, *stopping_rules(evidence)], long=True)


def infeasible(evidence: Evidence) -> Table:
    """Costs and proved upper bounds of the margin, where there is (nearly) no solution.

    Weights w in the base of the dual cone with norm(A w) <= epsilon prove margin <= epsilon. It is
    the second half of the experiments of `YuKilincCarbonell2014`, whose numbers are not printed.

    Columns: ``problem``, ``dimension``, ``rows``, ``label``, ``seeds``; medians over the seeds of
    ``iterations``, ``products`` and ``seconds``; ``margin upper``, the largest proved upper bound
    over the seeds, empty unless every cell has one; ``status``, the endings of the cells.
    """
    entries = summaries(evidence.frame)
    answered = [entry.answered for entry in entries]
    columns = [
        *cells(evidence.frame, entries),
        *medians(entries, ["iterations", "products", "seconds"], answered),
        numbers("margin upper", [e.largest("margin_upper") for e in entries], upper_bound),
        texts("status", [entry.endings for entry in entries]),
    ]
    note = (
        "Medians over the seeds; margin upper: the largest bound that is proved, over the seeds. "
        "MARGIN\\_BOUNDED: the margin is proved to be at most the epsilon asked for; INFEASIBLE: "
        "it is proved to be at most 0. Bold: the least of a problem among the runs with a proved "
        "answer."
    )
    notes = [note, *stopping_rules(evidence)]
    return Table("infeasible", columns, keys=3, notes=notes, long=True)
