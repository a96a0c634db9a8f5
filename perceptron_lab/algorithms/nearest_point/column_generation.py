"""Rounds of column generation: their phases, their tolerances, and the rows that come."""

from __future__ import annotations

import numpy as np

from perceptron_lab.algorithms.base import State
from perceptron_lab.core.claims import NearlyWidest
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.systems import ConicSystem

# The phase in which rounding has stopped Wolfe's algorithm, and the active set goes on
ACTIVE_SET = "active set"
OPTIMAL = "optimal"  # The phase in which no row improves the point
GAP = 1e-15  # norm(w)^2 - a'w below this is rounding error, for rows of norm 1
ZERO = 1e-14  # A least norm below this is 0 for all that can be told, for rows of norm 1
SHARP = 1e-12  # min a'w within this part of norm(w)^2: w is as good as it can be
PROVABLE = 1e-12  # What the proof of norm(A w) may add to its computed value, for rows of norm 1


# The computed ratio is to be this much nearer to 1 than the one asked for, so that it is proved
SAFE = 1.0 - 2.0**-40


def nearly_widest(
    system: ConicSystem, state: State, score: float, norm: float
) -> NearlyWidest | None:
    """Return the claim of the ratio that the run asks for, if this update seems to have it.

    Parameters
    ----------
    system, state
        The state holds w = A (weights), and the point w, or w with its best bias.
    score, norm
        The least a'w, and norm(w): the margin is at most norm(w), and that of w score / norm(w).
    """
    seems = system.ratio and 0.0 < system.ratio * norm**2 <= score * SAFE
    if not seems or state.claimed == state.updates or state.weights is None:
        return None
    state.claimed = state.updates
    return NearlyWidest(state.point.copy(), state.weights.copy())


def lowest(candidates: IntArray, scores: FloatArray, most: int) -> IntArray:
    """Return the candidates of least score, at most so many."""
    if len(candidates) <= most:
        return candidates
    return candidates[np.argpartition(scores[candidates], most)[:most]]
