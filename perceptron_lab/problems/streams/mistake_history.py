"""Mistakes along a stream beside Theorem 2's bound of each of its beginnings."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.roundoff import above
from perceptron_lab.problems.streams.mistake_bounds import MistakeBound, hinge_loss_bound
from perceptron_lab.problems.streams.presented import AnyKernel, Examples, presented
from perceptron_lab.problems.streams.stream import Mistakes, Passes

# Beginnings of a stream that are recorded, and those of which the best comparison is sought
RECORDED = 200
SOUGHT = 8
# Relative width of the brackets of these: any comparison gives a valid bound
LOOSE = 1e-2


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
    whole: MistakeBound,
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
    whole
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
    made = replace(passes, most=len(mistakes.per_pass))
    total = int(mistakes.presentations.sum())
    beginnings = _places(total, SOUGHT)
    places = np.union1d(_places(total, RECORDED), beginnings)
    stream = presented(examples, labels, affine, mistakes.presentations, kernel)
    comparisons = [whole.comparison]
    for counts in _counts(made, beginnings[:-1]):
        given: dict[str, Any] = {"affine": affine, "kernel": kernel, "presentations": counts}
        with suppress(InputError):  # of zero examples alone there is no bound yet
            best = hinge_loss_bound(examples, labels, **given, tolerance=LOOSE)
            comparisons.append(best.comparison)
    losses = [stream.everywhere(stream.hinge_losses(w)) for w in comparisons]
    sums = _sums(made, losses, places)
    lengths = np.array([stream.length(w) for w in comparisons])
    bounds = above(1.0, 2) * (lengths[:, None] + 2.0 * sums)
    mistaken = np.searchsorted(mistakes.at, places, side="left")
    return MistakeHistory(places, mistaken, bounds.min(axis=0))


def _places(last: int, most: int) -> IntArray:
    """Return numbers of presentations, some of 1 to the last, which is among them."""
    return np.unique(np.geomspace(1, last, most).round().astype(np.int64))


def _counts(passes: Passes, places: IntArray) -> list[IntArray]:
    """Return how often each example is among the first t presentations, for all t of places."""
    found, counts, done = list[IntArray](), np.zeros(passes.size, np.int64), 0
    for sequence in passes.sequences():
        inside = places[(done < places) & (places <= done + len(sequence))] - done
        found += [counts + np.bincount(sequence[:t], minlength=passes.size) for t in inside]
        counts = counts + np.bincount(sequence, minlength=passes.size)
        done += len(sequence)
    return found


def _sums(passes: Passes, losses: Sequence[FloatArray], places: IntArray) -> FloatArray:
    """Return upper bounds of the losses' sums over the first t presentations, shape ``(j, k)``."""
    sums, before, done = np.empty((len(losses), len(places))), np.zeros(len(losses)), 0
    for sequence in passes.sequences():
        here = (done < places) & (places <= done + len(sequence))
        for which, each in enumerate(losses):
            along = before[which] + np.cumsum(each[sequence])
            sums[which, here] = along[places[here] - done - 1]
            before[which] = along[-1]
        done += len(sequence)
    factors = np.array([above(1.0, t + 2) for t in places.tolist()])
    return np.asarray(sums * factors)
