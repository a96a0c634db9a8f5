"""Performance profiles: how often each label is within a factor of the fastest.

E. D. Dolan and J. J. More, "Benchmarking optimization software with performance profiles",
Mathematical Programming 91 (2002).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from perceptron_lab.reporting.summary import CLAIMS
from perceptron_lab.results import FloatArray, Status

RESOLUTION = 1e-6
"""Seconds that count as no less: what is shorter cannot be told apart by a clock."""


@dataclass(frozen=True)
class Profile:
    """What each label needs in proportion to the fastest.

    Parameters
    ----------
    label
        Which.
    ratios
        Per instance (problem and seed), its seconds over those of the fastest label there; infinite
        where it has no proved answer, shape ``(instances,)``.
    """

    label: str
    ratios: FloatArray

    def share(self, factor: float) -> float:
        """Return the share of instances that it has solved within a factor of the fastest."""
        return float(np.mean(self.ratios <= factor))

    @property
    def solved(self) -> float:
        """The share of instances with a proved answer."""
        return float(np.mean(np.isfinite(self.ratios)))


def profiles(runs: pd.DataFrame) -> list[Profile]:
    """Return r = t / min t over the labels, per instance, in the order of the labels.

    t is the time to a proved answer, that of the proof included; a failure, a limit, an answer
    without proof and a cell that was not run have none. Where some label has proved a feasible
    point, a bound of the margin is no answer: it leaves open what the other has decided. An
    instance that no label has solved counts for all as not solved.

    Parameters
    ----------
    runs
        The checked table of runs.
    """
    proved = runs["status"].isin(CLAIMS) & runs["proved"]
    feasible = proved & (runs["status"] == Status.FEASIBLE)
    decided = feasible.groupby([runs["problem"], runs["seed"]]).transform("any")
    proved &= ~(decided & (runs["status"] == Status.MARGIN_BOUNDED))
    spent = runs["seconds"] + runs["proof_seconds"]
    times = spent.clip(lower=RESOLUTION).where(proved, np.inf).fillna(np.inf)
    table = runs.assign(time=times).pivot(index=["problem", "seed"], columns="label", values="time")
    table = table.fillna(np.inf)
    best = table.min(axis="columns").where(lambda least: np.isfinite(least), 1.0)
    ratios = table.div(best, axis="index")
    return [Profile(label, ratios[label].to_numpy()) for label in runs["label"].unique()]
