"""Linear systems that are ended at any moment: the answer says what is proved."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.linear import highs
from perceptron_lab.algorithms.linear.linear_result import LinearResult
from perceptron_lab.algorithms.linear.proofs import faults
from perceptron_lab.core.results import Status
from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from perceptron_lab.systems.exact_solutions import Equation, basis, null_columns
from perceptron_lab.systems.linear_system import LinearSystem
from tests.stops import StopAt

FURTHER = 8  # Each part that could be left out asks for itself


def system(kind: str) -> LinearSystem:
    rng = np.random.default_rng(0)
    matrix, point = rng.integers(-9, 10, size=(12, 6)), rng.integers(0, 5, size=6)
    slack = 0 if kind == "tight" else (1 if kind == "feasible" else -50)
    both = np.vstack([matrix, -matrix])
    return ConicSystem.from_linear(both, both @ point - slack, lower=0)


def ended(linear_system: LinearSystem, stop: StopAt) -> LinearResult:
    result = solve(linear_system, stop=stop)
    assert isinstance(result, LinearResult)
    return result


@pytest.mark.parametrize("proposed", [True, False])
@pytest.mark.parametrize("kind", ["feasible", "tight", "infeasible"])
def test_a_run_stopped_at_any_check_returns_what_is_verified(
    kind: str, proposed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With HiGHS's proposals, or by exact pivots alone."""
    if not proposed:
        monkeypatch.setattr(
            "perceptron_lab.algorithms.linear.deciding.complementary_pair", lambda _: None
        )
    linear_system, count = system(kind), StopAt()
    full = ended(linear_system, count)
    assert full.proved
    statuses, reached = set(), False
    for questions in np.unique(np.geomspace(1, count.asked + 1, 12).astype(int)).tolist():
        stop = StopAt(questions)
        result = ended(linear_system, stop)
        assert stop.asked <= questions + FURTHER
        statuses.add(result.status)
        assert result.status in (full.status, Status.TIME_LIMIT)
        assert faults(linear_system, result.status, result.exact) == []
        if result.status is Status.TIME_LIMIT:
            assert result.message == "stopped"
            lower, upper = result.violation
            assert lower == 0.0
            assert upper is not None
            at = [Fraction(value) for value in result.point.tolist()]
            reached |= any(at)
            assert upper >= linear_system.violation(at)
    assert statuses == {full.status, Status.TIME_LIMIT}
    assert reached  # to the least violation, by the last program of HiGHS


def test_a_program_that_highs_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As its presolve may do with dense equations: the bracket is that of a point at hand."""
    called = []

    def forever(function: object, *program: object) -> None:
        called.append(function)
        raise TimeIsUp

    monkeypatch.setattr(highs, "QUICK", 0)
    monkeypatch.setattr(highs, "killable", forever)
    result = ended(system("infeasible"), StopAt())
    assert called
    assert result.status is Status.TIME_LIMIT or result.proved
    assert result.violation[1] is not None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["feasible", "infeasible"])
def test_large_programs_have_the_answer_of_small_ones(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In another process, HiGHS does what it does in this one."""
    program = system(kind)
    local = solve(program)
    monkeypatch.setattr(highs, "QUICK", 0)
    there = solve(program)
    assert there.certificate == local.certificate
    assert there.iterations == local.iterations
    ours, other = solve(program, "highs"), solve(program, "highs", stop=StopAt())
    assert ours.certificate == other.certificate


def test_counts_end_the_search_for_a_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is that of the basis then, whatever the speed of the machine."""
    program, module = system("feasible"), "perceptron_lab.algorithms.linear"
    monkeypatch.setattr(f"{module}.deciding.QUICK", 0)
    assert "near a point of HiGHS" in solve(program).message
    monkeypatch.setattr(f"{module}.floating_rows.PAIR_ITERATIONS", 1)
    result = ended(program, StopAt())
    assert "a basis of HiGHS" in result.message
    assert faults(program, result.status, result.exact) == []


def test_with_no_time_nothing_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highs, "QUICK", 0)
    result = solve(system("feasible"), "highs", budget=Budget(seconds=0.0))
    assert result.status is Status.TIME_LIMIT
    assert solve(system("feasible"), budget=Budget(seconds=0.0)).status is Status.TIME_LIMIT


def test_pivots_of_many_rows_are_those_of_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that depend on earlier ones among them, and columns of zeros."""
    rng = np.random.default_rng(0)
    for width, rank in ((9, 4), (5, 5), (12, 7)):
        table = rng.integers(-3, 4, size=(40, rank)) @ rng.integers(-3, 4, size=(rank, width))
        equations = [Equation(dict(enumerate(row)), 0) for row in table.tolist()]
        at_once = basis(equations, range(width))
        with monkeypatch.context() as patch:
            patch.setattr("perceptron_lab.systems.exact_solutions._AT_ONCE", 0)
            patch.setattr("perceptron_lab.systems.exact_solutions._ROWS", 3)
            assert basis(equations, range(width)) == at_once
            stop = StopAt(4)
            with time_limit(np.inf, stop), pytest.raises(TimeIsUp):
                basis(equations, range(width))
            assert stop.asked == 4
            few = StopAt()
            with time_limit(np.inf, few):
                assert basis(equations, range(width), most_pivots=2) is None
            # The rank of the first rows is more: none is reduced, and each is asked for once
            assert few.asked <= len(equations) + 2


def test_null_vectors_by_lifting_are_a_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table = (rng.integers(-9, 10, (12, 5)) @ rng.integers(-9, 10, (5, 9))).tolist()
    null_vectors = null_columns(table)
    monkeypatch.setattr("perceptron_lab.systems.exact_solutions.SMALLEST_LIFTED", 3)
    lifted = null_columns(table)
    assert len(lifted) == len(null_vectors) == 4
    for vector, other in zip(lifted, null_vectors, strict=True):
        assert not any(sum(a * x for a, x in zip(row, vector, strict=True)) for row in table)
        index = next(j for j, entry in enumerate(vector) if entry)
        assert [Fraction(x, vector[index]) for x in vector] == [
            Fraction(x, other[index]) for x in other
        ]
