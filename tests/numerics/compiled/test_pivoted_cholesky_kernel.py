"""The compiled decomposition against its numpy reference, and against exact quadratic forms."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.pivoted_cholesky import (
    ACCEPT_ZEROS,
    CUT_ZEROS,
    INSPECT_ZEROS,
    rounding_tolerance,
    separating_direction,
)
from tests.cones.oracles.exact import EPSILON, Kind, exact, form, kind, plus_diagonal
from tests.cones.oracles.matrices import all_matrices, gaussian
from tests.numerics.compiled.references import separating_direction_reference
from tests.repetitions import examples, repeated

PROPERTY = settings(deadline=None, max_examples=examples(150), derandomize=True)
MODES = [ACCEPT_ZEROS, INSPECT_ZEROS, CUT_ZEROS]


def compiled(matrix: FloatArray, zeros: int) -> FloatArray | None:
    """Run the kernel with rubbish where the direction goes."""
    direction = np.full(len(matrix), np.nan)
    separated = separating_direction(matrix, zeros, direction)
    return direction if separated else None


def assert_same(matrix: FloatArray, zeros: int) -> bool:
    ours, expected = compiled(matrix, zeros), separating_direction_reference(matrix, zeros)
    assert (ours is None) == (expected is None), (zeros, matrix)
    if ours is None or expected is None:
        return False
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    return True


@pytest.mark.parametrize("zeros", MODES)
@pytest.mark.parametrize("number", repeated([140, 700], kept=1))
def test_kernel_and_reference_agree_on_random_and_adversarial_matrices(
    number: int, zeros: int
) -> None:
    counts = Counter(assert_same(matrix, zeros) for matrix in all_matrices(number))
    assert min(counts[True], counts[False]) > number / 7


@pytest.mark.parametrize("zeros", MODES)
@pytest.mark.parametrize("order", [20, 60])
def test_kernel_and_reference_agree_on_larger_matrices(order: int, zeros: int) -> None:
    rng = np.random.default_rng(order)
    counts: Counter[bool] = Counter()
    for shift in (0.0, 0.5, 1.0, 3.0):
        matrix = gaussian(order, rng) + shift * order * np.eye(order)
        counts[assert_same(matrix, zeros)] += 1
    low_rank = rng.standard_normal((order // 2, order))
    assert_same(low_rank.T @ low_rank, zeros)
    assert counts[True]
    assert counts[False]


small_integers = st.integers(1, 6).flatmap(
    lambda n: hnp.arrays(np.float64, (n, n), elements=st.integers(-4, 4).map(float))
)


@PROPERTY
@given(small_integers, st.sampled_from(MODES))
def test_directions_of_integer_matrices_cut_and_the_input_stays(
    dense: FloatArray, zeros: int
) -> None:
    matrix = dense + dense.T
    before = matrix.copy()
    direction = compiled(matrix, zeros)
    np.testing.assert_array_equal(matrix, before)
    assert_same(matrix, zeros)
    if direction is not None:
        rational = exact(matrix)
        allowance = 2 * len(matrix) * EPSILON
        assert form(plus_diagonal(rational, -allowance), direction) <= 0


@PROPERTY
@given(small_integers)
def test_gram_matrices_of_integers_are_cut_by_rounding_errors_at_most(factor: FloatArray) -> None:
    matrix = factor.T @ factor
    direction = compiled(matrix, INSPECT_ZEROS)
    if direction is not None:
        rational, allowance = exact(matrix), 2 * len(matrix) * EPSILON
        assert form(plus_diagonal(rational, -allowance), direction) <= 0


@PROPERTY
@given(small_integers, st.permutations(range(6)), st.sampled_from([INSPECT_ZEROS, CUT_ZEROS]))
def test_the_verdict_does_not_depend_on_the_order_of_the_rows(
    dense: FloatArray, shuffle: list[int], zeros: int
) -> None:
    matrix = dense + dense.T
    if kind(exact(matrix)) is Kind.SEMIDEFINITE:
        return  # there rounding may decide
    order = [i for i in shuffle if i < len(matrix)]
    shuffled = np.ascontiguousarray(matrix[np.ix_(order, order)])
    assert (compiled(matrix, zeros) is None) == (compiled(shuffled, zeros) is None)


def test_the_mode_decides_about_zero_residuals() -> None:
    exchange, singular = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, 0.0])
    verdicts = {
        name: [compiled(matrix, zeros) is None for zeros in MODES]
        for name, matrix in (("exchange", exchange), ("singular", singular), ("one", np.eye(2)))
    }
    assert verdicts == {
        "exchange": [True, False, False],
        "singular": [True, True, False],
        "one": [True, True, True],
    }


def test_a_negative_residual_wins_over_a_zero_one() -> None:
    direction = compiled(np.diag([0.0, 1.0, -2.0]), CUT_ZEROS)
    assert direction is not None
    assert direction.tolist() == [0.0, 0.0, 1.0]


def test_ties_go_to_the_first_index() -> None:
    # Behind pivot 0 the residual is [[0, 1], [1, 0]]; behind pivot 1 it would be negative.
    matrix = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [1.0, 2.0, 1.0]])
    assert compiled(matrix, ACCEPT_ZEROS) is None
    direction = compiled(matrix, INSPECT_ZEROS)
    assert direction is not None
    assert direction.tolist() == [0.0, 1.0, -1.0]
    assert form(exact(matrix), direction) == -2


def test_the_tolerance_is_2_n_eps() -> None:
    assert rounding_tolerance(10) == 20 * np.finfo(float).eps
