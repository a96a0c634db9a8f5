"""Contradictions of few rows among many, and of identical examples, are proved exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, Status, solve
from perceptron_lab.certificates.infeasibility import RATIONAL, prove_infeasible
from perceptron_lab.cli.main import main
from perceptron_lab.cones.operators.kernels import Linear, Polynomial, Rbf
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.row_source import LEAST_MEMORY
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.exact.checker import checker
from perceptron_lab.systems import exact_row_weights as module
from perceptron_lab.systems.exact_row_weights import exact_weights


def twin(seed: int, count: int, density: float = 0.1) -> FloatArray:
    """Rows with y'a_i > 0, and one that is minus a positive combination of some of them."""
    rng = np.random.default_rng(seed)
    rows = sp.random_array((200, 50), density=density, rng=rng).toarray()
    rows = np.round((rows - 0.5 * (rows != 0.0)) * 1024.0) / 1024.0
    scores = rows @ rng.standard_normal(50)
    rows = rows[scores != 0.0] * np.sign(scores[scores != 0.0])[:, None]
    selected = rng.choice(len(rows), count, replace=False)
    against = -(rng.integers(1, 100, count) @ rows[selected])
    return np.asarray(rng.permutation(np.vstack([rows, against])))


@pytest.mark.parametrize("count", [1, 3, 8])
@pytest.mark.parametrize("form", ["dense", "sparse", "mapped", "read from a file"])
def test_a_row_opposed_to_a_few_others_is_identified(form: str, count: int, tmp_path: Path) -> None:
    rows = twin(count, count)
    np.save(tmp_path / "rows.npy", rows)
    system: Any = {
        "dense": rows,
        "sparse": sp.csr_array(rows),
        "mapped": np.load(tmp_path / "rows.npy", mmap_mode="r"),
    }.get(form)
    if form == "read from a file":
        system = read_system(tmp_path / "rows.npy", memory=LEAST_MEMORY)
    result = solve(system, budget=Budget(seconds=20.0))
    assert result.status is Status.INFEASIBLE
    assert result.weights is not None
    support = np.flatnonzero(result.weights)
    assert len(support) == count + 1
    assert (result.weights >= 0.0).all()
    proof = ConicSystem.of(rows).unnormalised().prove_infeasible(result.weights)
    assert proof is not None
    assert proof.ratio < 1.0


def test_saved_contradictions_are_verified_and_certified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "rows.npy", twin(3, 3))
    answer = str(tmp_path / "answer.npz")
    assert main(["solve", str(tmp_path / "rows.npy"), "--rows", "-v", "--save", answer]) == 0
    assert RATIONAL in capsys.readouterr().out
    assert main(["verify", answer]) == 0
    assert "1 PROVED" in capsys.readouterr().out
    assert main(["certify", answer, "--into", str(tmp_path / "exact")]) == 0
    (path,) = (tmp_path / "exact").rglob("*.json")
    assert not [
        reason for _, reason in checker().check(str(path), str(tmp_path / "rows.npy")) if reason
    ]


def test_weights_far_from_the_solution_are_not_tried() -> None:
    rows = twin(1, 3)
    assert exact_weights(Matrix(rows), np.ones(len(rows))) is None
    assert exact_weights(Matrix(rows), np.zeros(len(rows))) is None
    assert exact_weights(Matrix(rows, roundings=1), np.ones(len(rows))) is None


def test_negative_weights_are_refused_and_a_vertex_is_tried() -> None:
    """(1, -1, 1, 1) has A w = 0 near nothing >= 0 but (0, 0, 1, 1)."""
    rows = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [-1.0, 0.0, -1.0]])
    weights = exact_weights(Matrix(rows), np.array([1e-9, 1e-9, 1.0, 1.0]))
    assert weights is not None
    assert weights[0] == weights[1] == 0.0
    assert weights[2] == weights[3] > 0.0
    almost = np.array([[1.0, 0.0], [-1.0, 1e-9]])  # (0, 1) is a solution
    assert exact_weights(Matrix(almost), np.ones(2)) is None


def test_few_rows_of_large_weights_are_solved_for_before_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rounding errors give all other rows weights: they cost nothing, a vertex of many little."""
    rows = twin(5, 3)
    operator, sizes = Matrix(rows), list[int]()
    exact = solve(rows, budget=Budget(seconds=20.0)).weights
    assert exact is not None
    solved = module._solved

    def counted(matrix: sp.csr_array, guess: FloatArray) -> FloatArray | None:
        sizes.append(np.count_nonzero(guess))
        return solved(matrix, guess)

    monkeypatch.setattr(module, "_solved", counted)
    approximate = exact / exact.max() + 1e-10
    assert exact_weights(operator, approximate) is not None
    assert sizes == [4]
    around = np.random.default_rng(0).integers(-9, 10, (300, 10)).astype(float)
    approximate = np.ones(300) - np.linalg.lstsq(around.T, around.sum(axis=0))[0]
    assert approximate.min() > 0.0  # far from all vertices
    sizes.clear()
    assert exact_weights(Matrix(around), approximate) is not None
    assert len(sizes) == 1
    assert sizes[0] <= 11


def test_dikins_ellipsoid_proves_weights_of_many_rows_before_rational_numbers() -> None:
    """Around 0 in general position; a row of rounding errors' weight has an unknown of its own."""
    rows = np.random.default_rng(1).integers(-9, 10, (80, 6)).astype(float)
    weights = np.ones(80) - np.linalg.lstsq(rows.T, rows.sum(axis=0))[0]
    rows = np.vstack([np.column_stack([rows, np.zeros(80)]), np.eye(7)[6]])
    tried = list[FloatArray]()

    def exactly(operator: Matrix, near: FloatArray) -> None:
        tried.append(near)

    weights = np.append(weights, 1e-12)
    proof = prove_infeasible(Matrix(rows), Orthant(81), weights, exactly)
    assert proof is not None
    assert proof.ratio < 1.0
    assert not tried
    few = Matrix(np.array([[1.0, 3.0], [-3.0, -9.0]]))
    prove_infeasible(few, Orthant(2), np.array([1.0, 1.0 / 3.0]), exactly)
    assert len(tried) == 1


def test_no_weights_without_time_and_of_too_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.array([[1.0, 3.0], [-1.0, -3.0]])
    with time_limit(0.0), pytest.raises(TimeIsUp):
        exact_weights(Matrix(rows), np.ones(2))
    monkeypatch.setattr(module, "_ROWS", 1)
    assert exact_weights(Matrix(rows), np.ones(2), quick=True) is None
    assert exact_weights(Matrix(rows), np.ones(2)) is not None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", [Rbf(), Polynomial(), Polynomial(degree=2, coef0=0), Linear()])
def test_identical_examples_of_both_labels_contradict_each_other(kernel: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    examples, labels = rng.standard_normal((60, 8)), np.where(rng.random(60) < 0.5, -1, 1)
    labels[:2] = 1, -1
    examples[1] = examples[0]
    result = solve(ConicSystem.from_kernel(kernel, examples, labels), budget=Budget(seconds=20.0))
    assert result.status is Status.INFEASIBLE
    assert result.margin_upper == 0.0


def test_equal_rows_of_a_kernel_matrix_as_given_contradict_each_other() -> None:
    matrix = np.array([[2.0, 2.0, 1.0], [2.0, 2.0, 1.0], [1.0, 1.0, 2.0]])
    same = ConicSystem.from_kernel("precomputed", matrix, [1, -1, 1])
    proof = same.prove_infeasible(np.full(3, 1 / 3))
    assert proof is not None
    np.testing.assert_array_equal(proof.weights, [0.5, 0.5, 0.0])
    other = ConicSystem.from_kernel("precomputed", matrix, [1, 1, -1])
    assert other.prove_infeasible(np.full(3, 1 / 3)) is None
