"""Newton's steps of logistic regression propose a partition of the rows, weights and a direction.

Minimised is f(b) = sum_i log(1 + exp(-a_i'b)), a_i = y_i (x_i, 1), with the gradient -A'w of the
weights w_i = 1 / (1 + exp(a_i'b)), all in (0, 1). If f has a minimum, A'w = 0 there: the weights
prove that the rows overlap. If it has none, scores of the rows N that are 0 on the whole cone
{b : A b >= 0} converge, and those of the others grow by 1 or more in each step in the limit
(Albert and Anderson, Biometrika 71, 1984): so the last step is nearly in the cone, and tells both
apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy.linalg as sla
from scipy.special import expit

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time

STEPS: Final = 27
"""Then weights exp(-a_i'b) are lost in the roundings of the others."""
_LOOKS: Final = (8, 12, 16, 20, 24, STEPS)  # Steps after which a partition is proposed
_HALVES: Final = 12
_STILL: Final = 1e-9  # Of the gradient, relative to the sizes of its terms
_GROWTH: Final = 0.5  # Of a score in a step, between those that converge and those that grow


@dataclass(frozen=True)
class PartitionProposal:
    """A partition in doubles, which nobody has proved.

    Parameters
    ----------
    overlap
        The rows that seem to be 0 on the whole cone, shape ``(m,)``.
    weights
        w, shape ``(m,)``, in [0, 1].
    direction
        b with A b > 0 on the other rows, 0 on these, or nearly so, shape ``(n,)``.
    """

    overlap: npt.NDArray[np.bool_]
    weights: FloatArray
    direction: FloatArray


def proposals(rows: FloatArray) -> Iterator[PartitionProposal]:
    """Yield the partitions that Newton's steps lead to, the more likely ones last.

    Parameters
    ----------
    rows
        A in doubles, shape ``(m, n)``. Steps are made on an orthonormal basis of its columns.

    Raises
    ------
    TimeIsUp
        If a time limit ends before the next step.
    """
    count, width = rows.shape
    check_time(20.0 * count * width**2)
    basis = _Basis(rows)
    point = np.zeros(basis.orthonormal.shape[1])
    scores = np.zeros(len(rows))
    for step in range(1, STEPS + 1):
        weights: FloatArray = expit(-scores)
        gradient: FloatArray = weights @ basis.orthonormal
        size = float(np.linalg.norm(weights))
        if float(np.linalg.norm(gradient)) <= _STILL * size:
            yield PartitionProposal(
                np.ones(len(rows), dtype=bool), weights, np.zeros(rows.shape[1])
            )
            return
        check_time(2.0 * count * width**2 + 10.0 * width**3)
        move = _newton(basis.orthonormal, weights, gradient)
        change = basis.orthonormal @ move
        if change.min() > 0.0 or (scores + change).min() > 0.0:
            kept = move if change.min() > 0.0 else point + move
            yield PartitionProposal(np.zeros(len(rows), dtype=bool), weights, basis.given(kept))
        if step in _LOOKS:
            yield PartitionProposal(change < _GROWTH, weights, basis.given(move))
        length = _length(scores, change)
        point, scores = point + length * move, scores + length * change


class _Basis:
    """An orthonormal basis Q of the columns of A, A P = Q R up to dependent ones."""

    def __init__(self, rows: FloatArray) -> None:
        sizes = np.abs(rows).max(axis=0)
        self._sizes = np.where(sizes > 0.0, sizes, 1.0)
        q, r, self._order = sla.qr(
            rows / self._sizes, mode="economic", pivoting=True, overwrite_a=True, check_finite=False
        )
        diagonal = np.abs(np.diagonal(r))
        rank = int(np.count_nonzero(diagonal > 1e-13 * diagonal.max(initial=0.0)))
        self.orthonormal: FloatArray = np.ascontiguousarray(q[:, :rank])
        self._triangle = r[:rank, :rank]
        self._width = rows.shape[1]

    def given(self, point: FloatArray) -> FloatArray:
        """Return b of coordinates in the basis."""
        found = np.zeros(self._width)
        found[self._order[: len(point)]] = sla.solve_triangular(self._triangle, point)
        with np.errstate(over="ignore"):  # infinite entries lead to an exact decision
            return found / self._sizes


def _newton(basis: FloatArray, weights: FloatArray, gradient: FloatArray) -> FloatArray:
    """Return Newton's step, the curvature of directions that have nearly none bounded below."""
    curvature = basis.T @ ((weights * (1.0 - weights))[:, None] * basis)
    values, vectors = np.linalg.eigh(curvature)
    kept = np.maximum(values, 1e-15 * max(float(values[-1]), 1e-300))
    step: FloatArray = vectors @ ((vectors.T @ gradient) / kept)
    return step


def _length(scores: FloatArray, change: FloatArray) -> float:
    """Return the first of 1, 1/2, 1/4, ... that lowers the sum of losses."""
    before, length = float(np.logaddexp(0.0, -scores).sum()), 1.0
    for _ in range(_HALVES):
        if float(np.logaddexp(0.0, -(scores + length * change)).sum()) < before:
            break
        length /= 2.0
    return length
