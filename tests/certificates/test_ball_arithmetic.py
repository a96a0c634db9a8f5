"""Dikin's test in ball arithmetic: q against fractions, what it proves, and what it must not."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from perceptron_lab import Budget, solve
from perceptron_lab.certificates import representations
from perceptron_lab.certificates.infeasibility import prove_infeasible
from perceptron_lab.certificates.representations import near_by_balls
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from tests.certificates.exact_margins import rational
from tests.certificates.exact_weights import lies_in_dual_cone, nearest
from tests.families import complete_pattern, infeasible_conic, planted_conic
from tests.repetitions import repeated
from tests.solving.without_conflict import without_conflict

MIXED = Product([Orthant(4), SecondOrder(3), SecondOrder(4)])
WITH_MATRICES = Product([Orthant(2), SecondOrder(3), complete_pattern(3)])
EACH = pytest.mark.parametrize("cone", [MIXED, WITH_MATRICES], ids=["blocks", "matrices"])
SHAPES: dict[str, dict[str, Any]] = {
    "second-order": {"family": "second-order", "blocks": 12, "block_size": 5},
    "semidefinite": {"family": "semidefinite", "blocks": 3, "order": 6},
    "mixed": {"family": "mixed", "rows": 12, "blocks": 2, "block_size": 5, "order": 5},
}
SHAPED = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


def data_of(system: object) -> FloatArray:
    operator = system.operator  # type: ignore[attr-defined]
    return np.asarray(operator.stored, dtype=np.float64)


def twin(delta: float, seed: int, **sizes: int) -> ConditionedCones:
    return ConditionedCones(family="second-order", side="infeasible", delta=delta, **sizes)  # type: ignore[arg-type]


@EACH
@pytest.mark.parametrize("seed", repeated(range(30), kept=3))
def test_q_is_that_of_fractions(cone: Product, seed: int) -> None:
    """The bound is above q, by next to nothing, and the exact weights lie inside."""
    rng = np.random.default_rng(seed)
    system = infeasible_conic(cone, 4, rng)
    weights = solve(system, "interior-point").weights
    assert weights is not None
    shifted = weights * (1.0 + 1e-9 * rng.standard_normal(len(weights)))
    solution = near_by_balls(cone, data_of(system), shifted)
    assert solution is not None
    exact = nearest(cone, data_of(system), rational(solution[0]))
    assert exact is not None
    assert float(exact[1]) <= solution[1] <= float(exact[1]) * (1 + 1e-9) + 1e-60
    assert lies_in_dual_cone(cone, exact[0])


@pytest.mark.parametrize("seed", repeated([5, 8, *range(5)], kept=3))
def test_steps_lead_inside_from_weights_that_fail_the_test(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each block is moved by half of its distance to the boundary: q may be above 1 / 4."""
    sample, rng = (
        twin(1e-7, seed, blocks=3, block_size=4).generate(seed),
        np.random.default_rng(seed),
    )
    assert sample.weights is not None
    shifted = sample.weights.copy()
    for _, span in sample.cone.blocks:
        block = shifted[span]
        noise = rng.standard_normal(len(block))
        block += 0.5 * (block[-1] - np.linalg.norm(block[:-1])) * noise / np.linalg.norm(noise)
    recorded: list[float] = []
    test = representations._test

    def watched(*arguments: Any) -> Any:
        answer = test(*arguments)
        recorded.append(np.inf if answer is None else float(answer[0].mid()))
        return answer

    monkeypatch.setattr(representations, "_test", watched)
    solution = near_by_balls(sample.cone, sample.data, shifted)
    assert solution is not None
    assert recorded[-1] < 0.25
    assert all(later < before for before, later in itertools.pairwise(recorded))
    exact = nearest(sample.cone, sample.data, rational(solution[0]))
    assert exact is not None
    assert float(exact[1]) <= solution[1] < 1.0
    assert lies_in_dual_cone(sample.cone, exact[0])
    assert (len(recorded) > 1) == (seed in (5, 8))


def test_all_steps_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may take a second: fewer of them are made where each is large, and at least one."""
    sample = twin(1e-7, 0, blocks=4, block_size=4).generate(0)
    assert sample.weights is not None
    steps: list[int] = []
    monkeypatch.setattr(representations, "_stepped", lambda *arguments: steps.append(arguments[-1]))
    most, in_all = representations.MOST_PRODUCTS, representations.MOST_IN_ALL
    for each in (1000, most // 2, most, most + 1):
        monkeypatch.setattr(representations, "products", lambda *arguments, result=each: result)
        near_by_balls(sample.cone, sample.data, sample.weights)
    assert steps == [representations.STEPS, 2 * in_all // most, in_all // most]


@SHAPED
@pytest.mark.parametrize("delta", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_rounded_twins_are_infeasible_near_the_known_weights(
    shape: dict[str, Any], delta: float, seed: int
) -> None:
    """Doubles alone prove none of the last ones, and of second-order blocks none from 1e-6 on."""
    sample = ConditionedCones(side="infeasible", delta=delta, **shape).generate(seed)
    assert sample.weights is not None
    proof = prove_infeasible(Matrix(sample.data), sample.cone, sample.weights)
    assert proof is not None
    if delta < (1e-5 if shape["family"] == "second-order" else 1e-7):
        assert proof.method == "in Dikin's ellipsoid by ball arithmetic, q"
        assert proof.ratio < 1e-3
    again = prove_infeasible(Matrix(sample.data), sample.cone, proof.weights)
    assert again is not None


@pytest.mark.slow
@SHAPED
@pytest.mark.parametrize("delta", repeated([1e-5, 1e-8, 1e-6, 1e-7], kept=2))
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_auto_proves_twins_infeasible(shape: dict[str, Any], delta: float, seed: int) -> None:
    record = ConditionedCones(side="infeasible", delta=delta, **shape)
    with without_conflict():
        result = solve(record.problem(seed).system, "auto", budget=Budget(seconds=60))
    assert result.status is Status.INFEASIBLE, result.message


@pytest.mark.slow
@pytest.mark.parametrize("order", repeated([5, 20, 10, 30, 50], kept=2))
@pytest.mark.parametrize("seed", repeated(range(3), kept=1))
def test_auto_proves_twins_of_a_margin_of_a_hundred_millionth(order: int, seed: int) -> None:
    record = ConditionedCones(
        family="semidefinite", known="margin", side="infeasible", blocks=1, order=order, delta=1e-8
    )
    result = solve(record.problem(seed).system, "auto", budget=Budget(seconds=60))
    assert result.status is Status.INFEASIBLE, result.message


@EACH
@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
@pytest.mark.parametrize("margin", [1e-8, 1e-10, 1e-12])
def test_nothing_is_proved_where_there_is_a_point(cone: Product, seed: int, margin: float) -> None:
    """The weights attain the margin: norm(A w) is tiny, and no w has A w = 0."""
    rng = np.random.default_rng(seed)
    system, _ = planted_conic(cone, 4, margin, rng)
    result = solve(system, "projection-rescaling", budget=Budget(updates=3000))
    for weights in (result.weights, cone.identity * cone.multiplicity):
        assert weights is None or near_by_balls(cone, data_of(system), weights) is None


def test_the_proof_by_balls_is_skipped_where_it_cannot_succeed() -> None:
    record = twin(1e-6, 0, blocks=4, block_size=4)
    sample = record.generate(0)
    assert sample.weights is not None
    assert near_by_balls(sample.cone, sample.data, sample.weights) is not None
    assert near_by_balls(sample.cone, sample.data, np.zeros(16)) is None
    assert near_by_balls(sample.cone, sample.data, -sample.weights) is None
    far = sample.weights + 0.01 * np.random.default_rng(0).random(16)
    assert near_by_balls(sample.cone, sample.data, far) is None
    # numbers that were rounded when they were stored: q is about those stored
    large = twin(1e-7, 0, blocks=12, block_size=5).generate(0)
    assert large.weights is not None
    for roundings in (0, 1):
        operator = Matrix(large.data, roundings=roundings)
        proof = prove_infeasible(operator, large.cone, large.weights)
        assert (proof is None) == bool(roundings)
    # a matrix on a pattern: its other entries are free
    sparse = Product([Semidefinite(2, np.arange(2), np.arange(2)), SecondOrder(3)])
    data, weights = np.ones((5, 1)), np.array([1.0, 1.0, -1.0, -1.0, 2.0])
    assert np.abs(weights @ data).max() > 0.0 or near_by_balls(sparse, data, weights) is None
    weights[-1] = 0.0
    assert near_by_balls(sparse, data, weights) is None
