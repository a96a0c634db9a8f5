"""The table of the laws by which queries grow with 1 / rho."""

from __future__ import annotations

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.thesis.margin_dependence.laws import (
    Dependence,
    Logarithm,
    dependences,
    known_margins,
)
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table

_NOTE = (
    "Medians of the queries over the seeds, at the margins at which all cells have proved a point "
    "(margins, down to); both laws are fitted to them. Logarithm: $a + b \\ln(1/\\rho)$, with the "
    "least sum of squares of fit over queries minus 1. Power: $c (1/\\rho)^p$, by least squares in "
    "logarithms. Residuals: the root of the mean square of fit over queries minus 1. At least: the "
    "queries at the first margin that was not decided within the budget, if there is one."
)


@needs(known_margins)
def margin_dependence(evidence: Evidence) -> Table:
    """Queries against 1 / rho: a + b ln(1 / rho) and c (1 / rho)^p, with their residuals.

    Columns: ``family``, ``label``; ``margins``, how many are decided, and ``down to`` which;
    ``queries``, there; ``a``, ``b``, ``residual of logarithm``; ``c``, ``p``, ``residual of
    power``; ``better``, the law of the lesser residual; nothing is fitted to fewer than three
    margins. ``at least``, the queries at the first margin that is not decided.
    """
    found = dependences(evidence)
    logarithms = [one.laws[0] if one.laws else None for one in found]
    powers = [one.laws[1] if one.laws else None for one in found]
    columns = [
        texts("family", [one.family for one in found]),
        texts("label", [one.label for one in found]),
        counts("margins", [len(one.proved) for one in found]),
        numbers("down to", [one.proved[-1][0] if one.proved else None for one in found]),
        counts("queries", [one.proved[-1][1] if one.proved else None for one in found]),
        numbers("a", [law.a if law else None for law in logarithms]),
        numbers("b", [law.b if law else None for law in logarithms]),
        numbers("residual of logarithm", [law.residual if law else None for law in logarithms]),
        numbers("c", [law.factor if law else None for law in powers]),
        numbers("p", [law.exponent if law else None for law in powers]),
        numbers("residual of power", [law.residual if law else None for law in powers]),
        texts("better", [_better(one) for one in found]),
        counts("at least", [_least(one) for one in found]),
    ]
    return Table("margin_dependence", columns, keys=2, notes=[_NOTE], long=True)


def _better(one: Dependence) -> str:
    law = one.better
    if law is None:
        return ""
    return "logarithm" if isinstance(law, Logarithm) else "power"


def _least(one: Dependence) -> float | None:
    """Return the median of the queries at the first margin that is not decided."""
    left = [entry for entry in one.entries if not entry.feasible]
    return left[0].median("queries") if left else None
