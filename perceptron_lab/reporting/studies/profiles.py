"""Performance profiles in numbers: the share of instances within a factor of the fastest.

E. D. Dolan and J. J. More, "Benchmarking optimization software with performance profiles",
Mathematical Programming 91 (2002).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import CLAIMS, endings

FACTORS = (1, 2, 10, 100)
"""The factors that have a column."""
RESOLUTION = 1e-6
"""Seconds that count as no less: a clock cannot tell shorter times apart."""


@dataclass(frozen=True)
class Profile:
    """The seconds of a label over those of the fastest label, per instance (problem and seed).

    Infinite where it has no proved answer.
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
    # A cell that was not run is not solved within any factor.
    table = table.fillna(np.inf)
    # An instance without an answer has no fastest: any other divisor leaves it infinite.
    best = table.min(axis="columns").where(lambda least: np.isfinite(least), 1.0)
    ratios = table.div(best, axis="index")
    return [Profile(label, ratios[label].to_numpy()) for label in runs["label"].unique()]


def profile_table(evidence: Evidence) -> Table:
    """Share of instances that each label solves, with proof, within factors of the fastest.

    Columns: ``label``, ``instances`` (problems and seeds of the experiment), ``within 1``,
    ``within 2``, ``within 10``, ``within 100``: the share of instances that the label has solved,
    with proof, in at most that many times the seconds, those of the proof included, of the fastest
    label there; ``solved``, the share with a proved answer; ``status``, the endings of its cells.
    """
    found = profiles(evidence.frame)
    frame = evidence.frame
    columns = [
        texts("label", [one.label for one in found]),
        counts("instances", [len(one.ratios) for one in found]),
        *(numbers(f"within {n}", [one.share(n) for one in found]) for n in FACTORS),
        numbers("solved", [one.solved for one in found]),
        texts("status", [endings(frame[frame["label"] == one.label]) for one in found]),
    ]
    return Table("profile", columns, notes=[_NOTE])


_NOTE = (
    "Within $\\tau$: the share of instances (problems and seeds) that are solved, with proof, in "
    "at most $\\tau$ times the seconds, those of the proof included, of the fastest label on the "
    "instance. What has no proved answer counts as not solved, and so does a bound of the margin "
    "where another label has proved a feasible point."
)


# About so many rises of a curve have a marker
_MARKS = 8


def profile_figure(evidence: Evidence) -> Figure:
    """Share of instances solved within a factor of the fastest, against the factor.

    The height at 1 says how often a label is the fastest, that at the right edge how often it has a
    proved answer at all; a curve above another is faster or more reliable everywhere. Time is that
    to a proved answer: failures, limits and unproved answers never count as solved, nor does a
    bound of the margin where another label has proved a feasible point. Instances are all problems
    and seeds.
    """
    found = profiles(evidence.frame)
    known = drawing.looks([one.label for one in found])
    ratios = np.concatenate([one.ratios for one in found])
    edge = 1.5 * float(max(10.0, ratios[np.isfinite(ratios)].max(initial=1.0)))
    figure = drawing.canvas(5.0, 3.4 + 0.05 * len(found))
    axes = figure.subplots()
    factors = drawing.nested(known)
    for one in found:
        factor, (places, shares) = factors[one.label], curve(one, edge)
        style: drawing.Style = {**known[one.label], "label": one.label}
        style |= {"linewidth": factor, "markersize": 2.6 * factor, "markeredgewidth": 0.0}
        # Markers of some of the rises tell curves apart that meet
        marked = slice(1, -1, max(1, len(places) // _MARKS))
        axes.step(places, shares, where="post", markevery=marked, **style)
    axes.set(xscale="log", xlim=(1.0, edge), ylim=(0.0, 1.02))
    axes.set_xlabel("factor $\\tau$ of the fastest time")
    axes.set_ylabel(f"share of {len(found[0].ratios)} instances solved within")
    drawing.rule_logarithmic(axes, "x")
    drawing.rule(axes, "y", "0.9")
    names = drawing.spelt_out(evidence.algorithms())
    drawing.legend_above(figure, drawing.handles(known, names=names, linewidth=1.1, size=3.0))
    return figure


def curve(one: Profile, edge: float) -> tuple[FloatArray, FloatArray]:
    """Return the factors at which a profile rises, from 1 to the edge, and its shares there."""
    rises = one.ratios[one.ratios < edge]
    factors: FloatArray = np.unique([1.0, *rises, edge])
    return factors, np.array([one.share(factor) for factor in factors])
