"""Courses of optimisers: the least proved objective, level by level, and the optimum's bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.registry import names
from perceptron_lab.core.results import FloatArray, Trace
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline
from perceptron_lab.reporting.summary import Summary, summaries

_MEASURES = ("level", "objective", "optimum_upper")
_BOUNDS = ("optimum_lower", "optimum_upper")


@dataclass(frozen=True)
class Optimum:
    """The best proved bounds of a problem's optimum over all labels; None where there is none."""

    lower: float | None
    upper: float | None

    def above(self, objective: float | None) -> float | None:
        """Return by which part of the optimum an objective is above it at most, or None."""
        if objective is None or self.lower is None or not self.lower:
            return None
        return (objective - self.lower) / abs(self.lower)


@dataclass(frozen=True)
class Step:
    """One level of a sequence: what it asked for, what it found, and what that cost.

    ``level`` and ``objective`` are NaN where there is none.
    """

    level: float
    objective: float
    updates: int
    queries: int
    seconds: float

    @property
    def outcome(self) -> str:
        """``feasible`` where a point below the level is proved, else ``not reached``."""
        if math.isnan(self.objective):
            return "not reached"
        return "feasible" if math.isnan(self.level) or self.objective < self.level else "above"


def optimisers_among(outline: Outline) -> list[str]:
    """Return the labels of optimisers; a DataError where there are none."""
    known = names("optimiser")
    found = [label for label, method in outline.methods().items() if method.algorithm in known]
    if not found:
        raise DataError(
            "no label is an optimiser, and levels and objectives are those of optimisers "
            f"(`plab list optimisers`), such as {known[0]}"
        )
    return found


def minimised(evidence: Evidence) -> list[Summary]:
    """Return the summaries of the labels that are optimisers."""
    labels = optimisers_among(evidence)
    return [entry for entry in summaries(_numbered(evidence)) if entry.label in labels]


def _numbered(evidence: Evidence) -> pd.DataFrame:
    """Return the runs with the bounds of optima as numbers."""
    frame = evidence.frame
    return frame.assign(**{name: reals(frame[name]) for name in _BOUNDS if name in frame})


def traces_of(evidence: Evidence, entry: Summary) -> Iterator[Trace]:
    """Yield the traces of a summary's cells, of those that have levels."""
    for cell in entry.runs["cell"]:
        trace = evidence.trace(str(cell))
        if trace is not None and all(name in trace.measures for name in _MEASURES):
            yield trace


def best_objectives(trace: Trace) -> FloatArray:
    """Return the least proved objective at each record; NaN before there is one."""
    return np.array(trace.measures["optimum_upper"], dtype=float)


def steps_of(trace: Trace) -> list[Step]:
    """Return the levels of a run, in their order."""
    found = []
    for k in range(1, len(trace)):
        if trace.phase[k].startswith("level "):
            found.append(
                Step(
                    float(trace.measures["level"][k]),
                    float(trace.measures["objective"][k]),
                    trace.updates[k] - trace.updates[k - 1],
                    trace.queries[k] - trace.queries[k - 1],
                    trace.seconds[k] - trace.seconds[k - 1],
                )
            )
    return found


def optima(evidence: Evidence) -> dict[str, Optimum]:
    """Return problem -> the best bounds of its optimum that any label has proved."""
    frame, found = _numbered(evidence), {}
    for problem in evidence.problems():
        rows = frame[frame["problem"] == problem]
        lower, upper = (
            rows[column].dropna().tolist() if column in rows else [] for column in _BOUNDS
        )
        found[problem] = Optimum(max(lower, default=None), min(upper, default=None))
    return found
