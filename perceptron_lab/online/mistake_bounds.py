"""Bounds of the perceptron's mistakes on a stream: Theorems 1 and 2 of `PerceptronNotes`.

With s_i a_i the signed examples, R = max norm(a_i), and c_i how often example i is presented:

- Theorem 1 (Novikoff): at most R^2 norm(w*)^2 mistakes for each w* with s_i a_i'w* >= 1;
- Theorem 2: at most F(w*) = R^2 norm(w*)^2 + 2 sum_i c_i max(0, 1 - s_i a_i'w*) for each w*.

So any w* gives a valid bound, and the least one is that of a soft margin. How near a w* comes to it
is shown by multipliers, 0 <= lambda_i <= 2 c_i: since 2 c_i max(0, z) >= lambda_i z,

    F(w) >= R^2 norm(w)^2 + sum_i lambda_i (1 - s_i a_i'w)
         >= sum_i lambda_i - norm(sum_i lambda_i s_i a_i)^2 / (4 R^2)    for all w.

With lambda >= 0 alone, sum_i lambda_i <= norm(sum_i lambda_i s_i a_i) norm(w*) for the w* of
Theorem 1. Both ends of a bracket are computed with bounds of all rounding errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.certificates.margin import combined_with_radius
from perceptron_lab.certificates.rounding import (
    above,
    below,
    norm_above,
    product_with_radius,
)
from perceptron_lab.errors import InputError
from perceptron_lab.inputs import ArrayOrSparse, checked_rows
from perceptron_lab.online.soft_margin import Smoothed
from perceptron_lab.online.stream import signs_or_ones
from perceptron_lab.operators.blockwise import row_norms
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray

# Corners of hinges, as a part of 1, from round to sharp
CORNERS = 10.0 ** -np.arange(0, 13)
# Stiffnesses of hard margins, from soft to hard
STIFFNESSES = 10.0 ** np.arange(0, 17)
# R^2 / gamma^2 beyond this is not told from infinity
LARGEST = 1e24


@dataclass(frozen=True)
class MistakeBound:
    """A bound R^2 norm(w*)^2 + 2 L of the mistakes, proved, and how near to the least one it is.

    Parameters
    ----------
    value
        The bound for w* = ``comparison``, rounded up.
    least
        A lower bound of the same for every w* (of Theorem 1: every consistent w*), rounded down.
    comparison
        w*, shape ``(features,)``; (w*, -b*), shape ``(features + 1,)``, of an affine stream.
    hinge_loss
        L, the sum of the hinge losses of w* over all presentations, rounded up; 0 in Theorem 1.
    length
        R, rounded up.
    multipliers
        The lambda_i that prove ``least``, shape ``(m,)``.
    """

    value: float
    least: float
    comparison: FloatArray
    hinge_loss: float
    length: float
    multipliers: FloatArray

    @property
    def width(self) -> float:
        """(value - least) / value: a part of the bound that no other w* can take off."""
        return (self.value - self.least) / self.value


def hinge_loss_bound(
    examples: ArrayOrSparse,
    labels: npt.ArrayLike | None = None,
    *,
    affine: bool = False,
    presentations: npt.ArrayLike = 1,
    tolerance: float = 1e-6,
) -> MistakeBound:
    """Return Theorem 2's bound of the mistakes, for a w* with which it is nearly least.

    The perceptron on its mistakes alone makes the same ones: with ``presentations`` the mistakes on
    each example, this is a bound as well, known only afterwards, and never a larger one at its
    least.

    Parameters
    ----------
    examples, labels, affine
        The stream of :func:`~perceptron_lab.online.perceptron.online_perceptron`.
    presentations
        How often each example is presented, >= 0, shape ``(m,)``, or one number for all:
        ``mistakes.presentations`` of a perceptron, or the number of passes.
    tolerance
        Of the bracket's ``width``, > 0. Where it is not reached, the best bracket is returned.

    Raises
    ------
    InputError
        If an argument is not as described, or all examples presented are zero.

    References
    ----------
    `PerceptronNotes`, Theorem 2.

    Examples
    --------
    >>> from perceptron_lab.online.perceptron import online_perceptron
    >>> examples, labels = [[2.0], [1.0], [-1.0], [0.5]], [1, 1, -1, -1]  # the last one is wrong
    >>> found = online_perceptron(examples, labels, passes=10).mistakes
    >>> bound = hinge_loss_bound(examples, labels, presentations=found.presentations)
    >>> found.total, round(bound.value, 4), bound.width < 1e-6
    (13, 34.0, True)
    """
    stream = _Presented.of(examples, labels, affine, presentations)
    best: MistakeBound | None = None
    v = np.zeros(stream.rows.shape[1])
    caps = 2.0 * stream.counts
    for corner in CORNERS:
        problem = Smoothed(stream.rows, stream.signs, stream.length, caps, caps / corner)
        v = problem.solved(v)
        value, loss = stream.hinge_loss(v / stream.length)
        multipliers = problem.multipliers(v)
        least = stream.below_hinge_loss(multipliers)
        best = _better(best, stream.bound(v, value, least, loss, multipliers))
        if best.width <= tolerance:
            break
    assert best is not None
    return best


def hinge_loss_bound_of(
    comparison: npt.ArrayLike,
    examples: ArrayOrSparse,
    labels: npt.ArrayLike | None = None,
    *,
    affine: bool = False,
    presentations: npt.ArrayLike = 1,
) -> float:
    """Return Theorem 2's bound of the mistakes for a w* of one's own, rounded up.

    Parameters
    ----------
    comparison
        w*, or (w*, -b*) of an affine stream; finite.
    examples, labels, affine, presentations
        See :func:`hinge_loss_bound`.

    Examples
    --------
    >>> examples, labels = [[2.0], [1.0], [-1.0], [0.5]], [1, 1, -1, -1]
    >>> round(hinge_loss_bound_of([1.0], examples, labels), 4)  # 2^2 1 + 2 (0 + 0 + 0 + 1.5)
    7.0
    """
    stream = _Presented.of(examples, labels, affine, presentations)
    given = np.asarray(comparison, dtype=float)
    if given.shape != (stream.rows.shape[1],) or not np.isfinite(given).all():
        raise InputError(
            f"a comparison of shape {given.shape}, or one that is not finite; give "
            f"{stream.rows.shape[1]} finite numbers"
        )
    return stream.hinge_loss(given)[0]


def novikoff_bound(
    examples: ArrayOrSparse,
    labels: npt.ArrayLike | None = None,
    *,
    affine: bool = False,
    tolerance: float = 1e-6,
) -> MistakeBound | None:
    """Return Theorem 1's bound of the mistakes, for a consistent w* that is nearly shortest.

    With the directional margin gamma of the examples it is R^2 / gamma^2. None where no consistent
    w* was found: either there is none, or the margin is below what double precision shows.

    Parameters
    ----------
    examples, labels, affine, tolerance
        See :func:`hinge_loss_bound`.

    References
    ----------
    `PerceptronNotes`, Theorem 1.

    Examples
    --------
    >>> bound = novikoff_bound([[1, 1], [1, 0], [0, 1], [0.125, 1]], [1, 1, 0, 1])
    >>> round(bound.value, 3), bound.width < 1e-6, bound.comparison.round(4)
    (514.0, True, array([16., -1.]))
    """
    stream = _Presented.of(examples, labels, affine, 1)
    best: MistakeBound | None = None
    v = np.zeros(stream.rows.shape[1])
    caps = np.full(len(stream.signs), math.inf)
    for stiffness in STIFFNESSES:
        problem = Smoothed(
            stream.rows, stream.signs, stream.length, caps, np.full(len(caps), stiffness)
        )
        v = problem.solved(v)
        multipliers = problem.multipliers(v)
        least = stream.below_consistent(multipliers)
        if least > LARGEST:
            break
        scale, value = stream.consistent(v / stream.length)
        if not math.isfinite(value):
            continue
        best = _better(best, stream.bound(v / scale, value, least, 0.0, multipliers))
        if best.width <= tolerance:
            break
    return best


def _better(one: MistakeBound | None, other: MistakeBound) -> MistakeBound:
    """Return the lower bound of two, with the higher of their lower ends."""
    if one is None:
        return other
    above_all = one if one.value <= other.value else other
    below_all = one if one.least >= other.least else other
    return MistakeBound(
        above_all.value,
        below_all.least,
        above_all.comparison,
        above_all.hinge_loss,
        above_all.length,
        below_all.multipliers,
    )


@dataclass(frozen=True)
class _Presented:
    """The examples that are presented at all, lifted if they are affine, and how often each is."""

    rows: FloatArray | sp.csr_array
    signs: FloatArray
    counts: FloatArray
    at: npt.NDArray[np.bool_]  # which of the examples given they are
    longest: float  # R, rounded up
    shortest: float  # R, rounded down

    @classmethod
    def of(
        cls,
        examples: ArrayOrSparse,
        labels: npt.ArrayLike | None,
        affine: bool,
        presentations: npt.ArrayLike,
    ) -> _Presented:
        rows: Any = checked_rows(examples)
        size, features = rows.shape
        signs, counts = signs_or_ones(labels, size), _counts(presentations, size)
        presented = counts > 0.0
        if not presented.all():
            rows, signs, counts = rows[presented], signs[presented], counts[presented]
        if affine:
            rows = _lifted(rows)
        norms = row_norms(rows)
        longest = float(norms.max(initial=0.0))
        if not 1e-150 < longest < 1e150:
            raise InputError(
                f"the longest example presented has the norm {longest:g}; allowed are 1e-150 to "
                "1e150: give an example that is not zero, or rescale them"
            )
        terms = features + 4
        return cls(rows, signs, counts, presented, above(longest, terms), below(longest, terms))

    @property
    def length(self) -> float:
        return self.longest

    def bound(
        self, v: FloatArray, value: float, least: float, loss: float, multipliers: FloatArray
    ) -> MistakeBound:
        """Return the bound of w* = v / R, with a multiplier of 0 for what is not presented."""
        flat = np.zeros(len(self.at))
        flat[self.at] = multipliers
        return MistakeBound(value, least, v / self.length, loss, self.longest, flat)

    def hinge_loss(self, w: FloatArray) -> tuple[float, float]:
        """Return upper bounds of R^2 norm(w)^2 + 2 L and of L."""
        scores, radius = product_with_radius(self.rows, w)
        missing = 1.0 - self.signs * scores
        # 1 - s is rounded once, and each of the two sums once more
        slack = 1.01 * radius + 2.0**-51 * (1.0 + np.abs(missing))
        losses = np.maximum(0.0, missing + slack)
        loss = above(float(self.counts @ losses), len(losses) + 2)
        return above(self._square(w) + 2.0 * loss, 2), loss

    def below_hinge_loss(self, multipliers: FloatArray) -> float:
        """Return a lower bound of R^2 norm(w)^2 + 2 L for all w."""
        total, norm = self._sums(multipliers)
        root = above(norm / (2.0 * self.shortest), 2)
        return max(0.0, math.nextafter(total - above(root * root, 2), -math.inf))

    def consistent(self, w: FloatArray) -> tuple[float, float]:
        """Return the least score, rounded down, and the bound of w over it; infinite for <= 0."""
        scores, radius = product_with_radius(self.rows, w)
        least = math.nextafter(float((self.signs * scores - radius).min()), -math.inf)
        # in two steps: the square of a tiny score may underflow
        value = above(self._square(w) / least / least, 4) if least > 0.0 else math.inf
        return least, value

    def below_consistent(self, multipliers: FloatArray) -> float:
        """Return a lower bound of R^2 norm(w)^2 for all consistent w."""
        total, norm = self._sums(multipliers)
        ratio = below(self.shortest * total / norm, 4) if norm > 0.0 else math.inf
        return below(ratio * ratio, 2)

    def _square(self, w: FloatArray) -> float:
        """Return an upper bound of R^2 norm(w)^2."""
        root = above(self.longest * norm_above(w), 2)
        return above(root * root, 2)

    def _sums(self, multipliers: FloatArray) -> tuple[float, float]:
        """Return sum lambda_i, rounded down, and norm(sum lambda_i s_i a_i), rounded up."""
        combined, radius = combined_with_radius(Matrix(self.rows), multipliers * self.signs)
        total = below(float(multipliers.sum()), len(multipliers))
        return total, norm_above(np.nextafter(np.abs(combined) + radius, math.inf))


def _lifted(rows: FloatArray | sp.csr_array) -> FloatArray | sp.csr_array:
    ones = np.ones((rows.shape[0], 1))
    if isinstance(rows, np.ndarray):
        return np.hstack([rows, ones])
    return sp.csr_array(sp.hstack([rows, sp.csr_array(ones)]))


def _counts(presentations: npt.ArrayLike, size: int) -> FloatArray:
    given = np.asarray(presentations)
    if given.dtype.kind not in "iuf" or given.shape not in ((), (size,)):
        raise InputError(
            f"presentations of type {given.dtype} and shape {given.shape}; give one number, or "
            f"one for each of {size} examples"
        )
    counts = np.array(np.broadcast_to(given, (size,)), dtype=float)
    if not (np.isfinite(counts).all() and (counts >= 0.0).all()):
        raise InputError("presentations that are negative or not finite; give counts, 0 or more")
    return counts
