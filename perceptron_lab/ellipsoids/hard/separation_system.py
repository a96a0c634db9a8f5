"""Whether an ellipsoid separates two classes, as a conic system that every algorithm runs on.

E^ >= 0 and a level s with x^'E^x^ < s on the positives and > s on the negatives exist if and only
if q(u) = u'Au + 2 g'u + c with A positive definite has q < 0 on the positives and q > 0 on the
negatives: E^ and s enter by E^ - s e e' only, and any such difference with A > 0 becomes positive
semidefinite by a multiple of e e'. So the unknown is y = (svec A, 2 g, c) and the system is

    A in int S_+,   -(svec(uu'), u, 1)'y > 0 (positives),   (svec(uu'), u, 1)'y > 0 (negatives).

Its alternative, by Gordan's theorem: weights lambda, not zero, with equal sums and means and
sum_- lambda uu' - sum_+ lambda uu' + W = 0, W >= 0: the proof of t = 0.
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
from perceptron_lab.ellipsoids.lifting import squares, symmetric
from perceptron_lab.errors import InputError
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray
from perceptron_lab.system import ConicSystem


@dataclass(frozen=True)
class SeparationSystem:
    """The system of two classes, and what its points mean.

    Parameters
    ----------
    system
        The conic system: a matrix block of order r, then one row per example, of norm 1. Its data
        are the products of whitened coordinates as doubles; what is proved is proved of these.
    frame
        The whitened coordinates u of the examples.
    """

    system: ConicSystem
    frame: AffineFrame

    def ellipsoid(self, point: FloatArray) -> Ellipsoid:
        """Return the ellipsoid {x : q(u(x)) <= 0} of a point inside the system.

        Parameters
        ----------
        point
            y, shape ``(dimension,)``.
        """
        order = self.frame.dimension
        size = order * (order + 1) // 2
        shape, linear, constant = symmetric(point[:size]), point[size:-1] / 2.0, float(point[-1])
        try:
            root = np.linalg.cholesky(shape)
        except np.linalg.LinAlgError:
            raise InputError(
                "the point's matrix is not positive definite: it is not inside the system"
            ) from None
        offset = np.linalg.solve(root, linear)
        level = float(offset @ offset) - constant
        if not level > 0.0:
            raise InputError("the point's quadratic is nowhere negative: it is not inside")
        factor = root.T @ self.frame.basis.T
        return Ellipsoid(self.frame.shift, factor, offset).scaled(1.0 / level)


def separation_system(positives: Any, negatives: Any) -> SeparationSystem:
    """Return the system that has a point inside if and only if an ellipsoid separates the classes.

    Negatives off the affine hull of the positives restrict nothing and are left out.

    Parameters
    ----------
    positives, negatives
        Dense finite rows, shapes ``(m, k)`` with one k, at least one each.
    """
    inner, outer = two_classes(positives, negatives)
    frame = AffineFrame.of(inner, outer)
    if frame.outside.all():
        raise InputError(
            "no negative lies in the affine hull of the positives: every ratio is reached, and "
            "there is nothing to decide; MaximalSeparation shows the direction"
        )
    if not frame.dimension:
        raise InputError("all positives are equal, and equal to a negative: nothing separates them")
    order = frame.dimension
    features = [_features(frame.coordinates(part)) for part in (inner, outer[~frame.outside])]
    rows = np.vstack([-features[0], features[1]])
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    block, cone = _block(order, rows.shape[1])
    data = np.vstack([block, rows])
    return SeparationSystem(ConicSystem(Matrix(data), Product([cone, Orthant(len(rows))])), frame)


def _features(points: FloatArray) -> FloatArray:
    return np.hstack([squares(points), points, np.ones((len(points), 1))])


def _block(order: int, size: int) -> tuple[FloatArray, Semidefinite]:
    """Return the rows that pick the entries of A from y, and the cone, on all of its entries."""
    columns, rows = np.tril_indices(order)
    block = np.zeros((len(rows), size))
    block[np.arange(len(rows)), np.arange(len(rows))] = np.where(rows == columns, 1.0, np.sqrt(0.5))
    whole = np.lexsort((columns, rows))  # in the order of np.triu_indices, as completed cones have
    return block[whole], Semidefinite(order, rows[whole], columns[whole])
