"""Costs of `YuKilincCarbonell2014`: Table 2 and Figure 1.

Seconds are in units of Mirror-Prox, and the cost of each algorithm is drawn against the difficulty.
Conic systems and epsilon-certificates of near infeasibility have separate tables of costs.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from matplotlib.figure import Figure

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import Column, cells, medians, numbers, texts
from perceptron_lab.reporting.printing.looks import looks_of
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import (
    lower_bound,
    real,
    upper_bound,
)
from perceptron_lab.reporting.summary import Shape, Summary, shape_of, summaries

MIRROR_PROX = ("mirror-prox", "adaptive-mirror-prox")
"""Algorithms that stop by another rule than that of `YuKilincCarbonell2014`, Algorithm 1."""

_OTHER_RULE = (
    "Where no separator exists, the stopping rule of {names} is norm(A x) $\\leq$ epsilon. "
    "Algorithm 1 of YuKilincCarbonell2014 stops at a saddle-point gap $\\leq$ epsilon, which is "
    "never reached earlier. At a separator both stop."
)


def stopping_rules(evidence: Evidence) -> list[str]:
    """Return the note on the stopping rule of Mirror-Prox, if some label runs it; else nothing.

    Without a separator min <., A*y> <= 0 at the average y, so norm(A x) is at most the gap
    norm(A x) - min <., A*y>: the rule here needs no more iterations than the paper's.
    """
    names = [name for name in MIRROR_PROX if name in evidence.algorithms().values()]
    return [_OTHER_RULE.format(names=" and ".join(names))] if names else []


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
    """Seconds in units of Mirror-Prox's, compared with Table 2 of `YuKilincCarbonell2014`.

    Columns: ``problem``, ``dimension``, ``rows``, ``label``, ``seeds``; ``iterations`` (changes of
    the point: the column ``updates`` of the runs) and ``seconds``, medians over the seeds;
    ``ratio`` of the seconds to the median of the label MPLFP over the same seeds, in its place
    ``ratio at least`` where cells ended at a limit, and neither where they failed or not every
    MPLFP is proved; ``paper seconds``, ``paper ratio`` and ``paper ending`` (``timeout`` or
    ``fail``) for the same dimension and rows; ``status``, empty where every cell is proved
    feasible.
    """
    entries = summaries(evidence.frame)
    shape = shape_of(evidence.frame)
    proved = [entry.feasible for entry in entries]
    papers = [paper_table().get((shape.get(e.problem), e.label), _ABSENT) for e in entries]
    references = {entry.problem: entry for entry in entries if entry.label == REFERENCE}
    ratios = []
    for entry in entries:
        # Seconds of answers, or at a limit a lower bound of them; those of failures are neither.
        spent, unit = entry.median("seconds"), _unit(entry, references.get(entry.problem))
        ended = entry.runs["status"].isin([Status.FEASIBLE, *_LIMITS]).all()
        ratios.append(spent / unit if ended and unit and spent is not None else None)
    pairs = list(zip(ratios, proved, strict=True))
    # At a limit more time was needed than was spent
    ratio_texts = [real(r) if r is None or exact else f"$\\geq$ {real(r)}" for r, exact in pairs]
    printed = [paper.ending or real(paper.ratio) for paper in papers]
    columns = [
        *cells(evidence.frame, entries),
        *medians(entries, ["iterations", "seconds"], proved),
        Column("ratio", [r if exact else None for r, exact in pairs], ratio_texts),
        # In print one column serves for both; in the CSV a bound must not be taken for a ratio
        Column("ratio at least", [None if exact else r for r, exact in pairs], None),
        Column("paper seconds", [paper.seconds for paper in papers], None),
        Column("paper ratio", [paper.ratio for paper in papers], printed),
        Column("paper ending", [paper.ending for paper in papers], None, align="l"),
        texts("status", ["" if entry.feasible else entry.status_counts for entry in entries]),
    ]
    notes = [_NOTE_OF_SECONDS, *stopping_rules(evidence)]
    return Table("table_2", columns, keys=3, notes=notes, long=True)


def _unit(entry: Summary, reference: Summary | None) -> float | None:
    """Return the median seconds of MPLFP on the instances of an entry, if all its runs are proved.

    Some labels are run on a part of the instances, which may be easier than the others.
    """
    if reference is None or not reference.feasible:
        return None
    same = reference.runs[reference.runs["seed"].isin(entry.runs["seed"])]
    complete = len(same) == entry.seeds
    return Summary(entry.problem, REFERENCE, same).median("seconds") if complete else None


_ABSENT = PaperEntry(None, None, "")
_NOTE_OF_SECONDS = (
    "Medians over the seeds. Ratio: seconds over those of MPLFP on the same instances; $\\geq$ "
    "where runs hit a limit. Paper ratio: the same ratio of the seconds in Table 2 of "
    "YuKilincCarbonell2014, whose instances have the same dimension and rows but other entries. "
    "Status: empty where every answer is a point proved feasible. Bold: the least of a problem "
    "among those."
)


@cache
def paper_table() -> dict[tuple[Shape | None, str], PaperEntry]:
    """Return Table 2 of YuKilincCarbonell2014 as (shape, label) -> entry."""
    text = (files(__package__) / "table_2.csv").read_text("utf-8")
    entry_of: dict[tuple[Shape | None, str], PaperEntry] = {}
    for row in csv.DictReader(text.splitlines()):
        # Our instances have the paper's sizes only; seconds of other machines compare as ratios
        # alone
        shape, unit = (int(row["m"]), int(row["n"])), float(row["mplfp_seconds"])
        for label in PAPER_LABELS:
            spent = row[f"{label.lower()}_seconds"]
            if spent in ("timeout", "fail"):
                entry_of[shape, label] = PaperEntry(None, None, spent)
            else:
                entry_of[shape, label] = PaperEntry(float(spent), float(spent) / unit, "")
    return entry_of


def difficulties(outline: Outline) -> dict[str, float]:
    """Return problem -> kappa; raise an error for problems without kappa or of several shapes."""
    kappas = {problem: difficulty(outline, problem) for problem in outline.problems()}
    shapes = set(outline.shapes().values())
    if len(shapes) > 1:
        raise DataError(
            f"problems of {len(shapes)} shapes {sorted(shapes)}, but the figure draws one shape; "
            "put the others into separate experiments"
        )
    return kappas


@needs(difficulties)
def figure_1(evidence: Evidence) -> Figure:
    """Seconds and iterations against the difficulty kappa, on logarithmic axes.

    Reflected rows of difficulty kappa have margins in proportion to it: the smaller, the harder.
    Markers are medians over the seeds, joined by a line per label; bars reach from the lower to the
    upper quartile. A cross is a median over cells of which some are not proved feasible, at the
    lower edge where there is no number at all: at a limit, the number is where the run was cut off.
    Mirror-Prox ends here when norm(A x) <= epsilon, in the paper at the saddle-point gap; on these
    feasible rows both end at a separator.

    Parameters
    ----------
    evidence
        Of runs on problems of one shape with a parameter ``difficulty``, such as those of the
        dataset margin-sets, family reflected.
    """
    kappas = difficulties(evidence)
    entries = [(kappas[entry.problem], entry) for entry in summaries(evidence.frame)]
    entries.sort(key=lambda pair: pair[0])
    looks = looks_of(evidence)
    figure = drawing.canvas(7.0, 3.0)
    panels = figure.subplots(1, 2, sharex=True)
    columns = {"seconds": "seconds", "updates": "iterations"}
    for axes, (column, name) in zip(panels, columns.items(), strict=True):
        axes.set(xlabel="difficulty $\\kappa$ (smaller is harder)", ylabel=name)
        drawing.draw_medians(axes, looks, entries, column, lambda entry: entry.feasible)
    proved = all(entry.feasible for _, entry in entries)
    names = drawing.spelt_out(evidence.algorithms())
    drawing.legend_above(figure, drawing.handles(looks, proved, names=names))
    return figure


def difficulty(outline: Outline, problem: str) -> float:
    """Return kappa of a problem, a parameter of its dataset."""
    kappa = outline.parameters(problem).get("difficulty")
    if not isinstance(kappa, int | float):
        raise DataError(
            f"the problem {problem!r} has no parameter difficulty; use problems of the dataset "
            "margin-sets, family reflected"
        )
    return float(kappa)


def conic(evidence: Evidence) -> Table:
    """Costs and proved brackets of the margin, on rows, matrices and second-order cones.

    Columns: ``problem``, ``dimension``, ``rank`` (eigenvalues of the cone), ``label``, ``seeds``;
    medians over the seeds of ``queries`` (of a separation oracle), ``iterations`` (changes of the
    point: the column ``updates`` of the runs), ``products`` and ``seconds``, and of the proved
    bracket ``margin lower``, ``margin upper``; ``status``, the statuses of the cells.
    """
    entries = summaries(evidence.frame)
    columns = [
        *cells(evidence.frame, entries, "rank"),
        # Nothing bold: queries and iterations of unlike methods do not cost the same
        *medians(entries, ["queries", "iterations"]),
        *medians(entries, ["products", "seconds"], [entry.answered for entry in entries]),
        numbers("margin lower", [e.median("margin_lower") for e in entries], lower_bound),
        numbers("margin upper", [e.median("margin_upper") for e in entries], upper_bound),
        texts("status", [entry.status_counts for entry in entries]),
    ]
    note = (
        "Medians over the seeds. Rank: number of eigenvalues of the cone, 1 per row, 2 per "
        "second-order cone, $n$ per matrix of order $n$. Queries: calls of a separation oracle; "
        "methods that work by products make few or none. Margin lower, upper: verified bounds of "
        "the margin. Bold: the least of a problem among the runs with a verified answer."
    )
    return Table("conic", columns, keys=3, notes=[note, *stopping_rules(evidence)], long=True)


def infeasible(evidence: Evidence) -> Table:
    """Costs and proved upper bounds of the margin, where there is (nearly) no solution.

    Weights w in the base of the dual cone with norm(A w) <= epsilon prove margin <= epsilon. It is
    the second half of the experiments of `YuKilincCarbonell2014`, whose numbers are not printed.

    Columns: ``problem``, ``dimension``, ``rows``, ``label``, ``seeds``; medians over the seeds of
    ``iterations``, ``products`` and ``seconds``; ``margin upper``, the largest proved upper bound
    over the seeds, empty unless every cell has one; ``status``, the statuses of the cells.
    """
    entries = summaries(evidence.frame)
    answered = [entry.answered for entry in entries]
    columns = [
        *cells(evidence.frame, entries),
        *medians(entries, ["iterations", "products", "seconds"], answered),
        numbers("margin upper", [e.largest("margin_upper") for e in entries], upper_bound),
        texts("status", [entry.status_counts for entry in entries]),
    ]
    note = (
        "Medians over the seeds. Margin upper: the largest verified bound over the seeds. "
        "MARGIN\\_BOUNDED: the margin is proved to be at most the requested epsilon. INFEASIBLE: "
        "it is proved to be at most 0. Bold: the least of a problem among the runs with a "
        "verified answer."
    )
    notes = [note, *stopping_rules(evidence)]
    return Table("infeasible", columns, keys=3, notes=notes, long=True)
