"""Maximum support: which rows can be positive on {y : A y >= 0}, and which have weights instead.

Rescaling proposes the partition, a point and weights, which are then made exact.

Phases of :class:`.CorrelationRescaling` on unit rows a_i prove heights: <a_i, y> <= norm(H a_i) for
every y of norm 1 with A y >= 0. Rows that are 0 on that cone have heights that fall towards 0, the
others have not: so a gap of the heights tells both apart (in the manner of Dadush, Vegh and
Zambelli, Mathematics of Operations Research 45, 2020). Both sides are then feasibility problems
with a solution inside: A_B y > 0 in the null space of A_N, once more by rescaling; and w > 0 with
A_N'w = 0, near the cuts of the phase.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.algorithms.advance import advance
from perceptron_lab.algorithms.rescaling.correlation_rescaling import CorrelationRescaling
from perceptron_lab.algorithms.rescaling.volume_rescaling import Phase, VolumeState
from perceptron_lab.cones.operators.rescaled import RescaledRows
from perceptron_lab.core.claims import Claim, FeasiblePoint
from perceptron_lab.core.errors import counted
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time, time_limit
from perceptron_lab.numerics.input_checks import ArrayOrSparse
from perceptron_lab.numerics.sparse_arrays import dense_array
from perceptron_lab.problems.separation.equal_rows import merged
from perceptron_lab.problems.separation.integer_rows import IntegerRows
from perceptron_lab.problems.separation.labelled import unlabelled
from perceptron_lab.problems.separation.pairs import ComplementaryPair, PartitionProposal
from perceptron_lab.problems.separation.separation import exact_pair, seconds_of
from perceptron_lab.systems import ConicSystem

_ALGORITHM: Final = CorrelationRescaling(margin=1e-15)
_GAP: Final = 3.0  # Ratio between heights that stay and heights that fall
_DEPENDENT: Final = 1e-9  # Singular values below this part of the largest one count as 0
_STEPS: Final = 15  # Affine scaling steps towards A_N'w = 0
_TOLERANCE: Final = 1e-12
_MOST: Final = 20_000  # Largest number of updates of one run
_AT_A_TIME: Final = 20_000_000  # Numbers that updates read between two checks of the time limit

RowMask = npt.NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class MaximumSupport:
    """The largest support of A y over {y : A y >= 0}, and of w over {w >= 0 : A'w = 0}.

    Every row is in exactly one of the two (Goldman and Tucker 1956), as ``point`` and ``weights``
    prove.

    Parameters
    ----------
    rows
        A, as integers.
    pair
        The partition with its proof; None if a time limit ended the search.
    method
        How the pair was found.
    """

    rows: IntegerRows
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
        """Indices of the rows that are 0 at every such y, which have weights > 0."""
        return self.pair.overlap if self.pair else np.zeros(0, dtype=np.int64)

    @property
    def point(self) -> tuple[Fraction, ...]:
        """The point y: a_i'y > 0 on the support, a_i'y = 0 on the others, exactly."""
        return tuple(self.rows.in_original_units(self.pair.direction)) if self.pair else ()

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
        there, vanishing = len(self.support), len(self.dual_support)
        return (
            f"{counted(there, 'row')} of {there + vanishing} can be positive on the cone, "
            f"{vanishing} "
            f"never (proved; {self.method})"
        )


def maximum_support(rows: ArrayOrSparse, *, max_seconds: float | None = None) -> MaximumSupport:
    """Find the maximum supports of A y >= 0 and of its dual, A'w = 0 with w >= 0.

    Rescaling finds the partition: heights of the rows over the cone are proved to fall, again and
    again, or stay (:class:`~perceptron_lab.algorithms.rescaling.correlation_rescaling.\
CorrelationRescaling`). A point and weights are then made exact. Where that fails, the homogeneous
    system is decided by exact pivots; ``method`` states this.

    Parameters
    ----------
    rows
        A, shape ``(m, n)``, dense or scipy.sparse; rows of zeros are in the dual support. Doubles
        are the numbers that they are; integers, fractions and decimals count exactly too.
    max_seconds
        Time limit in seconds, after which nothing is decided; None for no limit.

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
    seconds, examples = seconds_of(max_seconds), unlabelled(rows)
    with time_limit(seconds):
        distinct = merged(examples)
        pair = exact_pair(distinct.rows, proposals, "rescaling, made exact")
        pair = None if pair is None else distinct.pair(pair)
    return MaximumSupport(examples, pair, "the time was too short" if pair is None else pair.method)


def proposals(rows: FloatArray | sp.csr_array) -> Iterator[PartitionProposal]:
    """Yield partitions of the rows with a point and weights, until a time limit.

    Parameters
    ----------
    rows
        A in doubles, shape ``(m, n)``.
    """
    rows = dense_array(rows)
    _require_singular_values(rows)
    sizes = np.abs(rows).max(axis=0)
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    # The same cone in orthonormal coordinates: heights are then comparable between rows.
    left, values, right = np.linalg.svd(rows / sizes, full_matrices=False)
    significant = values > _DEPENDENT * values.max(initial=0.0)
    basis, back = left[:, significant], right[significant].T / values[significant]
    lengths = np.linalg.norm(basis, axis=1)
    there = lengths > 1e-14
    if not there.any():
        yield PartitionProposal(
            np.ones(len(rows), dtype=bool), np.ones(len(rows)), np.zeros(rows.shape[1])
        )
        return
    unit = basis[there] / lengths[there, None]
    for overlap, weights, point in _of_units(unit):
        every = np.ones(len(rows), dtype=bool)
        every[there] = overlap
        weights_of_rows = np.ones(len(rows))
        weights_of_rows[there] = weights / lengths[there]
        with np.errstate(over="ignore"):  # infinite entries lead to an exact decision
            direction = back @ point / sizes
        yield PartitionProposal(
            every, weights_of_rows / max(1e-300, weights_of_rows[every].max(initial=0.0)), direction
        )


def _of_units(unit: FloatArray) -> Iterator[tuple[RowMask, FloatArray, FloatArray]]:
    """Yield partitions of unit rows that span the space."""
    for state, ended, claim in _phases(unit):
        if isinstance(claim, FeasiblePoint):
            yield np.zeros(len(unit), dtype=bool), np.zeros(len(unit)), claim.point
            return
        if claim is not None or not isinstance(state.operator, RescaledRows):
            return
        for overlap in _partitions(state.operator.norms):
            weights = _balanced(unit, state.operator.map, overlap, ended.weights)
            if weights is None:
                continue
            point = _interior_point(unit, overlap)
            if point is not None:
                yield overlap, weights, point


def _phases(unit: FloatArray) -> Iterator[tuple[VolumeState, Phase, Claim | None]]:
    """Yield states of the rescaling algorithm on unit rows, with the previous phase and the claim.

    The time limit is checked between states.
    """
    # scores count as positive only well above their roundings
    system = ConicSystem.from_rows(unit).started({}, np.random.default_rng(0))
    system = replace(system, tolerance=_TOLERANCE)
    state = _ALGORITHM.start(system, np.random.default_rng(0))
    while state.updates < _MOST and not state.exhausted:
        check_time()
        ended, most = state.inner, min(_MOST - state.updates, max(1, _AT_A_TIME // unit.size))
        state, claim = advance(_ALGORITHM, system, state, most)
        yield state, ended, claim


def _require_singular_values(rows: FloatArray) -> None:
    """Raise TimeIsUp unless there is time for a singular value decomposition."""
    check_time(40.0 * max(rows.shape) * min(rows.shape) ** 2)


def _partitions(heights: FloatArray) -> Iterator[RowMask]:
    """Yield as overlap the rows below the widest gap of the heights, then all rows."""
    order = np.sort(heights)
    gaps = np.log(order[1:] / order[:-1])
    if len(gaps) and gaps.max() > np.log(_GAP):
        yield heights <= order[int(gaps.argmax())]
    yield np.ones(len(heights), dtype=bool)


def _balanced(
    unit: FloatArray, rescaled: FloatArray, overlap: RowMask, counted: FloatArray
) -> FloatArray | None:
    """Return w > 0 on N with A_N'w near 0, by affine scaling from the numbers of cuts, or None.

    The step from w is that of least norm(change / w): exact if it changes no weight by its size.
    """
    images = unit[overlap] @ rescaled.T
    lengths = np.linalg.norm(images, axis=1)
    images /= lengths[:, None]
    weights = 1.0 + counted[overlap] / max(1.0, float(counted[overlap].max(initial=0.0)))
    for _ in range(_STEPS):
        _require_singular_values(images)
        scaled = weights[:, None] * images
        multipliers = np.linalg.lstsq(scaled, np.ones(len(weights)), rcond=_DEPENDENT)[0]
        change = scaled @ multipliers
        if change.max() < 0.99:
            balanced = np.zeros(len(unit))
            balanced[overlap] = weights * (1.0 - change) / lengths
            return balanced
        # Short of the boundary, as in affine scaling: weights have to stay positive.
        weights = weights * (1.0 - 0.7 * change / change.max())
    return None


def _interior_point(unit: FloatArray, overlap: RowMask) -> FloatArray | None:
    """Return y with A_N y near 0 and A_B y > 0, by rescaling in N's null space, or None."""
    if overlap.all():
        return np.zeros(unit.shape[1])
    _require_singular_values(unit[overlap])
    values, right = np.linalg.svd(np.linalg.qr(unit[overlap], mode="r"))[1:]
    rank = int(np.count_nonzero(values > _DEPENDENT * values.max(initial=0.0)))
    null = right[rank:].T
    inner = unit[~overlap] @ null
    if not null.shape[1] or np.linalg.norm(inner, axis=1).min() < _DEPENDENT:
        return None
    for _, _, claim in _phases(inner):
        if claim is not None:
            return null @ claim.point if isinstance(claim, FeasiblePoint) else None
    return None
