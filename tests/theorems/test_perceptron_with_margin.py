"""(2.7) to (2.29) of TsampoukaShaweTaylor: standard margins, and single-sample relaxation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.margins.fixed_margin_perceptron import RelaxationWithMargin
from perceptron_lab.algorithms.margins.perceptron_with_margin import (
    PerceptronWithMargin,
    TauPerceptron,
)
from perceptron_lab.cones.operators.kernels import Linear
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from tests.families import cones, planted, planted_conic
from tests.repetitions import repeated
from tests.theorems.courses import BUDGET, check_bound, first_claim, ready, walk
from tests.theorems.margin_systems import Known, angles, known, orthonormal, run_to_claim

SEEDS = range(20)
ROOM = 1 + 1e-9


def choices(problem: Known) -> list[PerceptronWithMargin]:
    """b from much less to much more than eta R^2."""
    square = problem.longest**2
    return [
        PerceptronWithMargin(),
        PerceptronWithMargin(b=0.01 * square),
        PerceptronWithMargin(b=20.0 * square, rate=0.3),
        PerceptronWithMargin(b=0.5, rate=2.0),
    ]


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=3))
def test_updates_and_margins_are_within_the_guarantee(seed: int) -> None:
    """(2.11) and (2.21), as written down there."""
    problem = known(seed)
    for algorithm in choices(problem):
        state, bound = run_to_claim(algorithm, problem)
        b = algorithm.rate * problem.longest**2 if algorithm.b is None else algorithm.b
        ratio = problem.longest / problem.margin
        expected = 2 * (ratio**2 / 2 + b / algorithm.rate / problem.margin**2)
        assert bound == pytest.approx(expected)
        least = problem.margin / (2 + algorithm.rate * problem.longest**2 / b)
        assert algorithm.guaranteed_margin(problem.facts) == pytest.approx(least)
        length = float(np.linalg.norm(state.point))
        assert b / length >= least / ROOM
        assert problem.worst(state.point) > b / length / ROOM
        assert (
            length <= (algorithm.rate * problem.longest**2 + 2 * b) / problem.margin * ROOM
        )  # (2.20)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=3))
def test_half_of_the_largest_margin_for_a_large_b(seed: int) -> None:
    problem = known(seed)
    algorithm = PerceptronWithMargin(b=100.0 * problem.longest**2)
    state, _ = run_to_claim(algorithm, problem)
    assert problem.worst(state.point) >= 0.497 * problem.margin


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_norm_and_inner_product_are_squeezed_as_in_the_proof(seed: int) -> None:
    """(2.10) at every update, and a = eta A w."""
    problem = known(seed)
    for algorithm in choices(problem):
        b = algorithm.rate * problem.longest**2 if algorithm.b is None else algorithm.b
        growth = algorithm.rate**2 * problem.longest**2 + 2 * algorithm.rate * b
        for state in walk(algorithm, ready(algorithm, problem.system), 500):
            t = state.updates
            inner = float(state.point @ problem.best)
            assert algorithm.rate * problem.margin * t <= inner * ROOM
            assert np.linalg.norm(state.point) <= np.sqrt(growth * t) * ROOM
            assert state.weights is not None
            assert state.weights.sum() == t
            assert algorithm.rate * state.weights @ problem.rows == pytest.approx(state.point)


@pytest.mark.parametrize("make", [known, orthonormal])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_updates_turn_towards_the_best_direction_from_the_critical_one_on(
    seed: int, make: Any
) -> None:
    """(2.18), less than half of t_N (2.19)."""
    problem = make(seed)
    for algorithm in choices(problem):
        critical = algorithm.critical_time(problem.facts)
        b = algorithm.rate * problem.longest**2 if algorithm.b is None else algorithm.b
        square = (problem.longest / problem.margin) ** 2
        expected = square * (1 - 1 / square) / 2 + b / algorithm.rate / problem.margin**2
        assert critical == pytest.approx(expected)
        cosines = np.array(angles(algorithm, problem, most=20_000))
        steps = np.diff(cosines)[max(1, int(critical) + 1) :]
        assert (steps > -1e-13).all()
        assert 2 * critical < algorithm.bound(problem.facts).value


def test_before_the_critical_time_updates_may_turn_away_and_after_it_some_come() -> None:
    algorithm, away, after = PerceptronWithMargin(), 0, 0
    for seed in SEEDS:
        for problem in (known(seed), orthonormal(seed)):
            critical = algorithm.critical_time(problem.facts)
            assert critical is not None
            steps = np.diff(angles(algorithm, problem))
            away += int((steps[: int(critical)] < -1e-6).sum())
            after += len(steps[int(critical) + 1 :])
    assert away > 20
    assert after > 20


@pytest.mark.parametrize("power", [-40, -3, 1, 20])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_with_the_default_b_the_rate_only_scales_the_iterates(seed: int, power: int) -> None:
    problem, rate = known(seed), 2.0**power
    first, second = (
        first_claim(algorithm, ready(algorithm, problem.system), BUDGET.updates)[0]
        for algorithm in (PerceptronWithMargin(), PerceptronWithMargin(rate=rate))
    )
    assert first.updates == second.updates
    assert np.array_equal(first.point * rate, second.point)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_uneven_margins_give_each_class_its_own(seed: int) -> None:
    """With equal ones it is the perceptron with margin."""
    problem = known(2 * seed)  # augmented examples: the last entry has the sign of the class
    square = problem.longest**2
    even, same = PerceptronWithMargin(b=square), PerceptronWithMargin(b=square, negative=square)
    assert np.array_equal(
        run_to_claim(even, problem)[0].point, run_to_claim(same, problem)[0].point
    )
    for b, negative in ((square, 0.05 * square), (0.05 * square, square)):
        algorithm = PerceptronWithMargin(b=b, negative=negative)
        state, bound = run_to_claim(algorithm, problem)
        assert bound == even.bound(problem.facts).value
        assert algorithm.critical_time(problem.facts) == even.critical_time(problem.facts)
        length = float(np.linalg.norm(state.point))
        for limit, rows in (
            (b, problem.rows[problem.rows[:, -1] > 0]),
            (negative, problem.rows[problem.rows[:, -1] < 0]),
        ):
            least = limit * problem.margin / (3 * square)
            assert (rows @ state.point).min() > limit
            assert (rows @ state.point).min() / length >= least / ROOM
        guaranteed = algorithm.guaranteed_margin(problem.facts)
        assert guaranteed == pytest.approx(0.05 * square * problem.margin / (3 * square))


def test_uneven_margins_of_kernels_are_refused() -> None:
    system = ConicSystem.from_kernel(Linear(), [[1.0], [2.0], [-1.0]], [1, 1, 0])
    assert solve(system, PerceptronWithMargin()).status is Status.FEASIBLE
    with pytest.raises(InputError, match="leave negative out"):
        solve(system, PerceptronWithMargin(negative=1.0))


@pytest.mark.parametrize(
    "algorithm", [PerceptronWithMargin(), TauPerceptron(), RelaxationWithMargin()]
)
@pytest.mark.parametrize("kind", ["rows", "linear Gram", "rbf Gram", "polynomial Gram"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_bound_holds_on_unit_rows_and_kernels(seed: int, kind: str, algorithm: Any) -> None:
    check_bound(algorithm, kind, seed)


# --- cuts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", cones())
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_cuts_of_a_cone_are_passed_by_the_promised_margin(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    system = planted_conic(cones()[kind], 5, 0.3, rng)[0]
    facts = system.facts(0.3)
    assert facts.norm is not None
    for algorithm in (TauPerceptron(), TauPerceptron(tau=3.0 * facts.norm**2, rate=0.5)):
        result = solve(system, algorithm, budget=BUDGET)
        bound = algorithm.bound(facts).value
        assert bound is not None
        assert bound < BUDGET.updates
        assert result.status is Status.FEASIBLE
        assert result.updates <= bound
        guaranteed = algorithm.guaranteed_margin(facts)
        assert guaranteed is not None
        assert result.margin_lower is not None
        assert result.margin_lower >= guaranteed / ROOM > 0
        assert result.margin_lower <= 0.3 * ROOM
        assert result.margin_upper is not None
        assert result.margin_upper >= 0.3 / ROOM


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_on_rows_in_turn_it_is_the_perceptron_with_margin(seed: int) -> None:
    problem = known(seed)
    swept = solve(problem.system, PerceptronWithMargin(b=2.0))
    for rows in (problem.rows, sp.csr_array(problem.rows)):
        system = ConicSystem.from_rows(rows, margin="directional")
        by_oracle = solve(system, TauPerceptron(tau=2.0), oracle="cyclic")
        assert by_oracle.updates == swept.updates
        assert by_oracle.point == pytest.approx(swept.point, rel=1e-9, abs=1e-9)


def test_a_cut_without_a_normal_ends_it() -> None:
    system = ConicSystem.second_order([[0.0], [0.0], [1.0]], [2, 1])
    assert solve(system, "tau-perceptron").status is Status.INFEASIBLE


# --- relaxation ----------------------------------------------------------------------------------


RELAXATIONS = [
    RelaxationWithMargin(),
    RelaxationWithMargin(b=1.0, aim=1.5, rate=1.7),
    RelaxationWithMargin(b=0.1, aim=0.4, rate=0.3),
]


@pytest.mark.parametrize("algorithm", RELAXATIONS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_relaxations_take_the_updates_promised(seed: int, algorithm: RelaxationWithMargin) -> None:
    """(2.29), and the margin that (2.28) leaves."""
    problem = known(seed)
    b, aim, rate = algorithm.b, algorithm.aim, algorithm.rate
    longest, shortest = problem.longest, problem.shortest
    expected = 1 / (rate * (2 - rate)) * (longest**2 / (aim - b)) ** 2
    expected *= aim**2 / (shortest * problem.margin) ** 2
    assert algorithm.bound(problem.facts).value == pytest.approx(expected)
    small = problem.unit if expected >= BUDGET.updates else problem
    state, _ = run_to_claim(algorithm, small)
    least = algorithm.guaranteed_margin(small.facts)
    assert least is not None
    assert small.worst(state.point) >= least / ROOM
    assert b / np.linalg.norm(state.point) >= least / ROOM


@pytest.mark.parametrize("algorithm", RELAXATIONS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_relaxations_are_squeezed_as_in_the_proof(
    seed: int, algorithm: RelaxationWithMargin
) -> None:
    """(2.28) at every update, and a = eta A w."""
    problem = known(seed)
    b, aim, rate = algorithm.b, algorithm.aim, algorithm.rate
    least = (aim - b) / problem.longest**2
    for state in walk(algorithm, ready(algorithm, problem.system), 500):
        t = state.updates
        assert rate * least * problem.margin * t <= state.point @ problem.best * ROOM
        longest = aim / problem.shortest * np.sqrt(rate / (2 - rate) * t)
        assert np.linalg.norm(state.point) <= longest * ROOM
        assert state.weights is not None
        assert rate * state.weights @ problem.rows == pytest.approx(state.point)


def test_a_relaxation_of_rate_1_puts_the_row_at_its_aim() -> None:
    """One row: y'a = b_u after the first update, and no other comes."""
    row = np.array([[3.0, -4.0]])
    system = ConicSystem.from_rows(row, margin="directional")
    result = solve(system, RelaxationWithMargin(b=1.0, aim=5.0))
    assert result.updates == 1
    assert result.point @ row[0] == pytest.approx(5.0)


def test_an_aim_that_is_not_above_b_is_refused() -> None:
    for options in ({"b": 2.0}, {"b": 3.0, "aim": 2.5}):
        with pytest.raises(ValueError, match="not above b"):
            RelaxationWithMargin(**options)


# --- all of them ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "algorithm", [PerceptronWithMargin(), TauPerceptron(), RelaxationWithMargin()]
)
def test_without_a_known_margin_there_is_no_bound(algorithm: Any) -> None:
    facts = ConicSystem.from_rows(np.eye(2)).facts()
    assert algorithm.bound(facts).value is None
    assert "margin" in algorithm.bound(facts).reason
    assert algorithm.guaranteed_margin(facts) is None
    beyond = replace(facts, margin=1e-200, shortest=1e-200)
    assert algorithm.bound(beyond).reason == "the bound is beyond the range of doubles"


@pytest.mark.parametrize("algorithm", [PerceptronWithMargin(), RelaxationWithMargin()])
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_the_iterates_do_not_depend_on_how_they_are_split_into_steps(
    seed: int, algorithm: Any
) -> None:
    problem = known(seed)
    full = first_claim(algorithm, ready(algorithm, problem.system), BUDGET.updates)[0]
    pieces = list(walk(algorithm, ready(algorithm, problem.system), BUDGET.updates))[-1]
    assert pieces.updates == full.updates
    assert np.array_equal(pieces.point, full.point)


def test_a_start_is_where_it_begins() -> None:
    rows, centre = planted(4, 30, 0.1, np.random.default_rng(0))
    for algorithm in (PerceptronWithMargin(), RelaxationWithMargin()):
        result = solve(rows, algorithm, start=1e3 * centre, budget=Budget(updates=10))
        assert result.status is Status.FEASIBLE
        assert result.updates == 0
