"""The geometric margin: half the distance of the classes' hulls, found, proved, and the same as
that of other solvers; its symmetries, and its answers where the hulls meet."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.margins.margin_bisection import MarginBisection
from perceptron_lab.algorithms.nearest_point.active_set import ACTIVE_SET
from perceptron_lab.algorithms.nearest_point.most_violated import VonNeumann
from perceptron_lab.algorithms.perceptrons.relaxed_perceptron import RelaxedPerceptron
from perceptron_lab.cones.operators.row_source import ArrayRows
from perceptron_lab.core.claims import NearlyWidest
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import MarginRatio
from perceptron_lab.core.results import FloatArray, Result, Status
from perceptron_lab.solving.verifier import Verifier
from tests.certificates.test_hull_proofs import bounds_half_the_distance, margin_is_at_least
from tests.repetitions import repeated

ALGORITHMS = ["auto", "minimum-norm-point"]
SEEDS = repeated(range(20), kept=2)


def separated(seed: int, gap: float = 0.2, examples: int = 60) -> tuple[FloatArray, FloatArray]:
    """Examples on both sides of a slab that does not hold the origin, and their signs."""
    rng = np.random.default_rng(seed)
    features = int(rng.integers(2, 9))
    data, normal = rng.standard_normal((examples, features)), rng.standard_normal(features)
    normal /= np.linalg.norm(normal)
    signs = np.where(data @ normal > 0.3, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    data += np.outer(signs * gap - np.minimum(signs * (data @ normal - 0.3), 0.0) * signs, normal)
    return data, signs


def widest(data: Any, signs: Any, epsilon: float = 1e-9, algorithm: str = "auto") -> Result:
    return solve(data, signs, algorithm, margin="geometric", goal={"margin_ratio": 1 - epsilon})


def assert_proved(result: Result, data: FloatArray, signs: FloatArray, epsilon: float) -> float:
    """The bracket of this ratio holds in exact arithmetic; its upper end."""
    assert result.status is Status.FEASIBLE
    assert result.goal_reached
    assert result.certificate["margin"] == "geometric"
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert result.weights is not None
    assert result.margin_lower >= (1 - epsilon) * result.margin_upper
    scores = signs * (data @ result.point[:-1] + result.point[-1])
    low = scores < 1.5 * scores.min()  # of the others doubles can tell
    assert margin_is_at_least(data[low], signs[low], result.point, result.margin_lower)
    assert bounds_half_the_distance(result.margin_upper, data, signs, result.weights)
    return result.margin_upper


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("epsilon", [1e-2, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("seed", repeated(range(20), kept=1))
def test_every_epsilon_is_proved(seed: int, epsilon: float, algorithm: str) -> None:
    data, signs = separated(seed, 10.0 ** -(seed % 4))
    assert_proved(widest(data, signs, epsilon, algorithm), data, signs, epsilon)


@pytest.mark.parametrize("seed", SEEDS)
def test_it_is_that_of_a_quadratic_program_and_of_libsvm(seed: int) -> None:
    data, signs = separated(seed)
    widest_pair = widest(data, signs)
    assert widest_pair.margin_upper is not None
    direction, shift = cp.Variable(data.shape[1]), cp.Variable()
    program = cp.Problem(
        cp.Minimize(cp.sum_squares(direction)),
        [cp.multiply(signs, data @ direction + shift) >= 1],
    )
    program.solve(solver="CLARABEL")
    assert widest_pair.margin_upper == pytest.approx(1 / np.linalg.norm(direction.value), rel=1e-6)
    machine = SVC(kernel="linear", C=1e6, tol=1e-6).fit(data, signs)
    assert widest_pair.margin_upper == pytest.approx(1 / np.linalg.norm(machine.coef_), rel=1e-3)
    unit = widest_pair.point / np.linalg.norm(widest_pair.point[:-1])
    assert unit[:-1] @ direction.value == pytest.approx(np.linalg.norm(direction.value), rel=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_its_symmetries(seed: int) -> None:
    """Moved, turned, repeated, permuted, relabelled data have the same; scaled ones in scale."""
    data, signs = separated(seed)
    rng = np.random.default_rng(seed)
    margin = widest(data, signs).margin_upper
    order, turn = rng.permutation(60), np.linalg.qr(rng.standard_normal((data.shape[1],) * 2))[0]
    data_sets: list[tuple[FloatArray, FloatArray]] = [
        (data + rng.standard_normal(data.shape[1]) * 100, signs),
        (data @ turn, signs),
        (np.repeat(data, 3, axis=0), np.repeat(signs, 3)),
        (data[order], signs[order]),
        (data, -signs),
        (
            np.vstack([data, 0.5 * (data[signs > 0][:1] + data[signs > 0][1:2])]),
            np.append(signs, 1),
        ),
        (np.column_stack([data, np.full(60, 7.0)]), signs),
    ]
    for examples, labels in data_sets:
        assert widest(examples, labels).margin_upper == pytest.approx(margin, rel=1e-8)
    for power in (2.0**-300, 2.0**-20, 2.0**300):
        assert margin is not None
        widest_pair = widest(data * power, signs)
        assert widest_pair.margin_upper == pytest.approx(margin * power, rel=1e-8)
        assert widest_pair.goal_reached


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_raw_breast_cancer(algorithm: str) -> None:
    """A margin of 4e-5 of examples as long as 5000: rounding stops Wolfe's algorithm."""
    data, labels = load_breast_cancer(return_X_y=True)
    signs = np.where(labels > 0, 1.0, -1.0)
    result = widest(data, signs, 1e-8, algorithm)
    margin = assert_proved(result, data, signs, 1e-8)
    assert margin == pytest.approx(4.1371368e-5)
    assert ACTIVE_SET in result.trace.phase


@pytest.mark.parametrize("seed", SEEDS)
def test_few_passes_are_made_over_many_examples(seed: int) -> None:
    """From the nearest points of a sample on, a round prices all examples once."""
    data, signs = separated(seed, 0.05, 20_000)
    rough, fine = widest(data, signs, 1e-2), widest(data, signs, 1e-6)
    assert rough.goal_reached
    assert fine.goal_reached
    assert rough.products <= fine.products <= 12
    assert fine.margin_lower is not None
    assert rough.margin_upper is not None
    assert fine.margin_lower <= rough.margin_upper


@pytest.mark.parametrize("seed", repeated(range(40), kept=8))
def test_a_ratio_beyond_rounding_ends_with_verified_bounds(seed: int) -> None:
    """The last word is said once, and is a bracket; not until the budget is spent."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((100, int(rng.integers(2, 6))))
    data *= 10.0 ** rng.uniform(-6, 6, data.shape[1])
    signs = np.where(data @ (rng.standard_normal(data.shape[1]) / abs(data).max(axis=0)) > 0, 1, -1)
    result = solve(
        data, signs, margin="geometric", goal={"margin_ratio": 1 - 1e-15}, budget=Budget(100, 20.0)
    )
    assert result.status is Status.FEASIBLE
    assert not result.goal_reached
    assert "the algorithm repeats its claim" in result.message
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert 0.999 * result.margin_upper < result.margin_lower < result.margin_upper


def overlapping(seed: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    return rng.standard_normal((40, int(rng.integers(1, 6)))), signs


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("goal", ["decide", {"margin_ratio": 0.99}])
@pytest.mark.parametrize("seed", SEEDS)
def test_hulls_that_meet_are_proved_to(seed: int, goal: Any, algorithm: str) -> None:
    data, signs = overlapping(seed)
    result = solve(data, signs, algorithm, margin="geometric", goal=goal)
    assert result.status is Status.INFEASIBLE
    assert result.goal_reached
    assert result.margin_upper == 0.0


@pytest.mark.parametrize(
    "algorithm",
    [MarginBisection(epochs=3, rounds=4), VonNeumann(epsilon=0.3), RelaxedPerceptron(sigma=0.3)],
)
@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_claims_of_unit_rows_are_not_claims_of_the_geometric_margin(
    seed: int, algorithm: Any
) -> None:
    data, signs = overlapping(seed)
    limited = Budget(updates=500)
    result = solve(10.0 * data, signs, algorithm, margin="geometric", budget=limited)
    assert result.status in (Status.INFEASIBLE, Status.MARGIN_BOUNDED, Status.UPDATE_LIMIT)
    assert result.certificate["claims_rejected"] == 0
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert result.margin_lower <= 0.0 <= result.margin_upper


def test_an_example_in_both_classes() -> None:
    data, signs = separated(0)
    result = widest(np.vstack([data, data[:1]]), np.append(signs, -signs[0]))
    assert result.status is Status.INFEASIBLE
    assert result.margin_upper == 0.0


def test_two_examples_and_a_single_feature() -> None:
    result = widest([[1.0], [4.0]], [1, 0])
    assert result.margin_lower == pytest.approx(1.5, rel=1e-14)
    assert result.margin_upper == pytest.approx(1.5, rel=1e-14)
    assert (result.point * 2 / result.point[1]).tolist() == pytest.approx([-0.8, 2.0])


@pytest.mark.parametrize("form", [sp.csr_array, ArrayRows, np.float32])
def test_other_forms_of_examples(form: Any) -> None:
    data, signs = separated(3)
    data = data.astype(np.float32).astype(np.float64)
    result = widest(form(data), signs, 1e-8)
    assert_proved(result, data, signs, 1e-8)


@pytest.mark.parametrize(
    "algorithm", ["perceptron", "cyclic-perceptron", "von-neumann", "whitened"]
)
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_other_algorithms_have_a_bracket_of_it(seed: int, algorithm: str) -> None:
    data, signs = separated(seed, 0.5)
    margin = widest(data, signs).margin_upper
    result = solve(data, signs, algorithm, margin="geometric", budget=Budget(updates=5000))
    assert result.status is Status.FEASIBLE
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert margin is not None
    assert 0 < result.margin_lower <= margin * (1 + 1e-9)
    assert result.margin_upper >= margin * (1 - 1e-9)
    assert result.bound.value is None or result.updates <= result.bound.value
    assert str(result).splitlines()[1].startswith("  geometric margin in [")
    assert result.trace.margin[-1] == pytest.approx(result.margin_lower, rel=1e-9)


def test_a_ratio_that_is_not_there_is_not_believed() -> None:
    data, signs = separated(1)
    system = ConicSystem.from_labelled(data, signs, margin="geometric")
    best, rough = widest(data, signs), solve(data, signs, "perceptron", margin="geometric")
    assert best.weights is not None
    verifier = Verifier(system, MarginRatio(0.999))
    claim = NearlyWidest(rough.point, best.weights)
    assert verifier._settle_widest(claim) is None
    assert "its ratio is not" in verifier.message
    assert verifier._settle_widest(NearlyWidest(best.point, best.weights)) is Status.FEASIBLE


DATA, SIGNS = separated(0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: solve(DATA, margin="geometric"), "of rows, which have no classes; give examples"),
        (lambda: solve(DATA, abs(SIGNS), margin="geometric"), "labels take 1 value, 1.0; give"),
        (lambda: solve(DATA * np.nan, SIGNS, margin="geometric"), "row 0 holds NaN or infinity"),
        (lambda: solve(DATA * 1e200, SIGNS, margin="geometric"), "has a norm outside 1e-150"),
        (
            lambda: solve(ConicSystem.from_rows(DATA), margin="geometric"),
            "of a conic system, which has its own; leave it out",
        ),
        (
            lambda: ConicSystem.from_labelled(DATA, SIGNS, margin="geometric", augment=2.0),
            "its bias is free: leave both out",
        ),
        (
            lambda: ConicSystem.from_labelled(DATA, SIGNS, margin="geometric", affine=False),
            "its bias is free: leave both out",
        ),
    ],
)
def test_invalid_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
