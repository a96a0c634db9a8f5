"""A cone that the package does not know is added by its class, its proofs and one registration."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import solve
from perceptron_lab.certificates import by_cone
from perceptron_lab.certificates.contract import Automorphism, ConeProofs, PointProof
from perceptron_lab.certificates.rows.orthant import OrthantProofs
from perceptron_lab.cones.base import Atom, Cone, Oracles
from perceptron_lab.cones.operators.base import Data
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.core.results import FloatArray, IntArray, Status
from perceptron_lab.systems import ConicSystem

SIDES = np.array([[-1.0, 1.0], [1.0, 1.0]])
"""Rows: the two inequalities of the wedge."""


class Wedge(Cone):
    """{(a, b): |a| <= b}, e = (0, 1), atoms (-1, 1) and (1, 1)."""

    def __init__(self) -> None:
        self.size = self.rank = 2
        self.identity, self.multiplicity = np.array([0.0, 1.0]), np.full(2, 2.0)
        self.oracles: dict[str, Any] = {}

    def separate(self, scores: FloatArray, slack: float = 0.0) -> Atom | None:
        atom, value = self.deepest(scores)
        inside = value + slack >= 0.0 if slack > 0 else value + slack > 0.0
        return None if inside else atom

    def deepest(self, scores: FloatArray) -> tuple[Atom, float]:
        values = self.eigenvalues(scores)
        lowest = int(values.argmin())
        return Atom(slice(0, 2), SIDES[lowest]), float(values[lowest])

    def eigenvalues(self, scores: FloatArray) -> FloatArray:
        return np.asarray(SIDES @ scores)

    def spectrum(self, scores: FloatArray) -> tuple[FloatArray, None]:
        return self.eigenvalues(scores), None

    def assemble(self, eigenvalues: FloatArray, frame: None) -> FloatArray:
        return np.asarray(eigenvalues @ SIDES)

    def started(self, oracles: Oracles, rng: np.random.Generator) -> Self:
        return self


class WedgeProofs(ConeProofs[Wedge]):
    """Through the two rows: their entries are sums of those of the data, exact for small ones."""

    def prove_point(
        self, data: Data, point: FloatArray, norms: FloatArray | None, roundings: int
    ) -> PointProof:
        return OrthantProofs(Orthant(2)).prove_point(SIDES @ data, point, None, roundings)

    def moved_inside(self, weights: FloatArray) -> FloatArray | None:
        return weights if abs(weights[0]) <= weights[1] else None

    def atom_norm(self, data: FloatArray | sp.csr_array) -> float:
        return float(np.linalg.norm(SIDES @ data, axis=1).max())

    def automorphisms(
        self, data: Data, columns: IntArray, at: IntArray, weights: FloatArray, roundings: int
    ) -> list[Automorphism] | None:
        return None


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_cone, "_PROOFS", dict(by_cone._PROOFS))
    by_cone.register_proofs(Wedge, WedgeProofs)


@pytest.mark.parametrize("algorithm", ["perceptron", "smoothed-perceptron", "mirror-prox"])
@pytest.mark.parametrize("among_rows", [False, True])
def test_algorithms_and_proofs_take_it(algorithm: str, among_rows: bool) -> None:
    matrix = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [2.0, -1.0, 0.0]])
    cone = Product([Wedge(), Orthant(1)]) if among_rows else Wedge()
    operator = Matrix(matrix if among_rows else matrix[:2])
    result = solve(ConicSystem(operator, cone), algorithm)
    assert result.status is Status.FEASIBLE
    assert result.point is not None
    scores = matrix @ result.point
    assert abs(scores[0]) < scores[1]
    assert scores[2] > 0 or not among_rows
    assert result.margin_lower is not None
    assert 0.0 < result.margin_lower <= np.linalg.norm(matrix) * 2


def test_weights_bound_its_margin() -> None:
    system = ConicSystem(Matrix(np.array([[3.0], [1.0]])), Wedge())
    assert system.prove_weights(np.array([0.0, 1.0])) == pytest.approx(1.0)
    assert system.prove_weights(np.array([2.0, 1.0])) is None
    assert not system.prove_point(np.ones(1)).feasible
    assert system.prove_infeasible(np.array([0.0, 1.0])) is None
