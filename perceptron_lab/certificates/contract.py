"""The interface of certificates on one kind of cone: points, weights, automorphisms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.base import Data
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.numerics.sparse_arrays import dense_array

ROWS_AT_A_TIME = 4096
# Data seen through an automorphism, shape (n, k)
Columns = FloatArray | sp.csc_array
Block = TypeVar("Block", bound=Cone)


class Automorphism(ABC):
    """An automorphism T of one block with w = T e, and the data seen through it, A T.

    T is defined by the doubles that represent it, so that w = T e lies inside the dual cone by
    construction. Elements are in isometric coordinates: weights divided by sqrt(multiplicity), in
    which the trace inner product is the plain dot product and norm(e)^2 is the rank.

    Attributes
    ----------
    indices
        Its positions in the flat coordinates, shape ``(k,)``.
    unit
        e in isometric coordinates, shape ``(k,)``, norm(e)^2 = rank.
    """

    indices: IntArray
    unit: FloatArray
    rank: int

    @abstractmethod
    def columns(self) -> tuple[Columns, float]:
        """Return fl(A T) in isometric coordinates, ``(n, k)``, and a bound of its error's norm."""

    @cached_property
    def image(self) -> tuple[Columns, float]:
        """``columns()``, computed once."""
        return self.columns()

    @abstractmethod
    def at_step(self, step: FloatArray) -> Self | None:
        """Return the automorphism at T (e + d), d isometric; None if T (e + d) is not inside."""

    @abstractmethod
    def weights(self) -> FloatArray:
        """Return T e, rounded, in flat coordinates."""

    def operations(self, unknowns: int) -> float:
        """Return the approximate operations of ``columns`` and of the product B B'."""
        return 2.0 * len(self.unit) * float(unknowns) ** 2


def times_transposed(columns: Columns) -> FloatArray:
    """Return fl(B B'), dense, for the columns of B."""
    product: Any = columns @ columns.T
    return dense_array(product)


def dense_rows(data: Data, at: IntArray, columns: IntArray) -> FloatArray:
    """Return rows of the data as a dense array, restricted to the given columns."""
    rows: Any = data[at]
    return dense_array(rows)[:, columns]


def used_columns(data: Data, support: IntArray) -> IntArray:
    """Return the unknowns with a nonzero coefficient in these rows; others have no equation."""
    if isinstance(data, sp.csr_array):
        rows = data[support]
        return np.unique(rows.indices[rows.data != 0]).astype(np.int64)
    nonzero = np.zeros(data.shape[1], dtype=bool)
    for start in range(0, len(support), ROWS_AT_A_TIME):
        nonzero |= data[support[start : start + ROWS_AT_A_TIME]].any(axis=0)
    return np.flatnonzero(nonzero)


@dataclass(frozen=True)
class PointProof:
    """A proof about a point.

    Parameters
    ----------
    feasible
        Whether A*point lies strictly inside the cone, without any doubt.
    margin_lower
        A proved lower bound of its margin, min over atoms of <atom, A*point> / norm(point).
    exact_rows
        Number of rows whose sign, or margin, took integer arithmetic.
    method
        In words, for the certificate.
    """

    feasible: bool
    margin_lower: float
    exact_rows: int
    method: str


class ConeProofs(ABC, Generic[Block]):
    """Verification on one block K of a product; the data of the block have ``(size, unknowns)``.

    ``roundings`` is 1 where the numbers meant were rounded once to be stored, else 0.
    """

    def __init__(self, cone: Block) -> None:
        self.cone = cone

    @property
    def compiled(self) -> Functions:
        """The compiled functions that these proofs call, except for products with the data."""
        return ()

    @abstractmethod
    def prove_point(
        self, data: Data, point: FloatArray, norms: FloatArray | None, roundings: int
    ) -> PointProof:
        """Prove that data @ point lies inside K, with a lower bound of its margin.

        Parameters
        ----------
        data, point
            Shapes ``(size, unknowns)`` and ``(unknowns,)``.
        norms
            The norms of the rows, where the margin is that of unit rows.
        """

    @abstractmethod
    def moved_inside(self, weights: FloatArray) -> FloatArray | None:
        """Return weights proved to lie in K*, near these; None where that cannot be proved."""

    @abstractmethod
    def atom_norm(self, data: FloatArray | sp.csr_array) -> float:
        """Return an upper bound of norm(A(atom)) over the atoms of K."""

    def support(self, weights: FloatArray) -> IntArray:
        """Return the coordinates that occur in A w = 0: all, or none if w = 0."""
        return np.arange(self.cone.size if weights.any() else 0)

    @abstractmethod
    def automorphisms(
        self, data: Data, columns: IntArray, at: IntArray, weights: FloatArray, roundings: int
    ) -> list[Automorphism] | None:
        """Return automorphisms T with w = T e; None if w is not inside K* or has missing entries.

        Parameters
        ----------
        data, used
            The rows of all blocks, and the unknowns that occur.
        at
            The flat coordinates of the support, shape ``(k,)``.
        weights
            w there, shape ``(k,)``.
        """

    def sparse_automorphisms(
        self, data: Data, columns: IntArray, at: IntArray, weights: FloatArray, roundings: int
    ) -> list[Automorphism] | None:
        """Return automorphisms that keep sparse data sparse; None for cones that mix rows."""
        return None
