"""The loop: limits, goals, claims that prove and claims that do not."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.advance import advance
from perceptron_lab.algorithms.base import Algorithm, State
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.oracles.semidefinite import PivotedCholesky
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.core.claims import FeasiblePoint, MarginAbove, MarginBelow
from perceptron_lab.core.errors import ConfigError, InputError, NumericalError
from perceptron_lab.core.findings import Finding
from perceptron_lab.core.goals import MarginRatio
from perceptron_lab.core.results import Bound, Result, Status
from tests.families import complete_pattern, infeasible, planted

ROWS = planted(4, 20, 0.1, np.random.default_rng(0))[0]


@dataclass
class Scripted(Algorithm[State]):
    """An algorithm that makes one update, with a claim (or an error) of the script, per step."""

    script: list = field(default_factory=list)
    points: ClassVar[bool] = True

    def start(self, system, rng):
        return State(np.ones(system.dimension))

    def step(self, system, state, most):
        state.updates += 1
        state.point = state.point + 1e-3
        event = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(event, Exception):
            raise event
        return state, event

    def bound(self, facts):
        return Bound(None, "none", "scripted")


@dataclass
class Good(Scripted):
    """A script that begins at a feasible point."""

    def start(self, system, rng):
        return State(GOOD.point * 1e6)


def false_claim(value=-1.0):
    return FeasiblePoint(np.full(4, value))


GOOD = FeasiblePoint(solve(ROWS, "perceptron").point)


def test_a_false_claim_is_counted_and_the_run_continues_to_a_true_one():
    result = solve(ROWS, Scripted([None, false_claim(-1), false_claim(-2), None, GOOD]))
    assert result.status is Status.FEASIBLE
    assert result.certificate["claims_rejected"] == 2
    assert result.updates == 5
    assert np.array_equal(result.point, GOOD.point)


def test_a_false_claim_repeated_unchanged_ends_unverified():
    result = solve(ROWS, Scripted([false_claim()]), budget=Budget(updates=1000))
    assert result.status is Status.UNVERIFIED
    rejected = result.certificate["claims_rejected"]
    assert f"; {rejected} claims could not be verified; the last one because of" in result.message
    assert result.certificate["last_rejection"] in result.message
    assert result.message.endswith("for a bound")
    assert not result.proved
    assert result.updates < 20
    assert "repeats" in result.message


def test_false_weights_are_not_believed():
    weights = np.zeros(20)
    weights[0] = 1.0
    result = solve(ROWS, Scripted([MarginBelow(weights, 0.05)]), budget=Budget(updates=50))
    assert result.status is Status.UNVERIFIED
    assert result.margin_upper == pytest.approx(1.0)
    negative = solve(ROWS, Scripted([MarginBelow(-weights, 0.05)]), budget=Budget(updates=50))
    assert negative.status is Status.UNVERIFIED
    assert negative.margin_upper == pytest.approx(np.linalg.norm(ROWS.mean(axis=0)))


def test_weights_that_prove_the_claimed_bound_do():
    weights = scipy.optimize.nnls(np.vstack([ROWS.T, np.ones(20)]), np.eye(5)[4])[0]
    result = solve(ROWS, Scripted([MarginBelow(weights, 0.1 + 1e-9)]))
    assert result.status is Status.MARGIN_BOUNDED
    assert result.margin_upper == pytest.approx(0.1)
    assert result.weights == pytest.approx(weights)


def test_weights_near_a_combination_that_vanishes_prove_infeasibility():
    rows = infeasible(3, 10, np.random.default_rng(1))
    rough = solve(rows, "perceptron", goal={"margin_upper": 0.02}).weights
    claimed = MarginBelow(rough * np.linalg.norm(rows, axis=1), 0.02)
    result = solve(rows, Scripted([claimed]))
    assert result.status is Status.INFEASIBLE
    assert result.margin_upper == 0.0
    assert 0.0 <= result.certificate["infeasibility_ratio"] < 1.0
    assert (result.weights >= 0).all()
    assert np.linalg.norm(result.weights @ rows) <= 1e-12 * result.weights.sum()


def test_a_relaxed_point_is_proved_to_its_bound_and_no_further():
    worst = (ROWS @ np.ones(4)).min() / 2.0
    fair, bold = (MarginAbove(np.ones(4) / 2, bound) for bound in (worst - 1e-6, worst / 2))
    assert worst < 0
    assert solve(ROWS, Scripted([fair])).status is Status.MARGIN_BOUNDED
    assert solve(ROWS, Scripted([bold]), budget=Budget(updates=50)).status is Status.UNVERIFIED


def test_arithmetic_that_breaks_down_is_a_status_with_its_reason():
    result = solve(ROWS, Scripted([None, NumericalError("Q has collapsed")]))
    assert result.status is Status.NUMERICAL_ERROR
    assert result.message.startswith("Q has collapsed; try another algorithm")
    assert result.margin_lower is not None


def test_a_point_that_is_feasible_when_the_budget_ends_is_reported():
    result = solve(ROWS, Good([None]), budget=Budget(updates=3))
    assert result.status is Status.FEASIBLE
    assert result.proved
    assert "budget" in result.message


def test_the_trace_has_the_requested_records():
    budget = Budget(updates=40)
    plain = solve(ROWS, Scripted([None]), budget=budget).trace.updates
    updates = solve(ROWS, Scripted([None]), budget=budget, record_at=[3, 16, 33, 99]).trace.updates
    assert plain == [0, 1, 2, 4, 8, 16, 32, 40]
    assert updates == [0, 1, 2, 3, 4, 8, 16, 32, 33, 40]


def test_observed_quantities_are_in_every_record(tmp_path):
    def observe(point):
        return {"first": float(point[0]), "scores": ROWS @ point}

    result = solve(ROWS, Scripted([None]), budget=Budget(updates=5), observe=observe)
    measures = result.trace.measures
    assert len(measures["first"]) == len(measures["scores"]) == len(result.trace)
    assert measures["first"] == pytest.approx(1.0 + 1e-3 * np.array(result.trace.updates))
    result.save(tmp_path / "result.npz")
    loaded = Result.load(tmp_path / "result.npz").trace.measures
    assert np.array_equal(loaded["scores"], measures["scores"])


def test_traced_cuts_explain_the_length_of_the_perceptrons_point(tmp_path):
    """norm(x)^2 = T (1 - s): s is the mean of twice the depth times norm(x), at each update."""
    run = solve(ROWS, "perceptron", trace_cuts=True, record_at=range(1, 2000))
    trace = run.trace
    assert len(trace) == run.updates + 1
    counts, norms, depths = (
        np.array(trace.measures[name])[:, 0] for name in ("cuts", "cut_norm", "cut_depth")
    )
    assert counts[0] == 0
    assert (counts[1:] == 1).all()
    assert norms[1:] == pytest.approx(1.0)
    assert np.isnan(depths[:2]).all()  # of no cut, and at the point 0
    assert (depths[2:] >= 0).all()
    square = 1.0
    for depth in depths[2:]:
        square += 1.0 - 2.0 * depth * math.sqrt(square)
    assert square == pytest.approx(run.point @ run.point)
    run.save(tmp_path / "traced.npz")
    again = type(run).load(tmp_path / "traced.npz").trace.measures
    assert np.array_equal(again["cut_depth"], np.array(trace.measures["cut_depth"]), equal_nan=True)


def test_cuts_are_distinguished_by_block_and_untraced_ones_are_not_stored():
    system = ConicSystem(Matrix(np.eye(4)), Product([Orthant(1), SecondOrder(3)]))
    assert solve(system, "perceptron").trace.measures == {}
    traced = solve(system, "perceptron", trace_cuts=True)
    totals = np.sum(traced.trace.measures["cuts"], axis=0)
    assert totals.shape == (2,)
    assert totals.sum() == traced.updates
    assert (totals > 0).all()
    lengths = np.nanmax(traced.trace.measures["cut_norm"], axis=0)
    assert lengths == pytest.approx([1.0, math.sqrt(2.0)])  # of t > 0, and of (u, 1)


def test_an_algorithm_receives_the_target_and_ends_at_it():
    """An algorithm may claim what the goal asks for, though its own epsilon is smaller."""
    rows = infeasible(3, 30, np.random.default_rng(5))
    recorded = []

    class Watching(Scripted):
        def step(self, system, state, most):
            recorded.append(system.target)
            return super().step(system, state, most)

    solve(rows, Watching([None]), goal={"margin_upper": 1e-3}, budget=Budget(updates=2))
    solve(rows, Watching([None]), budget=Budget(updates=1))
    assert recorded == [1e-3, 1e-3, 0.0]


def test_long_updates_are_run_one_at_a_time():
    """The next one may take a thousand times as long, and the clock is looked at in between."""
    calls = []

    class Slow(Scripted):
        def step(self, system, state, most):
            calls.append(most)
            for _ in range(most):
                time.sleep(0.002)
                state, claim = super().step(system, state, 1)
            return state, claim

    solve(ROWS, Slow([None]), budget=Budget(updates=12))
    assert calls == [1] * 12


def test_limits_are_named():
    hard = planted(10, 50, 1e-7, np.random.default_rng(2))[0]
    updates = solve(hard, "perceptron", budget=Budget(updates=37))
    assert (updates.status, updates.updates) == (Status.UPDATE_LIMIT, 37)
    assert "37" in updates.message
    seconds = solve(hard, "perceptron", budget=Budget(seconds=0.02))
    assert seconds.status is Status.TIME_LIMIT
    assert seconds.seconds >= 0.02


def test_goal_margin_upper_ends_with_a_proved_upper_bound():
    rows = infeasible(3, 30, np.random.default_rng(3))
    result = solve(rows, "perceptron", goal={"margin_upper": 0.01})
    assert result.status is Status.MARGIN_BOUNDED
    assert result.margin_upper <= 0.01


def test_goal_margin_ratio_is_reached_or_the_feasible_point_returned():
    easy = solve(np.array([[3.0, 4.0]]), "perceptron", goal={"margin_ratio": 0.99})
    assert easy.status is Status.FEASIBLE
    assert easy.margin_lower >= 0.99 * easy.margin_upper
    assert (easy.goal, easy.goal_reached) == (MarginRatio(0.99), True)
    unchanged = solve(ROWS, "perceptron", goal={"margin_ratio": 0.999})
    assert unchanged.status is Status.FEASIBLE  # a perceptron has no cut left to go on with
    assert not unchanged.goal_reached
    assert "; the goal margin_ratio 0.999 is missed: 0." in unchanged.message


def test_weights_that_reach_no_goal_end_no_run():
    """They prove a margin <= 0.2, which is neither the ratio nor the bound that was asked for."""
    weights = scipy.optimize.nnls(np.vstack([ROWS.T, np.ones(20)]), np.eye(5)[4])[0]
    claims = [MarginBelow(weights * (1 + k / 10), 0.2) for k in range(5)]
    for goal in ({"margin_ratio": 0.9}, {"margin_upper": 0.01}, "budget"):
        result = solve(ROWS, Scripted([*claims, None]), goal=goal, budget=Budget(updates=9))
        assert (result.status, result.updates) == (Status.UPDATE_LIMIT, 9)
        assert result.goal_reached is (goal == "budget")
        assert result.margin_upper == pytest.approx(0.1)
    again = solve(ROWS, Scripted([claims[0]]), goal={"margin_ratio": 0.9}, budget=Budget(updates=9))
    assert again.status is Status.UPDATE_LIMIT  # each time after an update: something may come


class Mute(Scripted):
    """It makes one update, and repeats its claim from then on."""

    def step(self, system, state, most):
        return (state, self.script[0]) if state.updates else super().step(system, state, most)


def test_a_claim_repeated_without_an_update_ends_the_run():
    weights = scipy.optimize.nnls(np.vstack([ROWS.T, np.ones(20)]), np.eye(5)[4])[0]
    repeated = solve(ROWS, Mute([MarginBelow(weights, 0.2)]), goal={"margin_ratio": 0.9})
    assert (repeated.status, repeated.updates) == (Status.MARGIN_BOUNDED, 1)
    assert "the algorithm repeats its claim: nothing more comes" in repeated.message
    assert not repeated.goal_reached
    assert "the goal margin_ratio 0.9 is missed: no ratio is proved" in repeated.message


def test_a_small_margin_decides_nothing():
    weights = scipy.optimize.nnls(np.vstack([ROWS.T, np.ones(20)]), np.eye(5)[4])[0]
    result = solve(ROWS, Scripted([MarginBelow(weights, 0.2)]))
    assert (result.status, result.goal, result.goal_reached) == (
        Status.MARGIN_BOUNDED,
        "decide",
        False,
    )
    assert "the goal decide is missed" in result.message
    worst = float((ROWS @ np.ones(4)).min() / 2.0)
    relaxed = solve(ROWS, Scripted([MarginAbove(np.ones(4) / 2, worst - 1e-6)]))
    assert (relaxed.status, relaxed.goal_reached) == (Status.MARGIN_BOUNDED, True)


def test_a_positive_margin_is_feasible_whatever_ends_the_run():
    """The weights are claimed, and the point of the state is feasible."""
    weights = scipy.optimize.nnls(np.vstack([ROWS.T, np.ones(20)]), np.eye(5)[4])[0]
    for goal in ("decide", {"margin_upper": 0.2}, {"margin_ratio": 0.999}, "budget"):
        claim = MarginBelow(weights, 0.2)
        budget = Budget(updates=5)
        result = solve(ROWS, Good([claim]), goal=goal, budget=budget)
        assert result.margin_lower > 0
        assert result.status is Status.FEASIBLE


def test_a_relaxed_answer_is_proved_without_any_slack():
    worst = (ROWS @ np.ones(4)).min() / 2.0
    claim = MarginAbove(np.ones(4) / 2, worst * (1.0 - 1e-12))
    assert solve(ROWS, Scripted([claim]), budget=Budget(updates=50)).status is Status.UNVERIFIED
    result = solve(ROWS, Scripted([MarginAbove(np.ones(4) / 2, worst * (1.0 + 1e-12))]))
    bound = float(result.message.rsplit(" ", 3)[1])
    assert "at least" in result.message
    assert bound <= result.margin_lower


def test_goal_budget_runs_on_after_a_proof():
    second = FeasiblePoint(GOOD.point * 2.0)
    script = [GOOD, None, second, None]
    result = solve(ROWS, Scripted(script), goal="budget", budget=Budget(updates=9))
    assert result.status is Status.FEASIBLE
    assert result.updates == 9


@pytest.mark.parametrize("goal", ["win", {"margin": 1.0}, {}, {"margin_upper": 1, "x": 2}])
def test_unknown_goals_are_refused(goal):
    with pytest.raises(InputError, match="margin_upper"):
        solve(ROWS, "perceptron", goal=goal)


def test_bad_starts_and_names_are_refused():
    for start in (np.ones(3), np.full(4, np.nan)):
        with pytest.raises(InputError, match="4 finite numbers"):
            solve(ROWS, "perceptron", start=start)
    with pytest.raises(InputError, match=r"start\[2\] is inf; give 4 finite numbers"):
        solve(ROWS, "perceptron", start=[1, 2, np.inf, np.nan])
    with pytest.raises(InputError, match="start 'here'; give 4 finite numbers"):
        solve(ROWS, "perceptron", start="here")
    with pytest.raises(InputError, match="start is 0, which is no direction; leave it out"):
        solve(ROWS, "perceptron", start=np.zeros(4))
    with pytest.raises(ConfigError, match="did you mean 'perceptron'"):
        solve(ROWS, "perceptrn")
    with pytest.raises(ConfigError, match="did you mean 'cyclic'"):
        solve(ROWS, "perceptron", oracle="cyclik")
    with pytest.raises(InputError, match="two oracles"):
        solve(ROWS, "perceptron", oracle=["cyclic", "random"])
    with pytest.raises(InputError, match="semidefinite blocks, of which the system has none"):
        solve(ROWS, "perceptron", oracle="eigenvector")


@pytest.mark.parametrize("algorithm", [3, object, [1.0, 2.0]])
def test_objects_that_are_no_algorithm_are_refused(algorithm):
    with pytest.raises(InputError, match=r"give a name of `plab list algorithms`.*base\.Algorithm"):
        solve(ROWS, algorithm=algorithm)


def test_the_optional_members_have_defaults():
    algorithm = Scripted([GOOD])
    assert (algorithm.uses_oracle, algorithm.takes_start, algorithm.systems) == (True, True, None)
    system = ConicSystem.from_rows(ROWS)
    assert algorithm.view(system) is system
    facts = system.facts()
    assert algorithm.certificate_bound(facts, 1e-3) == algorithm.bound(facts)
    assert algorithm.start(system, None).notes == []


def test_a_negative_seed_is_refused_and_a_class_stands_for_its_defaults():
    with pytest.raises(InputError, match="seed -1"):
        solve(ROWS, "perceptron", seed=-1)
    assert solve(ROWS, Perceptron).updates == solve(ROWS, Perceptron()).updates


def test_the_weights_of_a_result_prove_its_upper_bound():
    rows = infeasible(3, 12, np.random.default_rng(4))
    for algorithm in ("perceptron", "ellipsoid", "rescaled-perceptron"):
        result = solve(rows, algorithm, budget=Budget(updates=5000))
        mass = result.weights @ np.linalg.norm(rows, axis=1)
        assert result.status is Status.INFEASIBLE
        assert result.margin_upper == 0.0  # that of exact weights near these
        assert np.linalg.norm(result.weights @ rows) / mass <= 1e-12
    result = solve(ROWS, "perceptron")
    combined = np.linalg.norm(result.weights @ ROWS)
    assert 0.1 <= combined / result.weights.sum() <= result.margin_upper


def test_a_start_is_used():
    assert solve(ROWS, "perceptron", start=GOOD.point).updates == 0


def boundary_system(interior):
    """x_0 > 0 and diag(x_1, x_2) + x_0 (0 1; 1 0) psd: thesis mode accepts x = (1, 0, 0)."""
    entries = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=float)
    cone = Product([Orthant(1), complete_pattern(2)])
    return ConicSystem(Matrix(sp.csr_array(entries)), cone, interior=interior)


def test_unproved_claims_of_thesis_mode_are_never_returned_as_proved():
    """After one update the point is (1, 0, 0), the matrix [[0, 1], [1, 0]]: zero diagonals."""
    oracle = PivotedCholesky(mode="thesis")
    result = solve(boundary_system(None), Perceptron(), oracle=oracle)
    assert result.status is Status.FEASIBLE
    assert result.certificate["claims_rejected"] >= 1
    x = result.point
    assert x[0] > 0
    assert x[1] * x[2] > x[0] ** 2
    strict = solve(boundary_system(None), Perceptron(), oracle=PivotedCholesky())
    assert strict.certificate["claims_rejected"] == 0


def test_a_boundary_answer_is_shifted_inside_with_a_message():
    """Rank one: x_1 = x_2 = 1 with off-diagonal x_0 = 1 is psd, singular, and one shift away."""
    interior = np.array([0.0, 1.0, 1.0])
    result = solve(boundary_system(interior), Scripted([FeasiblePoint(np.ones(3))]))
    assert result.status is Status.FEASIBLE
    shift = result.certificate["interior_shift"]
    message = f"boundary answer, proved strictly feasible after an interior shift of {shift:.1e}"
    assert result.message.startswith(message)
    assert result.finding == Finding(interior_shift=shift)
    assert 0 < shift < 1e-5
    assert result.point == pytest.approx(np.ones(3), abs=1e-4)
    assert not np.array_equal(result.point, np.ones(3))
    without = solve(boundary_system(None), Scripted([FeasiblePoint(np.ones(3))]))
    assert without.status is Status.UNVERIFIED


def test_a_constraint_that_no_point_meets_proves_infeasibility():
    """F(x) = diag(x_1, 0): the second diagonal entry is 0 for every x."""
    entries = np.array([[1.0], [0.0], [0.0]])
    system = ConicSystem(Matrix(sp.csr_array(entries)), complete_pattern(2))
    for algorithm in ("perceptron", "ellipsoid", "space-dilation", "rescaled-perceptron"):
        result = solve(system, algorithm, oracle="cholesky")
        assert result.status is Status.INFEASIBLE
        assert result.margin_upper == 0.0


def test_overflow_is_a_numerical_error_not_an_answer():
    rows = np.array([[1e149, 1e149], [1e149, -1e149]])
    result = solve(rows, Perceptron(normalized=False), start=np.full(2, 1e200))
    assert result.status is Status.NUMERICAL_ERROR


@dataclass
class Forgetful(Algorithm[State]):
    """It steps without an end, and counts no update, claims nothing and enters no phase."""

    nap: float = 0.0

    def start(self, system, rng):
        return State(np.ones(system.dimension))

    def step(self, system, state, most):
        time.sleep(self.nap)
        return state, None

    def bound(self, facts):
        return Bound(None, "none", "forgetful")


class Nested(Forgetful):
    """It leaves its steps to an algorithm that forgets to count."""

    def step(self, system, state, most):
        return advance(Forgetful(self.nap), system, state, most)


@pytest.mark.parametrize("kind", [Forgetful, Nested])
@pytest.mark.parametrize("nap", [0.0, 0.01])
def test_the_clock_ends_an_algorithm_that_makes_no_progress(kind, nap):
    result = solve(ROWS, kind(nap), budget=Budget(seconds=0.05))
    assert result.status is Status.TIME_LIMIT
    assert result.updates == 0
    assert result.seconds >= 0.05
    assert "steps, since update 0, made no update, no claim and no new phase" in result.message
    assert result.goal_reached is False


def test_the_message_states_where_an_algorithm_stopped_counting():
    class Tired(Scripted):
        def step(self, system, state, most):
            return (state, None) if state.updates == 3 else super().step(system, state, most)

    result = solve(ROWS, Tired([None]), budget=Budget(seconds=0.02))
    assert (result.status, result.updates) == (Status.TIME_LIMIT, 3)
    assert "since update 3, made no update" in result.message


def test_steps_without_progress_are_forgiven_if_a_claim_comes_in_the_end():
    class Late(Scripted):
        def step(self, system, state, most):
            event = self.script.pop(0)
            return state, event

    result = solve(ROWS, Late([None] * 50 + [GOOD]))
    assert result.status is Status.FEASIBLE
    assert "made no update" not in result.message


def test_printed_summary_has_status_margin_and_cost():
    text = str(solve(ROWS, "perceptron"))
    assert text.startswith("FEASIBLE (proved)")
    assert "margin in [" in text
    assert "bound:" in text


def test_a_watcher_sees_the_trace_grow():
    recorded = []
    result = solve(
        ROWS,
        Scripted([None]),
        budget=Budget(updates=9),
        watch=lambda trace: recorded.append(list(trace.updates)),
    )
    assert result.trace.updates == [0, 1, 2, 4, 8, 9]
    assert recorded == [result.trace.updates[:length] for length in range(1, 7)]


def test_a_reason_to_stop_ends_a_run_as_a_limit_does():
    calls = []

    def stop():
        calls.append(None)
        return "the evening has come" if len(calls) > 3 else None

    result = solve(ROWS, Scripted([None]), stop=stop)
    assert (result.status, result.message) == (Status.TIME_LIMIT, "the evening has come")
    # After chunks of 1, 1 and 2, or of 1, 1 and 1 where the clock finds the second one slow
    assert result.updates in (3, 4)
    assert result.trace.updates == [0, 1, 2, result.updates]
    assert result.margin_lower is not None
    feasible = solve(ROWS, Good([None]), stop=lambda: "now")
    assert feasible.status is Status.FEASIBLE
    assert feasible.updates == 0


@pytest.mark.parametrize(
    ("end", "message"), [(StopIteration("enough"), "enough"), (StopIteration, "watch raised Stop")]
)
def test_a_watcher_ends_a_run_by_stop_iteration(end, message):
    def watch(trace):
        if trace.updates[-1] == 4:
            raise end

    stopped = solve(ROWS, Scripted([None]), watch=watch, budget=Budget(updates=9))
    assert stopped.status is Status.TIME_LIMIT
    assert stopped.message.startswith(message)
    assert stopped.trace.updates == [0, 1, 2, 4]


def test_a_watcher_changes_no_result():
    plain = solve(ROWS, "perceptron", goal="budget", budget=Budget(updates=500))
    watched = solve(
        ROWS,
        "perceptron",
        goal="budget",
        budget=Budget(updates=500),
        watch=lambda trace: None,
        stop=lambda: None,
    )
    np.testing.assert_array_equal(watched.point, plain.point)
    assert watched.trace.margin == plain.trace.margin
    assert (watched.queries, watched.message) == (plain.queries, plain.message)


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt()])
def test_other_exceptions_of_a_watcher_pass(error):
    def watch(trace):
        raise error

    with pytest.raises(type(error)):
        solve(ROWS, "perceptron", watch=watch)


@pytest.mark.parametrize("returned", [False, True, 5, b"text"])
def test_stop_returns_none_or_a_text(returned):
    with pytest.raises(InputError, match=r"stop returned .*; return None, or a text"):
        solve(ROWS, "perceptron", stop=lambda: returned)


@dataclass
class Counted(Scripted):
    """A script that makes the updates asked for one by one."""

    def step(self, system, state, most):
        state.updates += 1
        return state, None


def test_records_are_left_out_where_they_cost_more_than_the_steps(monkeypatch):
    """Each record takes a minute of the clock, each step nothing: the first and last remain."""
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    def observe(point):
        clock[0] += 60.0
        return {}

    dear = solve(ROWS, Counted(), observe=observe, budget=Budget(updates=100, seconds=1e6))
    assert dear.trace.updates == [0, 100]
    cheap = solve(ROWS, Counted(), budget=Budget(updates=100, seconds=1e6))
    assert cheap.trace.updates == [0, 1, 2, 4, 8, 16, 32, 64, 100]


def test_records_return_when_the_steps_have_taken_as_long(monkeypatch):
    """Steps of 1 s, records of 3 s: each is made once the steps have paid for it."""
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    class Slow(Counted):
        def step(self, system, state, most):
            clock[0] += 1.0
            return super().step(system, state, most)

    def observe(point):
        clock[0] += 3.0
        return {}

    budget = Budget(updates=100, seconds=1e6)
    assert solve(ROWS, Slow(), observe=observe, budget=budget).trace.updates == [
        0, 8, 16, 32, 64, 100,
    ]  # fmt: skip


def test_proofs_that_take_too_long_count_as_spent(monkeypatch):
    """80 s of steps come with 10 s of proofs, and no more: each claim takes 4."""
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    proved = ConicSystem.prove_point

    def prove_point(system, point):
        clock[0] += 4.0
        return proved(system, point)

    monkeypatch.setattr(ConicSystem, "prove_point", prove_point)
    claims = [false_claim(-1.0 - k) for k in range(100)]
    result = solve(ROWS, Scripted(claims), budget=Budget(seconds=80.0))
    assert result.status is Status.TIME_LIMIT
    assert result.seconds == 0.0
    assert 90.0 <= result.total_seconds <= 100.0
    assert "is spent, 82 of them on proofs and records" in result.message


@dataclass(frozen=True)
class Speechless(Perceptron):
    """It gives up without a word."""

    def step(self, system, state, most):
        raise NumericalError


def test_no_run_ends_without_a_message():
    gave_up = "Speechless gave up: its numbers left the range of its step; "
    assert solve(ROWS, Speechless()).message.startswith(gave_up)
    stopped = solve(ROWS, "perceptron", stop=lambda: "")
    assert stopped.message == "ended without a reason given (TIME_LIMIT)"


def test_rejected_claims_are_counted_where_a_limit_ends_the_run():
    claims = [false_claim(-1), false_claim(-2), MarginBelow(np.ones(20), 1e-9), None]
    result = solve(ROWS, Scripted(claims), budget=Budget(updates=5))
    assert result.status is Status.UPDATE_LIMIT
    reason = "it states a margin of at most 1e-09, and only a margin of at most "
    assert f"3 claims could not be verified; the last one because {reason}" in result.message
    plain = solve(ROWS, Scripted([None]), budget=Budget(updates=5))
    assert "claim" not in plain.message


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ((1, 2), "the claim that the step returned is of type tuple; allowed: FeasiblePoint, "),
        (FeasiblePoint([1.0] * 4), r"FeasiblePoint.point is of type list; allowed: an array"),
        (FeasiblePoint(np.ones(3)), r"is an array of float64, shape \(3,\); allowed: .*\(4,\)"),
        (MarginBelow(np.ones(4), 0.1), r"MarginBelow.weights is an array .* \(20,\)"),
        (MarginBelow(None, 0.1), "MarginBelow.weights is of type NoneType"),
        (FeasiblePoint(np.full(4, "a")), "FeasiblePoint.point is an array of <U1"),
    ],
)
def test_objects_that_are_no_claim_are_refused_with_class_and_file(claim, message):
    pattern = rf"Scripted \(.*test_driver.py\): .*{message}"
    for script in ([claim], [None, claim]):
        with pytest.raises(ConfigError, match=pattern):
            solve(ROWS, Scripted(script), budget=Budget(updates=5))
