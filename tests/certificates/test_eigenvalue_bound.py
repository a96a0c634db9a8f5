"""The residual test: its number never exceeds the lowest eigenvalue, in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.certificates.matrices.definite import lowest_eigenvalue_bound, shifted_bound
from perceptron_lab.core.results import FloatArray
from tests.cones.oracles.exact import Kind, exact, kind, plus_identity
from tests.cones.oracles.matrices import all_matrices
from tests.repetitions import examples, parts, repeated

PROPERTY = settings(deadline=None, max_examples=examples(100), derandomize=True)


def bounds_from_below(bound: float, matrix: FloatArray) -> bool:
    """Whether A - bound I is positive semidefinite."""
    if bound == -math.inf:
        return True
    return kind(plus_identity(exact(matrix), -Fraction(bound))) is not Kind.INDEFINITE


def with_lowest_eigenvalue(order: int, lowest: float, rng: np.random.Generator) -> FloatArray:
    basis = np.linalg.qr(rng.standard_normal((order, order)))[0]
    values = np.concatenate([[lowest], rng.uniform(0.1, 1.0, order - 1)])
    matrix = (basis * values) @ basis.T
    return np.asarray((matrix + matrix.T) / 2)


def factored_by_numpy(matrix: FloatArray) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "count"), repeated([(2006, 300), (2006, 1000), (2007, 2000)], kept=1)
)
def test_no_matrix_on_the_edge_is_called_definite_where_a_plain_factorisation_errs(
    seed: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    fooled = proved = 0
    for _ in range(count):
        lowest = rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-18, -12)
        matrix = with_lowest_eigenvalue(int(rng.integers(2, 9)), lowest, rng)
        definite = kind(exact(matrix)) is Kind.DEFINITE
        bound = lowest_eigenvalue_bound(matrix)
        assert bound <= 0.0 or definite, matrix
        assert bounds_from_below(bound, matrix), matrix
        proved += bound > 0.0
        fooled += not definite and factored_by_numpy(matrix)
    # The matrices are hard: numpy factors some of them though they are not definite.
    assert fooled > 0.01 * count
    assert proved > 0.1 * count


@pytest.mark.slow
@pytest.mark.parametrize("count", repeated([200, 1200], kept=1))
def test_the_bound_holds_on_adversarial_matrices_and_is_informative(count: int) -> None:
    silent = 0
    for matrix in all_matrices(count):
        bound = lowest_eigenvalue_bound(matrix)
        assert bounds_from_below(bound, matrix), matrix
        assert bound <= np.linalg.eigvalsh(matrix)[0] + 1e-12 * np.linalg.norm(matrix)
        silent += bound == -math.inf and bool(matrix.any())
    assert silent < count / 100


@PROPERTY
@given(st.integers(1, 6), st.integers(0, 10**6), st.floats(-2, 2), st.floats(-3, 1))
def test_every_shift_gives_a_true_bound(order: int, seed: int, lowest: float, shift: float) -> None:
    matrix = with_lowest_eigenvalue(order, lowest, np.random.default_rng(seed))
    for candidates in (shift, lowest, np.nextafter(lowest, -np.inf), lowest - 1e-15):
        assert bounds_from_below(shifted_bound(matrix, float(candidates)), matrix)


@pytest.mark.parametrize("order", [1, 3, 8])
@pytest.mark.parametrize("error", [0.0, 1e-16, 1e-8, 1e-2, 10.0])
@pytest.mark.parametrize("seeds", parts(40, kept=12))
def test_the_factorisation_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch, order: int, error: float, seeds: range
) -> None:
    """Whatever the library returns as a factor, the bound is true."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        matrix = with_lowest_eigenvalue(order, float(rng.uniform(-1e-3, 1e-3)), rng)
        shift = float(np.linalg.eigvalsh(matrix)[0]) - 1e-9
        factor = np.linalg.cholesky(matrix - shift * np.eye(order))
        perturbed = factor + error * rng.standard_normal((order, order))
        monkeypatch.setattr(scipy.linalg, "cholesky", lambda *_, invalid=perturbed, **__: invalid)
        for candidates in (shift, 0.0, 0.5, 100.0):
            assert bounds_from_below(shifted_bound(matrix, candidates), matrix)


@pytest.mark.parametrize("exponent", [0, -300, -537])
@pytest.mark.parametrize("seeds", parts(200, kept=40))
def test_the_rounding_of_the_product_itself_is_bounded(
    monkeypatch: pytest.MonkeyPatch, exponent: int, seeds: range
) -> None:
    """A = fl(LL') for a singular L leaves no residual, but rounding makes A indefinite."""
    indefinite = 0
    for seed in seeds:
        factor = np.tril(np.random.default_rng(seed).standard_normal((8, 8)))
        factor[:, 4:] = 0.0
        factor *= 2.0**exponent
        matrix = factor @ factor.T
        monkeypatch.setattr(scipy.linalg, "cholesky", lambda *_, factor=factor, **__: factor)
        assert bounds_from_below(shifted_bound(matrix, 0.0), matrix)
        indefinite += kind(exact(matrix)) is Kind.INDEFINITE
    assert indefinite > len(seeds) / 2


@pytest.mark.parametrize("exponent", [-1074, -1070, -1050, -1022, -1000, -700, -540, 500, 1015])
def test_tiny_and_huge_matrices(exponent: int) -> None:
    rng = np.random.default_rng(7)
    for order in (1, 2, 3):
        for _ in range(30):
            dense = rng.integers(-4, 5, (order, order)) + 6.0 * np.eye(order)
            matrix = (dense + dense.T) * 2.0**exponent
            bound = lowest_eigenvalue_bound(matrix)
            assert bounds_from_below(bound, matrix), matrix
            if exponent >= -1000:
                lowest = np.linalg.eigvalsh(matrix / 2.0**exponent)[0]
                assert bound / 2.0**exponent == pytest.approx(lowest, abs=1e-12)


@pytest.mark.parametrize("order", [1, 2, 9])
def test_the_zero_matrix_has_a_bound_among_the_subnormals(order: int) -> None:
    assert -1e-300 < lowest_eigenvalue_bound(np.zeros((order, order))) <= 0.0


@pytest.mark.parametrize("order", [1, 2, 5, 20, 60, 150])
def test_the_bound_is_sharp_to_about_n_u_trace(order: int) -> None:
    rng = np.random.default_rng(order)
    factor = rng.standard_normal((order, order))
    gram = factor @ factor.T / order + np.eye(order)
    matrix = (gram + gram.T) / 2
    lowest = float(np.linalg.eigvalsh(matrix)[0])
    rounding = order * 2.0**-53 * float(np.trace(matrix))
    assert lowest - 12 * rounding <= lowest_eigenvalue_bound(matrix) <= lowest + rounding


def test_indefinite_matrices_get_their_negative_eigenvalue() -> None:
    matrix = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert -1.0 - 1e-14 < lowest_eigenvalue_bound(matrix) <= -1.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_matrices_that_are_not_finite_prove_nothing(bad: float) -> None:
    for position in ((0, 0), (0, 1)):
        matrix = 3 * np.eye(2)
        matrix[position] = matrix[position[::-1]] = bad
        assert lowest_eigenvalue_bound(matrix) == -math.inf


def test_a_matrix_that_is_not_exactly_symmetric_proves_nothing() -> None:
    matrix = np.eye(3)
    matrix[0, 2] = 5e-324
    assert lowest_eigenvalue_bound(matrix) == -math.inf


def test_overflow_on_the_way_proves_nothing_wrong() -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        for diagonal in ([1e308, 1e308], [-1e308, 1e308], [8e307, 8e307, 1.0]):
            bound = lowest_eigenvalue_bound(np.diag(diagonal))
            assert not math.isnan(bound)
            assert bound <= min(diagonal)


def test_the_matrix_is_not_changed() -> None:
    matrix = with_lowest_eigenvalue(5, 0.3, np.random.default_rng(0))
    before = matrix.copy()
    lowest_eigenvalue_bound(matrix)
    np.testing.assert_array_equal(matrix, before)
