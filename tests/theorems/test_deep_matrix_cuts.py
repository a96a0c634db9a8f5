"""Deep separation on matrices: both answers of the oracle are proved, and the theorem holds."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.rescaling.conic_rescaled_perceptron import (
    ConicRescaledPerceptron,
    EllipsoidalCones,
)
from perceptron_lab.algorithms.rescaling.deep_matrix_cuts import MatrixCone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import Status
from tests.families import complete_pattern, cones, planted_conic
from tests.repetitions import repeated
from tests.theorems.courses import SEEDS, ready


def planted_cone(seed: int, margin: float = 0.05) -> tuple[MatrixCone, ConicSystem]:
    rng = np.random.default_rng(seed)
    block = complete_pattern(int(rng.integers(2, 6)))
    system, _ = planted_conic(block, int(rng.integers(2, 6)), margin, rng)
    return cone_of(system), system


def cone_of(system: ConicSystem) -> MatrixCone:
    block, operator = system.cone, system.operator
    assert isinstance(block, Semidefinite)
    assert isinstance(operator, Matrix)
    return MatrixCone(block, np.asarray(operator.stored))


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=3))
def test_both_answers_are_proved(seed: int) -> None:
    """A cut holds on F and is as deep as said; a point without one is as near to F as said."""
    cone, system = planted_cone(seed, 10.0 ** -np.random.default_rng(seed).uniform(1, 4))
    rng, answers = np.random.default_rng(seed), set()
    members = [cone.centre]
    for _ in range(60):
        along = rng.standard_normal(system.dimension)
        point = cone.centre + rng.uniform(0.1, 3.0) * along / np.linalg.norm(along)
        slack = 10.0 ** rng.uniform(-3, -0.01) * float(np.linalg.norm(point))
        cut, nearest = cone.decide(point, slack)
        answers.add(cut is None)
        if nearest is not None:
            assert np.linalg.norm(nearest - point) <= slack * (1 + 1e-9)
            assert system.prove_point(nearest + 1e-9 * cone.centre).feasible
            members.append(nearest)
            continue
        assert cut is not None
        assert np.linalg.norm(cut.normal) == pytest.approx(1.0)
        assert cut.depth > slack
        assert cut.normal @ point == pytest.approx(-cut.depth)
        assert min(cut.normal @ member for member in members) >= -1e-9
    assert answers == {True, False}


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_matrices_of_order_2_are_second_order_cones(seed: int) -> None:
    """(a, b; b, c) is semidefinite iff norm((a - c)/2, b) <= (a + c)/2: the same depth."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    system, _ = planted_conic(complete_pattern(2), n, 0.01, rng)
    matrices = np.asarray(system.operator.stored)
    first, across, last = matrices
    cone = EllipsoidalCones([np.array([(first - last) / 2, across, (first + last) / 2])])
    decided = 0
    for _ in range(20):
        point = rng.standard_normal(n)
        if not len(cone.outside(point)):
            assert cone_of(system).decide(point, 1e-9).cut is None
            continue
        depth = float(np.linalg.norm(cone.residuals(point, np.array([0]))))
        deeper = cone_of(system).decide(point, depth * (1 - 1e-6)).cut
        assert deeper is not None
        assert deeper.depth == pytest.approx(depth, rel=2e-6)
        assert cone_of(system).decide(point, depth * (1 + 1e-6)).cut is None
        decided += 1
    assert decided


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_on_one_block_an_accepted_point_is_a_solution(seed: int) -> None:
    """dist(x, F) <= sigma < norm(x) has a witness in F other than 0: the oracle is a solver."""
    cone, system = planted_cone(seed)
    rng = np.random.default_rng(seed)
    for _ in range(100):
        point = rng.standard_normal(system.dimension)
        nearest = cone.decide(point, 0.5 * float(np.linalg.norm(point))).nearest
        if nearest is not None:
            assert np.linalg.norm(nearest) >= 0.4 * np.linalg.norm(point)
            assert system.prove_point(nearest + 1e-9 * cone.centre).feasible
            return
    pytest.fail("no point was accepted")


def test_a_cone_that_is_zero_has_cuts_everywhere() -> None:
    """A*y = diag(y_1, -y_1) is semidefinite only at y_1 = 0: every other point has the depth 1."""
    block = complete_pattern(2)
    cone = MatrixCone(block, np.array([[1.0], [0.0], [-1.0]]))
    assert cone.height <= 0.0
    for point in (np.array([1.0]), np.array([-1.0])):
        cut = cone.decide(point, 0.9).cut
        assert cut is not None
        assert cut.depth == pytest.approx(1.0)


def test_a_depth_that_equals_the_slack_is_an_error_and_no_guess() -> None:
    cone = MatrixCone(complete_pattern(2), np.array([[1.0], [0.0], [-1.0]]))
    with pytest.raises(NumericalError, match="cannot be distinguished from the slack"):
        cone.decide(np.array([1.0]), 1.0, allowance=-1e-3)


@pytest.mark.parametrize("kind", ["semidefinite", "product"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_tiny_margins_are_solved_within_theorem_4_4(seed: int, kind: str) -> None:
    """In expectation: no run of these seeds exceeds its bound, which the budget allows it to."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    margin = 10.0 ** -rng.uniform(2, 4)
    system, _ = planted_conic(cones()[kind], n, margin, rng)
    algorithm = ConicRescaledPerceptron()
    bound = algorithm.bound(ready(algorithm, system).facts(margin))
    assert bound.value is not None
    budget = Budget(updates=int(bound.value) + 1, seconds=100)
    result = solve(system, algorithm, seed=seed, budget=budget)
    assert result.status is Status.FEASIBLE
    assert result.updates <= bound.value
