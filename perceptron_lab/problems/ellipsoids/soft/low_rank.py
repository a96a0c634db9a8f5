"""The soft-margin ellipsoid of low rank: its objective, derivatives and duality gap.

With A = L L' the score of an example is f(x) = -q(x), q(x) = |L'x|^2 + 2 g'x + c, and

    P(L, g, c) = 1/2 sum_i w_i h_i^2 + regularisation / 2 (|L L'|_F^2 + 2 |g|^2),
    h_i = max(0, 1 + y_i q(x_i)),  sum_i w_i = 1.

It is convex in (A, g, c), not in L. With a_i = w_i h_i y_i the gradients are

    dP/dL = 2 G L,  G = sum_i a_i x_i x_i' + regularisation A,
    dP/dg = 2 sum_i a_i x_i + 2 regularisation g,    dP/dc = sum_i a_i.

In A >= 0 of any rank the problem is convex. Its dual, with M = sum_i alpha_i y_i x_i x_i' and
v = sum_i alpha_i y_i x_i, is

    maximise  sum_i alpha_i - 1/2 sum_i alpha_i^2 / w_i
              - (|(-M)_+|_F^2 / 2 + |v|^2) / regularisation
    subject to  alpha >= 0,  sum_i alpha_i y_i = 0.

Any feasible alpha bounds the optimum from below. At an optimum alpha_i = w_i h_i, and the gradient
G in A satisfies G >= 0 and G L = 0. Rank 0 is the same with A = 0: there the term of M is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.numerics.sparse_arrays import dense

START = 0.1
"""Expected root mean square of |L'x| over the examples at the start."""


@dataclass(frozen=True)
class Quadratic:
    """q(x) = |L'x|^2 + 2 g'x + c."""

    factor: FloatArray  # L, shape (features, rank); no columns for a linear q
    linear: FloatArray  # g, shape (features,)
    constant: float  # c

    def values(self, examples: Examples) -> FloatArray:
        """Return q of every example, shape ``(m,)``."""
        products = examples @ np.column_stack([self.factor, self.linear])
        return self.of_products(products)

    def of_products(self, products: FloatArray) -> FloatArray:
        """Return q from the products (X L, X g), side by side."""
        projected = products[:, :-1]
        squares: FloatArray = np.einsum("ij,ij->i", projected, projected)
        return squares + 2.0 * products[:, -1] + self.constant

    def packed(self) -> FloatArray:
        """Return L by rows, g and c as one vector."""
        return np.concatenate([self.factor.ravel(), self.linear, [self.constant]])

    @classmethod
    def random(cls, objective: SoftObjective, rank: int, rng: np.random.Generator) -> Quadratic:
        """Return the start of the descent: a small random L of this rank at most, g = c = 0."""
        features = objective.features
        rank = min(rank, features)
        factor = rng.standard_normal((features, rank))
        squares = squared_norms(objective.examples)
        # with all examples at 0 any scale will do
        # Small, so that the linear part is fitted first and the margins of all examples still
        # count.
        factor *= START / np.sqrt(max(rank, 1) * (objective.weights @ squares or 1.0))
        return cls(factor, np.zeros(features), 0.0)

    @classmethod
    def unpacked(cls, vector: FloatArray, features: int) -> Quadratic:
        """Undo :meth:`packed`."""
        factor = vector[: -features - 1].reshape(features, -1)
        return cls(factor, vector[-features - 1 : -1], float(vector[-1]))


@dataclass(frozen=True, eq=False)
class SoftObjective:
    """P(L, g, c) on given examples."""

    examples: Examples  # shape (m, features), dense or sparse
    signs: FloatArray  # y, +1 or -1, shape (m,)
    weights: FloatArray  # w >= 0 with sum 1, shape (m,)
    regularisation: float  # 0 or more

    @property
    def features(self) -> int:
        """The number of features."""
        return int(self.examples.shape[1])

    def hinges(self, values: FloatArray) -> FloatArray:
        """Return h_i = max(0, 1 + y_i q(x_i)) from the values of q."""
        return np.maximum(0.0, 1.0 + self.signs * values)

    def value(self, quadratic: Quadratic) -> float:
        """Return P at a quadratic function."""
        return self.value_of(quadratic, self.hinges(quadratic.values(self.examples)))

    def value_of(self, quadratic: Quadratic, hinges: FloatArray) -> float:
        """Return P at a quadratic function with these h_i."""
        gram = quadratic.factor.T @ quadratic.factor
        size = float((gram**2).sum()) + 2.0 * float(quadratic.linear @ quadratic.linear)
        return 0.5 * float(self.weights @ hinges**2) + 0.5 * self.regularisation * size

    def conditions(self, quadratic: Quadratic, hinges: FloatArray) -> tuple[float, float]:
        """Return the lowest eigenvalue of G and |G L|_F at a quadratic function."""
        factor, rank = quadratic.factor, quadratic.factor.shape[1]
        weight = self.weights * hinges * self.signs
        active = np.flatnonzero(weight)
        rows, pull = self.examples[active], weight[active]
        product = rows.T @ (pull[:, None] * (rows @ factor))
        product = product + self.regularisation * (factor @ (factor.T @ factor))
        signs = np.concatenate([pull, np.full(rank, self.regularisation)])
        if isinstance(rows, np.ndarray):
            rows = np.vstack([rows, factor.T])
        else:
            rows = sp.csr_array(sp.vstack([rows, sp.csr_array(factor.T)]))
        lowest = float(spectrum(rows, signs).min(initial=0.0))
        return lowest, float(np.linalg.norm(product))


class LocalModel:
    """The objective P near a point, packed as by :meth:`Quadratic.packed`: value and derivatives.

    Attributes
    ----------
    quadratic, value
        The point, and P there.
    values
        q of every example, shape ``(m,)``.
    active
        The examples with h_i > 0, the only ones with a part in the derivatives; their ``rows`` and
        ``weights``.
    gradient
        In (L, g, c), packed.
    """

    def __init__(self, objective: SoftObjective, vector: FloatArray) -> None:
        at = Quadratic.unpacked(vector, objective.features)
        self._objective, self.quadratic = objective, at
        self._products = objective.examples @ np.column_stack([at.factor, at.linear])
        self.values = at.of_products(self._products)
        hinges = objective.hinges(self.values)
        self._gradient_weights = objective.weights * hinges * objective.signs
        self.active = np.flatnonzero(self._gradient_weights)
        self.value = objective.value_of(at, hinges)

    @cached_property
    def rows(self) -> Examples:
        """The examples with h_i > 0, shape ``(k, features)``."""
        return self._objective.examples[self.active]

    @property
    def weights(self) -> FloatArray:
        """Their w_i, shape ``(k,)``."""
        return self._objective.weights[self.active]

    @cached_property
    def gradient(self) -> FloatArray:
        """The gradient in (L, g, c), packed."""
        at, pull = self.quadratic, self._gradient_weights[self.active]
        products = self._products[self.active]
        products[:, -1] = 1.0
        combined = 2.0 * (self.rows.T @ (products * pull[:, None]))
        twice = 2.0 * self._objective.regularisation
        slope = combined[:, :-1] + twice * (at.factor @ (at.factor.T @ at.factor))
        linear = combined[:, -1] + twice * at.linear
        return np.concatenate([slope.ravel(), linear, [pull.sum()]])

    def matrix_gradient(self, vectors: FloatArray) -> FloatArray:
        """Return G times vectors, shape ``(features, k)`` or ``(features,)``."""
        factor, pull = self.quadratic.factor, self._gradient_weights[self.active]
        images = (self.rows @ vectors).T * pull
        size = self._objective.regularisation * (factor @ (factor.T @ vectors))
        return np.asarray(self.rows.T @ images.T + size)

    def curvature(self, blur: float = 0.0) -> Callable[[FloatArray], FloatArray]:
        """Return the product of the Hessian with a packed direction, as a function.

        At a kink it is a generalised one. With ``blur`` > 0 examples beyond their margins, by
        1 + y_i q(x_i) = -u > -blur, count too, by 1 - u / blur of their weight.
        """
        objective, factor = self._objective, self.quadratic.factor
        counted = self._gradient_weights != 0.0
        shares = counted.astype(np.float64)
        if blur > 0.0:
            beyond = 1.0 + (1.0 + objective.signs * self.values) / blur
            shares = np.where(counted, 1.0, np.clip(beyond, 0.0, 1.0)) * (objective.weights > 0.0)
        active = np.flatnonzero(shares)
        rows, pull = objective.examples[active], self._gradient_weights[active]
        weights, projected = shares[active] * objective.weights[active], self._products[active, :-1]
        gram, twice = factor.T @ factor, 2.0 * objective.regularisation

        def product(vector: FloatArray) -> FloatArray:
            move = Quadratic.unpacked(vector, objective.features)
            changes = rows @ np.column_stack([move.factor, move.linear])
            change = np.einsum("ij,ij->i", projected, changes[:, :-1]) + changes[:, -1]
            change = weights * (2.0 * change + move.constant)
            changes[:, :-1] *= pull[:, None]
            changes[:, :-1] += projected * change[:, None]
            changes[:, -1] = change
            combined = 2.0 * (rows.T @ changes)
            mixed = factor.T @ move.factor
            slope = combined[:, :-1] + twice * (move.factor @ gram + factor @ (mixed + mixed.T))
            linear = combined[:, -1] + twice * move.linear
            return np.concatenate([slope.ravel(), linear, [change.sum()]])

        return product


@dataclass(frozen=True)
class SoftOptimality:
    """The duality gap of a soft ellipsoid, computed in floating point, not in proved rounding."""

    primal: float  # P of the quadratic function
    dual: float  # A lower bound of P over all ranks (over linear functions, if the rank is 0)
    # the lowest eigenvalue of G, the gradient in A: at an optimum of the convex problem >= 0
    lowest_curvature: float
    stationarity: float  # |G L|_F: 0 at a stationary point of the low-rank problem

    @property
    def gap(self) -> float:
        """An upper bound of P minus the least possible value."""
        return self.primal - self.dual


def certify(objective: SoftObjective, quadratic: Quadratic) -> SoftOptimality:
    """Return the duality gap and the optimality conditions of a quadratic function.

    The cost is an eigenvalue decomposition of order min(features, examples with h_i > 0, plus
    rank), and memory for that square.
    """
    regularisation = objective.regularisation
    if regularisation <= 0.0:
        raise InputError("the duality gap needs a regularisation > 0; it is 0")
    hinges = objective.hinges(quadratic.values(objective.examples))
    # equal sums in both classes, the larger one scaled down
    alpha, positive = objective.weights * hinges, objective.signs > 0
    # Dual feasibility needs sum alpha y = 0; scaling down keeps alpha >= 0.
    sums = [float(alpha[part].sum()) for part in (positive, objective.signs < 0)]
    shares = [min(sums) / total if min(sums) > 0.0 else 0.0 for total in sums]
    alpha = alpha * np.where(positive, *shares)
    active = np.flatnonzero(alpha)
    pull = (alpha * objective.signs)[active]
    rows = objective.examples[active]
    combined = rows.T @ pull
    dual = float(alpha.sum()) - float(combined @ combined) / regularisation
    dual -= 0.5 * float((alpha[active] ** 2 / objective.weights[active]).sum())
    if quadratic.factor.shape[1]:
        negative = np.minimum(spectrum(rows, pull), 0.0)
        dual -= float(negative @ negative) / (2.0 * regularisation)
    primal, conditions = objective.value(quadratic), objective.conditions(quadratic, hinges)
    return SoftOptimality(primal, dual, *conditions)


def spectrum(rows: Examples, weights: FloatArray) -> FloatArray:
    """Return the nonzero eigenvalues of sum_i weights_i r_i r_i', and perhaps some that are 0."""
    count, features = rows.shape
    if count == 0:
        return np.zeros(0)
    if features <= count:
        return _eigenvalues(rows.T @ (weights[:, None] * dense(rows)))
    # Fewer rows than features: the nonzero eigenvalues are those of the smaller k x k matrix.
    values, vectors = np.linalg.eigh(dense(rows @ rows.T))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return _eigenvalues(root.T @ (weights[:, None] * root))


def squared_norms(examples: Examples) -> FloatArray:
    """Return |x|^2 of every example, shape ``(m,)``."""
    if isinstance(examples, np.ndarray):
        squares: FloatArray = np.einsum("ij,ij->i", examples, examples)
        return squares
    return np.asarray(sp.csr_array(examples).power(2).sum(axis=1), dtype=np.float64)


def _eigenvalues(symmetric: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.eigvalsh((symmetric + symmetric.T) / 2.0), dtype=np.float64)
