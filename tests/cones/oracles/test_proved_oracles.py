"""The oracles whose word is proved: under the exact judge, and beside dense decompositions."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab import Budget, solve
from perceptron_lab.cones.oracles import proving
from perceptron_lab.cones.oracles.proving import (
    AutoOracle,
    Lanczos,
    LeadingCholesky,
    Proving,
    Question,
    SparseLdl,
)
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ArithmeticModeError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.numerics.compiled.symmetric_products import diagonal_sizes
from perceptron_lab.numerics.symmetric.factor import Factor, LeadingBlocks
from perceptron_lab.numerics.symmetric.pattern import Pattern
from perceptron_lab.systems.pencil import homogenised
from tests.cones.oracles.exact import Kind, exact, form, kind, plus_identity
from tests.cones.oracles.matrices import all_matrices
from tests.cones.oracles.nearly_singular import OF_SEED, ORACLES, census, matrices, room
from tests.numerics.symmetric.test_sparse_factors import definite, random_pattern
from tests.repetitions import repeated

RECORDS = [registry.load("oracle", name)() for name in ORACLES]
by_name = pytest.mark.parametrize("record", RECORDS, ids=ORACLES)


def on_pattern(matrix: FloatArray) -> tuple[Pattern, FloatArray]:
    rows, columns = np.nonzero(np.triu(matrix != 0.0) | np.eye(len(matrix), dtype=bool))
    return Pattern(len(matrix), rows, columns), matrix[rows, columns]


def lowered(system: object, level: float) -> tuple[Pattern, FloatArray]:
    """C + level I on its pattern."""
    point = np.append(1.0, np.full(system.dimension - 1, level))  # type: ignore[attr-defined]
    entries = system.operator.scores(point)[1:]  # type: ignore[attr-defined]
    return system.cone.parts[1].pattern, np.ascontiguousarray(entries)  # type: ignore[attr-defined]


def test_every_verified_oracle_is_tested() -> None:
    targets = {name: registry.load("oracle", name) for name in registry.names("oracle")}
    assert [name for name, target in targets.items() if issubclass(target, Proving)] == ORACLES


# --- what is proved is true ----------------------------------------------------------------------


# auto is one of the others
@pytest.mark.parametrize("record", RECORDS[:3], ids=ORACLES[:3])
@pytest.mark.parametrize("closed", [False, True])
def test_verified_answers_are_true_for_the_exact_matrix(record: Proving, closed: bool) -> None:
    answers: Counter[str] = Counter()
    for matrix in all_matrices(150):
        pattern, entries = on_pattern(matrix)
        direction, proved = record.running_on(pattern).answer(entries, 0.0, closed=closed)
        truth = kind(exact(matrix))
        if direction is None:
            assert proved or closed
            assert truth is Kind.DEFINITE or closed
            answers["definite" if proved else "accepted"] += 1
        else:
            assert 0.0 < np.abs(direction).max() < math.inf
            value = form(exact(matrix), direction)
            assert not proved or (value < 0 if closed else value <= 0)
            answers["cut" if proved else "within rounding"] += 1
    assert answers["cut"] > 50
    assert answers["accepted" if closed else "definite"] > 12
    assert closed == (answers["within rounding"] == 0)


def test_undecided_matrices_are_within_rounding_of_singular() -> None:
    decided = 0
    for matrix in all_matrices(150):
        pattern, entries = on_pattern(matrix)
        if not SparseLdl().running_on(pattern).answer(entries, 0.0, closed=False).proved:
            size = Fraction(float(np.abs(matrix).sum()))
            allowance = Fraction(8 * len(matrix), 2**52) * size
            assert kind(plus_identity(exact(matrix), allowance)) is Kind.DEFINITE
            assert kind(plus_identity(exact(matrix), -allowance)) is Kind.INDEFINITE
            decided += 1
    assert decided > 5


@pytest.mark.parametrize("seed", repeated(range(400), kept=1))
def test_no_nearly_singular_matrix_is_answered_wrongly(seed: int) -> None:
    counts = census([seed])
    assert counts["matrices"] == OF_SEED == 2 * counts["sparse with fill"]
    assert counts["of order 30 or more"] == OF_SEED // 50
    assert counts["LAPACK: wrong definite"] > 0  # so the matrices are hard
    assert not counts["judge: wrong definite"]
    assert not counts["judge: clear without a proof"]
    for oracle in ORACLES:
        assert not counts[f"{oracle}: wrong definite"]
        assert not counts[f"{oracle}: wrong cut"]
        assert not counts[f"{oracle}: clear without a proof"]
        assert counts[f"{oracle}: clear"] > 20


def test_without_the_room_for_rounding_definite_is_said_wrongly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proving, "eigenvalue_rounding", lambda *_: 0.0)
    counts = census([0], ["sparse-ldl"])
    assert counts["sparse-ldl: wrong definite"] > 0


@by_name
@pytest.mark.parametrize("exponent", [-1060, -1000, -500, 500, 1000])
def test_tiny_and_huge_matrices_are_answered(record: Proving, exponent: int) -> None:
    for level, inside in ((6.0, True), (2.0, False)):
        pattern, entries = lowered(homogenised(generate("random-20-40", 0)), level)
        scaled = np.ldexp(np.round(8.0 * entries), exponent - 3)  # exact
        direction, proved = record.running_on(pattern).answer(scaled, 0.0, closed=False)
        assert proved
        assert (direction is None) == inside


def test_nothing_is_proved_where_scaling_loses_digits() -> None:
    pattern = Pattern(2, np.array([0, 1]), np.array([0, 1]))
    running = SparseLdl().running_on(pattern)
    assert running.answer(np.array([2.0**1000, -1.0]), 0.0, closed=False).proved
    assert not running.answer(np.array([2.0**1000, -(2.0**-300)]), 0.0, closed=False).proved


@by_name
@pytest.mark.parametrize("slack", [-0.25, 0.25])
def test_slack_moves_the_cone(record: Proving, slack: float) -> None:
    pattern, entries = lowered(homogenised(generate("random-40-80", 0)), 0.0)
    lowest = float(np.linalg.eigvalsh(pattern.dense(entries))[0])
    running = record.running_on(pattern)
    for beyond, passes in ((1e-9, True), (-1e-9, False)):
        shifted = entries.copy()
        shifted[pattern.diagonal] += beyond - lowest - slack
        direction = running.find(shifted, slack)
        assert (direction is None) == passes
        if direction is not None:
            matrix = pattern.dense(shifted) + slack * np.eye(pattern.order)
            assert form(exact(matrix), direction) < 0


# --- the same answers as whole matrices, found earlier -------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_direction_is_that_of_the_dense_decomposition(seed: int) -> None:
    """The first pivot that is not positive is the Schur complement of its leading block."""
    rng = np.random.default_rng(seed)
    pattern = random_pattern(60, 120, rng)
    entries = definite(pattern, rng, lowest=-0.3)
    factor = Factor(pattern)
    failed = factor.eliminate(entries)
    order = factor.elimination.order
    full = pattern.dense(entries)[np.ix_(order, order)]
    head, column = full[:failed, :failed], full[:failed, failed]
    assert np.linalg.eigvalsh(head)[0] > 0.0
    solved = np.linalg.solve(head, column)
    pivot = full[failed, failed] - column @ solved
    assert pivot <= 0.0
    direction = factor.direction()[order]
    np.testing.assert_allclose(direction[:failed], -solved, atol=1e-9)
    assert direction @ full @ direction == pytest.approx(pivot, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_rows_after_the_failing_pivot_are_not_read(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pattern = random_pattern(60, 120, rng)
    entries = definite(pattern, rng, lowest=-0.5)
    factor, again = Factor(pattern), Factor(pattern)
    failed = factor.eliminate(entries)
    position = np.argsort(factor.elimination.order)
    behind = np.maximum(position[pattern.rows], position[pattern.columns]) > failed
    assert behind.any()
    assert again.eliminate(np.where(behind, np.nan, entries)) == failed
    np.testing.assert_array_equal(factor.direction(), again.direction())


def test_leading_blocks_stop_at_the_first_that_fails() -> None:
    order, rng = 300, np.random.default_rng(1)
    square = rng.standard_normal((order, order)) / 20
    for k, size in ((0, 128), (127, 128), (128, 256), (200, 256), (256, 300), (299, 300)):
        matrix = square @ square.T + np.eye(order)
        matrix[k, k] = matrix[k, :k] @ np.linalg.solve(matrix[:k, :k], matrix[:k, k]) - 1.0
        matrix[size:], matrix[:, size:] = np.nan, np.nan
        rows, columns = np.triu_indices(order)
        blocks = LeadingBlocks(Pattern(order, rows, columns), order)
        assert blocks.eliminate(matrix[rows, columns]) == k
        direction = blocks.direction()
        assert not direction[k + 1 :].any()
        part = direction[:size]
        assert part @ matrix[:size, :size] @ part == pytest.approx(-1.0, abs=1e-9)


def test_one_running_oracle_gives_the_same_answers_as_fresh_ones() -> None:
    system = homogenised(generate("random-70-120", 0))
    for record in (SparseLdl(), LeadingCholesky(), Lanczos()):
        running = record.running_on(lowered(system, 0.0)[0])
        for level in (1.0, 6.0, 2.0, 3.0, 0.5, 6.0):
            pattern, entries = lowered(system, level)
            again, fresh = running.find(entries, 0.0), record.running_on(pattern).find(entries, 0.0)
            assert (again is None) == (fresh is None)
            if again is not None:
                np.testing.assert_array_equal(again, fresh)


# --- Lanczos and auto ----------------------------------------------------------------------------


def path(order: int) -> tuple[Pattern, FloatArray, float]:
    """A path's matrix, 2 I - adjacency, and its lowest eigenvalue 2 - 2 cos(pi / (n + 1))."""
    nodes = np.arange(order)
    rows, columns = np.append(nodes, nodes[:-1]), np.append(nodes, nodes[1:])
    lowest = 2.0 - 2.0 * math.cos(math.pi / (order + 1))
    return Pattern(order, rows, columns), np.where(rows == columns, 2.0, -1.0), lowest


def test_a_missing_ritz_value_is_no_proof_of_definiteness() -> None:
    pattern, entries, lowest = path(800)
    running = Lanczos(products=20).running_on(pattern)
    entries[pattern.diagonal] -= lowest * (1.0 + 1e-3)
    direction, proved = running.answer(entries, 0.0, closed=False)
    assert running.answers == {"sparse-ldl": 1}, "the matrix is too easy to say anything"
    assert proved
    assert direction is not None
    assert direction @ (pattern.sparse(entries) @ direction) < 0.0
    entries[pattern.diagonal] += 0.5 * lowest
    assert running.answer(entries, 0.0, closed=False) == (None, True)


def test_auto_chooses_by_fill_and_by_the_last_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern, entries, lowest = path(300)
    light = AutoOracle().running_on(pattern)
    assert light.find(entries - 2.0 * (entries > 0.0), 0.0) is not None
    assert light.answers == {"sparse-ldl": 1}
    monkeypatch.setattr(proving, "LIGHT", 10.0)
    heavy = AutoOracle().running_on(pattern)
    far, approximate = entries - (entries > 0.0), entries - lowest * 1.001 * (entries > 0.0)
    ways = []
    for values in (far, far, entries, entries, approximate, approximate):
        before = Counter(heavy.answers)
        heavy.find(values, 0.0)
        ways += list(heavy.answers - before)
    # definite: the factor goes on until it finds a cut, then Lanczos is tried again, and misses
    assert ways == ["lanczos", "lanczos", "sparse-ldl", "sparse-ldl", "sparse-ldl", "sparse-ldl"]
    assert heavy.notes == ["the oracle auto answered by sparse-ldl 4, lanczos 2"]


def test_auto_factorises_matrices_with_every_entry_by_leading_blocks() -> None:
    order = 150
    rows, columns = np.triu_indices(order)
    running = AutoOracle().running_on(Pattern(order, rows, columns))
    assert running.find((rows == columns) * 1.0, 0.0) is None
    assert running.answers == {"leading-cholesky": 1}


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_run_is_verified_and_reports_the_oracle_of_auto(oracle: str) -> None:
    system = homogenised(generate("random-40-80", 0))
    result = solve(system, "perceptron", oracle=oracle, budget=Budget(updates=20_000))
    assert result.status.value == "FEASIBLE"
    notes = result.certificate.get("notes", [])
    assert any("the oracle auto answered by sparse-ldl" in n for n in notes) == (oracle == "auto")
    answers = result.certificate["answers"]
    assert answers.keys() <= {"lanczos", "leading-cholesky", "sparse-ldl"}
    assert oracle != "auto" or f"sparse-ldl {answers['sparse-ldl']}" in notes[-1]
    # the first block is x_0 > 0, and needs no such oracle where it is violated
    assert 0 < sum(answers.values()) <= result.queries


def test_oracles_with_one_method_report_no_choice() -> None:
    result = solve(homogenised(generate("random-10-20", 0)), "perceptron", oracle="cholesky")
    assert "answers" not in result.certificate


def test_answers_within_rounding_are_counted() -> None:
    matrix = next(m for m in matrices(0) if not _proved(m.pattern, m.entries))
    running = SparseLdl().running_on(matrix.pattern)
    assert running.notes == []
    assert running.find(matrix.entries, 0.0) is not None
    assert "cut off 1 matrices that are singular up to rounding" in running.notes[0]
    assert room(matrix, "sparse-ldl") > 0.0


def _proved(pattern: Pattern, entries: FloatArray) -> bool:
    return SparseLdl().running_on(pattern).answer(entries, 0.0, closed=False).proved


def test_nothing_is_proved_in_another_mode_of_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perceptron_lab.numerics.roundoff._HALF", 0.0)
    with pytest.raises(ArithmeticModeError):
        SparseLdl().running_on(path(3)[0])


@pytest.mark.parametrize("slack", [0.0, -0.5, 2.0])
@pytest.mark.parametrize("closed", [False, True])
def test_the_shift_covers_the_rounding_of_the_theorem(slack: float, closed: bool) -> None:
    pattern, entries, _ = path(50)
    _, largest, trace = diagonal_sizes(pattern.diagonal, entries)
    assert (largest, trace) == (2.0, 100.0)
    shift = Question(pattern, entries, slack, closed, largest, trace).shift(terms=7)
    room = Fraction(shift) + Fraction(slack)
    raised = max(Fraction(slack), Fraction(0))
    unit = Fraction(1, 2**53)
    least = 10 * unit * (100 + 50 * raised) + unit * (2 + raised) + unit * abs(Fraction(slack))
    assert least < (-room if closed else room) < least * (1 + Fraction(1, 10))
