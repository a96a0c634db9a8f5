"""Dikin's test with an orthogonal factor: it proves more, and nothing that is not true."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

from perceptron_lab.certificates import orthogonal_factor, representations
from perceptron_lab.certificates.infeasibility import prove_infeasible
from perceptron_lab.certificates.matrices import definite
from perceptron_lab.certificates.spectral_norm import largest_eigenvalue
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from tests.certificates.exact_weights import is_infeasible_near
from tests.certificates.small_systems import SMALL, feasible_data, nearly_null
from tests.repetitions import parts

TWINS: list[dict[str, Any]] = [
    {"family": "second-order", "blocks": 6, "block_size": 3, "delta": 1e-6},
    {"family": "semidefinite", "known": "margin", "blocks": 1, "order": 4, "delta": 1e-8},
    {"family": "mixed", "rows": 4, "blocks": 1, "block_size": 3, "order": 3, "delta": 1e-6},
]
IDS = ["second-order", "semidefinite", "mixed"]


@pytest.mark.parametrize("parameters", TWINS, ids=IDS)
def test_ill_conditioned_twins_are_proved_by_it_alone(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = ConditionedCones(**parameters, side="infeasible")
    monkeypatch.setattr(representations, "near_by_balls", lambda *arguments: None)  # of more digits
    needed = 0
    for seed in range(6):
        sample = record.generate(seed)
        assert sample.weights is not None
        operator = Matrix(sample.data)
        proof = prove_infeasible(operator, sample.cone, sample.weights)
        with monkeypatch.context() as patch:
            patch.setattr(orthogonal_factor, "ratio", lambda blocks: None)
            without = prove_infeasible(operator, sample.cone, sample.weights)
        if proof is None:
            assert without is None
            continue
        needed += without is None
        assert 0.0 <= proof.ratio < 1.0
        assert is_infeasible_near(sample.cone, sample.data, proof.weights)
    assert needed >= 3


@pytest.mark.parametrize("cone", SMALL.values(), ids=SMALL)
@pytest.mark.parametrize("seeds", parts(40, kept=5))
def test_feasible_systems_are_never_called_infeasible(
    cone: Cone, seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever their margin, and with this test on all of them."""
    monkeypatch.setattr(orthogonal_factor, "may_help", lambda *equations: True)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        margin = 10.0 ** rng.uniform(-15, -1)
        dimension = int(rng.integers(1, 4))
        data, point = feasible_data(cone, dimension, margin, rng)
        if not cone.lowest(data @ point) > margin / 2:
            continue
        weights = nearly_null(cone, data, rng) + 1e-9 * cone.multiplicity * cone.identity
        proof = prove_infeasible(Matrix(data), cone, weights)
        if proof is not None:  # rounding of the data may have made them infeasible
            assert is_infeasible_near(cone, data, proof.weights)


def test_eigenvalues_are_computed_where_lapack_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.diag([1.0, 2.0, 3.0]) + 0.1
    values = np.linalg.eigvalsh(matrix)

    def failing(*_: Any, **__: Any) -> None:
        raise scipy.linalg.LinAlgError("Internal Error.")

    monkeypatch.setattr(scipy.linalg, "eigh", failing)
    assert largest_eigenvalue(matrix) == pytest.approx(values[-1])
    assert definite.lowest_eigenvalue_bound(matrix) == pytest.approx(values[0])


def test_orthonormal_data_have_a_norm() -> None:
    """All eigenvalues of A'A are 1, but for rounding: LAPACK's MRRR fails on some of these."""
    record = ConditionedCones(family="semidefinite", known="margin", blocks=1, order=20, delta=0.01)
    norms = [record.problem(seed).facts.norm for seed in range(2)]
    assert all(0.0 < (norm or 0.0) <= 1.0 + 1e-6 for norm in norms)
