"""How often the rescaled perceptron has rescaled, from its traces, and what that brings."""

from __future__ import annotations

import re
from statistics import median
from typing import Final

from perceptron_lab.core.errors import DataError
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import PARAMETER, Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing.columns import counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary, summaries

RESCALED: Final = "rescaled-perceptron"
_RESCALING: Final = (
    RESCALED,
    "conic-rescaled-perceptron",
    "deterministic-rescaled-perceptron",
    "correlation-rescaling",
)


def suits(outline: Outline) -> None:
    """Refuse experiments without a perceptron that rescales, or without known margins."""
    if all(method.algorithm not in _RESCALING for method in outline.methods().values()):
        raise DataError(f"rescalings: no label is of {' or '.join(_RESCALING)}; add one")
    for problem in outline.problems():
        if not isinstance(outline.parameters(problem).get("margin"), int | float):
            raise DataError(
                f"rescalings: the margin of {problem} is not known by construction; take problems "
                "that have it as a parameter, such as those of conic-sets"
            )


@needs(suits)
def rescalings(evidence: Evidence) -> Table:
    """Updates and rescalings against 1 / rho^2, on problems of known margin rho.

    Columns ``problem``, ``margin``, ``label``, ``seeds``; medians over the seeds: ``updates``,
    ``times margin squared`` (1 is Novikoff's bound for cuts of norm 1), ``seconds``,
    ``rescalings`` (of those that rescale); ``ended``, how the cells ended.
    """
    margins = reals(evidence.frame[f"{PARAMETER}margin"], invalid="coerce")
    known = dict(zip(evidence.frame["problem"], margins, strict=True))
    entries = summaries(evidence.frame)
    own = [float(known[entry.problem]) for entry in entries]
    updates = [entry.median("updates") for entry in entries]
    squared = [u and u * rho**2 for u, rho in zip(updates, own, strict=True)]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        numbers("margin", own),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
        counts("updates", updates),
        numbers("times margin squared", squared),
        seconds("seconds", [entry.median("seconds") for entry in entries]),
        counts("rescalings", [_typical(evidence, entry) for entry in entries]),
        texts("ended", [entry.endings for entry in entries]),
    ]
    notes = [
        "Numbers are medians over the seeds, of cut-off runs as well: column ``ended'' says which.",
        "Margins are planted, and proved when the data are made.",
    ]
    return Table("rescalings", columns, keys=2, notes=notes)


def rescalings_of(evidence: Evidence, entry: Summary) -> list[int]:
    """Return how often each cell of a perceptron that rescales has rescaled; of others nothing.

    The phases of its trace are called ``perceptron k`` and ``relaxed k``, or ``phase k``, k - 1
    rescalings on.
    """
    if evidence.methods()[entry.label].algorithm not in _RESCALING:
        return []
    traces = [evidence.trace(str(cell)) for cell in entry.runs["cell"]]
    found = [re.fullmatch(r"\w+ (\d+)", trace.phase[-1]) for trace in traces if trace]
    return [int(one[1]) - 1 for one in found if one]


def _typical(evidence: Evidence, entry: Summary) -> float | None:
    found = rescalings_of(evidence, entry)
    return median(found) if found else None
