"""Performance profiles of all labels over all instances of an experiment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.performance.profiles import Profile, profiles
from perceptron_lab.reporting.printing.drawing import (
    STYLE,
    canvas,
    legend_above,
    looks,
    rule,
    rule_logarithmic,
)
from perceptron_lab.results import FloatArray


def profile(evidence: Evidence) -> Figure:
    """Draw the share of instances solved within a factor of the fastest, against the factor.

    The height at 1 says how often a label is the fastest, that at the right edge how often it has a
    proved answer at all; a curve above another is faster or more reliable everywhere. Time is that
    to a proved answer: failures, limits and unproved answers never count as solved, nor does a
    bound of the margin where another label has proved a feasible point. Instances are all problems
    and seeds.
    """
    found = profiles(evidence.frame)
    known = looks([one.label for one in found])
    edge = _right_edge(found)
    with style.context(STYLE):
        figure = canvas(5.0, 3.6)
        axes = figure.subplots()
        for place, one in enumerate(found):
            factors, shares = curve(one, edge)
            look = known[one.label]
            axes.step(
                factors,
                shares,
                where="post",
                label=one.label,
                color=look["color"],
                linestyle=look["linestyle"],
                linewidth=1.1,
                zorder=3.0 - 0.01 * place,  # where curves meet, the first label stays visible
            )
        _name_axes(axes, edge, len(found[0].ratios))
        legend_above(figure, _handles(axes))
    return figure


def curve(one: Profile, edge: float) -> tuple[FloatArray, FloatArray]:
    """Return the factors at which a profile rises, from 1 to the edge, and the shares from there.

    Parameters
    ----------
    one
        The profile.
    edge
        The last factor, more than 1.
    """
    rises = one.ratios[one.ratios < edge]
    factors: FloatArray = np.unique([1.0, *rises, edge])
    return factors, np.array([one.share(factor) for factor in factors])


def _right_edge(found: Sequence[Profile]) -> float:
    """Return a factor beyond all finite ones, at least 10."""
    ratios = np.concatenate([one.ratios for one in found])
    return 1.5 * float(max(10.0, ratios[np.isfinite(ratios)].max(initial=1.0)))


def _name_axes(axes: Axes, edge: float, instances: int) -> None:
    axes.set_xscale("log")
    axes.set_xlim(1.0, edge)
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel("factor $\\tau$ of the fastest time")
    axes.set_ylabel(f"share of {instances} instances solved within")
    rule_logarithmic(axes, "x")
    rule(axes, "y", "0.9")


def _handles(axes: Axes) -> list[Line2D]:
    return [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
