"""The cells of online learners: their mistakes and the proved bounds of them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from perceptron_lab.core.errors import DataError
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline
from perceptron_lab.reporting.summary import Summary, summaries

ONLINE = ("online-perceptron", "online-kernel-perceptron")
"""The learners that count their mistakes on a stream."""
COUNTED = ("presentations", "passes", "mistakes", "separated", "error")
BOUNDS = ("novikoff_bound", "hinge_bound")
"""Of Theorem 1 and of Theorem 2: columns ``measure.NAME_upper`` and ``measure.NAME_lower``."""


def online_labels(outline: Outline) -> list[str]:
    """Return the labels of learners that count their mistakes on a stream."""
    found = [label for label, method in outline.methods().items() if method.algorithm in ONLINE]
    if not found:
        raise DataError(
            f"no label counts its mistakes on a stream; learners that do are {', '.join(ONLINE)}"
        )
    return found


def streamed(evidence: Evidence) -> list[Summary]:
    """Return every problem by every label of an online learner, with the measures as columns.

    Columns are called as measures are, without ``measure.``; those that no run has are NaN.
    """
    labels = online_labels(evidence)
    named = [*COUNTED, *(f"{name}_{end}" for name in BOUNDS for end in ("upper", "lower"))]
    frame = evidence.frame[evidence.frame["label"].isin(labels)].copy()
    for name in named:
        column = f"measure.{name}"
        frame[name] = reals(frame[column]) if column in frame else float("nan")
    return summaries(frame)


def largest_ratio(entry: Summary) -> float | None:
    """Return mistakes over the smaller of the two bounds, the largest of the cells."""
    bounds = [entry.runs[f"{name}_upper"] for name in BOUNDS]
    ratios = entry.runs["mistakes"] / pd.concat(bounds, axis=1).min(axis=1)
    return None if ratios.isna().all() else float(ratios.max())


def drawn_problems(entries: Sequence[Summary]) -> list[str]:
    """Return the problems that have runs, in their order."""
    return list(dict.fromkeys(entry.problem for entry in entries if entry.seeds))
