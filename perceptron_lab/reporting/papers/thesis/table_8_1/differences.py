"""Differences of average precision: the paired bootstrap over the test examples."""

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
)
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import share, signed
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


def compared(outline: Outline) -> list[tuple[str, str]]:
    """Return the labels of soft ellipsoids, each with a control on the same features.

    And those of hard ellipsoids on the same features, each with those after it: they differ in the
    solver, or in what ranks. A learner whose parameter is chosen by the test examples is compared
    with the same learner that chooses by cross-validation, and with nothing else.
    """
    methods = outline.methods()
    places = {label: place for place, label in enumerate(methods)}

    def rivals(first: str, second: str) -> bool:
        one, other = methods[first].algorithm, methods[second].algorithm
        if chosen_by_test(methods[second].parameters):
            return False
        if chosen_by_test(methods[first].parameters):
            return one == other
        if one == other == HARD:
            return places[first] < places[second]
        return one == FIRST and other in AGAINST

    return [
        (first, second)
        for first, one in methods.items()
        for second, other in methods.items()
        if rivals(first, second) and features_of(one.parameters) == features_of(other.parameters)
    ]


def with_controls(outline: Outline) -> None:
    """Refuse experiments in which nothing is compared."""
    if not compared(outline):
        raise DataError(
            f"no label {FIRST} has beside it a label {' or '.join(AGAINST)} on the same features "
            f"(components and feature kernel), and no label {HARD} another such"
        )


def differences(evidence: Evidence) -> list[PrecisionDifference]:
    """Return the differences of soft ellipsoids from their controls on the same features.

    And of hard ellipsoids from one another, see :func:`compared`. One per problem, and their mean
    where the problems have equally many test examples; it has no interval unless both labels have
    scores for the same seeds of every problem.
    """
    labels = by_label(entries(evidence))
    found: list[PrecisionDifference] = []
    shared: dict[int, Resamples] = {}
    for first, second in compared(evidence):
        own, others = labels[first], labels[second]
        rows = [_scores(evidence, one, other) for one, other in zip(own, others, strict=True)]
        found += [
            _difference(entry.problem, first, second, [scores], shared)
            for entry, scores in zip(own, rows, strict=True)
        ]
        # Resamples are drawn of one number of test examples.
        sizes = {len(row.labels) for scores in rows for row in scores.values()}
        if len(own) > 1 and len(sizes) == 1:
            found.append(_difference(MEAN, first, second, rows, shared))
    return found


class _Pair(NamedTuple):
    """Labels of the test examples, and the ranks of both scores."""

    labels: FloatArray
    first: FloatArray
    second: FloatArray


def _scores(evidence: Evidence, first: PrecisionEntry, second: PrecisionEntry) -> dict[int, _Pair]:
    """Return the pair of each seed that both labels have."""
    cells = [dict(one.runs[["seed", "cell"]].to_numpy()) for one in (first, second)]
    pairs = {}
    for seed in sorted(set(first.precisions) & set(second.precisions)):
        traces: list[Any] = [evidence.trace(own[seed]) for own in cells]
        one, other = (trace.measures for trace in traces)
        pairs[seed] = _Pair(one["labels"][0], _ranking(one), _ranking(other))
    return pairs


def _ranking(measures: dict[str, list[Any]]) -> FloatArray:
    """Return the ranks of a trace, or the scores that earlier versions kept, in the same order."""
    found: FloatArray = measures["ranks" if "ranks" in measures else "scores"][0]
    return found


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
    if not seeds or any(set(row) != seeds for row in rows):
        return PrecisionDifference(problem, first, second, min(map(len, rows)), None)
    pairs = [row[seed] for row in rows for seed in sorted(seeds)]
    labels, one, other = (np.array(part) for part in zip(*pairs, strict=True))
    size = labels.shape[1]
    if size not in shared:
        shared[size] = Resamples(size, RESAMPLES, seed=0)
    found = compare_categories(labels, one, other, resamples=RESAMPLES, drawn=shared[size])
    each = np.array([category.difference for category in found.categories])
    by_seed = each.reshape(len(rows), len(seeds)).mean(axis=0)
    spread = float(by_seed.min()), float(by_seed.max())
    return PrecisionDifference(problem, first, second, len(seeds), found.mean, *spread)


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
    known = [line.interval for line in lines]
    lowest, highest = [line.lowest for line in lines], [line.highest for line in lines]
    columns = [
        texts("first", [line.first for line in lines]),
        texts("second", [line.second for line in lines]),
        texts("problem", [line.problem for line in lines]),
        counts("seeds", [line.seeds for line in lines]),
        numbers("difference", [None if i is None else 100.0 * i.difference for i in known], signed),
        numbers("lowest", [None if v is None else 100.0 * v for v in lowest], signed),
        numbers("highest", [None if v is None else 100.0 * v for v in highest], signed),
        numbers("lower", [None if i is None else 100.0 * i.lower for i in known], signed),
        numbers("upper", [None if i is None else 100.0 * i.upper for i in known], signed),
        numbers("above", [None if i is None else i.above for i in known], share),
    ]
    return Table("precision_differences", columns, keys=2, notes=[_NOTE], long=True)


_NOTE = (
    "Differences of average precision in percentage points, first less second, on the same "
    "features, seed by seed (a seed draws the first pivot): their mean, the lowest, the highest; "
    f"lower and upper: 95\\,\\% percentile intervals of {RESAMPLES} paired bootstrap resamples of "
    "the test examples, in each the mean over the seeds (and problems). They hold the training "
    "examples and the pivots fixed. Above: the share of the resamples in which the first is better."
)
