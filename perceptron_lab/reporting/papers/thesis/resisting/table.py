"""The table of the lower bound on mistakes, and of all that were held to it."""

from __future__ import annotations

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.thesis.resisting.held import held, resisting_problems
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, upper_bound

_NOTE = (
    "Forced: every algorithm makes as many mistakes at least before a point passes (docs/notes/"
    "resisting-oracle.md), on unit rows whose margin is the final one at least. Mistakes: medians "
    "over the seeds; where no point has passed within the budget, those so far. Least ratio: "
    "mistakes over the number forced, of those that have ended; the theorem holds at 1 or more. "
    "Asks for: cuts, one at its own points; or rows, in rounds on all rows known, which ends with "
    "the number forced exactly. Bound: of the algorithm's own theorem, for updates, which are its "
    "mistakes; rounded up in print."
)


@needs(resisting_problems)
def resisting(evidence: Evidence) -> Table:
    """Mistakes against the resisting oracle, beside the number forced and the theorem's bound.

    Columns: ``dimension``, ``margin``, ``forced`` (a lower bound for every algorithm), ``final
    margin`` of the rows (a lower bound), ``label``, ``asks for`` (cuts, or rows: run in rounds),
    ``mistakes``, ``least ratio`` of the mistakes to the number forced, where every cell has ended
    with a proved point; ``bound``, the upper bound of the algorithm's own theorem; ``status``.
    """
    lines = held(evidence)
    entries = [line.entry for line in lines]
    margins = [entry.median("final_margin") for entry in entries]
    bounds = [entry.median("bound") for entry in entries]
    columns = [
        counts("dimension", [line.dimension for line in lines]),
        numbers("margin", [line.margin for line in lines]),
        counts("forced", [entry.median("forced") for entry in entries]),
        numbers("final margin", margins, lower_bound),
        texts("label", [entry.label for entry in entries]),
        texts("asks for", ["rows" if line.in_rounds else "cuts" for line in lines]),
        counts("mistakes", [entry.median("mistakes") for entry in entries]),
        numbers("least ratio", [line.ratio for line in lines]),
        numbers("bound", bounds, upper_bound),
        texts("status", [entry.endings for entry in entries]),
    ]
    return Table("resisting", columns, 5, notes=[_NOTE], long=True)
