"""Answers of solvers repaired: fractions judge both bounds, and wrong answers prove nothing."""

from __future__ import annotations

import shutil
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.algorithms.external.sdpa_format import Blocks
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import FloatArray, Result, Status
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.core.time_limit import TimeIsUp
from perceptron_lab.datasets.generated.infeasible_programs import InfeasibleSdp
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.problems.optima.bound_verification import DUAL, VECTORS, reverified_bounds
from perceptron_lab.problems.optima.external_solver import (
    INFEASIBLE,
    OBJECTIVE,
    Approximation,
    BlockProgram,
    errors_of,
)
from perceptron_lab.problems.optima.low_rank import LowRank
from perceptron_lab.problems.optima.lower_bounds import DualProblem
from perceptron_lab.problems.optima.optimiser import minimise
from perceptron_lab.problems.optima.upper_bounds import feasible_between
from perceptron_lab.problems.optima.verified_solver import VerifiedSolver, semidefinite_factor
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import SdpaData, homogenised
from tests.problems.optima.small_programs import dense_program, judged, maxcut, rational
from tests.problems.optima.test_lower_bounds import definite, rationally, semidefinite_blocks
from tests.repetitions import repeated

SOLVERS = ["csdp", "sdpa", "dsdp5", "clarabel", "scs"]


def needs(solver: str) -> None:
    if solver in ("csdp", "sdpa", "dsdp5") and shutil.which(solver) is None:
        pytest.skip(f"{solver} is not on PATH")


def program_of(seed: int) -> ConicSystem:
    """Small ones: matrices and rows, of MAXCUT's form, entries of doubles, nearly no interior."""
    if seed % 4 == 0:
        return maxcut(seed, "random-8-12")
    data = dense_program(seed, order=2 + seed % 5, variables=1 + seed % 4, rows=1 + seed % 3)
    if seed % 4 == 1:
        return homogenised(data)
    rng = np.random.default_rng(seed)
    values = data.value * (1.0 + 0.01 * rng.standard_normal(len(data.value)))
    if seed % 4 == 3:  # the origin is all but infeasible
        values[data.matrix == 0] *= 1.0 + 1e-9
    indices = np.column_stack([data.matrix, data.block, data.row, data.column])
    return homogenised(SdpaData.from_entries(data.objective, data.blocks, indices, values))


def exact_objective(system: ConicSystem, point: FloatArray) -> Fraction:
    """The objective of a point, if F(x) is positive semidefinite in fractions."""
    assert system.objective is not None
    data = sp.csr_array(system.operator.data)  # type: ignore[attr-defined]
    x = rational(point)
    scores = [
        sum((Fraction(a) * b for a, b in zip(row, x, strict=True)), Fraction(0))
        for row in data.toarray().tolist()
    ]
    assert scores[0] > 0
    for part, span in system.cone.blocks[1:]:
        block = scores[span]
        if not isinstance(part, Semidefinite):
            assert min(block) >= 0
            continue
        matrix = [[Fraction(0)] * part.rank for _ in range(part.rank)]
        for i, j, value in zip(part.rows.tolist(), part.columns.tolist(), block, strict=True):
            matrix[i][j] = matrix[j][i] = value
        assert definite(matrix)
    c = rational(system.objective.values)
    return sum((a * b for a, b in zip(c, x[1:], strict=True)), Fraction(0)) / x[0]


def assert_sound(system: ConicSystem, result: Result) -> None:
    """Both bounds hold in fractions: of an exactly feasible x, and of an exactly feasible X."""
    above = None
    if result.optimum_upper is not None:
        above = exact_objective(system, result.point)
        assert above <= Fraction(result.optimum_upper)
    if result.optimum_lower is not None:
        dual = DualProblem.of(system)
        exact, below = rationally(dual, result.proof[DUAL])
        assert semidefinite_blocks(dual, exact)
        assert Fraction(result.optimum_lower) <= below
        assert above is None or below <= above
    again = reverified_bounds(system, result.point, result.proof, result.optimum_lower)
    assert again == (result.optimum_lower, result.optimum_upper)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", repeated(range(40), kept=2))
def test_both_bounds_hold_in_fractions(seed: int, solver: Any) -> None:
    needs(solver)
    system = program_of(seed)
    result = minimise(system, VerifiedSolver(solver=solver), RunOptions(budget=Budget(10, 20.0)))
    assert_sound(system, result)
    if solver == "scs" and seed % 4 == 3:
        return  # all but without an interior: its digits may not suffice
    assert result.status is Status.FEASIBLE, result.message
    assert result.optimum_width is not None
    assert result.optimum_width <= (2e-2 if solver == "scs" else 1e-5)
    optimum = judged(system)
    slack = 1e-6 * (1.0 + abs(optimum))
    assert result.optimum_lower is not None
    assert result.optimum_upper is not None
    assert result.optimum_lower <= optimum + slack
    assert optimum - slack <= result.optimum_upper
    assert result.certificate["figures"][OBJECTIVE] == pytest.approx(optimum, rel=2e-2, abs=2e-2)


def wrong(program: BlockProgram, kind: str, seed: int) -> Approximation:
    """An answer that is none."""
    rng = np.random.default_rng(seed)
    x = {"zero": 0.0, "noise": 1.0, "huge": 1e12}[kind] * rng.standard_normal(
        len(program.objective)
    )
    blocks: Blocks = []
    for part in program.dense(program.identity):
        half = rng.standard_normal(part.shape)
        drawn = half if part.ndim == 1 else half + half.T
        blocks.append({"zero": 0.0, "noise": 1.0, "huge": 1e12}[kind] * drawn)
    return Approximation(x, blocks, blocks, f"{kind} 1.0")


@pytest.mark.parametrize("kind", ["zero", "noise", "huge"])
@pytest.mark.parametrize("seed", repeated(range(12), kept=1))
def test_bounds_of_wrong_answers_are_valid(
    seed: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "perceptron_lab.problems.optima.external_solver.ExternalSolver.solve",
        lambda self, program, seconds: wrong(program, kind, seed),
    )
    for system in (program_of(seed), program_of(seed + 1)):
        result = minimise(system, VerifiedSolver(solver="scs"))
        assert_sound(system, result)
        assert result.status in (Status.FEASIBLE, Status.UNVERIFIED)


def test_forged_bounds_are_not_proved_again() -> None:
    system = program_of(1)
    result = minimise(system, VerifiedSolver(solver="clarabel"))
    assert result.optimum_lower is not None
    assert result.optimum_upper is not None
    for weights in (result.proof[DUAL] * 1.001, -result.proof[DUAL], result.proof[DUAL][1:]):
        lower, _ = reverified_bounds(system, result.point, {DUAL: weights}, result.optimum_lower)
        assert lower is None or lower <= result.optimum_lower
    below = result.point - 0.01 * np.append(0.0, np.asarray(system.objective.values))  # type: ignore[union-attr]
    _, upper = reverified_bounds(system, below, result.proof, result.optimum_lower)
    assert upper is None or upper >= result.optimum_lower


def test_large_programs_of_maxcuts_form_have_the_bounds_of_a_factor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As if order 12 were large: the interval of X's factor is nearly that of X."""
    system = maxcut(2)
    small = minimise(system, VerifiedSolver(solver="clarabel"))
    monkeypatch.setattr("perceptron_lab.problems.optima.lower_bounds.LARGEST_WHOLE", 10)
    large = minimise(system, VerifiedSolver(solver="clarabel"))
    assert list(large.proof) == [VECTORS]
    assert small.optimum_upper is not None
    assert large.optimum_lower is not None
    assert large.optimum_width is not None
    assert large.optimum_lower <= small.optimum_upper
    assert large.optimum_width <= 1e-6
    again = reverified_bounds(system, large.point, large.proof, large.optimum_lower)
    assert again == pytest.approx((large.optimum_lower, large.optimum_upper), rel=1e-13)


def test_a_point_is_moved_inside_by_the_required_distance_only() -> None:
    """Eigenvalues of sparse matrices are estimates: more may be missing than they say."""
    system = homogenised(generate("random-60-90", seed=1))
    optimum = minimise(system, LowRank())
    assert optimum.optimum_upper is not None
    point = optimum.point / optimum.point[0]
    point[1:] -= 1e-9
    inner = point + np.append(0.0, np.ones(60))
    point_and_value = feasible_between(system, point, (inner, 1e6))
    assert point_and_value is not None
    assert point_and_value[1] <= optimum.optimum_upper + 1e-4


def test_the_factor_is_that_of_the_matrix_or_of_its_non_negligible_part() -> None:
    rng = np.random.default_rng(0)
    half = rng.standard_normal((9, 3))
    for matrix in (half @ half.T, half @ half.T - 1e-12 * np.eye(9), np.eye(9)):
        vectors = semidefinite_factor(matrix)
        assert vectors.shape[1] in (3, 9)
        np.testing.assert_allclose(vectors @ vectors.T, matrix, atol=1e-8)


def _pretend(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "csdp"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo CSDP 9.9; exit 206", "csdp 9.9 ended with code 206 and no answer"),
        ("sleep 30", "no answer within 0.2 s"),
    ],
)
def test_a_program_without_an_answer_is_a_numerical_error(
    script: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pretend(tmp_path, script, monkeypatch)
    result = minimise(maxcut(1), VerifiedSolver(), RunOptions(budget=Budget(10, 0.1)))
    assert result.status is Status.NUMERICAL_ERROR
    assert message in result.message
    assert (result.optimum_lower, result.optimum_upper) == (None, None)


def test_a_program_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="csdp is not on PATH; Debian: apt install coinor-csdp"):
        minimise(maxcut(1), VerifiedSolver())


def test_errors_are_those_of_dimacs() -> None:
    """min 2x with [x, 1; 1, x] >= 0 and x <= 4: errors of an answer by hand."""
    table = np.array([[1, 0, 0, 0], [1, 0, 1, 1], [0, 0, 0, 1], [1, 1, 0, 0], [0, 1, 0, 0]])
    data = SdpaData.from_entries(
        np.array([2.0]), [2, -1], table, np.array([1.0, 1.0, -1.0, -1.0, -4.0])
    )
    program = BlockProgram.of(homogenised(data))
    slack = [np.array([[1.5, 1.0], [1.0, 1.5]]), np.array([2.5])]
    multipliers = [np.array([[1.0, -1.5], [-1.5, 1.0]]), np.array([0.5])]
    errors = errors_of(program, Approximation(np.array([1.25]), slack, multipliers, ""))
    # b = 1 + 2 and C = 1 + 4; <F_i, X> = 2 - 0.5, Z - F(x) = (0.25 I, -0.25)
    upper, lower = 2.5, 2 * 1.5 - 4 * 0.5
    product = 2 * 1.5 - 2 * 1.5 + 0.5 * 2.5
    expected = [
        0.5 / 3.0,
        0.5 / 3.0,
        np.sqrt(3.0) * 0.25 / 5.0,
        0.0,
        (upper - lower) / 4.5,
        product / 4.5,
    ]
    assert list(errors.values()) == pytest.approx([*expected, 2.5])
    assert errors[OBJECTIVE] == 2.5


def test_the_given_program_in_sdpas_format_is_the_file_it_was_read_from() -> None:
    data = dense_program(5)
    assert BlockProgram.of(homogenised(data)).sdpa() == data
    perturbed = BlockProgram.of(homogenised(data)).perturbed(slack=0.5, multiplier=0.25)
    exact = BlockProgram.of(homogenised(data))
    x = np.arange(1.0, 4.0)
    np.testing.assert_allclose(perturbed.slack(x), exact.slack(x) - 0.5 * exact.identity)
    traces = exact.rows.T @ exact.identity
    np.testing.assert_allclose(perturbed.objective, exact.objective - 0.25 * traces)


def test_a_search_that_has_no_time_ends_with_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> None:
        raise TimeIsUp

    monkeypatch.setattr(VerifiedSolver, "minimise", late)
    result = minimise(maxcut(1), VerifiedSolver(), RunOptions(budget=Budget(10, 100.0)))
    assert result.status is Status.TIME_LIMIT
    assert "the budget of 100 seconds is spent" in result.message
    stopped = minimise(maxcut(1), VerifiedSolver(), RunOptions(stop=lambda: "stopped"))
    assert "stopped" in stopped.message


@pytest.mark.parametrize("solver", ["csdp", "clarabel", "scs"])
def test_reports_that_there_is_no_point_are_recorded_and_tested(solver: Any) -> None:
    needs(solver)
    for kind in ("infeasible", "feasible"):
        system = ConicSystem.of(InfeasibleSdp("gram", kind, 4).problem(0).system)
        result = minimise(system, VerifiedSolver(solver), RunOptions(budget=Budget(seconds=20)))
        assert result.status == kind.upper()
        claims = result.certificate["figures"].get(INFEASIBLE)
        assert claims == (1.0 if kind == "infeasible" else None)
