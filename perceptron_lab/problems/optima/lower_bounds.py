"""Proved lower bounds of the optimum by exactly feasible dual points.

The dual problem of min c'x, F(x) = sum_i x_i F_i - F_0 positive semidefinite, is

    max <F_0, X>  subject to  <F_i, X> = c_i,  X positive semidefinite,

and <F_0, X> <= c'x for every feasible pair, if X satisfies the equations *exactly*. Doubles rarely
do. Let A(X) = (<F_1, X>, .., <F_m, X>), G = A A* with least eigenvalue g > 0, and let X~ be any
matrix of doubles. Then X = X~ + A* G^-1 (c - A(X~)) satisfies them, and

    norm(X - X~)_F <= r / sqrt(g),  r = norm(c - A(X~)).

So if every block of X~ has no eigenvalue below r / sqrt(g), X is feasible, and the optimum is at
least <F_0, X~> - norm(F_0)_F r / sqrt(g). All of it is computed with bounds of the rounding errors.
Weights with norm(A w) <= eps alone, however small, bound no optimum.

Dual points can be corrected in the metric of X, which preserves semidefiniteness.

For X = LL' positive definite the equations <F_i, X + L Z L'> = c_i are <L'F_i L, Z> = c_i -
<F_i, X>, and X + L Z L' = L (I + Z) L' is positive semidefinite as long as Z >= -I. The Z of least
norm is of the order of what is missing relative to X *in each direction*: eigenvalues near 0 stay
above 0 where X is accurate enough. The nearest X in the Frobenius norm loses what is missing from
every eigenvalue alike, and has to be moved to an inner point afterwards, far where that is thin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from perceptron_lab.certificates.matrices.definite import lowest_eigenvalue_bound
from perceptron_lab.certificates.precise_residuals import MOST_PRODUCTS, exact_residual
from perceptron_lab.certificates.rounding import norm_above, product_with_radius
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.semidefinite import LARGEST_WHOLE, Semidefinite, matrices_of
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.doubles import LEAST_NORMAL
from perceptron_lab.numerics.roundoff import UNIT_ROUNDOFF, above
from perceptron_lab.problems.optima.levels import (
    blocks_without_first,
    coefficients,
    objective_of,
)
from perceptron_lab.systems import ConicSystem

MOST_VARIABLES = 3000
"""Largest number of variables with lower bounds: G is a dense matrix of that order."""
# Attempts to move an approximate point inside and to correct it, and growth of each step
_TRIES, _MORE = 6, 30.0


@dataclass(frozen=True, eq=False)
class DualProblem:
    """The dual equations <F_i, X> = c_i, on weights of the cone with full matrices.

    Parameters
    ----------
    system
        The homogenised system; all its matrix blocks have full patterns.
    rows
        Entries of F_1, ..., F_m by columns, shape ``(size, m)``: A(X) is ``weights @ rows``.
    constant
        Entries of F_0, shape ``(size,)``: <F_0, X> is ``weights @ constant``.
    blocks
        The cones and where they lie in the weights.
    """

    system: ConicSystem
    rows: sp.csr_array
    constant: FloatArray
    blocks: list[tuple[Cone, slice]]

    @classmethod
    def of(cls, system: ConicSystem) -> DualProblem:
        """Return the dual problem of a homogenised system with an objective; refuse large ones."""
        objective_of(system)
        orders = [part.rank for part, _ in matrices_of(system.cone.blocks)]
        if max(orders, default=0) > LARGEST_WHOLE or system.unknowns - 1 > MOST_VARIABLES:
            raise InputError(
                f"lower bounds need whole matrices: blocks of order {LARGEST_WHOLE} and "
                f"{MOST_VARIABLES} variables at most; this program is larger"
            )
        completed = system.completed()
        return cls(completed, *coefficients(completed), blocks_without_first(completed))

    @property
    def size(self) -> int:
        """Number of weights."""
        return len(self.constant)

    @cached_property
    def multiplicity(self) -> FloatArray:
        """2 for off-diagonal entries, 1 for diagonal ones."""
        return np.asarray(self.system.cone.multiplicity[1:])

    @cached_property
    def roundings(self) -> int:
        """Whether the data were rounded: 0 or 1."""
        return self.system.matrix.roundings

    @cached_property
    def objective(self) -> FloatArray:
        """The vector c."""
        return objective_of(self.system).values

    @cached_property
    def gram(self) -> FloatArray:
        """The matrix G of the inner products <F_i, F_j>, shape ``(m, m)``, symmetric."""
        weighted = sp.csr_array(sp.diags_array(self.multiplicity) @ self.rows)
        gram = np.asarray((self.rows.T @ weighted).toarray())
        return np.asarray((gram + gram.T) / 2.0, dtype=np.float64)

    @cached_property
    def least(self) -> float:
        """A proved lower bound of the least eigenvalue of G; <= 0 where F_i may be dependent.

        Infinity for a program without variables, as one on a face may be.
        """
        if not self.rows.shape[1]:
            return math.inf
        magnitude = abs(self.rows)
        weighted = sp.csr_array(sp.diags_array(self.multiplicity) @ magnitude)
        sums = weighted.T @ np.asarray(magnitude.sum(axis=1)).ravel()
        # Entries of G are sums of products of two numbers each: their errors by row sums
        terms = int(np.diff(sp.csc_array(self.rows).indptr).max(initial=0)) + 6
        error = above((terms + 4 * self.roundings) * UNIT_ROUNDOFF * float(sums.max()), terms + 100)
        return lowest_eigenvalue_bound(self.gram) - 2.0 * error

    def solve_gram(self, right: FloatArray) -> FloatArray:
        """Return G^-1 times a vector, as computed; NaN if it is beyond the range of doubles."""
        return np.asarray(scipy.linalg.cho_solve(self._factor, right, check_finite=False))

    @cached_property
    def transposed(self) -> sp.csr_array:
        """The matrices F_i as rows of entries, shape ``(m, size)``."""
        return sp.csr_array(self.rows.T)

    @cached_property
    def _factor(self) -> tuple[FloatArray, bool]:
        factor: tuple[FloatArray, bool] = scipy.linalg.cho_factor(self.gram, lower=True)
        return factor

    def corrected(self, weights: FloatArray) -> FloatArray:
        """Return the nearest weights that satisfy the equations, to rounding."""
        # The second pass removes the rounding errors of the first, G being ill-conditioned at
        # times.
        for _ in range(2):
            short = self.solve_gram(self.objective - weights @ self.rows)
            weights = weights + self.multiplicity * (self.rows @ short)
        return weights

    def interior(self, weights: FloatArray) -> tuple[FloatArray, float] | None:
        """Return the corrected weights and their lowest eigenvalue if it is positive, or None."""
        if self.least <= 0.0:
            return None
        corrected = self.corrected(weights)
        lowest = self.lowest(corrected)
        return (corrected, lowest) if lowest > 0.0 else None

    @cached_property
    def inner(self) -> tuple[FloatArray, float] | None:
        """The weights of least norm that satisfy the equations, with their lowest eigenvalue.

        None where that is not positive: interior points may exist nevertheless.
        """
        return self.interior(np.zeros(self.size))

    def lowest(self, weights: FloatArray) -> float:
        """Return a proved lower bound of the eigenvalues of all blocks."""
        return min(_lowest_eigenvalue(part, weights[span]) for part, span in self.blocks)

    def prove(self, weights: FloatArray) -> float | None:
        """Return the lower bound of the optimum that weights near a feasible X prove, or None.

        Parameters
        ----------
        weights
            X~, flat, shape ``(size,)``: blocks without that of x_0.
        """
        if weights.shape != (self.size,) or not np.isfinite(weights).all():
            return None
        if not weights.any() and not self.objective.any():
            return 0.0  # X = 0 is feasible: of c = 0 the optimum is 0, or there is no point
        if self.least <= 0.0:
            return None
        objective = objective_of(self.system)
        target = objective.values
        # Row by row as in the module's docstring: r bounds the distance from X~ to an exact X.
        short, radius = self.residual(self.transposed, weights, target)
        radius = radius + UNIT_ROUNDOFF * np.abs(target) * objective.roundings
        missed = norm_above(above_each(np.abs(short) + radius))
        distance = above(missed / math.sqrt(self.least), 8)
        if not self.lowest(weights) >= distance:
            return None
        constant = sp.csr_array(self.constant[None, :])
        value, error = self.residual(constant, -weights, np.zeros(1))
        size = above(norm_above(np.sqrt(self.multiplicity) * self.constant), len(weights) + 8)
        off = above(float(error[0]) + size * (1.0 + self.roundings * 1e-15) * distance, 8)
        bound = math.nextafter(float(value[0]) - off, -math.inf)
        return bound if math.isfinite(bound) else None

    def residual(
        self, matrix: sp.csr_array, vector: FloatArray, right: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return b - M v and a bound of its error, exactly summed unless there are too many terms.

        Rounded sums rarely prove a residual near 0: for F_i with many entries their error bounds
        are as large as the least eigenvalues of an accurate X.
        """
        if matrix.nnz <= MOST_PRODUCTS:
            return exact_residual(matrix, vector, right, self.roundings)
        product, radius = product_with_radius(matrix, vector, self.roundings)
        return right - product, radius + 2.0 * UNIT_ROUNDOFF * np.abs(right)

    def repaired(
        self, weights: FloatArray, inner: tuple[FloatArray, float] | None = None
    ) -> tuple[FloatArray, float] | None:
        """Return weights near the given ones that prove a bound, and the bound; None if that fails.

        Programs whose F_i are one diagonal entry each (those of MAXCUT) are scaled: X <- SXS with a
        diagonal S satisfies the equations and stays positive semidefinite. Others are multiplied by
        the best number, and corrected. What is then missing to semidefiniteness is made up by
        ``inner``, a point of :meth:`interior` (default: that of least norm), if there is one.
        """
        if not self.objective.any():
            return np.zeros(self.size), 0.0
        inside = inner or self.inner
        if not np.isfinite(weights).all() or not weights.any() or self.least <= 0.0:
            return None
        corrected = (
            self._scaled(weights) if self.diagonal is not None else self._multiplied(weights)
        )
        corrected, share = self.corrected(corrected), 0.0
        for _ in range(_TRIES):
            check_time()
            bound = self.prove(corrected)
            if bound is not None:
                return corrected, bound
            if inside is None:
                return None
            # A little more than the negative eigenvalue, as the correction afterwards may lower it
            # again.
            lacking = max(-self.lowest(corrected), 1e-14 * float(np.abs(corrected).max()))
            share = max(_MORE * share, 2.0 * lacking / (inside[1] + lacking))
            if not share < 1.0:
                return None
            corrected = self.corrected((1.0 - share) * corrected + share * inside[0])
        return None

    @cached_property
    def diagonal(self) -> IntArray | None:
        """Positions of the diagonal entries if each F_i is a single positive one, as in MAXCUT.

        None if an F_i is something else, or if they do not cover the diagonal.
        """
        columns = sp.csc_array(self.rows)
        if not (np.diff(columns.indptr) == 1).all() or not (columns.data > 0.0).all():
            return None
        positions = columns.indices
        on = np.flatnonzero(self.system.cone.identity[1:])
        if not np.array_equal(np.sort(positions), on) or not (self.objective > 0.0).all():
            return None
        return np.asarray(positions, dtype=np.int64)

    def _multiplied(self, weights: FloatArray) -> FloatArray:
        sums = weights @ self.rows
        square = float(sums @ sums)
        factor = float(self.objective @ sums) / square if square > 0.0 else 0.0
        return weights * max(factor, 0.0)

    def _scaled(self, weights: FloatArray) -> FloatArray:
        assert self.diagonal is not None
        target = np.zeros(self.size)
        target[self.diagonal] = self.objective / sp.csc_array(self.rows).data
        scaled = np.empty(self.size)
        for part, span in self.blocks:
            on = part.identity > 0.0
            have, required = weights[span][on], target[span][on]
            empty = have <= 0.0
            scale = np.sqrt(np.where(empty, 0.0, required / np.where(empty, 1.0, have)))
            if isinstance(part, Semidefinite):
                scaled[span] = weights[span] * scale[part.rows] * scale[part.columns]
            scaled[span.start + np.flatnonzero(on)] = required
        return scaled


def _lowest_eigenvalue(cone: Cone, weights: FloatArray) -> float:
    check_time()
    if isinstance(cone, Semidefinite):
        return lowest_eigenvalue_bound(cone.matrix(weights / cone.multiplicity))
    return float(weights.min())


def above_each(values: FloatArray) -> FloatArray:
    """Return upper bounds of non-negative sums of a few computed terms, entry by entry."""
    return np.nextafter(values * (1.0 + 8.0 * UNIT_ROUNDOFF), np.inf)


MOST_OPERATIONS = 4e9
"""Largest number of operations of one step: about a second."""
# Newton-like steps: each leaves about the square of the last residual, up to rounding
_STEPS = 3

Root = tuple[Semidefinite, slice, FloatArray]


def corrected_in_metric(dual: DualProblem, weights: FloatArray) -> FloatArray | None:
    """Return weights that satisfy the equations, to rounding, corrected in the metric of X.

    None where X is not positive definite, or the correction is too costly. Nothing is proved here.

    Parameters
    ----------
    dual, weights
        The equations; X as weights, shape ``(size,)``.
    """
    cubes = sum(part.rank**3 for part, _ in matrices_of(dual.blocks))
    if 2.0 * dual.rows.shape[1] * cubes > MOST_OPERATIONS:
        return None
    rows_of_matrix = np.asarray(dual.rows.toarray()).T
    for _ in range(_STEPS):
        roots = _roots(dual, weights)
        if roots is None:
            return None
        image = rows_of_matrix * weights  # of a row: x_i f_i
        for part, span, root in roots:
            for row, entries in zip(image, rows_of_matrix, strict=True):
                congruent = root.T @ part.matrix(entries[span]) @ root
                row[span] = np.sqrt(part.multiplicity) * congruent[part.rows, part.columns]
        lengths = np.maximum(np.linalg.norm(image, axis=1), LEAST_NORMAL)
        short = dual.residual(dual.transposed, weights, dual.objective)[0]
        if not (np.isfinite(image).all() and np.isfinite(short).all()):
            return None
        z = scipy.linalg.lstsq(image / lengths[:, None], short / lengths)[0]
        weights = weights + _congruence_weights(roots, weights, z)
    return weights if np.isfinite(weights).all() else None


def _roots(dual: DualProblem, weights: FloatArray) -> list[Root] | None:
    """Return a Cholesky factor of X in each block; None where X is not positive definite."""
    roots = []
    for part, span in dual.blocks:
        if not isinstance(part, Semidefinite):
            if not (weights[span] > 0.0).all():
                return None
            continue
        try:
            matrix = part.matrix(weights[span] / part.multiplicity)
            roots.append((part, span, scipy.linalg.cholesky(matrix, lower=True)))
        except (scipy.linalg.LinAlgError, ValueError):
            return None
    return roots


def _congruence_weights(roots: list[Root], weights: FloatArray, z: FloatArray) -> FloatArray:
    """Return L Z L' in matrix blocks, and x_i z_i in rows, as weights."""
    congruence = weights * z
    for part, span, root in roots:
        congruent = root @ part.matrix(z[span] / np.sqrt(part.multiplicity)) @ root.T
        congruence[span] = congruent[part.rows, part.columns] * part.multiplicity
    return np.asarray(congruence)
