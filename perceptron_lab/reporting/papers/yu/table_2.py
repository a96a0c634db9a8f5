"""Table 2 of `YuKilincCarbonell2014`: seconds in units of Mirror-Prox, ours beside theirs."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from perceptron_lab.core.results import Status
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.yu.table_1 import stopping_rules
from perceptron_lab.reporting.printing.columns import Column, cells, medians, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import real
from perceptron_lab.reporting.summary import Shape, shape_of, summaries

REFERENCE = "MPLFP"
"""Mirror-Prox with the theory's step, the unit of the ratios."""
PAPER_LABELS = ("MPLFP", "SPCT", "PCT", "VN")
"""The labels of the paper's Table 2; it leaves ISPVN out, which failed there."""


_LIMITS = (Status.TIME_LIMIT, Status.UPDATE_LIMIT)


class PaperEntry(NamedTuple):
    """One entry of the paper's table: seconds (on a 2.8 GHz machine), and in units of MPLFP's.

    Where there are none, ``ending`` is ``timeout`` or ``fail``; otherwise it is empty.
    """

    seconds: float | None
    ratio: float | None
    ending: str


def table_2(evidence: Evidence) -> Table:
    """Seconds in units of Mirror-Prox's, beside Table 2 of `YuKilincCarbonell2014`.

    Columns: ``problem``, ``dimension``, ``rows``, ``label``, ``seeds``; ``iterations`` (changes of
    the point: the column ``updates`` of the runs) and ``seconds``, medians over the seeds;
    ``ratio`` of the seconds to those of the label MPLFP on the same problem, in its place ``ratio
    at least`` where cells ended at a limit, and neither where they failed or not every MPLFP is
    proved; ``paper seconds``, ``paper ratio`` and ``paper ending`` (``timeout`` or ``fail``) for
    the same dimension and rows; ``status``, empty where every cell is proved feasible.
    """
    entries = summaries(evidence.frame)
    shape = shape_of(evidence.frame)
    proved = [entry.feasible for entry in entries]
    papers = [paper_table().get((shape.get(e.problem), e.label), _ABSENT) for e in entries]
    units = {
        entry.problem: entry.median("seconds")
        for entry in entries
        if entry.label == REFERENCE and entry.feasible
    }
    ratios = []
    for entry in entries:
        # Seconds of answers, or at a limit a lower bound of them; those of failures are neither.
        spent, unit = entry.median("seconds"), units.get(entry.problem)
        ended = entry.runs["status"].isin([Status.FEASIBLE, *_LIMITS]).all()
        ratios.append(spent / unit if ended and unit and spent is not None else None)
    known = list(zip(ratios, proved, strict=True))
    shown = [real(r) if r is None or exact else f"$\\geq$ {real(r)}" for r, exact in known]
    printed = [paper.ending or real(paper.ratio) for paper in papers]
    columns = [
        *cells(evidence.frame, entries),
        *medians(entries, ["iterations", "seconds"], proved),
        Column("ratio", [r if exact else None for r, exact in known], shown),
        Column("ratio at least", [None if exact else r for r, exact in known], None),
        Column("paper seconds", [paper.seconds for paper in papers], None),
        Column("paper ratio", [paper.ratio for paper in papers], printed),
        Column("paper ending", [paper.ending for paper in papers], None, align="l"),
        texts("status", ["" if entry.feasible else entry.endings for entry in entries]),
    ]
    notes = [_NOTE, *stopping_rules(evidence)]
    return Table("table_2", columns, keys=3, notes=notes, long=True)


_ABSENT = PaperEntry(None, None, "")
_NOTE = (
    "Medians over the seeds. Ratio: seconds in units of MPLFP's on the same problem; $\\geq$ where "
    "runs ended at a limit. Paper: YuKilincCarbonell2014, Table 2, as ratios of its seconds, on "
    "instances of its own of the same dimension and rows. Status is empty where every answer is "
    "a point proved feasible. Bold: the least of a problem among those."
)


@cache
def paper_table() -> dict[tuple[Shape | None, str], PaperEntry]:
    """Return Table 2 of YuKilincCarbonell2014 as (shape, label) -> entry."""
    text = (files(__package__) / "table_2.csv").read_text("utf-8")
    found: dict[tuple[Shape | None, str], PaperEntry] = {}
    for row in csv.DictReader(text.splitlines()):
        shape, unit = (int(row["m"]), int(row["n"])), float(row["mplfp_seconds"])
        for label in PAPER_LABELS:
            spent = row[f"{label.lower()}_seconds"]
            if spent in ("timeout", "fail"):
                found[shape, label] = PaperEntry(None, None, spent)
            else:
                found[shape, label] = PaperEntry(float(spent), float(spent) / unit, "")
    return found
