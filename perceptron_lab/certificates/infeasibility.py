"""Proof that no strictly feasible point exists: exact weights with A w = 0, near computed ones.

For w inside K* let T be an automorphism of the cone with w = T e, B = A T and r = A w. The step d
of least norm with B d = -r has norm(d)^2 = q = r'(B B')^-1 r. If q < 1, then e + d is inside the
cone (all its eigenvalues are positive), so w' = T (e + d) is inside K*, not zero, and A w' = 0
exactly: by Gordan's theorem of the alternative no y has A*y inside K. This is Dikin's ellipsoid
around w.

The computed weights only have to be near such a w'. First the step is taken in floating point until
r vanishes to rounding; then q <= norm(r)^2 / lambda_min(B B') is evaluated with every rounding
error bounded. T is defined by the doubles that represent it, so that w = T e lies inside K* by
construction: diag(x) for rows, L . L' for matrices with the triangular L, the quadratic
representation of an interior v for second-order blocks.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from perceptron_lab.certificates.definite import lowest_eigenvalue_bound
from perceptron_lab.certificates.rounding import (
    SMALLEST,
    UNIT_ROUNDOFF,
    above,
    gamma,
    in_range,
    norm_above,
    normalised,
)
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.operators.base import Operator
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray, IntArray

STEPS = 8
"""Floating-point steps towards A w = 0 at most."""
SHIFTS = (0.0, 1e-6, 1e-3, 0.1)
"""Multiples of e, relative to the weights, by which they are moved inside."""
MOST_OPERATIONS = 2e11
"""A test that would take more operations than this is not tried."""
SHORTEST = 1e-150
"""Roots of second-order weights below this are not used: their squares would underflow."""
_ROWS = 4096
"""Rows treated at a time."""


@dataclass(frozen=True)
class InfeasibilityProof:
    """What proves that no point is strictly feasible.

    Parameters
    ----------
    weights
        Doubles near the exact weights, flat, shape ``(size,)``; zero outside the support.
    ratio
        An upper bound of q < 1.
    """

    weights: FloatArray
    ratio: float


def prove_infeasible(
    operator: Operator, cone: Cone, weights: FloatArray
) -> InfeasibilityProof | None:
    """Prove that exact weights with A w = 0 exist near these; None where that does not succeed.

    Rows and blocks whose weights vanish are left out: a subset without a solution suffices. Where
    that fails, the weights are tried after a move inside, by growing multiples of e. For kernels,
    whose features are never formed, nothing is proved.

    Parameters
    ----------
    operator, cone
        The original data, unscaled.
    weights
        Flat, shape ``(size,)``.
    """
    if operator.scale is not None:
        raise ValueError("proofs are on the original data: the operator must have no scale")
    ray = normalised(weights) if weights.shape == (cone.size,) else None
    if ray is None or not isinstance(operator, Matrix):
        return None
    ray = ray / np.abs(ray).max()
    centre = cone.multiplicity * cone.identity
    if isinstance(cone, Orthant) and in_range(operator.row_norms()):
        centre = centre / operator.row_norms()
    centre *= float(ray @ cone.identity) / float(centre @ cone.identity)
    attempts = (_prove_at(operator, cone, ray + shift * centre) for shift in SHIFTS)
    return next((proof for proof in attempts if proof is not None), None)


def _prove_at(operator: Matrix, cone: Cone, weights: FloatArray) -> InfeasibilityProof | None:
    used = _used_columns(operator.data)
    blocks = _blocks(operator.data, cone, weights, used)
    if not blocks or not len(used):
        return None
    if sum(block.operations(len(used)) for block in blocks) > MOST_OPERATIONS:
        return None
    polished = _polished(blocks)
    ratio = None if polished is None else _ratio(polished)
    if polished is None or ratio is None or not ratio < 1.0:
        return None
    flat = np.zeros(cone.size)
    for block in polished:
        flat[block.place] = block.weights()
    return InfeasibilityProof(flat, ratio)


def _polished(blocks: list[_Block]) -> list[_Block] | None:
    """Step towards A w = 0 in floating point; None if a step leaves the cone."""
    for _ in range(STEPS):
        product, residual = _normal_equations(blocks)
        try:
            multipliers = scipy.linalg.cho_solve(scipy.linalg.cho_factor(product), residual)
        except (scipy.linalg.LinAlgError, ValueError):
            return None
        square = float(residual @ multipliers)
        if not 0.0 <= square < 1.0:
            return None
        moved = [block.moved(-(block.columns()[0].T @ multipliers)) for block in blocks]
        blocks = [block for block in moved if block is not None]
        if len(blocks) < len(moved):
            return None
        if square < 1e-20:
            break
    return blocks


def _normal_equations(blocks: list[_Block]) -> tuple[FloatArray, FloatArray]:
    """Return B B' and r = B e, computed."""
    first, *others = blocks
    columns = first.columns()[0]
    product, residual = columns @ columns.T, columns @ first.unit
    for block in others:
        columns = block.columns()[0]
        product += columns @ columns.T
        residual += columns @ block.unit
    return product, residual


def _ratio(blocks: list[_Block]) -> float | None:
    """Return an upper bound of q, or None where B B' cannot be proved positive definite."""
    product, residual = _normal_equations(blocks)
    length, error, rank, terms = 0.0, 0.0, 0, 0
    for block in blocks:
        columns, wrong = block.columns()
        length, error = math.hypot(length, norm_above(columns)), math.hypot(error, wrong)
        rank, terms = rank + block.rank, terms + columns.shape[1] + 1
    product = (product + product.T) / 2.0
    length, error = above(length, terms), above(error, terms)
    # |fl(BB') - BB'| <= gamma |B||B|', and B itself is known up to ``error`` in Frobenius norm
    wrong = gamma(terms + 3) * length * length + 2.0 * error * length + error * error
    wrong += terms * product.size * SMALLEST  # underflow
    lowest = math.nextafter(lowest_eigenvalue_bound(product) - above(wrong, 4), -math.inf)
    if not lowest > 0.0:
        return None
    missing = (gamma(terms + 3) * length + error) * math.sqrt(rank) + terms * SMALLEST
    longest = norm_above(residual) + above(missing, 4)
    return above(longest * longest / lowest, 4)


def _used_columns(data: FloatArray | sp.csr_array) -> IntArray:
    """Return the unknowns that occur at all: the others have no equation."""
    if isinstance(data, np.ndarray):
        return np.flatnonzero(data.any(axis=0))
    return np.unique(data.indices[data.data != 0]).astype(np.int64)


def _blocks(
    data: FloatArray | sp.csr_array, cone: Cone, weights: FloatArray, used: IntArray
) -> list[_Block] | None:
    """Return the blocks at these weights; None where they do not lie inside the cone."""
    parts = [(cone, slice(0, cone.size))]
    if isinstance(cone, Product):
        parts = list(zip(cone.parts, cone.spans, strict=True))
    blocks: list[_Block] = []
    for part, span in parts:
        if isinstance(part, Orthant):
            support = span.start + np.flatnonzero(weights[span] > 0)
            pieces = [support[k : k + _ROWS] for k in range(0, len(support), _ROWS)]
            blocks += [_Rows(at, data, used, weights[at]) for at in pieces]
            continue
        at = np.arange(span.start, span.stop)
        if not weights[at].any():
            continue
        block = _at(part, at, _dense(data, at, used), weights[at])
        if block is None:
            return None
        blocks.append(block)
    return blocks


def _at(part: Cone, at: IntArray, rows: FloatArray, weights: FloatArray) -> _Block | None:
    if isinstance(part, SecondOrder):
        return _SecondOrderBlock.at(at, rows, weights)
    if isinstance(part, Semidefinite) and part.complete:
        return _MatrixBlock.at(at, part, rows, part.matrix(weights / part.multiplicity))
    return None


def _dense(data: FloatArray | sp.csr_array, at: IntArray, used: IntArray) -> FloatArray:
    rows = data[at]
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows)[:, used]


class _Block(ABC):
    """One block at the weights w = T e.

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
        return 2.0 * STEPS * len(self.unit) * unknowns**2


@dataclass
class _Rows(_Block):
    """T = diag(x), x > 0; w = x. The rows are taken from the data when they are needed."""

    place: IntArray
    data: FloatArray | sp.csr_array
    used: IntArray
    positive: FloatArray

    def __post_init__(self) -> None:
        self.unit, self.rank = np.ones(len(self.positive)), len(self.positive)

    def columns(self) -> tuple[FloatArray, float]:
        columns = (_dense(self.data, self.place, self.used) * self.positive[:, None]).T
        return columns, 2.0 * UNIT_ROUNDOFF * norm_above(columns) + columns.size * SMALLEST

    def moved(self, step: FloatArray) -> Self | None:
        positive = self.positive * (1.0 + step)
        inside = bool((positive > 0).all())
        return type(self)(self.place, self.data, self.used, positive) if inside else None

    def weights(self) -> FloatArray:
        return self.positive


@dataclass
class _MatrixBlock(_Block):
    """T Z = L Z L', L lower triangular with positive diagonal; w = L L'."""

    place: IntArray
    cone: Semidefinite
    rows: FloatArray
    factor: FloatArray

    def __post_init__(self) -> None:
        self.unit, self.rank = self.cone.identity, self.cone.rank

    @classmethod
    def at(
        cls, place: IntArray, cone: Semidefinite, rows: FloatArray, matrix: FloatArray
    ) -> Self | None:
        try:
            factor = scipy.linalg.cholesky(matrix, lower=True)
        except (scipy.linalg.LinAlgError, ValueError):
            return None
        return cls(place, cone, rows, factor) if (factor.diagonal() > 0).all() else None

    def columns(self) -> tuple[FloatArray, float]:
        root, magnitude = np.sqrt(self.cone.multiplicity), np.abs(self.factor)
        columns, length = np.empty(self.rows.T.shape), 0.0
        for i, entries in enumerate(self.rows.T):
            matrix = self.cone.matrix(entries)
            image = self.factor.T @ matrix @ self.factor
            columns[i] = image[self.cone.rows, self.cone.columns] * root
            length = math.hypot(length, norm_above(magnitude.T @ np.abs(matrix) @ magnitude))
        # two products of ``rank`` terms each, then sqrt 2 and one rounding
        wrong = gamma(2 * self.rank + 8) * above(length, 2 * self.rank + len(columns))
        wrong = above(wrong, 4) + 2.0 * UNIT_ROUNDOFF * norm_above(columns)
        return columns, wrong + 4.0 * self.rank * columns.size * SMALLEST

    def moved(self, step: FloatArray) -> Self | None:
        change = self.cone.matrix(step / np.sqrt(self.cone.multiplicity))
        matrix = self.factor @ (np.eye(self.rank) + change) @ self.factor.T
        return type(self).at(self.place, self.cone, self.rows, (matrix + matrix.T) / 2.0)

    def weights(self) -> FloatArray:
        whole = self.factor @ self.factor.T
        return np.asarray(whole[self.cone.rows, self.cone.columns] * self.cone.multiplicity)

    def operations(self, unknowns: int) -> float:
        return super().operations(unknowns) + 10.0 * STEPS * unknowns * self.rank**3


@dataclass
class _SecondOrderBlock(_Block):
    """T = Q_v = 2 v v' - det(v) R, R = diag(-1, .., -1, 1), v inside the cone; w = 2 Q_v e."""

    place: IntArray
    rows: FloatArray
    root: FloatArray

    def __post_init__(self) -> None:
        self.rank, self.unit = 2, np.zeros(len(self.root))
        self.unit[-1] = math.sqrt(2.0)

    @classmethod
    def at(cls, place: IntArray, rows: FloatArray, weights: FloatArray) -> Self | None:
        """Return the block at v = the square root of the element w / 2 in the Jordan algebra."""
        cone, element = SecondOrder(len(weights)), weights / 2.0
        values, direction = cone.spectrum(element)
        if not values[0] > 0.0:
            return None
        root = cone.assemble(np.sqrt(values), direction) / cone.multiplicity
        inside = max(norm_above(root[:-1]), SHORTEST) < root[-1]
        return cls(place, rows, root) if inside else None

    def _representation(self) -> FloatArray:
        v = self.root
        reflection = np.append(-np.ones(len(v) - 1), 1.0)
        determinant = (v[-1] - np.linalg.norm(v[:-1])) * (v[-1] + np.linalg.norm(v[:-1]))
        return np.asarray(2.0 * np.outer(v, v) - determinant * np.diag(reflection))

    def columns(self) -> tuple[FloatArray, float]:
        columns = math.sqrt(2.0) * (self.rows.T @ self._representation())
        size = np.abs(self.root)
        largest = 2.0 * np.outer(size, size) + 2.0 * float(size @ size) * np.eye(len(size))
        wrong = norm_above(np.abs(self.rows).T @ largest)
        wrong = above(2.0 * gamma(4 * len(size) + 20) * wrong, len(size))
        return columns, wrong + 4.0 * len(size) * columns.size * SMALLEST

    def moved(self, step: FloatArray) -> Self | None:
        element = self._representation() @ ((self.unit + step) / math.sqrt(2.0))
        return type(self).at(self.place, self.rows, 2.0 * element)

    def weights(self) -> FloatArray:
        return 2.0 * self._representation()[:, -1]
