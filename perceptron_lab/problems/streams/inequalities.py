"""Linear inequalities A x >= b as a homogeneous system (`PerceptronNotes`, 2.1 and 3.2).

That A x > b has no solution is proved by exact weights u >= 0 with A'u = 0 and b'u >= 0, near
computed ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.cones.operators.base import rows_at
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.numerics.input_checks import ArrayOrSparse, doubles_of_rows, refuse_not_finite
from perceptron_lab.numerics.sparse_arrays import dense
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.conditions import over_common
from perceptron_lab.systems.exact_solutions import Equation, near_solution

# Thresholds, relative to the largest weight, below which weights are set to 0, in turn
NOTHING = (0.0, 1e-11, 1e-6)
# Largest number of products of fractions in an elimination: about a second
MOST_PRODUCTS = 200_000


@dataclass(frozen=True, repr=False)
class Farkas:
    """Weights u >= 0 of the inequalities A x >= b that prove A x > b infeasible.

    Parameters
    ----------
    empty
        True: A'u = 0 and b'u > 0, and not even A x >= b has a solution (Farkas' lemma). False:
        A'u = 0 and b'u = 0, and every solution of A x >= b, if there are any, has a_i'x = b_i
        wherever u_i > 0.
    weights
        u as doubles, shape ``(m,)``, or a positive multiple of it where doubles would not hold it
        (see :func:`.to_doubles`).
    rows
        The i with u_i > 0, ascending.
    exact
        u_i for these i, without rounding. None: exact ones, with the same zeros, are proved to
        exist near the doubles.

    Examples
    --------
    >>> lifted = linear_inequalities([[1.0], [-1.0]], [2.0, -1.0])  # x >= 2 and x <= 1
    >>> lifted.farkas([1.0, 1.0, 1.0])
    <Farkas: A x >= b has no solution, by rows [0, 1]>
    """

    empty: bool
    weights: FloatArray
    rows: IntArray
    exact: tuple[Fraction, ...] | None

    def __repr__(self) -> str:
        """Return the proved statement without its numbers, which may have thousands of digits."""
        inequalities = "A x >= b" if self.empty else "A x > b"
        return f"<Farkas: {inequalities} has no solution, by rows {self.rows.tolist()}>"


def proved_farkas(system: ConicSystem, weights: FloatArray) -> Farkas | None:
    """Return the proof by exact weights near the given ones; None if none are found.

    Parameters
    ----------
    system
        The rows (a_i, -b_i), and (0, 1) below them, as given.
    weights
        (u, u_0) >= 0, finite, shape ``(m + 1,)``.
    """
    for part in NOTHING:
        # Tiny weights may be rounding errors of zeros, with which no exact solution is near.
        support = np.flatnonzero(weights > part * weights.max())
        exact = _null_weights(system, support, weights[support])
        if exact is not None:
            flat = np.zeros(len(weights))
            flat[support] = to_doubles(exact, scaled=True)
            empty = bool(support[-1] == len(weights) - 1)
            rows = support[:-1] if empty else support
            return Farkas(empty, flat[:-1], rows, tuple(exact[: len(rows)]))
    proof = system.prove_infeasible(weights)
    if proof is None:
        return None
    multipliers = proof.weights
    return Farkas(
        bool(multipliers[-1] > 0.0), multipliers[:-1], np.flatnonzero(multipliers[:-1] > 0.0), None
    )


def _null_weights(
    system: ConicSystem, support: IntArray, weights: FloatArray
) -> list[Fraction] | None:
    """Return exact weights > 0 near the given ones whose combination of rows is 0, or None.

    The weights of a basis of the rows, chosen by decreasing weight, are solved for; the others
    stay.
    """
    operator = system.matrix
    count, dimension = len(support), operator.dimension
    if not count or operator.roundings or count * dimension * min(count, dimension) > MOST_PRODUCTS:
        return None
    columns = rows_at(operator.stored, support).T.tolist()
    integers = [over_common([Fraction(entry) for entry in line])[0] for line in columns]
    equations = [Equation({i: a for i, a in enumerate(line) if a}, 0) for line in integers]
    order = np.argsort(-weights, kind="stable").tolist()
    solution = near_solution(equations, [Fraction(weight) for weight in weights.tolist()], order)
    return None if solution is None or min(solution) <= 0 else solution


@dataclass(frozen=True)
class LiftedInequalities:
    """The inequalities A x >= b, lifted: (a_i, -b_i)'(y, t) > 0 for all i, and t > 0.

    (y, t) solves the system if and only if x = y / t has A x > b, strictly; and by Gordan's theorem
    no solution exists if and only if there are u >= 0, u_0 >= 0, not all 0, with A'u = 0 and
    b'u = u_0: u_0 > 0 is Farkas' proof that A x >= b has no solution either.

    Parameters
    ----------
    system
        The rows (a_i, -b_i), and (0, 1) below them; a point is (y, t), shape ``(n + 1,)``, weights
        are (u, u_0), shape ``(m + 1,)``.

    Examples
    --------
    >>> lifted = linear_inequalities([[2.0], [-1.0]], [1.0, -3.0])  # 2 x >= 1 and x <= 3
    >>> lifted.exact_solution([1.0, 1.0]), lifted.strictly_satisfied([3.0])
    ([Fraction(1, 1)], False)
    """

    system: ConicSystem

    def solution(self, point: npt.ArrayLike) -> FloatArray:
        """Return x = y / t of a point with t > 0, each entry rounded once, shape ``(n,)``.

        Rounding may violate an inequality with a tiny slack. :meth:`strictly_satisfied` checks
        this, and :meth:`exact_solution` is not rounded.
        """
        lifted = self._checked_point(point)
        return np.asarray(lifted[:-1] / lifted[-1])

    def exact_solution(self, point: npt.ArrayLike) -> list[Fraction]:
        """Return x = y / t of a point with t > 0, exactly."""
        *entries, last = (Fraction(entry) for entry in self._checked_point(point).tolist())
        return [entry / last for entry in entries]

    def solves(self, point: npt.ArrayLike) -> bool:
        """Return whether (y, t) is proved to solve the system, for the original numbers.

        Then the exact solution x = y / t has A x > b.
        """
        vector = np.asarray(point, dtype=float)
        return self.system.prove_point(self._checked_shape(vector, self.system.dimension)).feasible

    def strictly_satisfied(self, x: npt.ArrayLike) -> bool:
        """Return whether A x > b is proved for these doubles x and the original numbers."""
        entries = self._checked_shape(np.asarray(x, dtype=float), self.system.dimension - 1)
        return self.solves(np.append(entries, 1.0))

    def farkas(self, weights: npt.ArrayLike) -> Farkas | None:
        """Return the proof by exact weights near the given ones that A x > b is infeasible.

        Small systems are solved in fractions; in larger ones the weights are proved to exist. None
        if neither succeeds.

        Parameters
        ----------
        weights
            (u, u_0) >= 0 for the rows as given, with (nearly) A'u = 0 and b'u = u_0: those of a
            :class:`~perceptron_lab.core.results.Result`, shape ``(m + 1,)``.
        """
        multipliers = self._checked_shape(np.asarray(weights, dtype=float), self.system.cone.size)
        if not (np.isfinite(multipliers).all() and (multipliers >= 0.0).all()):
            raise InputError("the weights are negative or not finite; give (u, u_0) >= 0")
        # They are of the rows as given, on which the origin of a normalised view proves
        return proved_farkas(self.system.origin or self.system, multipliers)

    def _checked_point(self, point: npt.ArrayLike) -> FloatArray:
        lifted = self._checked_shape(np.asarray(point, dtype=float), self.system.dimension)
        if not (np.isfinite(lifted).all() and lifted[-1] > 0.0):
            raise InputError(
                f"the point has t = {lifted[-1]:g}, or is not finite; x = y / t takes a finite "
                "point (y, t) with t > 0"
            )
        return lifted

    def _checked_shape(self, vector: FloatArray, size: int) -> FloatArray:
        if vector.shape != (size,):
            raise InputError(f"received an array of shape {vector.shape}; give one of ({size},)")
        return vector


def linear_inequalities(matrix: ArrayOrSparse, bounds: npt.ArrayLike) -> LiftedInequalities:
    """Return the inequalities A x >= b as a conic system of rows, by lifting.

    `PerceptronNotes`, section 2.1, divides the rows by b_i; that is right only for b_i > 0: from
    x >= -1, -x >= 2 it makes -x >= 1, -x / 2 >= 1, which has solutions.

    Parameters
    ----------
    matrix
        A, shape ``(m, n)``, dense or scipy.sparse, of any real numbers; fractions stay exact where
        a multiple of all of them is whole.
    bounds
        b, shape ``(m,)``.

    Raises
    ------
    InputError
        If A or b are not finite numbers of these shapes, or a row (a_i, -b_i) is zero, which has to
        be removed.

    References
    ----------
    `PerceptronNotes`, sections 2.1 and 3.2.

    Examples
    --------
    >>> lifted = linear_inequalities([[1.0], [-1.0]], [-1.0, 2.0])  # x >= -1 and -x >= 2
    >>> proof = lifted.farkas([1.0, 1.25, 0.75])
    >>> proof.empty, proof.rows, proof.exact  # their sum: 0 >= 1
    (True, array([0, 1]), (Fraction(3, 4), Fraction(3, 4)))
    >>> linear_inequalities([[1.0], [-1.0]], [1.0, -1.0]).farkas([1.0, 1.0, 0.0]).empty  # x = 1
    False
    >>> lifted = linear_inequalities([[1, 2], [3, -1]], [-5, 4])
    >>> lifted.solves([4.0, 1.0, 2.0]), lifted.solution([4.0, 1.0, 2.0])
    (True, array([2. , 0.5]))
    """
    doubles = doubles_of_rows(matrix)
    refuse_not_finite(doubles.values)
    limits = _column(bounds, doubles.values.shape[0])
    right = doubles_of_rows(limits)
    if doubles.roundings or right.roundings:
        return LiftedInequalities(ConicSystem.from_rows(_exact(matrix, limits)))
    last = np.zeros((1, doubles.values.shape[1] + 1))
    last[0, -1] = 1.0
    limit = 0.0 - np.asarray(right.values, dtype=float)  # no negative zeros
    rows: FloatArray | sp.csr_array
    if isinstance(doubles.values, np.ndarray):
        rows = np.vstack([np.hstack([doubles.values, limit]), last])
    else:
        wide = sp.hstack([doubles.values, sp.csr_array(limit)])
        rows = sp.csr_array(sp.vstack([wide, sp.csr_array(last)]))
    return LiftedInequalities(ConicSystem.from_rows(rows))


def _column(bounds: npt.ArrayLike, count: int) -> Any:
    """Return b as a column of the original numbers."""
    column = np.asarray(bounds)
    if column.shape not in ((count,), (count, 1)):
        raise InputError(
            f"bounds of shape {column.shape} for {count} inequalities; give one number for each"
        )
    for row, bound in enumerate(column.ravel().tolist()):
        finite = isinstance(bound, Rational)  # integers may be beyond doubles
        if not finite and not (isinstance(bound, Real | Decimal) and math.isfinite(bound)):
            raise InputError(
                f"bound {row} is {str(bound)[:40]!r} ({type(bound).__name__}); give a finite "
                "real number for each inequality"
            )
    return column.reshape(count, 1)


def _exact(matrix: ArrayOrSparse, bounds: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return the lifted rows as exact Python numbers, some of which are not doubles."""
    rows = np.asarray(dense(matrix), dtype=object)
    last = np.array([[0] * rows.shape[1] + [1]], dtype=object)
    return np.vstack([np.hstack([rows, -np.asarray(bounds, dtype=object)]), last])
