"""Changes of the data that change nothing they should not: inner products alone, rotations, scales,
permutations, duplicates."""

from __future__ import annotations

from dataclasses import fields
from itertools import zip_longest
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.cones.operators.kernels import Linear
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core import registry
from perceptron_lab.core.claims import FeasiblePoint, MarginBelow
from perceptron_lab.core.results import FloatArray, Status
from tests.conformance.systems import ALGORITHMS, ANY_CONE, DENSE_ONLY
from tests.families import cones, infeasible, planted, planted_conic
from tests.repetitions import repeated, thinned
from tests.theorems.courses import first_claim, ready, walk

pytestmark = pytest.mark.slow

ADDITIVE = [
    "perceptron",
    "normalized-perceptron",
    "von-neumann",
    "smoothed-perceptron",
    "smoothed-von-neumann",
    "iterated-smoothed-von-neumann",
    "mirror-prox",
    "adaptive-mirror-prox",
]
"""Deterministic algorithms that only add and scale points and take inner products."""
IN_COORDINATES = [
    "space-dilation",
    "ellipsoid",
    "relaxed-perceptron",
    "rescaled-perceptron",
    "winnow",
]
FROM_ZERO = ["perceptron", "normalized-perceptron", "space-dilation", "ellipsoid"]
"""Deterministic algorithms whose first cut is the first row: all scores are 0 at the start."""
ENTROPIC = ["smoothed-perceptron", "mirror-prox", "adaptive-mirror-prox"]
FROM_THE_CENTRE = [name for name in ADDITIVE if name not in FROM_ZERO]
DECIDED = {Status.FEASIBLE, Status.INFEASIBLE, Status.MARGIN_BOUNDED}


def record(name: str) -> Any:
    return registry.load("algorithm", name)()


def signed(rows: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    """Examples and labels whose signed features the rows are."""
    labels = np.random.default_rng(seed).choice([-1.0, 1.0], len(rows))
    labels[:2] = 1.0, -1.0
    return rows * labels[:, None], labels


def data_of(feasible: bool, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    if feasible:
        return planted(4, 30, 0.03, rng)[0] * rng.uniform(0.5, 2.0, (30, 1))
    return infeasible(4, 30, rng)


# --- inner products alone ------------------------------------------------------------------------


@pytest.mark.parametrize("feasible", [True, False])
@pytest.mark.parametrize("algorithm", ADDITIVE)
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_the_linear_kernel_has_the_iterates_of_its_rows(
    seed: int, algorithm: str, feasible: bool
) -> None:
    """To rounding: 80 iterates, scores, norms and weights, and where it ends."""
    rows = data_of(feasible, seed)
    plain = ready(record(algorithm), ConicSystem.from_rows(rows))
    kernel = ready(record(algorithm), ConicSystem.from_kernel(Linear(), *signed(rows, seed)))
    courses = (walk(record(algorithm), system, 80) for system in (plain, kernel))
    for left, right in zip_longest(*courses):
        assert (left.updates, left.iterations, left.phase) == (
            right.updates,
            right.iterations,
            right.phase,
        )
        scores = plain.operator.scores(left.point)
        assert kernel.operator.scores(right.point) == pytest.approx(scores, rel=1e-7, abs=1e-9)
        assert kernel.norm(right.point) == pytest.approx(plain.norm(left.point), rel=1e-7, abs=1e-9)
        assert right.weights == pytest.approx(left.weights, rel=1e-6, abs=1e-9)
        coefficients = kernel.operator.compact(right.point)
        assert coefficients @ rows == pytest.approx(left.point, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("algorithm", ADDITIVE)
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_the_linear_kernel_has_the_same_answer_and_proof(seed: int, algorithm: str) -> None:
    rows = data_of(True, seed)
    plain = solve(rows, algorithm)
    kernel = solve(ConicSystem.from_kernel(Linear(), *signed(rows, seed)), algorithm)
    assert plain.status is kernel.status is Status.FEASIBLE
    assert plain.updates == kernel.updates
    assert plain.queries == kernel.queries
    assert kernel.point @ rows == pytest.approx(plain.point, rel=1e-6, abs=1e-9)
    assert kernel.margin_lower == pytest.approx(plain.margin_lower, rel=1e-6, abs=1e-9)
    if plain.margin_upper is not None:
        assert kernel.margin_upper == pytest.approx(plain.margin_upper, rel=1e-6)


@pytest.mark.parametrize("algorithm", IN_COORDINATES)
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_other_algorithms_run_on_coordinates_and_are_verified(seed: int, algorithm: str) -> None:
    rows = data_of(True, seed)
    system = ConicSystem.from_kernel(Linear(), *signed(rows, seed))
    assert ready(record(algorithm), system).dimension == 4  # the rank
    result = solve(system, algorithm, seed=seed)
    relaxed = algorithm == "relaxed-perceptron"
    assert result.status in (DECIDED if relaxed else {Status.FEASIBLE})
    assert result.proved
    assert result.point.shape == (30,)
    if result.status is Status.FEASIBLE:
        assert (rows @ (result.point @ rows) > 0).all()


@pytest.mark.parametrize("algorithm", ["space-dilation", "ellipsoid"])
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_deterministic_algorithms_do_not_see_the_choice_of_coordinates(
    seed: int, algorithm: str
) -> None:
    rows = data_of(True, seed)
    kernel = solve(ConicSystem.from_kernel(Linear(), *signed(rows, seed)), algorithm)
    plain = solve(rows, algorithm)
    assert kernel.updates == plain.updates
    assert kernel.point @ rows == pytest.approx(plain.point, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("algorithm", thinned(ALGORITHMS, step=3))
def test_a_kernel_matrix_stands_for_its_kernel(algorithm: str) -> None:
    examples, labels = signed(data_of(True, 0), 0)
    formed = ConicSystem.from_kernel(Linear(), examples, labels)
    by_kernel = ConicSystem.from_kernel("precomputed", examples @ examples.T, labels)
    first, second = (solve(system, algorithm, seed=4) for system in (formed, by_kernel))
    assert first.updates == second.updates
    # LIBLINEAR stops at a tolerance of its own, and goes another way there after another rounding.
    close = 1e-2 if algorithm == "linear-svc" else 1e-6
    # The last bit of a bound may decide which multiple of a point is returned.
    ones, twos = (result.point / np.linalg.norm(result.point) for result in (first, second))
    assert ones == pytest.approx(twos, rel=close, abs=1e-9)


# --- rotations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", [*ADDITIVE, "space-dilation", "ellipsoid"])
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_deterministic_algorithms_turn_with_the_space(seed: int, algorithm: str) -> None:
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    rows = planted(5, 30, 0.05, rng)[0]
    first, second = (solve(data, algorithm) for data in (rows, rows @ turn))
    assert first.status is second.status is Status.FEASIBLE
    assert first.updates == second.updates
    assert first.point @ turn == pytest.approx(second.point, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("algorithm", [*ADDITIVE, "space-dilation", "ellipsoid"])
@pytest.mark.parametrize("kind", cones())
@pytest.mark.parametrize("seed", repeated(range(3), kept=1))
def test_so_do_their_courses_on_cones(seed: int, kind: str, algorithm: str) -> None:
    """The first 40 updates: later, cuts that vary with the point may magnify what was rounding.

    The steps of the entropic algorithms go by a bound of norm(A(atom)) that for matrices is no
    rotation's invariant: there only the answers are held against each other.
    """
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    stored = planted_conic(cones()[kind], 5, 0.05, rng)[0]
    assert isinstance(stored.operator, Matrix)
    there = stored.with_operator(Matrix(stored.operator.data @ turn))
    for system in (stored, there):
        assert solve(system, algorithm).status is Status.FEASIBLE
    if algorithm in ENTROPIC and kind in ("semidefinite", "product"):
        return
    views = [ready(record(algorithm), system) for system in (stored, there)]
    for first, second in zip_longest(*(walk(record(algorithm), view, 40) for view in views)):
        assert first.point @ turn == pytest.approx(second.point, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("algorithm", ["relaxed-perceptron", "rescaled-perceptron", "winnow"])
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_other_algorithms_are_verified_in_a_rotated_space(seed: int, algorithm: str) -> None:
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    result = solve(planted(5, 30, 0.05, rng)[0] @ turn, algorithm, seed=seed)
    assert result.status in DECIDED
    assert result.proved


# --- scales --------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", thinned(ALGORITHMS, step=3, first=1))
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_powers_of_two_change_no_bit(seed: int, algorithm: str) -> None:
    """Rows are seen through their norms; these scales commute with every rounding."""
    rows = data_of(True, seed)
    scales = 2.0 ** np.random.default_rng(seed).integers(-20, 20, (30, 1))
    first, second = (solve(data, algorithm, seed=seed) for data in (rows, rows * scales))
    assert (first.status, first.updates, first.queries) == (
        second.status,
        second.updates,
        second.queries,
    )
    assert np.array_equal(first.point, second.point)


@pytest.mark.parametrize("algorithm", [*ADDITIVE, *IN_COORDINATES])
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_lengths_of_rows_do_not_matter(seed: int, algorithm: str) -> None:
    rows = data_of(True, seed)
    scales = np.random.default_rng(seed).uniform(1e-6, 1e6, (30, 1))
    first, second = (solve(data, algorithm, seed=seed) for data in (rows, rows * scales))
    assert first.status is second.status
    assert first.updates == second.updates
    rays = [result.point / np.linalg.norm(result.point) for result in (first, second)]
    assert rays[0] == pytest.approx(rays[1], rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("algorithm", ANY_CONE)
@pytest.mark.parametrize("size", repeated([1e-100, 1e6, 1e-6, 1e100], kept=1))
def test_answers_on_cones_do_not_depend_on_the_unit(size: float, algorithm: str) -> None:
    system = planted_conic(cones()["product"], 4, 0.1, np.random.default_rng(3))[0]
    assert isinstance(system.operator, Matrix)
    scaled = system.with_operator(Matrix(system.operator.data * size))
    names = {parameter.name for parameter in fields(record(algorithm))}
    parameters = {"epsilon": 1e-6 * size} if "epsilon" in names else {}
    if algorithm == "relaxed-perceptron":
        parameters = {"sigma": 0.01 * size}
    if algorithm in ("ellipsoid", "simplex-cuts"):
        parameters = {"margin": min(1e-9 * size, 0.5)}
    selected = registry.load("algorithm", algorithm)(**parameters)
    result = solve(scaled, selected, seed=1, budget=Budget(updates=2000))
    if algorithm in ("rescaled-perceptron", "relaxed-perceptron"):
        assert result.status in DECIDED | {Status.UPDATE_LIMIT}
    else:
        assert result.status is Status.FEASIBLE
        assert result.margin_lower is not None
        assert 0.0 < result.margin_lower <= 0.1 * size * (1 + 1e-9)


# --- permutations and duplicates -----------------------------------------------------------------


@pytest.mark.parametrize("algorithm", thinned(ALGORITHMS, step=3, first=2))
@pytest.mark.parametrize("seed", repeated(range(3), kept=1))
def test_permuting_or_repeating_rows_keeps_the_answer(seed: int, algorithm: str) -> None:
    rng = np.random.default_rng(seed)
    rows = planted(4, 25, 0.1, rng)[0]
    shuffled = np.vstack([rows, rows[:10]])[rng.permutation(35)] * rng.uniform(0.5, 2, (35, 1))
    forms = (
        [rows, shuffled] if algorithm in DENSE_ONLY else [rows, shuffled, sp.csr_array(shuffled)]
    )
    # a round of a bisection that fails takes all its epochs
    budget = Budget(updates=200_000 if algorithm == "margin-bisection" else 3000)
    for data in forms:
        result = solve(data, algorithm, budget=budget, seed=seed)
        assert result.status in DECIDED
        if result.status is Status.FEASIBLE:
            assert (rows @ result.point > 0).all()
        assert result.margin_lower is not None
        assert result.margin_lower <= 0.1 * (1 + 1e-9)


@pytest.mark.parametrize("feasible", [True, False])
@pytest.mark.parametrize("algorithm", FROM_THE_CENTRE)
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_from_the_centre_the_order_of_the_rows_does_not_matter(
    seed: int, algorithm: str, feasible: bool
) -> None:
    rows = data_of(feasible, seed)
    order = np.random.default_rng(seed).permutation(30)
    claims = []
    for data in (rows, rows[order]):
        system = ready(record(algorithm), ConicSystem.from_rows(data), 0.01)
        claims.append(first_claim(record(algorithm), system, 3000))
    (left, first), (two, second) = claims
    assert left.updates == two.updates
    assert left.point == pytest.approx(two.point, rel=1e-5, abs=1e-8)
    assert isinstance(first, FeasiblePoint if feasible else MarginBelow)
    assert type(first) is type(second)
    assert left.weights is not None
    assert left.weights[order] == pytest.approx(two.weights, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("algorithm", [*FROM_ZERO, "von-neumann"])
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_the_most_violated_row_is_the_same_when_all_rows_come_twice(
    seed: int, algorithm: str
) -> None:
    rows = data_of(True, seed)
    first, second = (solve(data, algorithm) for data in (rows, np.vstack([rows, rows])))
    assert first.updates == second.updates
    assert first.point == pytest.approx(second.point, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("algorithm", [*ADDITIVE, *IN_COORDINATES])
def test_swapping_the_classes_turns_the_separator_around(algorithm: str) -> None:
    rng = np.random.default_rng(5)
    examples = np.vstack([rng.normal(2, 0.5, (15, 3)), rng.normal(-2, 0.5, (15, 3))])
    labels = np.repeat([3, 7], 15)
    former = solve((examples, labels), algorithm, seed=2)
    two = solve((examples, 10 - labels), algorithm, seed=2)
    assert former.status in DECIDED
    assert two.status in DECIDED
    if algorithm in (*ADDITIVE, "space-dilation", "ellipsoid", "winnow"):
        assert former.updates == two.updates
        assert former.point == pytest.approx(-two.point)
