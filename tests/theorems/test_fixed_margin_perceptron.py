"""(2.30) to (2.58) of TsampoukaShaweTaylor: a fixed directional margin, free and fixed lengths."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.margins.fixed_length_perceptron import FixedLengthPerceptron
from perceptron_lab.algorithms.margins.fixed_margin_perceptron import (
    FixedMarginPerceptron,
    factor_range,
)
from perceptron_lab.core.claims import FeasiblePoint
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from tests.families import infeasible
from tests.repetitions import repeated
from tests.theorems.courses import BUDGET, check_bound, first_claim, ready, walk
from tests.theorems.margin_systems import Known, angles, known, orthonormal, run_to_claim

SEEDS = range(20)
ROOM = 1 + 1e-9
FACTORS: list[Any] = ["one", "angle"]


def range_of(algorithm: Any, problem: Known) -> tuple[float, float]:
    """f_min and f_max as (2.32) has them."""
    if algorithm.factor == "one":
        return 1.0, 1.0
    part = algorithm.beta / problem.shortest
    return 1 - part**2, 1 + part


def free(problem: Known, part: float, **parameters: Any) -> FixedMarginPerceptron:
    """The free-length algorithm for a part of gamma_d."""
    return FixedMarginPerceptron(beta=part * problem.margin, **parameters)


def fixed(problem: Known, part: float, **parameters: Any) -> FixedLengthPerceptron:
    """The fixed-length algorithm with eta_opt, told what gamma_d - beta is."""
    gap = (1 - part) * problem.margin
    return FixedLengthPerceptron(beta=part * problem.margin, gap=gap, **parameters)


# --- free length ---------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_margin_is_reached_within_the_bound(seed: int, part: float) -> None:
    """That of (2.43), and so (2.45) and (2.48) in the form in which they are written."""
    problem = known(seed)
    state, bound = run_to_claim(free(problem, part), problem)
    assert problem.worst(state.point) > part * problem.margin / ROOM
    square = (problem.longest / problem.margin) ** 2 / (1 - part)
    for t in (state.updates, bound):
        assert t == 1 or (t - 1) / (3 + math.log((t - 1) ** 2)) <= square / 4 * ROOM
    beta = part * problem.margin
    optimal = int(problem.longest / problem.margin / 2 / (1 - beta / problem.longest)) + 1
    if optimal > 1:
        n = optimal - 1
        for t in (state.updates, bound):
            assert t <= n or (t - n) / (1 + 1 / n + math.log((t - 1) / n)) <= square / 2 * ROOM


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("part", [0.02, 0.2, 0.4])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_bound_is_the_last_time_that_2_43_allows(seed: int, part: float, factor: Any) -> None:
    """Up to it (2.43) holds with every N of the paper, beyond it not with some."""
    problem = known(seed)
    algorithm = free(problem, part, factor=factor)
    least, most = range_of(algorithm, problem)
    ratio, angle = most / least, least / most * problem.margin / problem.longest
    value = algorithm.bound(problem.facts).value
    if ratio * algorithm.beta >= problem.margin:
        assert value is None
        return

    def allowed(t: float, n: int) -> bool:
        divisor = n * angle * (1 - angle) + 1 / (2 * n) + math.log((t - 1) / n) / 2
        right = (ratio * problem.longest / problem.margin) ** 2
        right /= 1 - ratio * algorithm.beta / problem.margin
        return (t - n) / divisor <= right

    assert value is not None
    optimal = int(
        ratio / 2 / (problem.margin / problem.longest) / (1 - algorithm.beta / problem.longest)
    )
    times = {n for n in (1, optimal, optimal + 1) if n}
    assert all(allowed(value * (1 - 1e-9), n) for n in times if value > n + 1)
    assert not all(allowed(value * ROOM, n) for n in times if value > n + 1)


@pytest.mark.parametrize("part", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_so_it_is_with_steps_by_the_angle(seed: int, part: float) -> None:
    """Where f_min gamma_d > f_max beta; otherwise there is no bound, but an end all the same."""
    problem = known(seed)
    algorithm = free(problem, part, factor="angle")
    least, most = range_of(algorithm, problem)
    assert least * problem.margin > most * algorithm.beta
    state, bound = run_to_claim(algorithm, problem)
    assert problem.worst(state.point) > algorithm.beta / ROOM
    square = (most / least * problem.longest / problem.margin) ** 2
    square /= 1 - most / least * algorithm.beta / problem.margin
    for t in (state.updates, bound):
        assert t == 1 or (t - 1) / (3 + math.log((t - 1) ** 2)) <= square / 4 * ROOM


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_without_a_bound_it_ends_all_the_same(seed: int) -> None:
    problem = known(seed)
    algorithm = free(problem, 0.97, factor="angle")
    bound = algorithm.bound(problem.facts)
    least, most = range_of(algorithm, problem)
    assert (bound.value is None) == (least * problem.margin <= most * algorithm.beta)
    assert bound.value is not None or bound.reason == "f_min gamma_d is not above f_max beta"
    claim = first_claim(algorithm, ready(algorithm, problem.system), BUDGET.updates)[1]
    assert isinstance(claim, FeasiblePoint)
    assert problem.worst(claim.point) > algorithm.beta / ROOM


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_lengths_are_squeezed_as_in_the_proof(seed: int, factor: Any) -> None:
    """(2.7), (2.32) and (2.38) at every update, and a = eta A w."""
    problem, rate = known(seed), 0.7
    algorithm = free(problem, 0.6, factor=factor, rate=rate)
    least, most = range_of(algorithm, problem)
    assert factor_range(factor, algorithm.beta, problem.shortest) == pytest.approx((least, most))
    before, mass = 0.0, 0.0
    for state in walk(algorithm, ready(algorithm, problem.system), 500):
        t, length = state.updates, float(np.linalg.norm(state.point))
        assert rate * least * problem.margin * t <= state.point @ problem.best * ROOM
        if t > 1:
            growth = rate * most * algorithm.beta
            growth += rate / 2 * most**2 / least * problem.longest**2 / problem.margin / (t - 1)
            assert length - before <= growth * ROOM
        assert state.weights is not None
        if t:
            assert least / ROOM <= state.weights.sum() - mass <= most * ROOM
        assert rate * state.weights @ problem.rows == pytest.approx(state.point)
        before, mass = length, state.weights.sum()


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("part", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("make", [known, orthonormal])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_updates_turn_towards_the_best_direction_from_the_critical_one_on(
    seed: int, make: Any, part: float, factor: Any
) -> None:
    """(2.35)."""
    problem = make(seed)
    algorithm = free(problem, part, factor=factor)
    least, most = range_of(algorithm, problem)
    square = (problem.longest / problem.margin) ** 2
    expected = most / least / 2 * square * (1 - 1 / square) / (1 - part)
    critical = algorithm.critical_time(problem.facts)
    assert critical == pytest.approx(expected)
    steps = np.diff(angles(algorithm, problem, most=20_000))[max(1, int(critical) + 1) :]
    assert (steps > -1e-13).all()


def test_before_the_critical_time_updates_may_turn_away_and_after_it_some_come() -> None:
    away = after = 0
    for seed in SEEDS:
        for problem, part in ((known(seed), 0.98), (orthonormal(seed), 0.05)):
            algorithm = free(problem, part)
            critical = algorithm.critical_time(problem.facts)
            assert critical is not None
            steps = np.diff(angles(algorithm, problem))
            away += int((steps[: int(critical)] < -1e-6).sum())
            after += len(steps[int(critical) + 1 :])
    assert away > 20
    assert after > 20


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("power", [-60, -7, 1, 30])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_rate_only_scales_the_iterates_exactly_if_a_power_of_two(
    seed: int, power: int, factor: Any
) -> None:
    problem, rate = known(seed), 2.0**power
    first, second = (
        first_claim(algorithm, ready(algorithm, problem.system), BUDGET.updates)[0]
        for algorithm in (free(problem, 0.7, factor=factor, rate=r) for r in (1.0, rate))
    )
    assert first.updates == second.updates > 1
    assert np.array_equal(first.point * rate, second.point)
    assert np.array_equal(first.weights, second.weights)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_any_other_rate_stretches_it_to_rounding(seed: int) -> None:
    """For as long as rounding decides of no row: the first 100 updates here."""
    problem = known(seed)
    first, second = (
        list(walk(algorithm, ready(algorithm, problem.system), 100))[-1]
        for algorithm in (free(problem, 0.7, rate=r) for r in (1.0, 0.3))
    )
    assert first.point * 0.3 == pytest.approx(second.point, rel=1e-9, abs=1e-9)
    bounds = [free(problem, 0.7, rate=r).bound(problem.facts).value for r in (1.0, 0.3, 7.0)]
    assert bounds[0] == bounds[1] == bounds[2]


def test_the_first_row_is_added_to_zero() -> None:
    row = np.array([[3.0, 4.0]])
    system = ConicSystem.from_rows(row, margin="directional")
    for factor in FACTORS:
        result = solve(system, FixedMarginPerceptron(beta=4.999, factor=factor))
        assert result.status is Status.FEASIBLE
        assert result.updates == 1
        assert np.array_equal(result.point, row[0])


# --- fixed length --------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("part", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_at_a_fixed_length_the_margin_is_reached_within_the_bound(
    seed: int, part: float, factor: Any
) -> None:
    """(2.56) with eta_opt (2.57), which is no more than (2.58)."""
    problem = known(seed)
    algorithm = fixed(problem, part, factor=factor)
    least, most = range_of(algorithm, problem)
    beta, gap, longest = algorithm.beta, problem.margin - algorithm.beta, problem.longest
    rate = gap * beta / longest**2 / (1 + 2 * beta / longest) / most
    assert algorithm.learning_rate(problem.shortest, longest) == pytest.approx(rate)
    state, bound = run_to_claim(algorithm, problem)
    assert problem.worst(state.point) > beta / ROOM
    x = rate * most * longest / beta
    gain = gap / longest * x - 0.5 * (1 + 2 * beta / longest) * x**2 - 0.5 * x**3
    assert bound == pytest.approx(most / least / gain)
    wide = 1 + 2 * beta / longest
    optimised = 2 * most / least * (longest / gap) ** 2 * wide / (1 - gap / longest / wide**2)
    assert bound <= optimised * ROOM
    assert state.updates < bound


@pytest.mark.parametrize("share", [0.2, 0.6, 1.5])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_it_is_so_at_other_rates_and_slower(seed: int, share: float) -> None:
    problem = known(seed)
    best = fixed(problem, 0.5)
    rate = share * best.learning_rate(problem.shortest, problem.longest)
    _, bound = run_to_claim(FixedLengthPerceptron(beta=best.beta, rate=rate), problem)
    least = best.bound(problem.facts).value
    assert least is not None
    assert bound > least * (0.99 if share == 0.6 else 1.0)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_below_the_critical_rate_every_update_turns_towards_the_best_direction(
    seed: int, factor: Any
) -> None:
    """(2.51), and by at least as much as (2.54) says."""
    problem = known(seed)
    at_its_own_rate = fixed(problem, 0.6, factor=factor)
    least, most = range_of(at_its_own_rate, problem)
    beta, gap, longest = (
        at_its_own_rate.beta,
        problem.margin - at_its_own_rate.beta,
        problem.longest,
    )
    critical = at_its_own_rate.critical_rate(problem.facts)
    assert critical == pytest.approx(2 / most * gap * beta / (longest**2 - problem.margin**2))
    for rate in (0.99 * critical, at_its_own_rate.learning_rate(problem.shortest, longest)):
        algorithm = FixedLengthPerceptron(beta=beta, factor=factor, rate=rate)
        steps = np.diff(angles(algorithm, problem))
        x = rate * most * longest / beta
        gain = gap / longest * x - 0.5 * (1 + 2 * beta / longest) * x**2 - 0.5 * x**3
        assert (steps > -1e-13).all()
        assert (steps >= least / most * gain - 1e-13).all()


def test_above_the_critical_rate_updates_may_turn_away() -> None:
    away = 0
    for seed in SEEDS:
        problem = known(seed)
        critical = fixed(problem, 0.6).critical_rate(problem.facts)
        assert critical is not None
        algorithm = FixedLengthPerceptron(beta=0.6 * problem.margin, rate=8 * critical)
        away += int((np.diff(angles(algorithm, problem)) < -1e-6).sum())
    assert away > 20


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_length_is_fixed_and_the_weights_follow(seed: int, factor: Any) -> None:
    problem = known(seed)
    algorithm = fixed(problem, 0.9, factor=factor)
    for state in walk(algorithm, ready(algorithm, problem.system), 500):
        assert np.linalg.norm(state.point) == pytest.approx(algorithm.beta)
        combined = state.rate * state.scale * state.weights @ problem.rows
        assert combined == pytest.approx(state.point, rel=1e-9, abs=1e-9)
        assert (state.weights >= 0).all()


def test_weights_of_long_runs_stay_in_range() -> None:
    """No point has this margin: a is shortened again and again, by 1e-1000 and more."""
    problem = known(1)
    algorithm = FixedLengthPerceptron(beta=1.05 * problem.margin, rate=0.2)
    system = ready(algorithm, problem.system)
    state, claim = first_claim(algorithm, system, 100_000)
    assert claim is None
    assert state.weights is not None
    assert np.isfinite(state.weights).all()
    combined = state.weights @ problem.rows
    unit = combined / np.linalg.norm(combined)
    assert unit == pytest.approx(state.point / algorithm.beta, abs=1e-6)
    upper = system.prove_weights(state.weights)
    assert upper is not None
    assert problem.margin <= upper * ROOM


def test_it_continues_from_zero() -> None:
    """An update that leads to 0 exactly: the next row is added to that."""
    rows = np.array([[1.0, 0.0], [-1.0, 0.0]])
    system = ConicSystem.from_rows(rows, margin="directional")
    algorithm = FixedLengthPerceptron(beta=0.5, rate=0.5)
    view = ready(algorithm, system)
    state = algorithm.start(view, np.random.default_rng(0))
    points = []
    for _ in range(2):
        state, claim = algorithm.step(view, state, 1)
        assert claim is None
        points.append(state.point.copy())
    assert np.array_equal(points, [[0.0, 0.0], [0.5, 0.0]])
    result = solve(system, algorithm, budget=Budget(updates=100))
    assert result.status is Status.INFEASIBLE


# --- both ----------------------------------------------------------------------------------------


BOTH: list[Any] = [FixedMarginPerceptron, FixedLengthPerceptron]


@pytest.mark.parametrize("kind", BOTH)
def test_a_margin_that_no_row_has_is_refused(kind: Any) -> None:
    system = ConicSystem.from_rows([[3.0, 4.0], [0.3, 0.4]], margin="directional")
    with pytest.raises(InputError, match=r"but row 1 has the norm 0\.5, which no margin"):
        solve(system, kind(beta=0.5))
    assert solve(system, kind(beta=0.4)).status is Status.FEASIBLE


@pytest.mark.parametrize("kind", BOTH)
def test_without_a_known_margin_above_beta_there_is_no_bound(kind: Any) -> None:
    facts = ConicSystem.from_rows(np.eye(2)).facts()
    algorithm = kind(beta=0.5)
    assert algorithm.bound(facts).value is None
    assert "margin" in algorithm.bound(facts).reason
    for margin in (0.3, 0.5):
        bound = algorithm.bound(replace(facts, margin=margin))
        assert (bound.value, bound.reason) == (None, "beta is not below the known margin")
    for incomplete in (facts, replace(facts, margin=0.5)):
        promised = algorithm.critical_time if kind is BOTH[0] else algorithm.critical_rate
        assert promised(incomplete) is None


@pytest.mark.parametrize("algorithm", [kind(beta=0.01) for kind in BOTH], ids=["free", "fixed"])
@pytest.mark.parametrize("kind", ["rows", "linear Gram"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_bound_holds_on_unit_rows_and_kernels(seed: int, kind: str, algorithm: Any) -> None:
    check_bound(algorithm, kind, seed)


def test_a_rate_that_is_too_large_has_no_bound() -> None:
    facts = ConicSystem.from_rows(np.eye(2)).facts(0.7)
    bound = FixedLengthPerceptron(beta=0.1, rate=1.0).bound(facts)
    assert (bound.value, bound.reason) == (None, "eta is too large for the known margin")


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_a_margin_beyond_the_largest_is_not_claimed(seed: int, kind: Any) -> None:
    """The best point is proved all the same."""
    problem = known(seed)
    algorithm = kind(beta=1.01 * problem.margin, rate=0.05)
    claim = first_claim(algorithm, ready(algorithm, problem.system), 5000)[1]
    assert claim is None
    result = solve(problem.system, algorithm, budget=Budget(updates=20_000))
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert result.margin_lower <= problem.margin * ROOM
    assert result.margin_upper >= problem.margin / ROOM


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_weights_bound_the_margin_where_there_is_none(seed: int, kind: Any) -> None:
    rows = infeasible(3, 20, np.random.default_rng(seed))
    result = solve(rows, kind(beta=0.01), goal="budget", budget=Budget(updates=20_000))
    assert result.status in (Status.UPDATE_LIMIT, Status.INFEASIBLE)
    assert result.margin_upper is not None
    assert result.margin_upper <= 0.2


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_the_iterates_do_not_depend_on_how_they_are_split_into_steps(seed: int, kind: Any) -> None:
    problem = known(seed)
    algorithm = kind(beta=0.5 * problem.margin)
    full = first_claim(algorithm, ready(algorithm, problem.system), BUDGET.updates)[0]
    pieces = list(walk(algorithm, ready(algorithm, problem.system), BUDGET.updates))[-1]
    assert pieces.updates == full.updates
    assert pieces.point == pytest.approx(full.point, rel=1e-9)
