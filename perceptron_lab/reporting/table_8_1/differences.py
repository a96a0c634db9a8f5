"""Whether one learner ranks better than another: paired bootstrap over the test examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from perceptron_lab.learners.bootstrap import BootstrapInterval, compare_categories
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.table_8_1.precisions import Entry, by_label, entries
from perceptron_lab.results import FloatArray

FIRST = "soft-ellipsoid"
"""The learner that is compared ..."""
AGAINST = ("polynomial-svm", "linear-scorer")
"""... with its controls on the same features."""
RESAMPLES = 1000
MEAN = "mean"
"""The problem of the line for all problems."""


@dataclass(frozen=True)
class Difference:
    """The first label's average precision less the second's.

    Parameters
    ----------
    problem
        Or :data:`MEAN` for the mean over all problems.
    first, second
        Labels.
    seeds
        On which both have scores; the difference is the mean over them.
    interval
        In each resample of the test examples the mean over the seeds; None without any seed.
    """

    problem: str
    first: str
    second: str
    seeds: int
    interval: BootstrapInterval | None


def differences(evidence: Evidence) -> list[Difference]:
    """Return the differences of soft ellipsoids from their controls on the same features.

    One per problem, and their mean where the problems have equally many test examples; it has no
    interval unless both labels have scores for the same seeds of every problem.

    Raises
    ------
    DataError
        If no learner was run, or a result is missing.
    """
    labels = by_label(entries(evidence))
    found: list[Difference] = []
    for first, second in _pairs(labels):
        rows = [
            _rows(evidence, one, other)
            for one, other in zip(labels[first], labels[second], strict=True)
        ]
        found += _of_pair(first, second, [entry.problem for entry in labels[first]], rows)
    return found


Row = tuple[FloatArray, FloatArray, FloatArray]


def _of_pair(
    first: str, second: str, problems: list[str], rows: list[list[Row]]
) -> Iterator[Difference]:
    """Yield the differences of two labels on each problem, and their mean."""
    for problem, own in zip(problems, rows, strict=True):
        yield Difference(problem, first, second, len(own), _interval(own))
    together = [row for own in rows for row in own]
    if len(problems) > 1 and len({len(row[0]) for row in together}) == 1:
        seeds = {len(own) for own in rows}
        complete = len(seeds) == 1
        yield Difference(MEAN, first, second, min(seeds), _interval(together) if complete else None)


def _pairs(labels: dict[str, list[Entry]]) -> Iterator[tuple[str, str]]:
    kinds = {label: own[0] for label, own in labels.items()}
    for first, one in kinds.items():
        if one.algorithm == FIRST:
            for second, other in kinds.items():
                same = (one.components, one.kernel) == (other.components, other.kernel)
                if other.algorithm in AGAINST and same:
                    yield first, second


def _rows(evidence: Evidence, first: Entry, second: Entry) -> list[Row]:
    """Return labels and both scores of each seed that both have."""
    cells = [
        dict(zip(e.summary.runs["seed"], e.summary.runs["cell"], strict=True))
        for e in (first, second)
    ]
    shared = sorted(set(first.precisions) & set(second.precisions))
    rows = []
    for seed in shared:
        traces: list[Any] = [evidence.trace(own[seed]) for own in cells]
        one, other = (trace.measures for trace in traces)
        rows.append((one["labels"][0], one["scores"][0], other["scores"][0]))
    return rows


def _interval(rows: list[Row]) -> BootstrapInterval | None:
    if not rows:
        return None
    labels, first, second = (np.array([row[place] for row in rows]) for place in range(3))
    return compare_categories(labels, first, second, resamples=RESAMPLES).mean
