"""Linear systems that are ended at any moment: the answer says what is proved."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.linear import floating_rows
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


def ended(given: LinearSystem, stop: StopAt) -> LinearResult:
    found = solve(given, stop=stop)
    assert isinstance(found, LinearResult)
    return found


@pytest.mark.parametrize("proposed", [True, False])
@pytest.mark.parametrize("kind", ["feasible", "tight", "infeasible"])
def test_an_answer_ends_at_any_question_with_what_is_proved(
    kind: str, proposed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With HiGHS's proposals, or by exact pivots alone."""
    if not proposed:
        monkeypatch.setattr(
            "perceptron_lab.algorithms.linear.deciding.complementary_pair", lambda _: None
        )
    given, count = system(kind), StopAt()
    whole = ended(given, count)
    assert whole.proved
    statuses, moved = set(), False
    for questions in np.unique(np.geomspace(1, count.asked + 1, 20).astype(int)).tolist():
        stop = StopAt(questions)
        found = ended(given, stop)
        assert stop.asked <= questions + FURTHER
        statuses.add(found.status)
        assert found.status in (whole.status, Status.TIME_LIMIT)
        assert faults(given, found.status, found.exact) == []
        if found.status is Status.TIME_LIMIT:
            assert found.message == "stopped"
            lower, upper = found.violation
            assert lower == 0.0
            assert upper is not None
            at = [Fraction(one) for one in found.point.tolist()]
            moved |= any(at)
            assert upper >= given.violation(at)
    assert statuses == {whole.status, Status.TIME_LIMIT}
    assert moved  # to the least violation, by the last program of HiGHS


def test_a_program_that_highs_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As its presolve may do with dense equations: the bracket is that of a point at hand."""
    called = []

    def forever(function: object, *program: object) -> None:
        called.append(function)
        raise TimeIsUp

    monkeypatch.setattr(floating_rows, "QUICK", 0)
    monkeypatch.setattr(floating_rows, "killable", forever)
    found = ended(system("infeasible"), StopAt())
    assert called
    assert found.status is Status.TIME_LIMIT or found.proved
    assert found.violation[1] is not None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["feasible", "infeasible"])
def test_large_programs_have_the_answer_of_small_ones(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In another process, HiGHS does what it does in this one."""
    given = system(kind)
    here = solve(given)
    monkeypatch.setattr(floating_rows, "QUICK", 0)
    there = solve(given)
    assert there.certificate == here.certificate
    assert there.iterations == here.iterations
    mine, other = solve(given, "highs"), solve(given, "highs", stop=StopAt())
    assert mine.certificate == other.certificate


def test_without_a_second_nothing_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(floating_rows, "QUICK", 0)
    found = solve(system("feasible"), "highs", budget=Budget(seconds=0.0))
    assert found.status is Status.TIME_LIMIT
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
    known = null_columns(table)
    monkeypatch.setattr("perceptron_lab.systems.exact_solutions.SMALLEST_LIFTED", 3)
    lifted = null_columns(table)
    assert len(lifted) == len(known) == 4
    for mine, other in zip(lifted, known, strict=True):
        assert not any(sum(a * x for a, x in zip(row, mine, strict=True)) for row in table)
        place = next(j for j, one in enumerate(mine) if one)
        assert [Fraction(x, mine[place]) for x in mine] == [
            Fraction(x, other[place]) for x in other
        ]
