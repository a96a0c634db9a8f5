"""Differences of average precision: the paired bootstrap over the test examples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from perceptron_lab.errors import DataError
from perceptron_lab.learners.precision import BootstrapInterval, compare_categories
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, learners_among, needs
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import share, signed
from perceptron_lab.reporting.summary import by_label
from perceptron_lab.reporting.table_8_1.precisions import Entry, entries, features_of
from perceptron_lab.results import FloatArray

FIRST = "soft-ellipsoid"
"""The learner that is compared ..."""
AGAINST = ("polynomial-svm", "linear-scorer")
"""... with its controls on the same features."""
RESAMPLES = 1000
MEAN = "mean"
"""The problem of the line for all problems."""


class Difference(NamedTuple):
    """The average precision of the first label less the second's, on a problem or in the mean.

    It is the mean over the ``seeds`` on which both have scores; the interval resamples test
    examples, None without any seed.
    """

    problem: str
    first: str
    second: str
    seeds: int
    interval: BootstrapInterval | None


def compared(outline: Outline) -> list[tuple[str, str]]:
    """Return the labels of soft ellipsoids, each with a control on the same features."""
    methods = outline.methods()
    return [
        (first, second)
        for first, one in methods.items()
        for second, other in methods.items()
        if one.algorithm == FIRST
        and other.algorithm in AGAINST
        and features_of(one.parameters) == features_of(other.parameters)
    ]


def with_controls(outline: Outline) -> None:
    """Refuse experiments in which nothing is compared."""
    if not compared(outline):
        raise DataError(
            f"no label {FIRST} has beside it a label {' or '.join(AGAINST)} on the same features "
            "(components and feature kernel)"
        )


def differences(evidence: Evidence) -> list[Difference]:
    """Return the differences of soft ellipsoids from their controls on the same features.

    One per problem, and their mean where the problems have equally many test examples; it has no
    interval unless both labels have scores for the same seeds of every problem.
    """
    labels = by_label(entries(evidence))
    found = []
    for first, second in compared(evidence):
        own, others = labels[first], labels[second]
        rows = [_scores(evidence, one, other) for one, other in zip(own, others, strict=True)]
        found += [
            Difference(entry.problem, first, second, len(scores), _interval(scores))
            for entry, scores in zip(own, rows, strict=True)
        ]
        together = [row for scores in rows for row in scores]
        # Resamples are drawn of one number of test examples.
        if len(own) > 1 and len({len(row[0]) for row in together}) == 1:
            seeds = {len(scores) for scores in rows}
            interval = _interval(together) if len(seeds) == 1 else None
            found.append(Difference(MEAN, first, second, min(seeds), interval))
    return found


def _scores(
    evidence: Evidence, first: Entry, second: Entry
) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Return labels and both scores of each seed that both have."""
    cells = [dict(one.runs[["seed", "cell"]].to_numpy()) for one in (first, second)]
    rows = []
    for seed in sorted(set(first.precisions) & set(second.precisions)):
        traces: list[Any] = [evidence.trace(own[seed]) for own in cells]
        one, other = (trace.measures for trace in traces)
        rows.append((one["labels"][0], one["scores"][0], other["scores"][0]))
    return rows


def _interval(
    rows: list[tuple[FloatArray, FloatArray, FloatArray]],
) -> BootstrapInterval | None:
    if not rows:
        return None
    labels, first, second = (np.array([row[place] for row in rows]) for place in range(3))
    return compare_categories(labels, first, second, resamples=RESAMPLES).mean


@needs(learners_among, with_controls)
def precision_differences(evidence: Evidence) -> Table:
    """Average precision of soft ellipsoids less that of their controls, with 95 % intervals.

    Columns: ``first``, ``second`` (labels), ``problem`` (``mean`` for the mean over all of them),
    ``seeds`` that both have; ``difference`` of the average precisions, first less second, in
    points; ``lower`` and ``upper``, the 95 % percentile interval of the paired bootstrap;
    ``above``, the share of the resamples with a positive difference.
    """
    lines = sorted(differences(evidence), key=lambda line: (line.first, line.second))
    known = [line.interval for line in lines]
    columns = [
        texts("first", [line.first for line in lines]),
        texts("second", [line.second for line in lines]),
        texts("problem", [line.problem for line in lines]),
        counts("seeds", [line.seeds for line in lines]),
        numbers("difference", [None if i is None else 100.0 * i.difference for i in known], signed),
        numbers("lower", [None if i is None else 100.0 * i.lower for i in known], signed),
        numbers("upper", [None if i is None else 100.0 * i.upper for i in known], signed),
        numbers("above", [None if i is None else i.above for i in known], share),
    ]
    return Table("precision_differences", columns, keys=2, notes=[_NOTE], long=True)


_NOTE = (
    "Differences of average precision in percentage points, first less second, on the same "
    f"features; 95\\,\\% percentile intervals of {RESAMPLES} paired bootstrap resamples of the "
    "test examples, in each the mean over the seeds (and problems). They hold the training "
    "examples fixed. Above: the share of the resamples in which the first is better."
)
