"""No exception of an algorithm, of a bound or of a proof loses what a run has found."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.base import Algorithm, State
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.claims import FeasiblePoint
from perceptron_lab.core.errors import ArithmeticModeError, InputError, NumericalError
from perceptron_lab.core.results import Bound, Result, Status
from perceptron_lab.systems.pencil import SdpaData, homogenised
from tests.deciding_oracles import DECIDING
from tests.families import planted
from tests.repetitions import repeated

ROWS = planted(4, 20, 0.1, np.random.default_rng(0))[0]
GOOD = solve(ROWS, "perceptron").point
FEW = Budget(updates=100, seconds=3.0)
OURS = [name for name in DECIDING if name not in ("whitened",)]


@dataclass
class Raising(Algorithm[State]):
    """Stands at a point, with weights, and raises at update ``after``; its bound may raise, too."""

    error: BaseException
    after: int = 3
    goal: np.ndarray = field(default_factory=lambda: -GOOD)
    bounded: bool = True
    claims: bool = False
    points: ClassVar[bool] = True

    def start(self, system, rng):
        if self.after < 0:
            raise self.error
        return State(self.goal.copy(), weights=np.ones(system.cone.size))

    def step(self, system, state, most):
        if state.updates >= self.after:
            raise self.error
        state.updates += 1
        return state, FeasiblePoint(GOOD.copy()) if self.claims else None

    def bound(self, facts):
        if self.bounded:
            return Bound(None, "none", "scripted")
        raise self.error


ERRORS = [
    OverflowError("too large"),
    ZeroDivisionError("float division by zero"),
    ValueError("array must not contain infs"),
    np.linalg.LinAlgError("no convergence"),
    RuntimeError("Maximum number of iterations reached."),
    TypeError("unsupported operand"),
    IndexError("out of bounds"),
    AssertionError(),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_exception_in_a_step_keeps_the_bracket(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    result = solve(ROWS, Raising(error))
    assert (result.status, result.updates) == (Status.NUMERICAL_ERROR, 3)
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert result.margin_lower < 0.1 <= result.margin_upper
    assert result.message.startswith("Raising failed in test_exceptions.py:")
    assert type(error).__name__ in result.message
    assert result.certificate["exception"][0].startswith(type(error).__name__)
    mistake = isinstance(error, TypeError | IndexError | AssertionError)
    assert [record.exc_info is not None for record in caplog.records] == [True] * mistake


def test_an_exception_after_a_feasible_point_leaves_it_feasible() -> None:
    for goal in ("decide", {"margin_ratio": 0.999}, "budget"):
        result = solve(ROWS, Raising(TypeError("bad"), after=1, goal=GOOD), goal=goal)
        assert result.status is Status.FEASIBLE
        assert "TypeError: bad" in result.message
    claimed = solve(ROWS, Raising(OverflowError("o"), claims=True), goal={"margin_ratio": 0.999})
    assert claimed.status is Status.FEASIBLE
    np.testing.assert_array_equal(claimed.point, GOOD)


def test_an_exception_at_the_first_step_keeps_the_proofs_of_the_start() -> None:
    result = solve(ROWS, Raising(ValueError("at once"), after=0))
    assert (result.status, result.updates) == (Status.NUMERICAL_ERROR, 0)
    assert result.margin_lower is not None


def test_numbers_that_break_down_in_the_start_are_a_result() -> None:
    for error in (OverflowError("o"), np.linalg.LinAlgError("l"), NumericalError("n")):
        result = solve(ROWS, Raising(error, after=-1))
        assert (result.status, result.updates) == (Status.NUMERICAL_ERROR, 0)
        assert str(error) in result.message


@pytest.mark.parametrize(
    "error", [InputError("not these"), TypeError("t"), KeyboardInterrupt(), MemoryError("m")]
)
def test_other_exceptions_of_the_start_are_passed_on(error: BaseException) -> None:
    with pytest.raises(type(error)):
        solve(ROWS, Raising(error, after=-1))


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), SystemExit(3), MemoryError("m"), ArithmeticModeError("flushed")]
)
def test_exceptions_before_any_result_are_raised(error: BaseException) -> None:
    with pytest.raises(type(error)):
        solve(ROWS, Raising(error))


def test_a_refusal_is_passed_on_before_the_first_update_only() -> None:
    with pytest.raises(InputError, match="not these"):
        solve(ROWS, Raising(InputError("not these"), after=0))
    later = solve(ROWS, Raising(InputError("not these"), after=2))
    assert later.status is Status.NUMERICAL_ERROR


@pytest.mark.parametrize("error", [OverflowError("too large"), TypeError("t")])
def test_a_bound_that_raises_is_no_bound(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.CRITICAL):
        result = solve(ROWS, Raising(error, after=1, goal=GOOD, bounded=False))
    assert result.status is Status.FEASIBLE
    assert result.bound.value is None
    assert f"{type(error).__name__}: {error}" in result.bound.reason


@pytest.mark.parametrize("proof", ["prove_point", "prove_weights", "prove_infeasible"])
def test_a_proof_that_raises_loses_no_other(proof: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise np.linalg.LinAlgError("no convergence")

    monkeypatch.setattr(ConicSystem, proof, broken)
    result = solve(ROWS, "von-neumann", budget=FEW)
    assert isinstance(result, Result)
    assert (result.margin_lower is None) == (proof == "prove_point")
    assert (result.margin_upper is None) == (proof == "prove_weights")


@pytest.mark.parametrize(
    "algorithm", ["perceptron", "von-neumann", "normalized-perceptron", "cyclic-perceptron"]
)
def test_a_margin_of_1e_160_is_proved_and_has_no_bound(algorithm: str) -> None:
    result = solve([[1, 1e-160], [-1, 1e-160]], algorithm)
    assert result.status is Status.FEASIBLE
    assert result.margin_lower == pytest.approx(1e-160)
    assert (result.bound.value, result.bound.reason) == (
        None,
        "the bound is beyond the range of doubles",
    )


@pytest.mark.parametrize("algorithm", repeated(OURS, kept=12))
@pytest.mark.parametrize("size", [1e-170, 1e160])
def test_second_order_data_whose_squares_leave_the_range(algorithm: str, size: float) -> None:
    """t = 2 y, u = y, in units of 1e160: y > 0 is feasible, with a margin of one unit."""
    system = ConicSystem.second_order([[size], [2 * size]], [2])
    try:
        result = solve(system, algorithm, budget=FEW)
    except InputError:
        return
    assert result.status not in (Status.INFEASIBLE, Status.UNVERIFIED)
    assert result.margin_lower is None or result.margin_lower <= size
    assert result.margin_upper is None or result.margin_upper >= size


def test_a_cut_without_a_normal_is_claimed_in_rescaled_coordinates() -> None:
    """F_1 is singular but for rounding: the rescaled system once had no bound of its norm."""
    indices = np.array([[1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 1, 1]])
    data = SdpaData.from_entries(np.array([1.0]), [2], indices, np.array([1 - 1.1e-16, -3.0, 9.0]))
    result = solve(homogenised(data), "rescaled-perceptron", budget=FEW)
    assert result.status in (Status.MARGIN_BOUNDED, Status.UPDATE_LIMIT, Status.TIME_LIMIT)
    assert result.margin_upper is not None


def test_least_squares_that_fail_are_a_numerical_error() -> None:
    """No margin, and rows of norms from 3 to 1e10: the weights of the cuts are not found."""
    powers = np.vander(np.arange(1.0, 11.0))
    result = solve(np.vstack([powers, -powers.sum(0)]), "ellipsoid")
    assert result.status in (Status.NUMERICAL_ERROR, Status.MARGIN_BOUNDED, Status.INFEASIBLE)
    assert result.margin_lower is not None


def test_winnow_on_rows_that_span_the_range() -> None:
    for seed in (30, 58):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((5, 4)) * 10.0 ** rng.uniform(-146, 113, (5, 4))
        result = solve(rows, "winnow", budget=Budget(updates=1000))
        assert result.status is Status.FEASIBLE
        assert result.bound.value is None


def extreme(kind: str, rng: np.random.Generator) -> ConicSystem:
    """A system whose entries span up to the whole range that is accepted."""
    width = float(rng.choice([5.0, 60.0, 140.0, 280.0]))
    cone = {
        "rows": Orthant(6),
        "second-order": SecondOrder(4),
        "semidefinite": Semidefinite(3, *np.triu_indices(3)),
        "mixed": Product([Orthant(2), SecondOrder(3), Semidefinite(2, *np.triu_indices(2))]),
    }[kind]
    shape = (cone.size, int(rng.integers(1, 5)))
    powers = 10.0 ** rng.uniform(-width, width, shape if rng.random() < 0.5 else (1, 1))
    data = rng.standard_normal(shape) * powers
    return ConicSystem.from_rows(data) if kind == "rows" else ConicSystem(Matrix(data), cone)


@pytest.mark.slow
@pytest.mark.parametrize("seed", repeated(range(100), kept=1))
@pytest.mark.parametrize("kind", ["rows", "second-order", "semidefinite", "mixed"])
def test_every_algorithm_ends_in_a_result_on_data_of_extreme_scales(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, len(kind)])
    try:
        system = extreme(kind, rng)
    except InputError:
        return
    brackets = []
    for name in OURS:
        try:
            result = solve(system, name, budget=Budget(updates=100, seconds=0.5))
        except InputError:
            continue
        brackets.append((result.margin_lower, result.margin_upper, name))
    lower = max((low, name) for low, _, name in brackets if low is not None)
    upper = min((up, name) for _, up, name in brackets if up is not None)
    assert brackets
    assert lower[0] <= upper[0], (lower, upper)
