"""Performance profiles of all labels over all instances of an experiment."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.performance.profiles import Profile, profiles
from perceptron_lab.reporting.printing import drawing

# About so many rises of a curve have a marker
_MARKS = 8


def profile(evidence: Evidence) -> Figure:
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
        style: dict[str, Any] = {**known[one.label], "label": one.label}
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
