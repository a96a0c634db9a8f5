"""Rounds of column generation: their phases, their tolerances, and the rows that come."""

from __future__ import annotations

import numpy as np

from perceptron_lab.results import FloatArray, IntArray

# The phase in which rounding has stopped Wolfe's algorithm, and the active set goes on
ACTIVE_SET = "active set"
OPTIMAL = "optimal"  # The phase in which no row improves the point
GAP = 1e-15  # norm(w)^2 - a'w below this is rounding error, for rows of norm 1
ZERO = 1e-14  # A least norm below this is 0 for all that can be told, for rows of norm 1
SHARP = 1e-12  # min a'w within this part of norm(w)^2: w is as good as it can be
PROVABLE = 1e-12  # What the proof of norm(A w) may add to its computed value, for rows of norm 1


def lowest(candidates: IntArray, scores: FloatArray, most: int) -> IntArray:
    """Return the candidates of least score, at most so many."""
    if len(candidates) <= most:
        return candidates
    return candidates[np.argpartition(scores[candidates], most)[:most]]
