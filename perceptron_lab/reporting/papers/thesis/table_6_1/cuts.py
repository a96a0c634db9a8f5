"""Norms and depths of the cuts that oracles give, over whole runs, from their traces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, Trace
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary, summaries

_SHAPE = "cuts: its problems are to have two blocks, x_0 > 0 and one matrix, as MAXCUT's have"


@dataclass(frozen=True)
class Course:
    """The cuts of one run between the records of its trace; block 0 is x_0 > 0, block 1 the matrix.

    Parameters
    ----------
    updates
        At the records, shape ``(records,)``.
    counts, norms, depths
        Of the cuts since the record before, shape ``(records, 2)``; means are NaN where none is.
    """

    updates: FloatArray
    counts: FloatArray
    norms: FloatArray
    depths: FloatArray

    @classmethod
    def of(cls, trace: Trace) -> Course:
        """Return the course in a trace; one without cuts, or of other blocks, is refused."""
        if "cuts" not in trace.measures:
            raise DataError("cuts: a trace has none; run the experiment with trace_cuts: true")
        named = [np.array(trace.measures[name]) for name in ("cuts", "cut_norm", "cut_depth")]
        if named[0].shape[1:] != (2,):
            raise DataError(_SHAPE)
        return cls(np.array(trace.updates, dtype=float), *named)

    def total(self, block: int) -> float:
        """Return the number of cuts of a block."""
        return float(self.counts[:, block].sum())

    def mean(self, values: FloatArray, block: int = 1) -> float | None:
        """Return the mean of norms or depths over all cuts of a block, or None."""
        weights = np.where(np.isnan(values[:, block]), 0.0, self.counts[:, block])
        if not weights.any():
            return None
        return float(weights @ np.nan_to_num(values[:, block]) / weights.sum())


def suits(outline: Outline) -> None:
    """Refuse experiments whose traces have no cuts."""
    if not outline.recorded().trace_cuts:
        raise DataError("cuts: traces have no cuts; run the experiment with trace_cuts: true")


def course_of(evidence: Evidence, entry: Summary) -> Course | None:
    """Return the course of the first seed with a trace, or None."""
    for cell in entry.runs["cell"]:
        trace = evidence.trace(str(cell))
        if trace is not None:
            return Course.of(trace)
    return None


@needs(suits)
def cuts(evidence: Evidence) -> Table:
    """Queries by label, and the cuts that they gave.

    Columns ``problem``, ``label``, ``queries``; of the first seed: ``x0 percent``, the part of the
    cuts that are x_0 > 0; ``norm`` and ``depth``, the means over the cuts of the matrix; ``x0
    depth``, over the others; ``ended``.
    """
    entries = summaries(evidence.frame)
    courses = [course_of(evidence, entry) for entry in entries]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        texts("label", [entry.label for entry in entries]),
        counts("queries", [entry.median("queries") for entry in entries]),
        numbers("x0 percent", [_share(one) for one in courses]),
        numbers("norm", [one.mean(one.norms) if one else None for one in courses]),
        numbers("depth", [one.mean(one.depths) if one else None for one in courses]),
        numbers("x0 depth", [one.mean(one.depths, 0) if one else None for one in courses]),
        texts("ended", [entry.endings for entry in entries]),
    ]
    notes = [
        "The depth of a cut $a$ at $y$ is $-a'y / (\\|a\\| \\|y\\|)$; norms are those of unit "
        "directions $v$, $a = (v'C_0v, v_1^2, \\ldots, v_n^2)$. Means over all matrix cuts of a "
        "run; $x_0$: over the cuts $x_0 > 0$.",
    ]
    return Table("cuts", columns, keys=2, notes=notes)


def _share(course: Course | None) -> float | None:
    if course is None:
        return None
    every = course.total(0) + course.total(1)
    return 100.0 * course.total(0) / every if every else None
