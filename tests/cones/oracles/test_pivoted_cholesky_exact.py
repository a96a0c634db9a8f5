"""The corrected Algorithm 7 of Kharechko2009 against exact rational arithmetic.

The allowance. In floating point a Cholesky decomposition of Z is the exact one of Z + E with
|e_ij| <= about (n + 1) u sqrt(z_ii z_jj) (Demmel; Higham, Accuracy and Stability, section 10.1), so
that Z + E lies between Z - a diag(Z) and Z + a diag(Z) for some a of the order of n eps. No answer
can be blamed that is right for a matrix this close. The oracle itself takes residuals below
2 n eps z_ii for noise; the same a = 2 n eps is the allowance here, without any further constant.

Definite and indefinite matrices of small integers get no allowance in the verdicts: their residuals
are far above the noise. Singular ones get none in all but a few cases, since now and then the
rounding errors of a residual add up to more than the noise. Where all arithmetic of the oracle is
exact, neither verdicts nor directions get any.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab.certificates.matrices.definite import lowest_eigenvalue_bound
from perceptron_lab.cones.oracles.semidefinite import PivotedCholesky
from perceptron_lab.core.results import FloatArray
from tests.cones.oracles.exact import EPSILON, ExactMatrix, Kind, exact, form, kind, plus_diagonal
from tests.cones.oracles.matrices import all_matrices, integer_matrices, permuted
from tests.repetitions import parts, repeated

pytestmark = pytest.mark.slow

STRICT = PivotedCholesky()
THESIS = PivotedCholesky(mode="thesis")
EXCHANGE = np.array([[0.0, 1.0], [1.0, 0.0]])
each_count = pytest.mark.parametrize("count", repeated([300, 2000], kept=1))


def direction_of(oracle: PivotedCholesky, matrix: FloatArray, closed: bool) -> FloatArray | None:
    direction = oracle.start(len(matrix)).find(matrix.copy(), closed)
    if direction is not None:
        assert np.isfinite(direction).all()
        assert direction.any()
    return direction


def allowance(matrix: ExactMatrix) -> Fraction:
    return 2 * len(matrix) * EPSILON


def cuts_within_the_allowance(matrix: ExactMatrix, direction: FloatArray) -> bool:
    return form(plus_diagonal(matrix, -allowance(matrix)), direction) <= 0


@each_count
def test_mode_strict_never_answers_wrongly_on_the_open_cone(count: int) -> None:
    answers: Counter[tuple[bool, Kind]] = Counter()
    for matrix in all_matrices(count):
        rational = exact(matrix)
        direction = direction_of(STRICT, matrix, closed=False)
        if direction is None:
            assert kind(plus_diagonal(rational, allowance(rational))) is Kind.DEFINITE, matrix
        else:
            assert cuts_within_the_allowance(rational, direction), matrix
        answers[direction is None, kind(rational)] += 1
    assert answers[True, Kind.DEFINITE] > 0.125 * count
    assert answers[False, Kind.SEMIDEFINITE] > 0.2 * count
    assert answers[False, Kind.INDEFINITE] > 0.45 * count


@each_count
def test_mode_strict_never_answers_wrongly_on_the_closed_cone(count: int) -> None:
    answers: Counter[tuple[bool, Kind]] = Counter()
    for matrix in all_matrices(count):
        rational = exact(matrix)
        direction = direction_of(STRICT, matrix, closed=True)
        if direction is None:
            above = kind(plus_diagonal(rational, allowance(rational)))
            assert above is not Kind.INDEFINITE, matrix
        else:
            assert kind(plus_diagonal(rational, -allowance(rational))) is Kind.INDEFINITE, matrix
            assert cuts_within_the_allowance(rational, direction), matrix
        answers[direction is None, kind(rational)] += 1
    assert answers[True, Kind.DEFINITE] > 0.125 * count
    assert answers[True, Kind.SEMIDEFINITE] > 0.2 * count
    assert answers[False, Kind.INDEFINITE] > 0.45 * count


@each_count
def test_mode_thesis_passes_the_documented_set_and_cuts_truly(count: int) -> None:
    clear_answers: Counter[tuple[bool, Kind]] = Counter()
    for matrix in all_matrices(count):
        rational = exact(matrix)
        direction = direction_of(THESIS, matrix, closed=False)
        if direction is not None:
            assert cuts_within_the_allowance(rational, direction), matrix
        accepted, clear = as_printed(rational)
        if clear:
            assert (direction is None) == accepted, matrix
            clear_answers[accepted, kind(rational)] += 1
    assert clear_answers[True, Kind.DEFINITE] > 0.075 * count
    assert clear_answers[True, Kind.SEMIDEFINITE] > 0.025 * count
    assert clear_answers[True, Kind.INDEFINITE] > 0.025 * count
    assert clear_answers[False, Kind.INDEFINITE] > 0.25 * count


def as_printed(matrix: ExactMatrix) -> tuple[bool, bool]:
    """Whether Algorithm 7 accepts in exact arithmetic, and whether rounding cannot change that.

    It is clear if every comparison on the way has a gap above 2^-30 of the diagonal entries
    compared, or is one between entries that no elimination has touched.
    """
    block, clear = matrix, True
    diagonal = [row[i] for i, row in enumerate(block)]
    noise = [Fraction()] * len(block)
    original = list(diagonal)
    while block:
        diagonal = [row[i] for i, row in enumerate(block)]
        clear &= all(abs(d) > e or not e for d, e in zip(diagonal, noise, strict=True))
        if min(diagonal) < 0:
            return False, clear
        largest = max(diagonal)
        if largest == 0:
            return True, clear
        at = diagonal.index(largest)
        clear &= all(
            largest - d > noise[at] + e or not (noise[at] + e)
            for i, (d, e) in enumerate(zip(diagonal, noise, strict=True))
            if i != at
        )
        swap = list(range(len(block)))
        swap[0], swap[at] = at, 0
        block = [[block[i][j] for j in swap] for i in swap]
        original, noise = [original[i] for i in swap][1:], [noise[i] for i in swap][1:]
        touched = block[0][1:]
        noise = [
            abs(z) / 2**30 if t else e for t, z, e in zip(touched, original, noise, strict=True)
        ]
        block = [
            [block[i][j] - block[i][0] * block[0][j] / largest for j in range(1, len(block))]
            for i in range(1, len(block))
        ]
    return True, clear


@each_count
@pytest.mark.parametrize("closed", [False, True])
def test_small_integers_are_judged_without_any_allowance(closed: bool, count: int) -> None:
    answers: Counter[tuple[bool, Kind]] = Counter()
    for matrix in integer_matrices(count):
        truth = kind(exact(matrix))
        right = truth is Kind.DEFINITE or (closed and truth is Kind.SEMIDEFINITE)
        answers[(direction_of(STRICT, matrix, closed) is None) == right, truth] += 1
    assert min(answers[True, truth] for truth in Kind) > 0.05 * count
    assert answers[False, Kind.DEFINITE] == answers[False, Kind.INDEFINITE] == 0
    assert answers[False, Kind.SEMIDEFINITE] <= 3


def test_a_singular_matrix_that_rounding_lets_pass_is_never_proved_definite() -> None:
    """Its last residual, exactly 0, is computed as 3.8e-15, above 6 eps times the entry 2."""
    matrix = np.array([[20.0, 24.0, 2.0], [24.0, 32.0, 0.0], [2.0, 0.0, 2.0]])
    assert kind(exact(matrix)) is Kind.SEMIDEFINITE
    direction = direction_of(STRICT, matrix, closed=False)
    assert direction is None or cuts_within_the_allowance(exact(matrix), direction)
    assert kind(plus_diagonal(exact(matrix), allowance(exact(matrix)))) is Kind.DEFINITE
    assert lowest_eigenvalue_bound(matrix) <= 0.0


def test_all_integer_matrices_of_order_3_with_entries_up_to_1() -> None:
    for entries in np.ndindex(3, 3, 3, 3, 3, 3):
        matrix = np.zeros((3, 3))
        matrix[np.triu_indices(3)] = np.array(entries) - 1.0
        matrix = matrix + np.triu(matrix, 1).T
        truth = kind(exact(matrix))
        assert (direction_of(STRICT, matrix, closed=False) is None) == (truth is Kind.DEFINITE)
        assert (direction_of(STRICT, matrix, closed=True) is None) == (truth is not Kind.INDEFINITE)


def exactly_decomposed(rng: np.random.Generator) -> FloatArray:
    """R'R + T, such that every pivot root and every quotient of the oracle is a whole number.

    The pivots are powers of 64 and fall so fast that no other diagonal entry is ever as large.
    T, which is left over, has a zero diagonal, or one negative or positive diagonal entry alone.
    """
    order = int(rng.integers(1, 6))
    pivots = int(rng.integers(0, order))
    rows = np.zeros((pivots, order))
    for k in range(pivots):
        root = 8 ** (pivots - k)
        rows[k, k] = root
        rows[k, k + 1 :] = rng.integers(-root // 4, root // 4 + 1, order - k - 1)
    left = np.zeros((order, order))
    tail = order - pivots
    if rng.random() < 0.5:
        upper = np.triu(rng.integers(-1, 2, (tail, tail)), 1)
        left[pivots:, pivots:] = upper + upper.T
    if tail == 1 or rng.random() < 0.3:
        left[-1, -1] = rng.integers(-3, 4 if tail == 1 else 0)
    return permuted(rows.T @ rows + left, rng)


@pytest.mark.parametrize("seeds", parts(1500, kept=300))
def test_exact_arithmetic_is_judged_without_any_allowance(seeds: range) -> None:
    answers: Counter[tuple[str, bool]] = Counter()
    for seed in seeds:
        matrix = exactly_decomposed(np.random.default_rng(seed))
        rational = exact(matrix)
        truth = kind(rational)
        allowed = {
            "open": truth is Kind.DEFINITE,
            "closed": truth is not Kind.INDEFINITE,
            "thesis": as_printed(rational)[0],
        }
        for mode, passes in allowed.items():
            oracle = THESIS if mode == "thesis" else STRICT
            direction = direction_of(oracle, matrix, closed=mode == "closed")
            assert (direction is None) == passes, (mode, matrix)
            if direction is not None:
                value = form(rational, direction)
                assert value <= 0 if mode == "open" else value < 0, (mode, matrix)
            answers[mode, passes] += 1
    assert min(answers.values()) > len(seeds) / 15
    assert answers["thesis", True] > answers["closed", True]


def test_the_exchange_matrix() -> None:
    assert direction_of(THESIS, EXCHANGE, closed=False) is None
    for closed in (False, True):
        direction = direction_of(STRICT, EXCHANGE, closed)
        assert direction is not None
        assert form(exact(EXCHANGE), direction) == -2


def test_mode_thesis_alone_accepts_the_boundary() -> None:
    assert THESIS.accepts_boundary
    assert not STRICT.accepts_boundary
    assert PivotedCholesky().mode == "strict"
    with pytest.raises(ValueError, match="mode"):
        PivotedCholesky(mode="exact")  # type: ignore[arg-type]


def test_mode_thesis_does_not_know_a_closed_cone() -> None:
    singular = np.diag([1.0, 0.0])
    for closed in (False, True):
        assert direction_of(THESIS, singular, closed) is None


def test_one_running_oracle_gives_the_same_answers_as_fresh_ones() -> None:
    rng = np.random.default_rng(5)
    running = STRICT.start(6)
    for _ in range(50):
        dense = rng.standard_normal((6, 6))
        matrix = dense + dense.T + 4 * np.eye(6)
        again, fresh = running.find(matrix.copy(), False), STRICT.start(6).find(matrix, False)
        assert (again is None) == (fresh is None)
        if again is not None:
            np.testing.assert_array_equal(again, fresh)
