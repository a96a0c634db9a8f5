"""The epsilon-certificates: the cost of a proof that the margin is at most epsilon."""

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
from perceptron_lab.reporting.printing.typesetting import upper_bound
from perceptron_lab.reporting.summary import summaries


def infeasible(evidence: Evidence) -> Table:
    """Return the costs and proofs of near infeasibility: one line per problem and label.

    Weights w in the base of the dual cone with norm(A w) <= epsilon prove margin <= epsilon. It is
    the second half of the experiments of `YuKilincCarbonell2014`, whose numbers are not printed.

    Columns: ``problem``, ``dimension``, ``rows``, ``label``, ``seeds``; medians over the seeds of
    ``iterations`` (changes of the point: the column ``updates`` of the runs), ``products`` and
    ``seconds``; ``margin upper``, the largest proved upper bound over the seeds, empty unless every
    cell has one; ``status``, the endings of the cells.
    """
    entries = summaries(evidence.frame)
    problems = [entry.problem for entry in entries]
    proved = [entry.answered for entry in entries]
    columns = [
        *cells(evidence.frame, entries),
        in_bold(counts("iterations", [e.median("updates") for e in entries]), problems, proved),
        in_bold(numbers("products", [e.median("products") for e in entries]), problems, proved),
        in_bold(seconds("seconds", [e.median("seconds") for e in entries]), problems, proved),
        numbers("margin upper", [e.largest("margin_upper") for e in entries], upper_bound),
        texts("status", [entry.endings for entry in entries]),
    ]
    return Table("infeasible", columns, keys=3, notes=[_NOTE], long=True)


_NOTE = (
    "Medians over the seeds; margin upper: the largest bound that is proved, over the seeds. "
    "MARGIN\\_BOUNDED: the margin is proved to be at most the epsilon asked for; INFEASIBLE: it is "
    "proved to be at most 0. Bold: the least of a problem among the runs with a proved answer."
)
