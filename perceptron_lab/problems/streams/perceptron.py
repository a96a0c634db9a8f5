"""The perceptron as an online classifier, and its mistakes (`PerceptronNotes`, section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.compiled.online_sweeps import online_sparse_sweep, online_sweep
from perceptron_lab.numerics.input_checks import ArrayOrSparse, checked_rows
from perceptron_lab.problems.streams.stream import Mistakes, Order, Passes, Sweep, signs_or_ones


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
        Where it was wrong on the way.
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
        Passes at most; a pass presents each example of the order once. After a pass without a
        mistake there are no more: so few passes are made.
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
    """Return the sweep that changes the weight in place."""
    if isinstance(rows, np.ndarray):
        made = partial(online_sweep, np.require(rows, requirements=["C", "A"]), signs)
    else:
        columns, starts = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        made = partial(online_sparse_sweep, rows.data, columns, starts, signs)

    def sweep(order: IntArray) -> IntArray:
        mistaken = np.empty(len(order), np.int64)
        return mistaken[: made(order, constant, weight, mistaken)]

    return sweep
