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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.roundoff import above
from perceptron_lab.problems.streams.perceptron import Mistakes, Passes
from perceptron_lab.problems.streams.stream_examples import (
    AnyKernel,
    Examples,
    Smoothed,
    StreamExamples,
    stream_of,
)

# Widths of the rounded corners of hinges, from round to sharp
CORNERS = 10.0 ** -np.arange(0, 13)
# Stiffnesses of hard margins, from soft to hard
STIFFNESSES = 10.0 ** np.arange(0, 17)
# R^2 / gamma^2 above this is treated as infinite
LARGEST = 1e24
# Brackets below this width that no longer narrow are limited by rounding
NEAR = 1e-3
# Number of recorded beginnings of a stream, and of those whose best comparison is computed
RECORDED = 200
SOUGHT = 8
# Relative width of their brackets: any comparison gives a valid bound
LOOSE = 1e-2


@dataclass(frozen=True)
class MistakeBound:
    """A proved bound R^2 norm(w*)^2 + 2 L of the mistakes, with a lower bound of the least one.

    Parameters
    ----------
    value
        The bound for w* = ``comparison``, rounded up.
    least
        A lower bound of the same for every w* (of Theorem 1: every consistent w*), rounded down.
    comparison
        w*, shape ``(features,)``; (w*, -b*), shape ``(features + 1,)``, of an affine stream; with a
        kernel the coefficients c of sum_j c_j K(x_j, .), shape ``(m,)``.
    hinge_loss
        L, the sum of the hinge losses of w* over all presentations, rounded up; 0 in Theorem 1.
    length
        R, rounded up.
    multipliers
        The lambda_i that prove ``least``, shape ``(m,)``.

    Examples
    --------
    >>> bound = novikoff_bound([[2.0], [-1.0]], [1, -1])  # w* = 1, R = 2
    >>> round(bound.value, 6), bound.width < 1e-6
    (4.0, True)
    """

    value: float
    least: float
    comparison: FloatArray
    hinge_loss: float
    length: float
    multipliers: FloatArray

    @property
    def width(self) -> float:
        """(value - least) / value: no other w* lowers the bound by more than this part."""
        return (self.value - self.least) / self.value


def hinge_loss_bound(
    examples: Examples,
    labels: npt.ArrayLike | None = None,
    *,
    affine: bool = False,
    kernel: AnyKernel = None,
    presentations: npt.ArrayLike = 1,
    tolerance: float = 1e-6,
) -> MistakeBound:
    """Return Theorem 2's bound of the mistakes for a nearly optimal w*.

    The perceptron on its mistakes alone makes the same ones: with ``presentations`` the mistakes on
    each example, this is a bound as well, known only afterwards, and never a larger one at its
    least.

    Parameters
    ----------
    examples, labels, affine
        The stream of :func:`~perceptron_lab.problems.streams.perceptron.online_perceptron`.
    kernel
        None (default), or the kernel of
        :func:`~perceptron_lab.problems.streams.kernel_perceptron.online_kernel_perceptron`: then
        all its values are kept, their errors are part of the proof, and labels must be given.
    presentations
        How often each example is presented, >= 0, shape ``(m,)``, or one number for all:
        ``mistakes.presentations`` of a perceptron, or the number of passes.
    tolerance
        Wanted ``width`` of the bracket, >= 0. If it is not reached, the best bracket is returned;
        with a kernel, rounding limits the width to about 1e-6.

    Raises
    ------
    InputError
        If an argument is not as described, or all examples presented are zero.

    References
    ----------
    `PerceptronNotes`, Theorem 2.

    Examples
    --------
    >>> from perceptron_lab.problems.streams.perceptron import online_perceptron
    >>> examples, labels = [[2.0], [1.0], [-1.0], [0.5]], [1, 1, -1, -1]  # the last one is wrong
    >>> found = online_perceptron(examples, labels, passes=10).mistakes
    >>> bound = hinge_loss_bound(examples, labels, presentations=found.presentations)
    >>> found.total, round(bound.value, 4), bound.width < 1e-6
    (13, 34.0, True)
    """
    return _least_bound(stream_of(examples, labels, affine, presentations, kernel), tolerance)


def hinge_loss_bound_of(
    comparison: npt.ArrayLike,
    examples: Examples,
    labels: npt.ArrayLike | None = None,
    *,
    affine: bool = False,
    kernel: AnyKernel = None,
    presentations: npt.ArrayLike = 1,
) -> float:
    """Return Theorem 2's bound of the mistakes for a given w*, rounded up.

    Parameters
    ----------
    comparison
        w*, (w*, -b*) of an affine stream, or with a kernel the coefficients c, one for each
        example; finite.
    examples, labels, affine, kernel, presentations
        See :func:`hinge_loss_bound`.

    Examples
    --------
    >>> examples, labels = [[2.0], [1.0], [-1.0], [0.5]], [1, 1, -1, -1]
    >>> round(hinge_loss_bound_of([1.0], examples, labels), 4)  # 2^2 1 + 2 (0 + 0 + 0 + 1.5)
    7.0
    """
    stream = stream_of(examples, labels, affine, presentations, kernel)
    vector = np.asarray(comparison, dtype=float)
    if vector.shape != (stream.unknowns,) or not np.isfinite(vector).all():
        raise InputError(
            f"a comparison of shape {vector.shape}, or one that is not finite; give "
            f"{stream.unknowns} finite numbers"
        )
    return stream.hinge_loss(vector)[0]


def novikoff_bound(
    examples: Examples,
    labels: npt.ArrayLike | None = None,
    *,
    affine: bool = False,
    kernel: AnyKernel = None,
    tolerance: float = 1e-6,
) -> MistakeBound | None:
    """Return Theorem 1's bound of the mistakes for a nearly shortest consistent w*.

    It is R^2 / gamma^2 for the directional margin gamma of the examples. None if no consistent w*
    was found: either none exists, or the margin is below the resolution of double precision.

    Parameters
    ----------
    examples, labels, affine, kernel, tolerance
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
    return _narrowed(_hard_margins(stream_of(examples, labels, affine, 1, kernel)), tolerance)


def _solutions(
    stream: StreamExamples, caps: FloatArray, stiffnesses: Iterable[FloatArray]
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield multipliers and comparisons of smoothed problems, each warm-started from the last."""
    v = np.zeros(stream.rows.shape[1])
    for stiffness in stiffnesses:
        problem = Smoothed(stream.rows, stream.signs, stream.longest, caps, stiffness)
        v = problem.solve(v)
        multipliers = problem.multipliers(v)
        yield multipliers, stream.comparison(v, multipliers)


def _soft_margins(stream: StreamExamples) -> Iterator[MistakeBound]:
    """Yield bounds of Theorem 2, from round corners to sharp ones."""
    caps = 2.0 * stream.counts
    for multipliers, comparison in _solutions(stream, caps, (caps / corner for corner in CORNERS)):
        value, loss = stream.hinge_loss(comparison)
        least = stream.least_hinge_loss(multipliers)
        flat = stream.for_all_examples(multipliers)
        yield MistakeBound(value, least, comparison, loss, stream.longest, flat)


def _hard_margins(stream: StreamExamples) -> Iterator[MistakeBound]:
    """Yield bounds of Theorem 1, where there are any, from soft margins to hard ones."""
    caps = np.full(len(stream.signs), math.inf)
    stiffnesses = (np.full(len(caps), stiffness) for stiffness in STIFFNESSES)
    for multipliers, comparison in _solutions(stream, caps, stiffnesses):
        least = stream.least_consistent(multipliers)
        if least > LARGEST:
            return
        score, value = stream.consistent(comparison)
        if math.isfinite(value):
            flat = stream.for_all_examples(multipliers)
            yield MistakeBound(value, least, comparison / score, 0.0, stream.longest, flat)


def _least_bound(stream: StreamExamples, tolerance: float) -> MistakeBound:
    best = _narrowed(_soft_margins(stream), tolerance)
    assert best is not None
    return best


def _narrowed(bounds: Iterator[MistakeBound], tolerance: float) -> MistakeBound | None:
    """Return the best of successive bounds, until the tolerance or rounding ends them."""
    best: MistakeBound | None = None
    idle = 0
    for bound in bounds:
        before = math.inf if best is None else best.width
        best = bound if best is None else _intersection(best, bound)
        idle = idle + 1 if 0.9 * before <= best.width < NEAR else 0
        if best.width <= tolerance or idle == 2:
            break
    return best


def _intersection(first: MistakeBound, other: MistakeBound) -> MistakeBound:
    """Return the intersection of two brackets: the lower value and the higher lower end."""
    lower = first if first.value <= other.value else other
    higher = first if first.least >= other.least else other
    return replace(lower, least=higher.least, multipliers=higher.multipliers)


@dataclass(frozen=True)
class MistakeHistory:
    """The mistakes in the first t presentations of a stream, and Theorem 2's bound of them.

    Parameters
    ----------
    presented
        t, ascending, spaced evenly on a logarithmic scale, the last one the whole stream; shape
        ``(k,)``, as all others.
    mistaken
        The mistakes in them.
    bound
        min_w* R^2 norm(w*)^2 + 2 L_t(w*) over a few w*, each of them best for a beginning of the
        stream, rounded up; L_t sums the hinge losses of the first t presentations, and R is that of
        the whole stream.
    """

    presented: IntArray
    mistaken: IntArray
    bound: FloatArray


def mistake_history(
    mistakes: Mistakes,
    passes: Passes,
    total_bound: MistakeBound,
    examples: Examples,
    labels: npt.ArrayLike | None = None,
    *,
    affine: bool = False,
    kernel: AnyKernel = None,
) -> MistakeHistory:
    """Return the mistakes that a perceptron made along a stream, and their bounds.

    Parameters
    ----------
    mistakes, passes
        Of the perceptron, and the passes that it was presented.
    total_bound
        The bound of the whole stream, :func:`.hinge_loss_bound`.
    examples, labels, affine, kernel
        The stream.

    Examples
    --------
    >>> from perceptron_lab.problems.streams.perceptron import online_perceptron
    >>> examples, labels = [[2.0], [1.0], [-1.0], [0.5]], [1, 1, -1, -1]
    >>> found = online_perceptron(examples, labels, passes=10).mistakes
    >>> whole = hinge_loss_bound(examples, labels, presentations=found.presentations)
    >>> along = mistake_history(found, Passes(4, 10), whole, examples, labels)
    >>> along.presented[:5], along.mistaken[:5], along.bound[:5].round(2)
    (array([1, 2, 3, 4, 5]), array([1, 1, 1, 2, 2]), array([1. , 2. , 3. , 5.5, 5.5]))
    """
    passes_made = replace(passes, most=len(mistakes.per_pass))
    total = int(mistakes.presentations.sum())
    beginnings = _recorded_positions(total, SOUGHT)
    positions = np.union1d(_recorded_positions(total, RECORDED), beginnings)
    stream = stream_of(examples, labels, affine, mistakes.presentations, kernel)
    comparisons = [total_bound.comparison]
    for counts in _counts(passes_made, beginnings[:-1]):
        # Only a few beginnings are optimised: each w* bounds all others as well.
        with suppress(InputError):  # of zero examples alone there is no bound yet
            part = stream_of(examples, labels, affine, counts, kernel)
            comparisons.append(_least_bound(part, LOOSE).comparison)
    losses = [stream.for_all_examples(stream.hinge_losses(w)) for w in comparisons]
    sums = _sums(passes_made, losses, positions)
    lengths = np.array([stream.length(w) for w in comparisons])
    bounds = above(1.0, 2) * (lengths[:, None] + 2.0 * sums)
    mistaken = np.searchsorted(mistakes.at, positions, side="left")
    return MistakeHistory(positions, mistaken, bounds.min(axis=0))


def _recorded_positions(last: int, most: int) -> IntArray:
    """Return numbers of presentations from 1 to the last, spaced on a logarithmic scale."""
    return np.unique(np.geomspace(1, last, most).round().astype(np.int64))


def _counts(passes: Passes, positions: IntArray) -> list[IntArray]:
    """Return the counts of each example among the first t presentations, for all positions t."""
    counts_at, counts, presented = list[IntArray](), np.zeros(passes.size, np.int64), 0
    for sequence in passes.sequences():
        inside = (
            positions[(presented < positions) & (positions <= presented + len(sequence))]
            - presented
        )
        counts_at += [counts + np.bincount(sequence[:t], minlength=passes.size) for t in inside]
        counts = counts + np.bincount(sequence, minlength=passes.size)
        presented += len(sequence)
    return counts_at


def _sums(passes: Passes, losses: Sequence[FloatArray], positions: IntArray) -> FloatArray:
    """Return upper bounds of the losses' sums over the first t presentations, shape ``(j, k)``."""
    sums, before, presented = np.empty((len(losses), len(positions))), np.zeros(len(losses)), 0
    for sequence in passes.sequences():
        inside = (presented < positions) & (positions <= presented + len(sequence))
        for which, each in enumerate(losses):
            along = before[which] + np.cumsum(each[sequence])
            sums[which, inside] = along[positions[inside] - presented - 1]
            before[which] = along[-1]
        presented += len(sequence)
    # The sums run in the order of the stream; a factor per length covers their rounding.
    factors = np.array([above(1.0, t + 2) for t in positions.tolist()])
    return np.asarray(sums * factors)
