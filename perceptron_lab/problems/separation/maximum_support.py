"""Maximum support: which rows can be positive on {y : A y >= 0}, and which have weights instead."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from perceptron_lab.core.errors import InputError, counted
from perceptron_lab.core.results import IntArray
from perceptron_lab.core.time_limit import TimeIsUp, check_time, time_limit
from perceptron_lab.numerics.input_checks import ArrayOrSparse
from perceptron_lab.problems.separation.conditioning import conditioned, pair_of_original
from perceptron_lab.problems.separation.decided_pairs import decided_pair
from perceptron_lab.problems.separation.labelled import unlabelled
from perceptron_lab.problems.separation.pairs import Pair, pair_near
from perceptron_lab.problems.separation.proofs import faults
from perceptron_lab.problems.separation.support_proposals import proposals
from perceptron_lab.problems.separation.whole_rows import WholeRows


@dataclass(frozen=True, repr=False)
class MaximumSupport:
    """The largest support of A y over {y : A y >= 0}, and of w over {w >= 0 : A'w = 0}.

    Every row is in exactly one of the two (Goldman and Tucker 1956), as ``point`` and ``weights``
    prove.

    Parameters
    ----------
    rows
        A, in whole numbers.
    pair
        The partition with its proof; None where the time was too short.
    method
        How it was found.
    """

    rows: WholeRows
    pair: Pair | None
    method: str

    @property
    def proved(self) -> bool:
        """Whether the partition is proved, in exact arithmetic."""
        return self.pair is not None

    @property
    def support(self) -> IntArray:
        """Indices, from 0 on, of the rows that are positive at some y with A y >= 0."""
        return self.pair.separated if self.pair else np.zeros(0, dtype=np.int64)

    @property
    def dual_support(self) -> IntArray:
        """Indices of the rows that are 0 at every such y: they have weights."""
        return self.pair.overlap if self.pair else np.zeros(0, dtype=np.int64)

    @property
    def point(self) -> tuple[Fraction, ...]:
        """The point y: a_i'y > 0 on the support, a_i'y = 0 on the others, exactly."""
        return tuple(self.rows.given(self.pair.direction)) if self.pair else ()

    @property
    def weights(self) -> dict[int, Fraction]:
        """Row -> w_i > 0 on the dual support, with sum_i w_i a_i = 0, exactly."""
        if self.pair is None:
            return {}
        pairs = zip(self.pair.overlap.tolist(), self.pair.weights.tolist(), strict=True)
        return {row: self.pair.basis.get(row, Fraction(weight)) for row, weight in pairs}

    def __repr__(self) -> str:
        """Return the outcome in a line; exact numbers may have thousands of digits."""
        return f"<MaximumSupport: {self}>"

    def __str__(self) -> str:
        if self.pair is None:
            return f"maximum support not decided ({self.method})"
        there, others = len(self.support), len(self.dual_support)
        return (
            f"{counted(there, 'row')} of {there + others} can be positive on the cone, {others} "
            f"never (proved; {self.method})"
        )


def maximum_support(rows: ArrayOrSparse, *, max_seconds: float | None = None) -> MaximumSupport:
    """Find the maximum supports of A y >= 0 and of its dual, A'w = 0 with w >= 0.

    Rescaling finds the partition: heights of the rows over the cone are proved to fall, again and
    again, or stay (:class:`~perceptron_lab.algorithms.rescaling.correlation_rescaling.\
CorrelationRescaling`). A point and weights are then made exact. Where that fails, the homogeneous
    system is decided by exact pivots; ``method`` says so.

    Parameters
    ----------
    rows
        A, shape ``(m, n)``, dense or scipy.sparse; rows of zeros are in the dual support. Doubles
        are the numbers that they are; integers, fractions and decimals count exactly too.
    max_seconds
        Where so many seconds do not suffice, nothing is decided; None for no limit.

    Raises
    ------
    InputError
        If the rows are no finite numbers, or the time is below 0.

    References
    ----------
    D. Dadush, L. A. Vegh and G. Zambelli, Rescaling algorithms for linear conic feasibility,
    Mathematics of Operations Research 45 (2020), find maximum supports by rescaling.

    Examples
    --------
    y_1 and y_2 are opposite to each other in two rows; a third one adds y_3:

    >>> from perceptron_lab import maximum_support
    >>> found = maximum_support([[1, -1, 0], [-1, 1, 0], [1, 1, 1]])
    >>> found.support.tolist(), found.dual_support.tolist()
    ([2], [0, 1])
    >>> found.weights[0] == found.weights[1] > 0
    True
    """
    if max_seconds is not None and not max_seconds >= 0.0:
        raise InputError(f"max_seconds is {max_seconds}; give 0 or more, or None for no limit")
    given = unlabelled(rows)
    with time_limit(math.inf if max_seconds is None else max_seconds), suppress(TimeIsUp):
        pair = _pair(given)
        if pair is not None:
            wrong = faults(given, pair, [])
            assert not wrong, f"a proof does not hold: {'; '.join(wrong)}; this is a bug, report it"
            return MaximumSupport(given, pair, pair.method)
    return MaximumSupport(given, None, "the time was too short")


def _pair(rows: WholeRows) -> Pair | None:
    """Return an exact pair near one that rescaling proposes, or else that of an exact decision."""
    better, columns = conditioned(rows)
    for proposal in proposals(better.near):
        found = pair_near(better, proposal)
        if found is not None:
            named = replace(found, method="rescaling, made exact")
            return pair_of_original(named, columns)
    check_time()
    decided = decided_pair(better)
    return None if decided is None else pair_of_original(decided, columns)
