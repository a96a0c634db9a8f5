"""A performance profile in numbers: the share of instances within a factor of the fastest."""

from __future__ import annotations

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.performance.profiles import profiles
from perceptron_lab.reporting.printing.table import Table, counts, reals, texts
from perceptron_lab.reporting.summary import endings

FACTORS = (1, 2, 10, 100)
"""The factors that have a column."""


def profile(evidence: Evidence) -> Table:
    """Return the performance profile of each label at a few factors.

    Columns: ``label``, ``instances`` (problems and seeds of the experiment), ``within 1``,
    ``within 2``, ``within 10``, ``within 100``: the share of instances that the label has solved,
    with proof, in at most that many times the seconds, those of the proof included, of the fastest
    label there; ``solved``, the
    share with a proved answer; ``status``, the endings of its cells.
    """
    found = profiles(evidence.frame)
    frame = evidence.frame
    columns = [
        texts("label", [one.label for one in found]),
        counts("instances", [len(one.ratios) for one in found]),
        *(reals(f"within {factor}", [one.share(factor) for one in found]) for factor in FACTORS),
        reals("solved", [one.solved for one in found]),
        texts("status", [endings(frame[frame["label"] == one.label]) for one in found]),
    ]
    return Table("profile", columns, notes=[_NOTE])


_NOTE = (
    "Within $\\tau$: the share of instances (problems and seeds) that are solved, with proof, in "
    "at most $\\tau$ times the seconds, those of the proof included, of the fastest label on the "
    "instance. What has no proved "
    "answer counts as not solved, and so does a bound of the margin where another label has proved "
    "a feasible point."
)
