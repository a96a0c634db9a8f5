"""What a kind of cone proves of points and weights on its own block of the data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import scipy.sparse as sp

from perceptron_lab.certificates.automorphisms import Automorphism
from perceptron_lab.cones.base import Cone
from perceptron_lab.operators.blockwise import Data
from perceptron_lab.results import FloatArray, IntArray

Block = TypeVar("Block", bound=Cone)


@dataclass(frozen=True)
class PointProof:
    """What is proved of a point.

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
    """Proofs on one block K of a product, the data of the block being rows ``(size, unknowns)``.

    ``roundings`` is 1 where the numbers meant were rounded once to be stored, else 0.
    """

    def __init__(self, cone: Block) -> None:
        self.cone = cone

    @abstractmethod
    def prove_point(
        self, data: Data, point: FloatArray, norms: FloatArray | None, roundings: int
    ) -> PointProof:
        """Prove that data @ point lies inside K, and how far.

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
        """Return the coordinates that take part in A w = 0: all, or none where w = 0."""
        return np.arange(self.cone.size if weights.any() else 0)

    @abstractmethod
    def automorphisms(
        self, data: Data, used: IntArray, at: IntArray, weights: FloatArray, roundings: int
    ) -> list[Automorphism] | None:
        """Return automorphisms T with w = T e; None where w is not inside K* or not whole.

        Parameters
        ----------
        data, used
            The rows of all blocks, and the unknowns that occur.
        at
            The flat coordinates of the support, shape ``(k,)``.
        weights
            w there, shape ``(k,)``.
        """
