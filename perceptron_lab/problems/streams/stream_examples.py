"""The examples of a stream for bounds of its mistakes: scores and norms with error bounds.

Both ends of the brackets of Theorems 1 and 2 are proved here from a comparison w* and from
multipliers. Any w* and any multipliers give valid ends, with all rounding errors counted
(:mod:`perceptron_lab.problems.streams.mistake_bounds` states the inequalities).

Good ones solve a smoothed problem, for which scipy's trust region is fast: minimise over w
R^2 norm(w)^2 + sum_i psi_i(1 - r_i'w), where psi_i(z) rises with the slope
min(cap_i, stiffness_i z) for z > 0: a hinge of slope cap_i with a rounded corner, or without a cap
half a square. The slopes lambda_i at any w are multipliers: sum lambda_i -
norm(sum lambda_i r_i)^2 / (4 R^2) bounds from below the problem with sharp corners.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import minimize

from perceptron_lab.certificates.margin import combined_with_radius
from perceptron_lab.certificates.rounding import below, norm_above, product_with_radius
from perceptron_lab.certificates.rows.orthant import kernel_scores, kernel_square
from perceptron_lab.cones.operators.base import row_norms
from perceptron_lab.cones.operators.gram import Coordinates, Gram
from perceptron_lab.cones.operators.kernels import Kernel, KernelMatrix
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.errors import InputError, refuse_flags
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.input_checks import ArrayOrSparse, checked_rows
from perceptron_lab.numerics.roundoff import above
from perceptron_lab.problems.streams.perceptron import signs_or_ones
from perceptron_lab.systems import ConicSystem

Examples = ArrayOrSparse | KernelMatrix
AnyKernel = Kernel | Literal["precomputed"] | None
# Up to this dimension the Hessian is formed
WRITTEN_OUT = 1000
# Tolerance of the gradient's norm, relative to the root of the objective
STATIONARY = 1e-8
MOST_ITERATIONS = 200


@dataclass(frozen=True)
class StreamExamples(ABC):
    """The k of m examples that occur in the stream; the others do not affect the bounds.

    Parameters
    ----------
    rows, signs
        a_i, shape ``(k, n)``, and s_i, shape ``(k,)``.
    counts
        c_i > 0, how often each is presented, shape ``(k,)``.
    at
        Mask of these examples among all, shape ``(m,)``.
    longest, shortest
        R = max norm(a_i), rounded up and down.
    unknowns
        The entries of a comparison w*: features, a constant one included, or all m examples.
    """

    rows: FloatArray | sp.csr_array
    signs: FloatArray
    counts: FloatArray
    at: npt.NDArray[np.bool_]
    longest: float
    shortest: float
    unknowns: int

    @abstractmethod
    def comparison(self, v: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Return w* near v / R, where v and its multipliers solve the smoothed problem."""

    @abstractmethod
    def scores(self, comparison: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return s_i a_i'w*, computed, and bounds of their errors, shape ``(k,)`` each."""

    @abstractmethod
    def square(self, comparison: FloatArray) -> float:
        """Return norm(w*)^2, rounded up."""

    @abstractmethod
    def combined(self, multipliers: FloatArray) -> float:
        """Return norm(sum_i lambda_i s_i a_i), rounded up."""

    def for_all_examples(self, multipliers: FloatArray) -> FloatArray:
        """Return multipliers for all examples, 0 for those not presented, shape ``(m,)``."""
        flat = np.zeros(len(self.at))
        flat[self.at] = multipliers
        return flat

    def least_hinge_loss(self, multipliers: FloatArray) -> float:
        """Return a lower bound of R^2 norm(w)^2 + 2 L for all w, from 0 <= lambda_i <= 2 c_i."""
        total = below(float(multipliers.sum()), len(multipliers))
        root = above(self.combined(multipliers) / (2.0 * self.shortest), 2)
        return max(0.0, math.nextafter(total - above(root * root, 2), -math.inf))

    def hinge_loss(self, w: FloatArray) -> tuple[float, float]:
        """Return upper bounds of R^2 norm(w)^2 + 2 L and of L."""
        losses = self.hinge_losses(w)
        loss = above(float(self.counts @ losses), len(losses) + 2)
        return above(self.length(w) + 2.0 * loss, 2), loss

    def hinge_losses(self, w: FloatArray) -> FloatArray:
        """Return upper bounds of max(0, 1 - s_i a_i'w) for all presented examples, ``(k,)``."""
        scores, radius = self.scores(w)
        missing = 1.0 - scores
        # 1 - s is rounded once, and each of the two sums once more
        slack = 1.01 * radius + 2.0**-51 * (1.0 + np.abs(missing))
        return np.maximum(0.0, missing + slack)

    def least_consistent(self, multipliers: FloatArray) -> float:
        """Return a lower bound of R^2 norm(w)^2 for all consistent w, from multipliers >= 0."""
        total = below(float(multipliers.sum()), len(multipliers))
        norm = self.combined(multipliers)
        ratio = below(self.shortest * total / norm, 4) if norm > 0.0 else math.inf
        return below(ratio * ratio, 2)

    def consistent(self, w: FloatArray) -> tuple[float, float]:
        """Return the least score, rounded down, and Theorem 1's bound; infinite if it is <= 0."""
        scores, radius = self.scores(w)
        least = math.nextafter(float((scores - radius).min()), -math.inf)
        # in two steps: the square of a tiny score may underflow
        value = above(self.length(w) / least / least, 4) if least > 0.0 else math.inf
        return least, value

    def length(self, w: FloatArray) -> float:
        """Return an upper bound of R^2 norm(w)^2."""
        return above(self.longest * self.longest * self.square(w), 4)


@dataclass(frozen=True)
class StreamRows(StreamExamples):
    """Examples as rows; a comparison is w*, or (w*, -b*) of an affine stream."""

    def comparison(self, v: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Return v / R."""
        return v / self.longest

    def scores(self, comparison: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return products with the bounds of dot products."""
        scores, radius = product_with_radius(self.rows, comparison)
        return self.signs * scores, radius

    def square(self, comparison: FloatArray) -> float:
        """Return w'w."""
        norm = norm_above(comparison)
        return above(norm * norm, 2)

    def combined(self, multipliers: FloatArray) -> float:
        """Return the norm of the combined rows."""
        entries, radius = combined_with_radius(Matrix(self.rows), multipliers * self.signs)
        return norm_above(np.nextafter(np.abs(entries) + radius, math.inf))


@dataclass(frozen=True)
class StreamKernel(StreamExamples):
    """Examples with a kernel; a comparison is f* = sum_j c_j K(x_j, .), given by c for all m.

    Parameters
    ----------
    gram
        The inner products of the signed features s_j phi(x_j), all m.
    """

    gram: Gram

    def comparison(self, v: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Return c = s lambda / (2 R^2), the best comparison for these multipliers."""
        scaled = self.for_all_examples(multipliers) / (2.0 * self.longest * self.longest)
        return np.asarray(self.gram.signs * scaled)

    def scores(self, comparison: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return s_i f*(x_i) and error bounds that include those of the kernel's values."""
        scores, radius, _ = kernel_scores(self.gram, self.gram.signs * comparison)
        return scores[self.at], radius[self.at]

    def square(self, comparison: FloatArray) -> float:
        """Return c'K c."""
        return self._square(self.gram.signs * comparison)

    def combined(self, multipliers: FloatArray) -> float:
        """Return the norm of the combined features."""
        return above(math.sqrt(self._square(self.for_all_examples(multipliers))), 2)

    def _square(self, coefficients: FloatArray) -> float:
        scores, radius, _ = kernel_scores(self.gram, coefficients)
        square, error = kernel_square(coefficients, scores, radius)
        return above(square + error, 2)


def stream_of(
    examples: Examples,
    labels: npt.ArrayLike | None,
    affine: bool,
    presentations: npt.ArrayLike,
    kernel: AnyKernel,
) -> StreamExamples:
    """Return checked examples, without those that are presented 0 times."""
    refuse_flags(affine=affine)
    if kernel is not None:
        return _by_kernel(kernel, examples, labels, affine, presentations)
    if isinstance(examples, KernelMatrix):
        raise InputError(
            "the examples are a kernel matrix, but kernel is None; give kernel='precomputed'"
        )
    rows: Any = checked_rows(examples)
    signs, counts = (
        signs_or_ones(labels, rows.shape[0]),
        _checked_counts(presentations, rows.shape[0]),
    )
    at = counts > 0.0
    if not at.all():
        rows, signs, counts = rows[at], signs[at], counts[at]
    rows = _lifted(rows) if affine else rows
    longest = _checked_length(float(row_norms(rows).max(initial=0.0)))
    width = int(rows.shape[1])
    ends = above(longest, width + 4), below(longest, width + 4)
    return StreamRows(rows, signs, counts, at, *ends, width)


def _by_kernel(
    kernel: Kernel | Literal["precomputed"],
    examples: Examples,
    labels: npt.ArrayLike | None,
    affine: bool,
    presentations: npt.ArrayLike,
) -> StreamKernel:
    if affine:
        raise InputError(
            "affine=True with a kernel; give affine=False and a kernel to which 1 is added"
        )
    if labels is None:
        raise InputError("labels are missing, which a kernel needs; give labels of two classes")
    system = ConicSystem.from_kernel(kernel, examples, labels)
    assert system.origin is not None
    gram = system.origin.operator
    assert isinstance(gram, Gram)
    counts = _checked_counts(presentations, gram.size)
    at = counts > 0.0
    square = _checked_length(float(gram.kernel.diagonal()[at].max(initial=0.0)))
    longest = above(math.sqrt(square * (1.0 + gram.matrix.spread)), 4)
    shortest = below(math.sqrt(square * max(0.0, 1.0 - gram.matrix.spread)), 4)
    rows = np.asarray(Coordinates(gram).data)[at]  # of the signed features
    ones = np.ones(len(rows))
    return StreamKernel(rows, ones, counts[at], at, longest, shortest, gram.size, gram)


def _checked_length(longest: float) -> float:
    if 1e-150 < longest < 1e150:
        return longest
    raise InputError(
        f"the longest example presented has the norm {longest:g}; allowed are 1e-150 to 1e150: "
        "give an example that is not zero, or rescale them"
    )


def _lifted(rows: FloatArray | sp.csr_array) -> FloatArray | sp.csr_array:
    ones = np.ones((rows.shape[0], 1))
    if isinstance(rows, np.ndarray):
        return np.hstack([rows, ones])
    return sp.csr_array(sp.hstack([rows, sp.csr_array(ones)]))


def _checked_counts(presentations: npt.ArrayLike, size: int) -> FloatArray:
    array = np.asarray(presentations)
    if array.dtype.kind not in "iuf" or array.shape not in ((), (size,)):
        raise InputError(
            f"presentations of type {array.dtype} and shape {array.shape}; give one number, or "
            f"one for each of {size} examples"
        )
    counts = np.array(np.broadcast_to(array, (size,)), dtype=float)
    if not (np.isfinite(counts).all() and (counts >= 0.0).all()):
        raise InputError("presentations are negative or not finite; give counts, 0 or more")
    return counts


@dataclass(frozen=True)
class Smoothed:
    """The smoothed problem in v = R w, with rows r_i / R of norm at most 1.

    Parameters
    ----------
    rows, signs
        r_i = s_i a_i, as a_i, shape ``(m, n)``, and s_i, shape ``(m,)``.
    length
        R.
    caps, stiffness
        > 0, shape ``(m,)`` each; caps may be infinite.
    """

    rows: FloatArray | sp.csr_array
    signs: FloatArray
    length: float
    caps: FloatArray
    stiffness: FloatArray

    def solve(self, start: FloatArray) -> FloatArray:
        """Return the minimiser v from a start, to the accuracy of double precision."""
        if len(start) <= WRITTEN_OUT:
            with suppress(ValueError):  # scipy takes the root of a discriminant that rounds below 0
                return self._minimise(start, "trust-exact", hess=self._curvature)
        return self._minimise(start, "trust-krylov", hessp=self._curvature_along)

    def _minimise(
        self, start: FloatArray, method: Literal["trust-exact", "trust-krylov"], **second: Any
    ) -> FloatArray:
        value = self._value(start)[0]
        length = 1.0 + float(np.linalg.norm(start))
        minimum = minimize(
            self._value,
            start,
            jac=True,
            method=method,
            options={
                "initial_trust_radius": length,
                "max_trust_radius": 1e3 * (length + value**0.5),
                "gtol": STATIONARY * (1.0 + value**0.5),
                "maxiter": MOST_ITERATIONS,
            },
            **second,
        )
        return np.asarray(minimum.x)

    def multipliers(self, v: FloatArray) -> FloatArray:
        """Return lambda_i, shape ``(m,)``."""
        return self._slopes(v)[1]

    def _slopes(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        missing = 1.0 - self.signs * (self.rows @ (v / self.length))
        return missing, np.minimum(self.caps, self.stiffness * np.maximum(missing, 0.0))

    def _value(self, v: FloatArray) -> tuple[float, FloatArray]:
        missing, slopes = self._slopes(v)
        value = float(v @ v + slopes @ (missing - slopes / (2.0 * self.stiffness)))
        return value, 2.0 * v - ((slopes * self.signs) @ self.rows) / self.length

    def _rounded_corners(self, v: FloatArray) -> tuple[Any, FloatArray]:
        """Return the rows in the rounded corners, divided by R, and their stiffnesses."""
        missing, slopes = self._slopes(v)
        corner = np.flatnonzero((missing > 0.0) & (slopes < self.caps))
        return self.rows[corner] / self.length, self.stiffness[corner]

    def _curvature(self, v: FloatArray) -> FloatArray:
        rows, stiffness = self._rounded_corners(v)
        if isinstance(rows, np.ndarray):
            return np.asarray(2.0 * np.eye(len(v)) + (rows.T * stiffness) @ rows)
        sparse = rows.T @ sp.diags_array(stiffness) @ rows
        return np.asarray(2.0 * np.eye(len(v)) + sparse.toarray())

    def _curvature_along(self, v: FloatArray, direction: FloatArray) -> FloatArray:
        rows, stiffness = self._rounded_corners(v)
        along: Any = 2.0 * direction + rows.T @ (stiffness * (rows @ direction))
        return np.asarray(along)
