"""Faults of the rows of an experiment as a whole, to be known before they are compared."""

from __future__ import annotations

from pathlib import Path

from perceptron_lab.experiments.running.runner import Rows
from perceptron_lab.experiments.running.status import State, status
from perceptron_lab.reporting.evidence import Evidence


def cautions(folder: Path, evidence: Evidence, done: Rows | None = None) -> list[str]:
    """Return a sentence for each fault of the rows of an experiment; empty if there is none.

    Rows made in different environments (their seconds do not compare), rows made by another version
    of the numeric core than today's, and cells without a row that serves the latest request.

    Parameters
    ----------
    folder
        The experiment's.
    evidence
        Its rows.
    done
        The run that has just ended, if there was one; otherwise the store is asked.
    """
    environments = evidence.frame["environment"].nunique()
    if done is not None:
        cells, stale, missing = done.cells, done.stale, done.missing
    else:
        now = status(folder)
        cells, stale, missing = len(now.cells), now.counts[State.STALE], now.counts[State.MISSING]
    found = []
    if environments > 1:
        found.append(f"rows of {environments} environments: seconds do not compare")
    if stale:
        found.append(f"{stale} of {len(evidence.frame)} rows made by another numeric core")
    if missing:
        found.append(f"{missing} of {cells} cells have no row that serves")
    return found
