"""Figure 2 of `YuKilincCarbonell2014` as numbers: multi-class test errors along the iterations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from perceptron_lab.datasets.collections.tabular import Tabular, held_out_labels
from perceptron_lab.errors import DataError
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.summary import endings
from perceptron_lab.results import FloatArray, IntArray, Trace

ITERATIONS = (10, 32, 100, 320, 1000)
"""The numbers of iterations at which the paper looks at the classifiers."""

_ONE_VERSUS_REST = re.compile(r".+-([0-9]+)-rest")


@dataclass
class Errors:
    """The test errors of one label after some number of iterations per classifier.

    Parameters
    ----------
    label, iterations
        Which.
    endings
        What the label's cells ended with.
    errors
        The fraction of test examples whose class is not predicted, one per seed of which every
        classifier has a trace.
    incomplete
        How many seeds have none, since a classifier failed or was not run.
    classifiers, ended
        How many classifiers were looked at, and how many of them had ended with fewer iterations
        and are looked at as they ended.
    """

    label: str
    iterations: int
    endings: str
    errors: list[float] = field(default_factory=list)
    incomplete: int = 0
    classifiers: int = 0
    ended: int = 0

    @property
    def median(self) -> float | None:
        """The median over the seeds, or None."""
        return float(np.median(self.errors)) if self.errors else None


class Snapshot(NamedTuple):
    """A classifier after some iterations: f of the test examples, and whether it had ended."""

    decisions: FloatArray
    ended: bool


def kernel_errors(evidence: Evidence) -> list[Errors]:
    """Return the test errors of one-versus-rest classifiers: label by label, along the iterations.

    The prediction for an example x is the class whose classifier f has the largest f(x), as in the
    paper. A run that ended earlier keeps its last point.

    Parameters
    ----------
    evidence
        Of an experiment on one-versus-rest problems of the dataset tabular, with test examples,
        ``trace_measures: true`` and ``record_at`` with the numbers :data:`ITERATIONS`.

    Raises
    ------
    DataError
        If the experiment is another one.
    """
    runs = evidence.frame
    classes = {problem: _class_of(problem) for problem in runs["problem"].unique()}
    record = _record(evidence, list(classes))
    found = []
    for label, mine in runs.groupby("label", sort=False):
        row = [Errors(str(label), n, endings(mine)) for n in ITERATIONS]
        for seed, cells in mine.groupby("seed", sort=False):
            truth = held_out_labels(record, int(str(seed).removesuffix(".0")))
            traces = _traces(evidence, cells, classes)
            for errors in row:
                _look(errors, traces, truth, len(classes))
        found += row
    return found


def _class_of(problem: str) -> int:
    found = _ONE_VERSUS_REST.fullmatch(problem)
    if found is None:
        raise DataError(
            f"figure_2: the problem {problem!r} is no class against the rest; it is made of "
            "problems such as digits-3-rest (dataset tabular, task one-vs-rest)"
        )
    return int(found[1])


def _record(evidence: Evidence, problems: Sequence[str]) -> Tabular:
    """Return the one record that all problems belong to, which has them all."""
    records = [evidence.dataset(problem) for problem in problems]
    record = records[0]
    if not isinstance(record, Tabular) or any(other != record for other in records):
        raise DataError(
            "figure_2: its problems belong to several datasets; it is made of the classes of one "
            "(dataset tabular)"
        )
    missing = sorted(set(record.names()) - set(problems))
    if missing:
        raise DataError(f"figure_2: no runs of {', '.join(missing)}; run every class")
    return record


def _traces(
    evidence: Evidence, cells: pd.DataFrame, classes: dict[str, int]
) -> list[tuple[int, Trace]]:
    """Return class -> trace of one seed's classifiers, those without a result left out."""
    found = [(classes[row["problem"]], evidence.trace(row["cell"])) for _, row in cells.iterrows()]
    return [(index, trace) for index, trace in found if trace is not None]


def _look(
    errors: Errors, traces: Sequence[tuple[int, Trace]], truth: IntArray, classes: int
) -> None:
    """Add what the classifiers of one seed predict, if there is one for every class."""
    if len(traces) < classes:
        errors.incomplete += 1
        return
    snapshots = [(index, snapshot(trace, errors.iterations)) for index, trace in traces]
    names = np.array([index for index, _ in snapshots])
    decisions = np.array([one.decisions for _, one in snapshots])
    errors.errors.append(float(np.mean(names[decisions.argmax(axis=0)] != truth)))
    errors.classifiers += len(snapshots)
    errors.ended += sum(one.ended for _, one in snapshots)


def snapshot(trace: Trace, iterations: int) -> Snapshot:
    """Return the decisions of a run after some number of iterations, or after its last if fewer.

    Raises
    ------
    DataError
        If the trace has no record there, or no decisions.
    """
    if "decisions" not in trace.measures:
        raise DataError(
            "figure_2: the traces hold no decisions of test examples; run the experiment with "
            "trace_measures: true and a test_fraction above 0"
        )
    last = max(i for i, updates in enumerate(trace.updates) if updates <= iterations)
    ended = trace.updates[last] < iterations
    if ended and last < len(trace) - 1:
        raise DataError(
            f"figure_2: a trace has no record after {iterations} iterations; run the experiment "
            f"with record_at: {list(ITERATIONS)}"
        )
    return Snapshot(np.asarray(trace.measures["decisions"][last]), ended)
