"""Error rates of learners against the factor by which coordinates are rescaled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from perceptron_lab.errors import DataError
from perceptron_lab.experiments.storage.rows import reals
from perceptron_lab.reporting.evidence import Evidence

_NAME = re.compile(r"(all|one)-[0-9]+x[0-9]+-[0-9]+x([0-9]+)-1e(-?[0-9]+)")
_ERROR = "measure.error"
_CONVERGED = "measure.converged"


@dataclass(frozen=True)
class Rescaled:
    """One label on the data of one factor.

    Parameters
    ----------
    label
        Of the learner.
    rescaled
        ``all`` or ``one``.
    exponent
        Of the factor 10^exponent.
    errors
        The error rate of each seed, a mean over its repetitions.
    repetitions
        In all these seeds.
    converged
        The share of fits that converged; None where the learner does not say.
    incomplete
        The number of seeds without an error rate.
    """

    label: str
    rescaled: str
    exponent: int
    errors: tuple[float, ...]
    repetitions: int
    converged: float | None
    incomplete: int

    @property
    def mean(self) -> float | None:
        """The mean error rate; None without seeds."""
        return float(np.mean(self.errors)) if self.errors else None

    @property
    def spread(self) -> float | None:
        """The standard error of the mean, from the seeds; None for fewer than two."""
        if len(self.errors) < 2:
            return None
        return float(np.std(self.errors, ddof=1) / np.sqrt(len(self.errors)))


def rescaled_errors(evidence: Evidence) -> list[Rescaled]:
    """Return one line per label, kind of rescaling and exponent, sorted by the latter two.

    Raises
    ------
    DataError
        If a problem is not one of rescaled data, or no learner has an error rate.
    """
    frame = evidence.frame.assign(
        **{name: _numbers(evidence.frame, name) for name in (_ERROR, _CONVERGED)}
    )
    if frame[_ERROR].isna().all():
        raise DataError(
            "the table of runs has no error rates; they are there for learners, such as "
            "ellipsoid-separation"
        )
    parts = {name: _parts(name) for name in frame["problem"].unique()}
    lines = [
        _line(str(label), parts[str(problem)], runs)
        for (label, problem), runs in frame.groupby(["label", "problem"], sort=False)
    ]
    return sorted(lines, key=lambda line: (line.rescaled, line.exponent))


def labels_of(lines: Sequence[Rescaled], evidence: Evidence) -> list[str]:
    """Return the labels in the order of the experiment."""
    present = {line.label for line in lines}
    return [label for label in evidence.frame["label"].unique() if label in present]


def _numbers(frame: pd.DataFrame, name: str) -> pd.Series:
    """Return a column that may be missing, or hold text as in runs.csv, as numbers."""
    given = frame[name] if name in frame.columns else pd.Series("", index=frame.index)
    try:
        return reals(given)
    except (ValueError, TypeError) as error:
        raise DataError(f"the table of runs, column {name}: {error}; allowed: numbers") from None


def _parts(problem: str) -> tuple[str, int, int]:
    found = _NAME.fullmatch(problem)
    if not found:
        raise DataError(
            f"the problem {problem!r} has no factor in its name; needed are problems such as "
            "all-2x50-500x25-1e-6 (dataset inverted-balls)"
        )
    return found[1], int(found[2]), int(found[3])


def _line(label: str, parts: tuple[str, int, int], runs: pd.DataFrame) -> Rescaled:
    rescaled, repetitions, exponent = parts
    errors = runs[_ERROR].dropna()
    shares = runs[_CONVERGED].dropna()
    return Rescaled(
        label,
        rescaled,
        exponent,
        tuple(float(error) for error in errors),
        repetitions * len(errors),
        float(shares.mean()) if len(shares) else None,
        len(runs) - len(errors),
    )
