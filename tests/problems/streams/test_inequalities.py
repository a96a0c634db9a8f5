"""Lifted inequalities: points and weights mean for A x >= b what is said, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.problems.streams import linear_inequalities, online_perceptron
from perceptron_lab.solving.entry import solve
from tests.problems.streams.fourier_motzkin import has_solution, inequalities
from tests.repetitions import repeated

Whole = npt.NDArray[np.int64]


def drawn(seed: int) -> tuple[Whole, Whole]:
    """Few unknowns, small whole numbers, bounds of both signs; in turn as they come, with an
    equation (two opposite inequalities), and with a solution that meets most with equality."""
    rng = np.random.default_rng(seed)
    rows, unknowns = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    matrix, bounds = rng.integers(-3, 4, (rows, unknowns)), rng.integers(-4, 5, rows)
    matrix[~matrix.any(axis=1), 0] = 1
    if seed % 3 == 1:
        matrix[-1], bounds[-1] = -matrix[0], -bounds[0]
    if seed % 3 == 2:
        bounds = matrix @ rng.integers(-2, 3, unknowns) - rng.integers(0, 2, rows)
    return matrix, bounds


def products(matrix: Any, vector: list[Fraction]) -> list[Fraction]:
    return [
        sum((int(a) * b for a, b in zip(row, vector, strict=True)), Fraction()) for row in matrix
    ]


@pytest.mark.parametrize("seed", repeated(range(150), kept=24))
def test_answers_are_those_of_exact_arithmetic(seed: int) -> None:
    matrix, bounds = drawn(seed)
    lifted = linear_inequalities(matrix, bounds)
    result = solve(lifted.system)
    strictly = has_solution(inequalities(matrix.tolist(), bounds.tolist(), set(range(len(bounds)))))
    if strictly:
        assert result.status is Status.FEASIBLE
        assert lifted.solves(result.point)
        x = lifted.exact_solution(result.point)
        assert all(a > int(b) for a, b in zip(products(matrix, x), bounds, strict=True))
        assert np.allclose(lifted.solution(result.point), [float(entry) for entry in x])
        return
    assert result.weights is not None
    proof = lifted.farkas(result.weights)
    assert proof is not None
    assert proof.exact is not None
    assert min(proof.exact) > 0
    assert not any(products(matrix[proof.rows].T, list(proof.exact)))
    gain = products([bounds[proof.rows]], list(proof.exact))[0]
    assert gain > 0 if proof.empty else gain == 0
    assert np.array_equal(proof.rows, np.flatnonzero(proof.weights))
    if proof.empty:
        assert not has_solution(inequalities(matrix.tolist(), bounds.tolist(), set()))
    for row in proof.rows.tolist():  # each is tight in every solution, if there are any
        assert not has_solution(inequalities(matrix.tolist(), bounds.tolist(), {row}))


def test_the_drawn_systems_are_of_all_kinds() -> None:
    kinds = set()
    for seed in range(24):
        matrix, bounds = drawn(seed)
        everything = set(range(len(bounds)))
        kinds.add(
            tuple(
                has_solution(inequalities(matrix.tolist(), bounds.tolist(), s))
                for s in (everything, set())
            )
        )
    assert kinds == {(True, True), (False, True), (False, False)}


def test_division_by_the_bounds_would_be_wrong() -> None:
    matrix, bounds = np.array([[1.0], [-1.0]]), np.array([-1.0, 2.0])
    assert solve(matrix / bounds[:, None]).status is Status.FEASIBLE
    lifted = linear_inequalities(matrix, bounds)
    result = solve(lifted.system)
    assert result.status is Status.INFEASIBLE
    assert lifted.farkas(result.weights).empty


@pytest.mark.parametrize("seed", repeated(range(20), kept=3))
def test_the_perceptron_solves_them(seed: int) -> None:
    """Section 2.1: it cycles through the constraints until it makes no more mistakes."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-5, 6, (30, 3)).astype(float)
    matrix[~matrix.any(axis=1)] = 1.0
    bounds = matrix @ rng.integers(-2, 3, 3) - rng.integers(1, 9, 30)
    lifted = linear_inequalities(matrix, bounds)
    rows = np.vstack([np.column_stack([matrix, -bounds]), [0.0, 0.0, 0.0, 1.0]])
    run = online_perceptron(rows, passes=100_000)
    assert run.mistakes.separated
    assert lifted.solves(run.weight)
    assert (matrix @ lifted.solution(run.weight) > bounds - 1e-9).all()


def test_sparse_and_dense_rows_are_the_same() -> None:
    matrix, bounds = np.array([[1.0, 0.0], [0.0, -2.0]]), np.array([0.5, -3.0])
    point = np.array([1.0, 2.0, 1.0])
    dense, sparse = (
        linear_inequalities(matrix, bounds),
        linear_inequalities(sp.csr_array(matrix), bounds),
    )
    expected = dense.system.unnormalised().scores(point)
    assert expected.tolist() == [0.5, -1.0, 1.0]
    assert np.array_equal(sparse.system.unnormalised().scores(point), expected)


def test_fractions_are_exact() -> None:
    third = Fraction(1, 3)
    lifted = linear_inequalities([[third]], [Fraction(1, 9)])  # x / 3 >= 1 / 9
    assert not lifted.solves([1.0, 3.0])
    assert lifted.solves([np.nextafter(1.0, 2.0), 3.0])
    tight = linear_inequalities([[third], [-third]], [Fraction(1, 9), Fraction(-1, 9)])
    proof = tight.farkas([1.0, 1.0, 0.0])
    assert (proof.empty, proof.exact) == (False, (1, 1))


def test_a_rounded_solution_is_judged_for_itself() -> None:
    lifted = linear_inequalities([[3.0], [-3.0]], [1.0 - 2**-53, -1.0 - 2**-52])  # x near 1 / 3
    assert lifted.solves([1.0, 3.0])
    assert lifted.exact_solution([1.0, 3.0]) == [Fraction(1, 3)]
    assert lifted.strictly_satisfied(lifted.solution([1.0, 3.0]))
    narrower = linear_inequalities([[3.0], [-3.0]], [1.0 - 2**-54, -1.0 - 2**-54])
    assert not narrower.strictly_satisfied(narrower.solution([1.0, 3.0]))


def test_many_weights_are_proved_to_exist() -> None:
    """Where an elimination in fractions of all rows would take too long."""
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((400, 30))
    matrix[-1] = -matrix[:-1].sum(axis=0) + 1e-13
    weights = np.append(np.ones(400), 40.0)
    lifted = linear_inequalities(matrix, np.full(400, 0.1))
    proof = lifted.farkas(weights)
    assert proof.empty
    assert proof.exact is None
    assert len(proof.rows) in (31, 400)  # those of a vertex suffice in 30 dimensions
    assert linear_inequalities(matrix, np.full(400, -0.1)).farkas(weights) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linear_inequalities(np.eye(2), [1.0]), "bounds of shape .* for 2 inequalities"),
        (
            lambda: linear_inequalities(np.eye(2), [1.0, np.nan]),
            "bound 1 is 'nan' \\(float\\); give",
        ),
        (
            lambda: linear_inequalities(np.eye(2), ["1", "b"]),
            "bound 0 is '1' \\(str\\); give a fin",
        ),
        (lambda: linear_inequalities(np.eye(2), [1.0, None]), "bound 1 is 'None' \\(NoneType\\)"),
        (
            lambda: linear_inequalities(np.full((2, 2), np.inf), [1.0, 1.0]),
            "row 0 holds NaN or infinity",
        ),
        (lambda: linear_inequalities([[1.0], [0.0]], [1.0, 0.0]), "row 1 is zero"),
        (lambda: inequality_of().solution([1.0, 0.0]), "t = 0, or is not finite"),
        (lambda: inequality_of().exact_solution([1.0, -2.0]), "t = -2"),
        (lambda: inequality_of().solves([1.0]), "shape \\(1,\\); give one of \\(2,\\)"),
        (lambda: inequality_of().farkas([1.0, -1.0]), "negative or not finite"),
    ],
)
def test_malformed_inequalities_are_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def inequality_of() -> Any:
    bounds: FloatArray = np.array([1.0])
    return linear_inequalities([[1.0]], bounds)
