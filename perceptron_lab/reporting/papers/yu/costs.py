"""Costs of `YuKilincCarbonell2014`: Tables 1 and 2, and Figure 1.

Iterations are compared with the theorems' bounds, seconds are in units of Mirror-Prox, and the cost
of each algorithm is drawn against the difficulty. Conic systems and epsilon-certificates of near
infeasibility have separate tables of costs.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.reporting.evidence import Evidence, findings
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import Column, cells, counts, medians, numbers, texts
from perceptron_lab.reporting.printing.looks import Style, looks_of
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import (
    NOTHING,
    escape,
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


SIDES = {
    "feasible": {Status.FEASIBLE},
    "epsilon": {Status.MARGIN_BOUNDED, Status.INFEASIBLE},
}
"""The two columns of the paper's table, LDFP and LAP, by the statuses that belong to them.

A relaxed answer ends a run as MARGIN_BOUNDED too, and counts as a separate side.
"""


def rates_table(evidence: Evidence) -> Table:
    """Measured iterations compared with the bounds of the algorithms' theorems.

    The paper's Table 1 has an order of growth per algorithm for feasible systems (LDFP) and for
    epsilon-certificates of near infeasibility (LAP). Here every label has a line on each problem
    that it was run on; its bound is a number, from the theorem's own constants and the facts of the
    problem.

    Columns: ``problem``, ``side`` (``feasible``, ``epsilon`` or ``relaxed``, by the proved answers;
    empty unless every cell has one), ``label``, ``seeds``; medians over the seeds of
    ``iterations`` (changes of the point: the column ``updates`` of the runs) and ``bound``; where
    the bound is one of the worst case, ``largest ratio`` of the two over the cells, where it is an
    expectation, ``mean ratio``, of the mean iterations to the mean bound: the theorem holds either
    at 1 or less (the latter with many seeds); ``kind`` of the bound; ``theorem``, or the ``reason``
    why there is no bound; ``status``, the statuses of the cells.

    The goal ``margin_upper`` says which epsilon. With it a run whose weights prove even that there
    is no separator (INFEASIBLE) has ended where they reached epsilon nevertheless.
    """
    entries = [entry for entry in summaries(evidence.frame) if entry.seeds]
    bounds = [
        [bound for cell in entry.runs["cell"] if (bound := evidence.bound(cell)) is not None]
        for entry in entries
    ]
    theorems = [_distinct(bound.theorem for bound in bounds_of_label) for bounds_of_label in bounds]
    reasons = [_distinct(bound.reason for bound in bounds_of_label) for bounds_of_label in bounds]
    kinds = [
        _distinct(b.kind for b in bounds_of_label if b.value is not None)
        for bounds_of_label in bounds
    ]
    largest, mean = zip(*map(_ratios, entries, kinds), strict=True)
    pairs = zip(theorems, reasons, strict=True)
    texts_of_pairs = [escape(": ".join(filter(None, pair))) or NOTHING for pair in pairs]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        texts("side", map(_side, entries)),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
        *medians(entries, ["iterations"]),
        numbers("bound", [entry.median("bound") for entry in entries]),
        numbers("largest ratio", largest),
        numbers("mean ratio", mean),
        Column("kind", kinds, None),
        Column("theorem", theorems, texts_of_pairs, align="p{38mm}"),
        Column("reason", reasons, None, align="l"),
        texts("status", [entry.status_counts for entry in entries]),
    ]
    return Table("rates", columns, notes=[_NOTE, *stopping_rules(evidence)], long=True)


_NOTE = (
    "Iterations, bound: medians over the seeds. Largest ratio: iterations over bound, the "
    "largest over the seeds, for worst-case bounds. Mean ratio: mean iterations over mean bound, "
    "for bounds of the expected iterations. Bounds have the theorems' own constants, at the "
    "known or verified margin. Side epsilon: the weights prove that the margin is at most "
    "epsilon (MARGIN\\_BOUNDED) or that no separator exists (INFEASIBLE). Side relaxed: the "
    "point violates no constraint by more than the allowed amount (MARGIN\\_BOUNDED), or none at "
    "all (FEASIBLE)."
)


def _side(entry: Summary) -> str:
    """Return which kind of answer all cells ended with; empty where some have another, or none."""
    if not entry.answered:
        return ""
    statuses = set(entry.runs["status"])
    # Relaxed answers end as MARGIN_BOUNDED too, and belong to another theorem than epsilon-
    # certificates
    relaxed = [finding.relaxed_margin is not None for finding in findings(entry.runs)]
    if any(relaxed):
        pairs = zip(entry.runs["status"], relaxed, strict=True)
        return "relaxed" if all(at or status == Status.FEASIBLE for status, at in pairs) else ""
    return next((side for side, of in SIDES.items() if statuses <= of), "")


def _distinct(words: Iterable[str]) -> str:
    return "; ".join(word for word in dict.fromkeys(words) if word)


def _ratios(entry: Summary, kind: str) -> tuple[float | None, float | None]:
    """Return the largest ratio of updates to bound, and the ratio of the means.

    The former for bounds of the worst case, the latter for bounds of the expected updates.
    """
    # Both means are taken over the same runs
    bounded = entry.runs.dropna(subset=["bound", "updates"])
    if bounded.empty:
        return None, None
    if kind == "worst case":
        # No update within a bound of 0 is 0 / 0, and any other is infinitely too many.
        return float((bounded["updates"] / bounded["bound"]).fillna(0.0).max()), None
    if kind == "expectation":
        # A bound of the expectation says nothing about a single run, only about means
        return None, float(bounded["updates"].mean() / bounded["bound"].mean())
    return None, None


_MARKS: dict[str, tuple[str, str, str, Literal["full", "none"]]] = {
    "feasible": ("feasible", "o", "#0072B2", "full"),
    "epsilon": ("epsilon-certificate", "s", "#D55E00", "none"),
    "relaxed": ("relaxed answer", "^", "#009E73", "full"),
}
"""Side -> how the legend calls it, and its marker, colour and filling."""
_WORDS = ("label", "theorem", "side", "kind")


class BoundRatio(NamedTuple):
    """Updates over the bound, of one algorithm on one problem, by the side of its answers."""

    name: str
    theorem: str
    side: str
    kind: str
    value: float


def bound_ratios(evidence: Evidence) -> list[BoundRatio]:
    """Return the positive ratios of an experiment, by label, in the order of the table ``rates``.

    For bounds of the worst case it is the largest of the seeds, for those of the expectation that
    of the means. Only those problems count on which every cell ended with a proved answer.
    """
    lines = []
    for line in rates_table(evidence).frame.to_dict("records"):
        candidates = [line["largest ratio"], line["mean ratio"]]
        value = next((float(ratio) for ratio in candidates if not pd.isna(ratio)), 0.0)
        # A ratio of 0 has no place on a logarithmic axis
        if value > 0.0 and line["side"]:
            label, theorem, side, kind = (str(line[name]) for name in _WORDS)
            lines.append(BoundRatio(label, theorem, side, kind, value))
    return lines


def rates_figure(evidence: Evidence) -> Figure:
    """Measured updates over the bound of each label's own theorem, a mark per problem.

    The marks tell feasible systems, epsilon-certificates and relaxed answers apart. A bound of the
    worst case holds where all marks are at 1 or less, one of the expectation with many seeds. Runs
    without any update, and labels without a bound, are not drawn; the table ``rates`` has them.
    """
    ratios = bound_ratios(evidence)
    if not ratios:
        raise DataError(
            "nothing to draw: no run ended with a proved answer whose updates a theorem bounds"
        )
    titles = drawing.spelt_out(evidence.algorithms())
    return draw_ratios(
        (titles.get(line.name, line.name), line.side, [line.value]) for line in ratios
    )


def draw_ratios(bars: Iterable[tuple[str, str, Sequence[float]]]) -> Figure:
    """Draw names, their sides and ratios above 0: a row of marks for each name."""
    listed = list(bars)
    names = list(dict.fromkeys(name for name, _, _ in listed))
    figure, axes = drawing.panel(6.0, 0.7 + 0.23 * len(names))
    axes.set(xscale="log", xlabel="updates / bound of the theorem")
    for name, side, values in listed:
        _, marker, colour, fill = _MARKS[side]
        style: Style = {"color": colour, "marker": marker, "fillstyle": fill}
        axes.plot(values, [names.index(name)] * len(values), ls="none", markersize=4.0, **style)
    # At 1 a theorem is as tight as it can be; a mark to the right would refute it
    axes.axvline(1.0, color="0.3", linewidth=0.8)
    axes.set_yticks(range(len(names)), names)
    # In the order of the table, from above
    axes.invert_yaxis()
    drawing.rule_logarithmic(axes, "x")
    drawing.rule(axes, "y", "0.92")
    sides = {side for _, side, _ in listed}
    handles = [
        Line2D([], [], color=colour, marker=marker, fillstyle=fill, linestyle="none", label=words)
        for side, (words, marker, colour, fill) in _MARKS.items()
        if side in sides
    ]
    drawing.legend_above(figure, handles)
    return figure


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
