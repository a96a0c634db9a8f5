"""The oracles that rest on LAPACK, under the exact judge of the pivoted Cholesky oracle.

Allowances. ``cholesky``: 2 n eps diag(Z), as for the pivoted decomposition (the same backward error
analysis). ``eigenvector``: LAPACK's eigenvalues are exact for a matrix within about n eps norm(Z),
whatever the scaling of its rows, so that the allowance is 2 n eps norm(Z)_F I.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from perceptron_lab.cones.oracles.proving import AutoOracle, Lanczos, LeadingCholesky, SparseLdl
from perceptron_lab.cones.oracles.semidefinite import Cholesky, Eigenvector, PivotedCholesky
from perceptron_lab.core.results import FloatArray
from tests.cones.oracles.exact import EPSILON, Kind, exact, form, kind, plus_diagonal, plus_identity
from tests.cones.oracles.matrices import all_matrices, integer_matrices, permuted
from tests.repetitions import repeated

every_count = pytest.mark.parametrize("count", repeated([250, 1200], kept=1))
PROVED = [SparseLdl(), LeadingCholesky(), Lanczos(), AutoOracle()]
RECORDS = [PivotedCholesky(), Cholesky(), Eigenvector(), *PROVED]
POSITIONS = [0, 1, 2, 15, 31, 32, 33, 63, 64, 65, 127, 128, 129, 150, 191, 200, 255, 256, 298, 299]


def direction_of(record: Any, matrix: FloatArray, closed: bool = False) -> FloatArray | None:
    index: FloatArray | None = record.start(len(matrix)).find(matrix.copy(), closed)
    if index is not None:
        assert np.isfinite(index).all()
        assert index.any()
    return index


@pytest.mark.slow
@every_count
def test_cholesky_never_answers_wrongly(count: int) -> None:
    answers: Counter[tuple[bool, Kind]] = Counter()
    for matrix in all_matrices(count):
        rational, allowance = exact(matrix), 2 * len(matrix) * EPSILON
        direction = direction_of(Cholesky(), matrix)
        if direction is None:
            assert kind(plus_diagonal(rational, allowance)) is Kind.DEFINITE, matrix
        else:
            assert form(plus_diagonal(rational, -allowance), direction) <= 0, matrix
        answers[direction is None, kind(rational)] += 1
    assert answers[True, Kind.DEFINITE] > count / 8
    assert answers[False, Kind.SEMIDEFINITE] > count / 6
    assert answers[False, Kind.INDEFINITE] > count / 2.4


@pytest.mark.slow
@every_count
def test_cholesky_on_the_closed_cone_is_right_up_to_the_largest_diagonal_entry(
    count: int,
) -> None:
    """LAPACK does not pivot: there the allowance is relative to the largest diagonal entry."""
    for matrix in all_matrices(count):
        rational = exact(matrix)
        largest = max(exact([[1e-280, *matrix.diagonal()]])[0])
        allowance = 4 * len(matrix) * EPSILON * largest
        direction = direction_of(Cholesky(), matrix, closed=True)
        if direction is None:
            assert kind(plus_identity(rational, allowance)) is not Kind.INDEFINITE, matrix
        else:
            assert form(plus_identity(rational, -allowance), direction) <= 0, matrix


@pytest.mark.slow
@every_count
@pytest.mark.parametrize("closed", [False, True])
def test_the_eigenvector_oracle_never_answers_wrongly(closed: bool, count: int) -> None:
    answers: Counter[tuple[bool, Kind]] = Counter()
    for matrix in all_matrices(count):
        norm = exact([[float(np.linalg.norm(matrix))]])[0][0]
        rational, allowance = exact(matrix), 2 * len(matrix) * EPSILON * norm
        direction = direction_of(Eigenvector(), matrix, closed)
        if direction is None:
            above = kind(plus_identity(rational, allowance))
            assert above is Kind.DEFINITE or (closed and not matrix.any()), matrix
        else:
            assert form(plus_identity(rational, -allowance), direction) <= 0, matrix
        answers[direction is None, kind(rational)] += 1
    assert answers[True, Kind.DEFINITE] > count / 8
    assert answers[False, Kind.INDEFINITE] > count / 2.4


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
@pytest.mark.parametrize("count", repeated([40, 300], kept=1))
def test_definite_integer_matrices_pass_and_indefinite_ones_are_cut(
    record: Any, count: int
) -> None:
    for matrix in integer_matrices(count):
        truth = kind(exact(matrix))
        for closed in (False, True):
            direction = direction_of(record, matrix, closed)
            if truth is Kind.DEFINITE:
                assert direction is None, matrix
            if truth is Kind.INDEFINITE:
                assert direction is not None, matrix
                assert not closed or form(exact(matrix), direction) < 0, matrix


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
@pytest.mark.parametrize(
    "diagonal", [[0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0, 0.0], [4.0, 0.0, 1.0]], ids=str
)
def test_the_closed_cone_holds_its_boundary(record: Any, diagonal: list[float]) -> None:
    singular = np.diag(diagonal)
    assert direction_of(record, singular, closed=True) is None
    on_the_open_cone = direction_of(record, singular, closed=False)
    assert on_the_open_cone is not None
    assert form(exact(singular), on_the_open_cone) == 0


@pytest.mark.parametrize("k", POSITIONS)
def test_the_failure_index_of_lapack_is_interpreted_correctly(k: int) -> None:
    """The leading block of order k is definite, the next pivot is -1, the rest may be anything."""
    order = 300
    rng = np.random.default_rng(k)
    factor = rng.standard_normal((order, order)) / 20
    matrix = factor @ factor.T + np.eye(order)
    head, column = matrix[:k, :k], matrix[:k, k]
    solved = np.linalg.solve(head, column) if k else column
    matrix[k, k] = column @ solved - 1.0
    direction = direction_of(Cholesky(), matrix)
    assert direction is not None
    assert direction[k] == 1.0
    assert not direction[k + 1 :].any()
    np.testing.assert_allclose(direction[:k], -solved, rtol=0, atol=1e-10)
    assert direction @ matrix @ direction == pytest.approx(-1.0, abs=1e-9)


@pytest.mark.parametrize("order", [1, 2, 3, 31, 64, 65, 128, 200, 300])
@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_definite_matrices_of_all_sizes_pass(record: Any, order: int) -> None:
    rng = np.random.default_rng(order)
    factor = rng.standard_normal((order, order))
    matrix = factor @ factor.T + 1e-3 * np.eye(order)
    assert direction_of(record, matrix) is None
    assert direction_of(record, matrix, closed=True) is None


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_one_negative_eigenvalue_among_many_is_found_wherever_it_hides(record: Any) -> None:
    rng = np.random.default_rng(3)
    for order in (40, 150):
        basis = np.linalg.qr(rng.standard_normal((order, order)))[0]
        values = rng.uniform(0.5, 2.0, order)
        values[0] = -1e-4
        dense = (basis * values) @ basis.T
        spread = permuted((dense + dense.T) / 2, rng)
        direction = direction_of(record, spread)
        assert direction is not None
        assert direction @ spread @ direction < 0
        beside = permuted(scipy.linalg.block_diag(np.diag(values[1:]), np.array([[-1e-6]])), rng)
        direction = direction_of(record, beside)
        assert direction is not None
        assert direction @ beside @ direction < 0


def test_the_eigenvector_is_the_deepest_unit_cut() -> None:
    rng = np.random.default_rng(0)
    for order in (1, 2, 7, 30):
        dense = rng.standard_normal((order, order))
        matrix = dense + dense.T - 4 * np.sqrt(order) * np.eye(order)
        direction = direction_of(Eigenvector(), matrix)
        assert direction is not None
        assert np.linalg.norm(direction) == pytest.approx(1.0, abs=1e-12)
        lowest = np.linalg.eigvalsh(matrix)[0]
        assert direction @ matrix @ direction == pytest.approx(lowest, rel=1e-12)


@pytest.mark.parametrize("record", [Cholesky(), Eigenvector()])
def test_only_mode_thesis_accepts_the_boundary(record: Any) -> None:
    assert not record.accepts_boundary
    assert record.kind == "semidefinite"
    assert direction_of(record, np.array([[0.0, 1.0], [1.0, 0.0]])) is not None
