"""Differences of average precision, by the paired bootstrap, and cells below the thesis.

Each cell of Table 8.1 that lies below the thesis has the cause that the runs show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.estimators.learners.precision import (
    BootstrapInterval,
    Resamples,
    compare_categories,
)
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, learners_among, needs
from perceptron_lab.reporting.papers.thesis.table_8_1.precisions import (
    HARD,
    PrecisionEntry,
    chosen_by_test,
    entries,
    features_of,
    thesis_column,
    thesis_precisions,
)
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import escape, percent, share, signed
from perceptron_lab.reporting.summary import by_label

FIRST = "soft-ellipsoid"
"""The learner that is compared ..."""
AGAINST = ("polynomial-svm", "linear-scorer")
"""... with its controls on the same features. Hard ellipsoids are compared with one another."""
RESAMPLES = 1000
MEAN = "mean"
"""The problem of the line for all problems."""


class PrecisionDifference(NamedTuple):
    """The average precision of the first label less the second's, on a problem or in the mean.

    It is the mean over the ``seeds`` on which both have scores, ``lowest`` and ``highest`` the
    least and the largest of these; the interval resamples test examples. Nones without any seed.
    """

    problem: str
    first: str
    second: str
    seeds: int
    interval: BootstrapInterval | None
    lowest: float | None = None
    highest: float | None = None


def compared_labels(outline: Outline) -> list[tuple[str, str]]:
    """Return the labels of soft ellipsoids, each with a control on the same features.

    And those of hard ellipsoids on the same features, each with those after it: they differ in the
    solver, or in what ranks. A learner whose parameter is chosen by the test examples is compared
    with the same learner that chooses by cross-validation, and with nothing else.
    """
    methods = outline.methods()
    order = {label: number for number, label in enumerate(methods)}

    def rivals(first: str, second: str) -> bool:
        first_algorithm, other = methods[first].algorithm, methods[second].algorithm
        # A choice by test examples is a bound of what choices can do, and no rival
        if chosen_by_test(methods[second].parameters):
            return False
        if chosen_by_test(methods[first].parameters):
            return first_algorithm == other
        # Each pair once: the difference the other way round is the same with another sign
        if first_algorithm == other == HARD:
            return order[first] < order[second]
        return first_algorithm == FIRST and other in AGAINST

    return [
        (first, second)
        for first, method in methods.items()
        for second, other in methods.items()
        if rivals(first, second) and features_of(method.parameters) == features_of(other.parameters)
    ]


def with_controls(outline: Outline) -> None:
    """Refuse experiments in which nothing is compared."""
    if not compared_labels(outline):
        raise DataError(
            f"nothing to compare: no label {FIRST} has a label {' or '.join(AGAINST)} on the same "
            f"features (components and feature kernel), and no label {HARD} has another such "
            "label; add one"
        )


def differences(evidence: Evidence) -> list[PrecisionDifference]:
    """Return the differences of soft ellipsoids from their controls on the same features.

    Hard ellipsoids are compared with one another, see :func:`compared_labels`. There is a
    difference per problem, and their mean if the problems have equally many test examples; the mean
    has an interval only if both labels have scores for the same seeds of every problem.
    """
    labels = by_label(entries(evidence))
    lines: list[PrecisionDifference] = []
    shared: dict[int, Resamples] = {}
    for first, second in compared_labels(evidence):
        first_entries, second_entries = labels[first], labels[second]
        rows = [
            _scores(evidence, first_entry, other)
            for first_entry, other in zip(first_entries, second_entries, strict=True)
        ]
        lines += [
            _difference(entry.problem, first, second, [scores], shared)
            for entry, scores in zip(first_entries, rows, strict=True)
        ]
        # Resamples are drawn of one number of test examples.
        sizes = {len(row.labels) for scores in rows for row in scores.values()}
        if len(first_entries) > 1 and len(sizes) == 1:
            lines.append(_difference(MEAN, first, second, rows, shared))
    return lines


class _Pair(NamedTuple):
    """Labels of the test examples, and the ranks of both scores."""

    labels: FloatArray
    first: FloatArray
    second: FloatArray


def _scores(evidence: Evidence, first: PrecisionEntry, second: PrecisionEntry) -> dict[int, _Pair]:
    """Return the pair of each seed that both labels have."""
    cells = [dict(entry.runs[["seed", "cell"]].to_numpy()) for entry in (first, second)]
    pairs = {}
    # Paired: only on the same seed have both the same first pivot
    for seed in sorted(set(first.precisions) & set(second.precisions)):
        traces: list[Any] = [evidence.trace(cells_of_entry[seed]) for cells_of_entry in cells]
        first_measures, other = (trace.measures for trace in traces)
        pairs[seed] = _Pair(first_measures["labels"][0], _ranking(first_measures), _ranking(other))
    return pairs


def _ranking(measures: dict[str, list[Any]]) -> FloatArray:
    """Return the ranks of a trace, or the scores that earlier versions stored instead."""
    ranking: FloatArray = measures["ranks" if "ranks" in measures else "scores"][0]
    return ranking


def _difference(
    problem: str,
    first: str,
    second: str,
    rows: Sequence[dict[int, _Pair]],
    shared: dict[int, Resamples],
) -> PrecisionDifference:
    """Return the difference in the mean over problems, of which each has its pairs by seed.

    ``shared`` has the resamples of each number of test examples.
    """
    seeds = set(rows[0])
    # Means over unequal seeds would mix the effects of problems and of seeds
    if not seeds or any(set(row) != seeds for row in rows):
        return PrecisionDifference(problem, first, second, min(map(len, rows)), None)
    pairs = [row[seed] for row in rows for seed in sorted(seeds)]
    labels, first_scores, other = (np.array(part) for part in zip(*pairs, strict=True))
    size = labels.shape[1]
    # Drawn once: the same resamples serve all pairs of labels with so many test examples
    if size not in shared:
        shared[size] = Resamples(size, RESAMPLES, seed=0)
    comparison = compare_categories(
        labels, first_scores, other, resamples=RESAMPLES, drawn=shared[size]
    )
    each = np.array([category.difference for category in comparison.categories])
    # The spread over pivots is not in the interval, which resamples test examples alone
    by_seed = each.reshape(len(rows), len(seeds)).mean(axis=0)
    spread = float(by_seed.min()), float(by_seed.max())
    return PrecisionDifference(problem, first, second, len(seeds), comparison.mean, *spread)


@needs(learners_among, with_controls)
def precision_differences(evidence: Evidence) -> Table:
    """Average precision of soft ellipsoids less that of their controls, with 95 % intervals.

    Also of hard ellipsoids less those after them, by other solvers, and of learners that choose by
    test precision less the same by cross-validation. Columns: ``first``, ``second``
    (labels), ``problem`` (``mean`` for the mean over all of them), ``seeds`` that both have;
    ``difference`` of the average precisions, first less second, in points, its mean over these
    seeds, ``lowest`` and ``highest`` of them; ``lower`` and ``upper``, the 95 % percentile interval
    of the paired bootstrap; ``above``, the share of the resamples with a positive difference.
    """
    lines = sorted(differences(evidence), key=lambda line: (line.first, line.second))
    intervals = [line.interval for line in lines]
    lowest, highest = [line.lowest for line in lines], [line.highest for line in lines]
    columns = [
        texts("first", [line.first for line in lines]),
        texts("second", [line.second for line in lines]),
        texts("problem", [line.problem for line in lines]),
        counts("seeds", [line.seeds for line in lines]),
        numbers(
            "difference", [None if i is None else 100.0 * i.difference for i in intervals], signed
        ),
        numbers("lowest", [None if v is None else 100.0 * v for v in lowest], signed),
        numbers("highest", [None if v is None else 100.0 * v for v in highest], signed),
        numbers("lower", [None if i is None else 100.0 * i.lower for i in intervals], signed),
        numbers("upper", [None if i is None else 100.0 * i.upper for i in intervals], signed),
        numbers("above", [None if i is None else i.above for i in intervals], share),
    ]
    return Table("precision_differences", columns, keys=2, notes=[_NOTE], long=True)


_NOTE = (
    "Difference: average precision of the first label minus that of the second, in percentage "
    "points, on the same features and the same seed (a seed draws the first pivot); mean, lowest "
    f"and highest over the seeds. Lower, upper: 95\\,\\% percentile intervals from {RESAMPLES} "
    "paired bootstrap resamples of the test examples, each averaged over the seeds (and "
    "problems); training examples and pivots are fixed. Above: share of the resamples in which "
    "the first label is better."
)


THRESHOLD = 3.0
"""Cells further below the thesis than this, in percentage points, are listed."""
UNKNOWN = "cause not established"


class CellBelow(NamedTuple):
    """A category by a label, with the thesis's precision; both in percent.

    ``closed`` is the part of the distance, in points, that C chosen by test precision closes: a
    mean over the seeds that both labels have. It is None without such a label.
    """

    entry: PrecisionEntry
    thesis: float
    precision: float
    closed: float | None
    cause: str


def cells_below_thesis(evidence: Evidence) -> list[CellBelow]:
    """Return the cells more than :data:`THRESHOLD` points below the thesis.

    Hard ellipsoids and support vector machines with the features of a column of the thesis count.
    The label whose C is chosen by test precision is a bound, and no cell.
    """
    lines = entries(evidence)
    cells = []
    for entry in lines:
        column = thesis_column(entry.algorithm, entry.components)
        printed = thesis_precisions().get(entry.problem, {})
        precision = entry.spread.mean
        # The thesis has linear features only, and C chosen by test precision is a bound and no
        # result
        if entry.kernel or entry.by_test or column not in printed or precision is None:
            continue
        if printed[column] - precision > THRESHOLD:
            peers = [
                line for line in lines if line.problem == entry.problem and _same_data(line, entry)
            ]
            cells.append(_explained(entry, printed[column], precision, peers))
    return cells


def _same_data(first: PrecisionEntry, other: PrecisionEntry) -> bool:
    """Return whether two labels are one learner on the same features."""
    features = (first.components, first.kernel) == (other.components, other.kernel)
    return first.label != other.label and first.algorithm == other.algorithm and features


def _explained(
    entry: PrecisionEntry, thesis: float, precision: float, peers: Sequence[PrecisionEntry]
) -> CellBelow:
    """Return a cell with its cause, as far as the labels on the same features show it."""
    if entry.algorithm == HARD:
        return CellBelow(entry, thesis, precision, None, _cause_of_hard(entry, thesis, peers))
    closed, parts, gap = None, [], thesis - precision
    for bound in (peer for peer in peers if peer.by_test):
        seeds = sorted(set(entry.precisions) & set(bound.precisions))
        if seeds:
            closed = sum(bound.precisions[seed] - entry.precisions[seed] for seed in seeds) / len(
                seeds
            )
            parts.append(f"best C by test precision closes {closed:.1f} of {gap:.1f} points")
    # What is left is within the threshold from which cells are listed at all
    explained = closed is not None and gap - closed <= THRESHOLD
    words, within = _pivots(entry, thesis)
    parts += words
    if not (explained or within):
        parts.append("cause of the rest not established" if parts else UNKNOWN)
    return CellBelow(entry, thesis, precision, closed, "; ".join(parts))


def _cause_of_hard(entry: PrecisionEntry, thesis: float, peers: Sequence[PrecisionEntry]) -> str:
    """Return the cause of a hard ellipsoid's cell: where t = 0 the optimum does not rank."""
    # Where an ellipsoid separates, the optimum ranks: the runs show no cause
    if entry.statement != "t = 0":
        return UNKNOWN
    central = "central-path" in (
        entry.parameters.get("solver"),
        entry.parameters.get("inseparable"),
    )
    ranks = "the limit of the central path ranks" if central else "the solver's last iterate ranks"
    parts = [f"no ellipsoid separates (t = 0): {ranks}"]
    parts += _pivots(entry, thesis)[0]
    shared = [
        peer.precisions[seed]
        for peer in peers
        for seed in peer.precisions
        if seed in entry.precisions
    ]
    if shared:
        ends = dict.fromkeys(f"{end:.1f}" for end in (min(shared), max(shared)))
        parts.append(f"other solvers with the same first pivot reach {' to '.join(ends)}")
    return "; ".join(parts)


def _pivots(entry: PrecisionEntry, thesis: float) -> tuple[list[str], bool]:
    """Return the range over first pivots in words, and whether the thesis's value is within it."""
    _, lowest, highest = entry.spread
    # One seed has drawn one first pivot: nothing is known about the others
    if entry.seeds < 2 or lowest is None or highest is None:
        return [], False
    within = lowest <= thesis <= highest
    words = (
        f"first pivots give {lowest:.1f} to {highest:.1f}" + ", the thesis's among them" * within
    )
    return [words], within


@needs(learners_among)
def below_thesis(evidence: Evidence) -> Table:
    """Cells of Table 8.1 more than 3 points below the thesis, each with its cause.

    A cell is a category by a hard ellipsoid or a support vector machine on the features of a column
    of the thesis. Columns: ``category``, ``label``; ``thesis`` and ``ours`` in percent, the mean
    over the seeds, with ``lowest`` and ``highest`` of several; ``difference``, ours less the
    thesis's, in points; ``best C closes``, the points by which the machine with C chosen by test
    precision is ahead on the seeds that both have, empty without one; ``cause``, from the runs:
    what best C closes, whether an ellipsoid separates, what other solvers reach with the same first
    pivot, the range of the first pivots; otherwise that no cause is established.
    """
    cells = cells_below_thesis(evidence)
    spreads = [cell.entry.spread if cell.entry.seeds > 1 else None for cell in cells]
    causes = [cell.cause for cell in cells]
    columns = [
        texts("category", [cell.entry.problem for cell in cells]),
        texts("label", [cell.entry.label for cell in cells]),
        numbers("thesis", [cell.thesis for cell in cells], percent),
        numbers("ours", [cell.precision for cell in cells], percent),
        numbers("lowest", [spread and spread.lowest for spread in spreads], percent),
        numbers("highest", [spread and spread.highest for spread in spreads], percent),
        numbers("difference", [cell.precision - cell.thesis for cell in cells], signed),
        numbers("best C closes", [cell.closed for cell in cells], signed),
        Column("cause", causes, [escape(cause) for cause in causes], align="p{70mm}"),
    ]
    return Table("below_thesis", columns, keys=2, notes=[_NOTE_OF_CELLS], long=True)


_NOTE_OF_CELLS = (
    f"Cells more than {THRESHOLD:g} points below Table 8.1 of Kharechko2009; average precision in "
    "percent. The thesis prints the best results of its support vector machines after tuning, "
    "and does not state on which documents; ours are tuned by cross-validation on training "
    "documents. Best C closes: points gained if C is chosen by test precision on the same first "
    "pivots, an upper bound of what the choice of C can explain. A cause counts as established "
    f"if it leaves {THRESHOLD:g} points or less, if some first pivot gives the thesis's value, or "
    "if $t = 0$ is proved: then the optimum does not rank."
)
