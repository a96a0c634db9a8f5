"""Maximum support: which rows can be positive on {y : A y >= 0}, and which have weights instead."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from perceptron_lab.core.errors import counted
from perceptron_lab.core.results import IntArray
from perceptron_lab.core.time_limit import time_limit
from perceptron_lab.numerics.input_checks import ArrayOrSparse
from perceptron_lab.problems.separation.exact_pairs import exact_pair, seconds_of
from perceptron_lab.problems.separation.labelled import unlabelled
from perceptron_lab.problems.separation.pairs import ComplementaryPair
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
    pair: ComplementaryPair | None
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
        return self.pair.exact_weights if self.pair else {}

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
    seconds, given = seconds_of(max_seconds), unlabelled(rows)
    with time_limit(seconds):
        pair = exact_pair(given, proposals, "rescaling, made exact")
    return MaximumSupport(given, pair, "the time was too short" if pair is None else pair.method)
