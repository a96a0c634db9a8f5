"""What a reader has to know before the rows of one table are compared."""

from __future__ import annotations

from pathlib import Path

from perceptron_lab.experiments.running.runner import Rows
from perceptron_lab.experiments.running.status import State, status
from perceptron_lab.reporting.evidence import Evidence


def cautions(folder: Path, evidence: Evidence, done: Rows | None = None) -> list[str]:
    """Return what is amiss with the rows of an experiment as a whole; empty if nothing is.

    Rows made in different environments (their seconds do not compare), rows made by another version
    of the numeric core than today's, and cells without a row that serves what was asked for last.

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
    cells, stale, missing = _counts(folder, done)
    found = []
    if environments > 1:
        found.append(f"rows of {environments} environments: seconds do not compare")
    if stale:
        found.append(f"{stale} of {len(evidence.frame)} rows made by another numeric core")
    if missing:
        found.append(f"{missing} of {cells} cells have no row that serves")
    return found


def _counts(folder: Path, done: Rows | None) -> tuple[int, int, int]:
    """Return how many cells there are, how many stale ones, how many without a row that serves."""
    if done is not None:
        return done.cells, done.stale, done.missing
    now = status(folder)
    return len(now.cells), now.counts[State.STALE], now.counts[State.MISSING]


def captioned(title: str, found: list[str]) -> str:
    """Return a caption that says what is amiss, too."""
    return f"{title} ({'; '.join(found)})" if found else title
