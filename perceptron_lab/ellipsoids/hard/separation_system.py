"""MAXSEP at a fixed separation ratio, as a conic system that every algorithm runs on.

With x^ = (x, 1), the program (7.9) of `Kharechko2009`,

    max t  subject to  x^'E^x^ <= 1 (positives),  x^'E^x^ >= 1 + t (negatives),  E^ >= 0,

asks for the largest ratio rho = (1 + t)^(1/2) of two concentric, similar ellipsoids, one around the
positives, the other excluding the negatives. Its constraints at a fixed rho, made homogeneous by a
level s in place of 1, are the system in y = (svec E^, s)

    E^ in int S_+,   s - x^'E^x^ > 0 (positives),   x^'E^x^ - rho^2 s > 0 (negatives).

It is feasible if and only if the largest ratio is above rho: a multiple of I can be added to E^
where the inequalities are strict. Otherwise Gordan's alternative holds: weights lambda and Z >= 0,
not all zero, with sum_+ lambda = rho^2 sum_- lambda and
sum_+ lambda x^x^' - sum_- lambda x^x^' = Z, a point of the dual (7.21) where t <= rho^2 - 1.

At rho = 1 the trivial E^ = e e', s = 1 lies on the boundary, and nothing could be proved of classes
that no ellipsoid separates. There E^ and s enter by the quadratic M = E^ - s e e' only, and any M
whose leading block A is positive definite becomes E^ >= 0 by a multiple of e e'. So the unknown is
y = svec M and the system A in int S_+, -x^'Mx^ > 0 (positives), x^'Mx^ > 0 (negatives).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.ellipsoids.examples import two_classes
from perceptron_lab.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.ellipsoids.lifting import flat, lifted, squares, symmetric
from perceptron_lab.errors import InputError
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray
from perceptron_lab.system import ConicSystem


@dataclass(frozen=True)
class SeparationSystem:
    """The system of two classes at a separation ratio, and what its points mean.

    Parameters
    ----------
    system
        A matrix block (E^, or A), then one row of norm 1 per example. Its data are the products of
        whitened coordinates as doubles; what is proved is proved of these.
    frame
        The whitened coordinates u of the examples, r of them.
    products
        svec(u^u^') of the positives and of the negatives in their affine hull.
    """

    system: ConicSystem
    frame: AffineFrame
    products: tuple[FloatArray, FloatArray]

    def ratio(self, point: FloatArray) -> float:
        """Return the separation ratio that the ellipsoid of a point attains, in doubles.

        It is 0 where the point has no ellipsoid, or all negatives are not outside of its centre.
        """
        try:
            quadratic, _, _, level = self._ellipsoid(point)
        except InputError:
            return 0.0
        inner, outer = (values @ flat(quadratic) + level for values in self.products)
        return float(np.sqrt(max(outer.min(), 0.0) / max(inner.max(), np.finfo(float).tiny)))

    def ellipsoid(self, point: FloatArray) -> Ellipsoid:
        """Return the ellipsoid {x : u^'Mu^ <= 0} of a point inside the system, M = E^ - s e e'.

        Raises
        ------
        InputError
            If A is not positive definite or the set is empty, as for points that are not inside.
        """
        _, root, offset, level = self._ellipsoid(point)
        factor = root.T @ self.frame.basis.T
        return Ellipsoid(self.frame.shift, factor, offset).scaled(1.0 / level)

    def _ellipsoid(self, point: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Return M, L, d and l > 0 with A = LL' and u^'Mu^ = norm(L'u + d)^2 - l."""
        size = self.products[0].shape[1]
        quadratic = symmetric(point[:size])
        quadratic[-1, -1] -= point[size:].sum()  # the level, where there is one
        try:
            root = np.linalg.cholesky(quadratic[:-1, :-1])
        except np.linalg.LinAlgError:
            raise InputError(
                "the point's matrix is not positive definite: it is not inside the system"
            ) from None
        offset = np.asarray(np.linalg.solve(root, quadratic[:-1, -1]))
        level = float(offset @ offset) - float(quadratic[-1, -1])
        if not level > 0.0:
            raise InputError("the point's quadratic is nowhere negative: it is not inside")
        return quadratic, np.asarray(root), offset, level


def separation_system(positives: Any, negatives: Any, ratio: float = 1.0) -> SeparationSystem:
    """Return the system that is feasible if and only if MAXSEP's optimal ratio is above ``ratio``.

    Negatives off the affine hull of the positives restrict nothing and are left out.

    Parameters
    ----------
    positives, negatives
        Dense finite rows, shapes ``(m, k)`` with one k, at least one each.
    ratio
        rho, 1 or more; 1 asks whether any ellipsoid separates the classes.

    Raises
    ------
    InputError
        If they are not, or all positives are equal, or no negative is in their affine hull.
    """
    inner, outer = two_classes(positives, negatives)
    if not ratio >= 1.0:
        raise InputError(f"ratio {ratio:g}; give 1 or more: MAXSEP's optimum never is below 1")
    frame = AffineFrame.of(inner, outer)
    if frame.outside.all():
        raise InputError(
            "no negative lies in the affine hull of the positives: every ratio is reached, and "
            "there is nothing to decide; MaximalSeparation shows the direction"
        )
    if not frame.dimension:
        raise InputError("all positives are equal, and equal to a negative: nothing separates them")
    classes = (inner, outer[~frame.outside])
    within, without = (squares(lifted(frame.coordinates(part))) for part in classes)
    rows = np.vstack([-within, without])
    if ratio > 1.0:
        levels = [np.ones(len(within)), np.full(len(without), -(ratio * ratio))]
        rows = np.column_stack([rows, np.concatenate(levels)])
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    block, cone = _block(frame.dimension + (ratio > 1.0), rows.shape[1])
    matrix = Matrix(np.vstack([block, rows]))
    system = ConicSystem(matrix, Product([cone, Orthant(len(rows))]))
    return SeparationSystem(system, frame, (within, without))


def _block(order: int, size: int) -> tuple[FloatArray, Semidefinite]:
    """Return the rows that pick the first entries of y as a matrix, and the cone of that order."""
    columns, rows = np.tril_indices(order)
    block = np.zeros((len(rows), size))
    block[np.arange(len(rows)), np.arange(len(rows))] = np.where(rows == columns, 1.0, np.sqrt(0.5))
    whole = np.lexsort((columns, rows))  # in the order of np.triu_indices, as completed cones have
    return block[whole], Semidefinite(order, rows[whole], columns[whole])
