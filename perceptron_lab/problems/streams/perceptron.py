"""The perceptron as an online classifier, its stream and its mistakes (`PerceptronNotes`, 2, 3.1).

A stream is a set of examples with signs, and the order in which each pass presents them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError, refuse_flags
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.datasets.generated.streams import STEEPEST, is_exact, worst_case_examples
from perceptron_lab.numerics.class_labels import signs_of
from perceptron_lab.numerics.compiled.online_sweeps import online_sparse_sweep, online_sweep
from perceptron_lab.numerics.input_checks import ArrayOrSparse, checked_rows

# "given": in the order of the rows; "shuffled": a new order in every pass; or indices of examples
Order: TypeAlias = Literal["given", "shuffled"] | npt.ArrayLike
# Takes a sequence of examples, and returns the positions in it at which it made mistakes
Sweep = Callable[[IntArray], IntArray]

# Presentations that are swept in one call, or one pass if that is longer
TOGETHER = 100_000


def is_integer(number: object) -> bool:
    """Return whether a value is an integer of Python or numpy, and not a boolean."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def signs_or_ones(labels: npt.ArrayLike | None, count: int) -> FloatArray:
    """Return s_i = +1 for the larger of two labels, -1 for the other; +1 for all without labels."""
    return np.ones(count) if labels is None else signs_of(labels, count)


@dataclass(frozen=True)
class Mistakes:
    """The mistakes of a perceptron on a stream.

    Parameters
    ----------
    per_pass
        Mistakes in each pass made, shape ``(passes,)``.
    at
        The presentations with a mistake, counted from 0 through all passes, ascending,
        shape ``(total,)``.
    of_example
        Mistakes on each example, shape ``(m,)``.
    presentations
        How often each example was presented, shape ``(m,)``.
    """

    per_pass: IntArray
    at: IntArray
    of_example: IntArray
    presentations: IntArray

    @property
    def total(self) -> int:
        """All mistakes, M in `PerceptronNotes`."""
        return len(self.at)

    @property
    def separated(self) -> bool:
        """Whether the last pass was without a mistake: no later one would have any."""
        return bool(self.per_pass[-1] == 0)


@dataclass(frozen=True)
class Passes:
    """Passes over a set of examples, each in the same or a shuffled order.

    Parameters
    ----------
    size
        The number of examples, m >= 1.
    most
        Largest number of passes, 1 or more.
    order
        See :data:`Order`; indices from 0 to m - 1, of which some may be repeated or left out.
    seed
        Seed of the shuffled orders.

    Raises
    ------
    InputError
        If the number of passes is not an integer >= 1, or the order is none of those.
    """

    size: int
    most: int = 1
    order: Order = "given"
    seed: int = 0

    def __post_init__(self) -> None:
        if not is_integer(self.most) or self.most < 1:
            raise InputError(f"passes={self.most!r}; give a whole number, 1 or more")
        if isinstance(self.order, str):
            if self.order not in ("given", "shuffled"):
                raise InputError(
                    f"order={self.order!r}; give 'given', 'shuffled', or indices of the examples"
                )
            return
        indices = np.asarray(self.order)
        if indices.dtype.kind not in "iu" or indices.ndim != 1 or not indices.size:
            raise InputError(
                f"an order of type {indices.dtype} and shape {indices.shape}; give 'given', "
                "'shuffled', or a list of indices of examples"
            )
        if indices.min() < 0 or indices.max() >= self.size:
            raise InputError(
                f"the order holds the indices {indices.min()} to {indices.max()}; allowed are 0 to "
                f"{self.size - 1} for {self.size} examples"
            )

    def mistakes(self, sweep: Sweep) -> Mistakes:
        """Return the mistakes in all passes, up to the first without one."""
        per_pass, at, of_example = list[IntArray](), list[IntArray](), np.zeros(self.size, np.int64)
        passes, sequence_of_pass = 0, self._pass_sequence()
        length = len(sequence_of_pass)
        for sequence in self.sequences():
            mistakes = sweep(sequence)
            counts = np.bincount(mistakes // length, minlength=len(sequence) // length)
            # After a pass without a mistake w no longer changes: later passes would have none
            # either.
            clean = np.flatnonzero(counts == 0)
            if len(clean):
                counts = counts[: clean[0] + 1]
            per_pass.append(counts)
            at.append(passes * length + mistakes)
            of_example += np.bincount(sequence[mistakes], minlength=self.size)
            passes += len(counts)
            if len(clean):
                break
        presentations = passes * np.bincount(sequence_of_pass, minlength=self.size)
        return Mistakes(np.concatenate(per_pass), np.concatenate(at), of_example, presentations)

    def _pass_sequence(self) -> IntArray:
        """Return the examples of one pass."""
        if isinstance(self.order, str):
            return np.arange(self.size)
        return np.ascontiguousarray(self.order, dtype=np.int64)

    def sequences(self) -> Iterator[IntArray]:
        """Yield the examples of all passes, several complete passes at a time."""
        sequence = self._pass_sequence()
        rng = np.random.default_rng(self.seed)
        together = max(1, TOGETHER // len(sequence))
        for first in range(0, self.most, together):
            passes = min(together, self.most - first)
            if isinstance(self.order, str) and self.order == "shuffled":
                yield rng.permuted(np.tile(sequence, (passes, 1)), axis=1).ravel()
            else:
                yield np.tile(sequence, passes) if passes > 1 else sequence


@dataclass(frozen=True)
class OnlinePerceptron:
    """A perceptron after its stream: the classifier x -> sign(w'x - b), and its mistakes.

    Parameters
    ----------
    weight
        w, shape ``(features,)``.
    threshold
        b; 0 for a stream that is not affine.
    mistakes
        The mistakes along the stream.
    """

    weight: FloatArray
    threshold: float
    mistakes: Mistakes

    def decision_function(self, examples: ArrayOrSparse) -> FloatArray:
        """Return w'x - b of every row x, shape ``(m,)``; positive for the larger label."""
        return np.asarray(checked_rows(examples) @ self.weight - self.threshold)


def online_perceptron(
    examples: ArrayOrSparse,
    labels: npt.ArrayLike | None = None,
    *,
    affine: bool = False,
    passes: int = 1,
    order: Order = "given",
    seed: int = 0,
) -> OnlinePerceptron:
    """Present a stream of examples to the perceptron, and return it with its mistakes.

    From w = 0: the prediction on a is the sign of a'w; where that is wrong, or 0, it is a mistake,
    and w <- w + s a, with s = +1 for a positive example and -1 for a negative one.

    Guarantee: with R = max norm(a_i), at most R^2 norm(w*)^2 mistakes for any w* that has
    s_i a_i'w* >= 1 for all examples (Theorem 1), and at most R^2 norm(w*)^2 + 2 L for any w* at
    all, L being the sum of its hinge losses max(0, 1 - s_i a_i'w*) over all presentations (Theorem
    2): :mod:`perceptron_lab.problems.streams.mistake_bounds`. Both are about exact arithmetic;
    whole numbers and other data whose sums and products are doubles are computed without an error.

    Parameters
    ----------
    examples
        a_i as rows, shape ``(m, features)``, dense or scipy.sparse; double or single precision in
        C order is used as it is, and may be memory-mapped.
    labels
        Two different values, shape ``(m,)``; the larger one is the positive class. None (default)
        for constraints a_i'w > 0: all positive.
    affine
        Whether to append the constant feature 1 (section 3.2); it counts in R as well. w* is then
        (w*, -b*).
    passes
        Largest number of passes. A pass presents each example of the order once; a pass without a
        mistake is the last.
    order
        ``"given"``, ``"shuffled"`` (a new order in every pass), or the indices of the examples that
        a pass presents, in which an example may be repeated.
    seed
        Of the shuffled orders.

    Raises
    ------
    InputError
        If examples, labels, passes or order are not as described.

    References
    ----------
    `PerceptronNotes`, section 2.2, Theorems 1 and 2.

    Examples
    --------
    >>> found = online_perceptron([[1, 1], [1, 0], [0, 1]], [1, 1, 0], passes=10)
    >>> found.weight, found.mistakes.per_pass
    (array([ 2., -1.]), array([2, 1, 2, 0]))
    >>> found.mistakes.total, found.mistakes.at
    (5, array([0, 2, 5, 6, 8]))
    """
    refuse_flags(affine=affine)
    rows = checked_rows(examples)
    signs = signs_or_ones(labels, rows.shape[0])
    weight = np.zeros(rows.shape[1] + 1)
    sweep = _sweep_of(rows, signs, 1.0 if affine else 0.0, weight)
    mistakes = Passes(rows.shape[0], passes, order, seed).mistakes(sweep)
    # 0.0 - b: the threshold of a weight 0 is 0, not -0
    return OnlinePerceptron(weight[:-1].copy(), 0.0 - float(weight[-1]), mistakes)


def _sweep_of(
    rows: FloatArray | sp.csr_array, signs: FloatArray, constant: float, weight: FloatArray
) -> Sweep:
    """Return the compiled sweep, which changes the weight in place."""
    # The kernel reads aligned rows in C order; others are copied once.
    if isinstance(rows, np.ndarray):
        sweep_call = partial(online_sweep, np.require(rows, requirements=["C", "A"]), signs)
    else:
        columns, starts = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        sweep_call = partial(online_sparse_sweep, rows.data, columns, starts, signs)

    def sweep(order: IntArray) -> IntArray:
        mistaken = np.empty(len(order), np.int64)
        return mistaken[: sweep_call(order, constant, weight, mistaken)]

    return sweep


@dataclass(frozen=True)
class WorstCase:
    """Four examples of length at most sqrt 2, and the number of mistakes on them.

    Parameters
    ----------
    examples, signs
        In the order of the notes, shapes ``(4, 2)`` and ``(4,)``.
    mistakes, passes
        Of the perceptron from 0, in this order, up to and with the first pass without a mistake.
    novikoff
        R^2 norm(w*)^2, its bound by Theorem 1 with the shortest w* that is consistent.
    """

    examples: FloatArray
    signs: FloatArray
    mistakes: int
    passes: int
    novikoff: int


def worst_case(steepness: int) -> WorstCase:
    """Return the stream for K = ``steepness``, with its exact number of mistakes.

    The positive examples (1, 1) and (1, 0), the negative one (0, 1), the positive one (1/K, 1): in
    this order, from w = 0, the perceptron makes 2 K^2 - 2 K + 5 mistakes in K^2 - K + 3 passes, and
    one pass without, while the input takes O(log K) bits.

    Proof: the first pass ends at w = (1, 0), after mistakes on (1, 1) and (0, 1). The second one
    makes w = (1, -1) and then (1 + 1/K, 0). Every pass from (p/K, 0), p = K, K + 1, .., K^2, makes
    the same two mistakes and ends at ((p + 1)/K, 0): (p/K, -1) is wrong on (1/K, 1) as long as
    p <= K^2. The pass from (K + 1/K, 0) makes one, and w = (K + 1/K, -1) is consistent. That is 2
    mistakes, 2 for each of K^2 - K + 1 passes, and 1.

    In whatever order, at least K mistakes: w = (p/K, r) with whole p and r is consistent only if
    r <= -1 and p > -r K^2 >= K^2, and no mistake adds more than K to p.

    Theorem 1 allows 8 K^2 + 2: R^2 = 2, and w* = (2 K, -1) is the shortest with s_i a_i'w* >= 1.

    Parameters
    ----------
    steepness
        K, a power of two from 1 to 2^26, so that all numbers are doubles and nothing is rounded.

    Raises
    ------
    InputError
        If K is not one of these.

    Examples
    --------
    >>> case = worst_case(64)
    >>> case.mistakes, case.novikoff
    (8069, 32770)
    >>> from perceptron_lab.problems.streams.perceptron import online_perceptron
    >>> online_perceptron(case.examples, case.signs, passes=case.passes).mistakes.total
    8069
    """
    if not is_integer(steepness) or not is_exact(int(steepness)):
        raise InputError(
            f"steepness={steepness!r}; give a power of two from 1 to {STEEPEST}, for which nothing "
            "is rounded"
        )
    k = int(steepness)
    examples, signs = worst_case_examples(k)
    mistakes, passes = 2 * k * k - 2 * k + 5, k * k - k + 4
    return WorstCase(examples, signs, mistakes, passes, 8 * k * k + 2)
