"""Automorphisms T of the blocks of a cone with w = T e, and the data seen through them, A T.

T is defined by the doubles that represent it, so that w = T e lies inside the dual cone by
construction. Elements are in isometric coordinates: weights divided by sqrt(multiplicity), in which
the trace inner product is the plain dot product and norm(e)^2 is the rank.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from perceptron_lab.certificates.enclosures.rounding import (
    SMALLEST,
    UNIT_ROUNDOFF,
    above,
    gamma,
    norm_above,
)
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.operators.blockwise import Data
from perceptron_lab.results import FloatArray, IntArray

SHORTEST = 1e-150
"""Roots of second-order weights below this are not used: their squares would underflow."""
_ROWS = 4096
"""Rows looked at at a time."""


class Block(ABC):
    """One block at the weights w = T e; the data may have been rounded once (``roundings``).

    Attributes
    ----------
    place
        Where it lies in the flat coordinates.
    unit
        e in isometric coordinates, shape ``(k,)``, norm(e)^2 = rank.
    """

    place: IntArray
    unit: FloatArray
    rank: int

    @abstractmethod
    def columns(self) -> tuple[FloatArray, float]:
        """Return fl(A T) in isometric coordinates, ``(n, k)``, and a bound of its error's norm."""

    @abstractmethod
    def moved(self, step: FloatArray) -> Self | None:
        """Return the block at T (e + d) for a step d in isometric coordinates."""

    @abstractmethod
    def weights(self) -> FloatArray:
        """Return T e, rounded, in flat coordinates."""

    def operations(self, unknowns: int) -> float:
        """Return about how many operations ``columns`` and its product take."""
        return 2.0 * len(self.unit) * float(unknowns) ** 2


@dataclass
class RowsBlock(Block):
    """T = diag(x), x > 0; w = x. The rows are taken from the data when they are needed."""

    place: IntArray
    data: Data
    used: IntArray
    positive: FloatArray
    roundings: int = 0

    def __post_init__(self) -> None:
        self.unit, self.rank = np.ones(len(self.positive)), len(self.positive)

    def columns(self) -> tuple[FloatArray, float]:
        """Return fl(A T) and a bound of its error."""
        columns = (dense_rows(self.data, self.place, self.used) * self.positive[:, None]).T
        return columns, (2.0 + 2.0 * self.roundings) * UNIT_ROUNDOFF * norm_above(
            columns
        ) + columns.size * SMALLEST

    def moved(self, step: FloatArray) -> Self | None:
        """Return the block at T (e + d), or None where that is not inside."""
        positive = self.positive * (1.0 + step)
        inside = bool((positive > 0).all())
        moved = type(self)(self.place, self.data, self.used, positive, self.roundings)
        return moved if inside else None

    def weights(self) -> FloatArray:
        """Return T e, rounded."""
        return self.positive


@dataclass
class MatrixBlock(Block):
    """T Z = L Z L', L lower triangular with positive diagonal; w = L L'."""

    place: IntArray
    cone: Semidefinite
    rows: FloatArray
    factor: FloatArray
    roundings: int = 0

    def __post_init__(self) -> None:
        self.unit, self.rank = self.cone.identity, self.cone.rank

    @classmethod
    def at(
        cls,
        place: IntArray,
        cone: Semidefinite,
        rows: FloatArray,
        matrix: FloatArray,
        roundings: int,
    ) -> Self | None:
        """Return the block at the Cholesky factor of a matrix; None where it has none."""
        try:
            factor = scipy.linalg.cholesky(matrix, lower=True)
        except (scipy.linalg.LinAlgError, ValueError):
            return None
        inside = bool((factor.diagonal() > 0).all())
        return cls(place, cone, rows, factor, roundings) if inside else None

    def columns(self) -> tuple[FloatArray, float]:
        """Return fl(A T) and a bound of its error."""
        root, magnitude = np.sqrt(self.cone.multiplicity), np.abs(self.factor)
        columns, length = np.empty(self.rows.T.shape), 0.0
        for i, entries in enumerate(self.rows.T):
            matrix = self.cone.matrix(entries)
            image = self.factor.T @ matrix @ self.factor
            columns[i] = image[self.cone.rows, self.cone.columns] * root
            length = math.hypot(length, norm_above(magnitude.T @ np.abs(matrix) @ magnitude))
        # two products of ``rank`` terms each, then sqrt 2 and one rounding; before, those of F_i
        wrong = gamma(2 * self.rank + 8 + 2 * self.roundings) * above(
            length, 2 * self.rank + len(columns)
        )
        wrong = above(wrong, 4) + 2.0 * UNIT_ROUNDOFF * norm_above(columns)
        return columns, wrong + 4.0 * self.rank * columns.size * SMALLEST

    def moved(self, step: FloatArray) -> Self | None:
        """Return the block at T (e + d), or None where that is not inside."""
        change = self.cone.matrix(step / np.sqrt(self.cone.multiplicity))
        matrix = self.factor @ (np.eye(self.rank) + change) @ self.factor.T
        matrix = (matrix + matrix.T) / 2.0
        return type(self).at(self.place, self.cone, self.rows, matrix, self.roundings)

    def weights(self) -> FloatArray:
        """Return T e, rounded."""
        whole = self.factor @ self.factor.T
        return np.asarray(whole[self.cone.rows, self.cone.columns] * self.cone.multiplicity)

    def operations(self, unknowns: int) -> float:
        """Return about how many operations ``columns`` and its product take."""
        return super().operations(unknowns) + 10.0 * unknowns * float(self.rank) ** 3


@dataclass
class SecondOrderBlock(Block):
    """T = Q_v = 2 v v' - det(v) R, R = diag(-1, .., -1, 1), v inside the cone; w = 2 Q_v e."""

    place: IntArray
    rows: FloatArray
    root: FloatArray
    roundings: int = 0

    def __post_init__(self) -> None:
        self.rank, self.unit = 2, np.zeros(len(self.root))
        self.unit[-1] = math.sqrt(2.0)

    @classmethod
    def at(
        cls, place: IntArray, rows: FloatArray, weights: FloatArray, roundings: int
    ) -> Self | None:
        """Return the block at v = the square root of the element w / 2 in the Jordan algebra."""
        cone, element = SecondOrder(len(weights)), weights / 2.0
        values, direction = cone.spectrum(element)
        if not values[0] > 0.0:
            return None
        root = cone.assemble(np.sqrt(values), direction) / cone.multiplicity
        inside = max(norm_above(root[:-1]), SHORTEST) < root[-1]
        return cls(place, rows, root, roundings) if inside else None

    def _representation(self) -> FloatArray:
        v = self.root
        reflection = np.append(-np.ones(len(v) - 1), 1.0)
        determinant = (v[-1] - np.linalg.norm(v[:-1])) * (v[-1] + np.linalg.norm(v[:-1]))
        return np.asarray(2.0 * np.outer(v, v) - determinant * np.diag(reflection))

    def columns(self) -> tuple[FloatArray, float]:
        """Return fl(A T) and a bound of its error."""
        columns = math.sqrt(2.0) * (self.rows.T @ self._representation())
        size = np.abs(self.root)
        largest = 2.0 * np.outer(size, size) + 2.0 * float(size @ size) * np.eye(len(size))
        wrong = norm_above(np.abs(self.rows).T @ largest)
        terms = 4 * len(size) + 20 + 2 * self.roundings
        wrong = above(2.0 * gamma(terms) * wrong, len(size))
        return columns, wrong + 4.0 * len(size) * columns.size * SMALLEST

    def moved(self, step: FloatArray) -> Self | None:
        """Return the block at T (e + d), or None where that is not inside."""
        element = self._representation() @ ((self.unit + step) / math.sqrt(2.0))
        return type(self).at(self.place, self.rows, 2.0 * element, self.roundings)

    def weights(self) -> FloatArray:
        """Return T e, rounded."""
        return 2.0 * self._representation()[:, -1]


def block_at(
    part: Cone, at: IntArray, rows: FloatArray, weights: FloatArray, roundings: int
) -> Block | None:
    """Return the block of a second-order or whole matrix cone at weights inside it, or None."""
    if isinstance(part, SecondOrder):
        return SecondOrderBlock.at(at, rows, weights, roundings)
    if isinstance(part, Semidefinite) and part.complete:
        matrix = part.matrix(weights / part.multiplicity)
        return MatrixBlock.at(at, part, rows, matrix, roundings)
    return None


def dense_rows(data: Data, at: IntArray, used: IntArray) -> FloatArray:
    """Return some rows of the data, dense, with the columns that are used."""
    rows: Any = data[at]
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray())[:, used]


def used_columns(data: Data, support: IntArray) -> IntArray:
    """Return the unknowns that occur in these coordinates: the others have no equation."""
    if isinstance(data, sp.csr_array):
        rows = data[support]
        return np.unique(rows.indices[rows.data != 0]).astype(np.int64)
    used = np.zeros(data.shape[1], dtype=bool)
    for start in range(0, len(support), _ROWS):
        used |= data[support[start : start + _ROWS]].any(axis=0)
    return np.flatnonzero(used)
