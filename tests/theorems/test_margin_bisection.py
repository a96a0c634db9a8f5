"""Section 3 of TsampoukaShaweTaylor: bisections for the largest margin, plain and on few rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.margins import bisection_trial
from perceptron_lab.algorithms.margins.bisection_trial import (
    AllRows,
    BisectionState,
    MarginTrial,
    WeightedPoint,
    WorkingRows,
)
from perceptron_lab.algorithms.margins.fixed_length_perceptron import FixedLengthPerceptron
from perceptron_lab.algorithms.margins.margin_bisection import MarginBisection
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.claims import FeasiblePoint
from perceptron_lab.core.results import FloatArray, Status
from tests.families import infeasible
from tests.repetitions import repeated
from tests.theorems.courses import ready, walk
from tests.theorems.margin_systems import Known, known, orthonormal

SEEDS = range(20)
ROOM = 1 + 1e-9
VARIANTS: dict[str, dict[str, Any]] = {
    "first": {},
    "angle": {"factor": "angle"},
    "second": {"relaxed": 0.5},
    "fixed length": {"module": "fixed-length"},
    "second, fixed length": {"module": "fixed-length", "relaxed": 0.25, "factor": "angle"},
}
PLACES: dict[str, dict[str, Any]] = {"all": {}, "few": {"working_set": True, "block": 0.5}}


def run_through(algorithm: MarginBisection, system: ConicSystem) -> BisectionState:
    """The state when the bisection has come to its end; every claim is of a larger margin."""
    system = ready(algorithm, system)
    state, least = algorithm.start(system, np.random.default_rng(0)), 0.0
    while not state.ending:
        _, claim = algorithm.step(system, state, 10**6)
        if claim is not None:
            assert isinstance(claim, FeasiblePoint)
            margin = system.margin(claim.point)
            assert margin > least / ROOM
            least = margin
    return state


# --- rounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("location", PLACES)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_rounds_keep_the_largest_margin_between_their_bounds(
    seed: int, variant: str, location: str
) -> None:
    """Steps are halved and taken as the rounds end, and no round says anything false."""
    problem = known(seed)
    algorithm = MarginBisection(epochs=50, **VARIANTS[variant], **PLACES[location])
    state = run_through(algorithm, problem.system)
    step = beta = problem.shortest / 2
    best, bound = 0.0, np.inf
    for number, ended in enumerate(state.rounds, 1):
        assert (ended.number, ended.beta) == (number, pytest.approx(beta))
        assert ended.bound >= problem.margin / ROOM
        assert ended.margin <= problem.margin * ROOM
        if ended.outcome == "reached":
            assert ended.margin > beta / ROOM
        if ended.outcome == "hopeless":
            assert ended.bound <= beta * ROOM
        if ended.outcome == "known":
            assert best >= beta / ROOM or bound <= beta * ROOM
        if ended.outcome == "exhausted":
            assert ended.epochs <= 51
        assert ended.updates <= ended.epochs * ended.rows * ROOM
        best, bound = max(best, ended.margin), min(bound, ended.bound)
        step /= 2
        beta += step if ended.outcome == "reached" or beta <= best else -step
    assert state.best.margin == pytest.approx(best)
    assert state.upper <= bound * ROOM
    assert state.width == pytest.approx(step)
    assert state.width <= 1e-3 * best or len(state.rounds) == algorithm.rounds
    assert state.iterations == sum(ended.outcome != "known" for ended in state.rounds)


@pytest.mark.parametrize("location", PLACES)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_points_are_combinations_of_rows_at_every_update(
    seed: int, variant: str, location: str
) -> None:
    """a = A w with w >= 0, in the round and between rounds; shown weights bound the margin."""
    problem = known(seed)
    algorithm = MarginBisection(epochs=20, **VARIANTS[variant], **PLACES[location])
    for state in walk(algorithm, ready(algorithm, problem.system), 60):
        for point, weights in [(state.best.point, state.best.weights)] + (
            [(state.trial.point, state.trial.weights())] if state.trial else []
        ):
            assert (weights >= 0.0).all()
            assert weights @ problem.rows == pytest.approx(point, abs=1e-9 * problem.longest)
        image = float(np.linalg.norm(state.weights @ problem.rows)) / state.weights.sum()
        assert image >= problem.margin / ROOM
        assert image <= state.upper * ROOM


@pytest.mark.parametrize("location", PLACES)
@pytest.mark.parametrize("factor", ["one", "angle"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_proofs_of_failure_change_nothing_but_the_time(
    seed: int, factor: Any, location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the first procedure: the same rounds succeed, and end in the same points."""
    problem = known(seed)
    monkeypatch.setattr(bisection_trial, "LOOK", 0)  # looks at the bound soon
    options = {"factor": factor, **PLACES[location]}
    if location == "few":  # a failing round leaves other rows in the set
        options["block"] = 100.0
    quick, paper = (
        run_through(MarginBisection(epochs=60, hopeless=gives_up, **options), problem.system)
        for gives_up in (True, False)
    )
    assert np.array_equal(quick.best.point, paper.best.point)
    assert [r.beta for r in quick.rounds] == [r.beta for r in paper.rounds]
    failed = [r for r in quick.rounds if r.outcome in ("hopeless", "known") and r.beta > r.bound]
    spent = [sum(r.epochs for r in state.rounds) for state in (quick, paper)]
    assert (spent[0] < spent[1]) == bool(failed)
    assert failed or seed > 1
    assert "hopeless" not in {r.outcome for r in paper.rounds}


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_many_epochs_prove_the_margin_from_both_sides(seed: int) -> None:
    problem = known(seed)
    algorithm = MarginBisection(epochs=1_000_000, tolerance=1e-4)
    result = solve(
        problem.system, algorithm, goal={"margin_ratio": 0.98}, budget=Budget(updates=10**8)
    )
    assert (result.status, result.goal_reached) == (Status.FEASIBLE, True)
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert 0.98 * result.margin_upper <= result.margin_lower <= problem.margin * ROOM
    assert result.margin_upper >= problem.margin / ROOM
    assert result.certificate["claims_rejected"] == 0
    assert result.certificate["notes"][0].startswith("round 1: beta ")


# --- modules -------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", ["one", "angle"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_a_fixed_length_keeps_its_bound_from_any_combination_of_rows(
    seed: int, factor: Any
) -> None:
    """(2.56), for which u_0'u > 0 is enough: so rounds with room for a step do not fail."""
    problem, rng = known(seed), np.random.default_rng(seed)
    for part in (0.3, 0.7):
        like = FixedLengthPerceptron(
            beta=part * problem.margin, gap=(1 - part) * problem.margin, factor=factor
        )
        bound = like.bound(problem.facts).value
        assert bound is not None
        weights = rng.exponential(1.0, len(problem.rows)) ** 4
        begun = WeightedPoint(weights @ problem.rows, weights, 0.0)
        rate = like.learning_rate(problem.shortest, problem.longest)
        angle = factor == "angle"
        trial = MarginTrial(
            like.beta, begun, AllRows(problem.rows.copy()), "fixed-length", angle, bound + 2, rate
        )
        while not trial.satisfied:
            assert not trial.exhausted
            trial.sweep(10**9)
            trial.bound()  # looked at, so that it goes on
        assert trial.updates <= bound
        assert problem.worst(trial.point) > like.beta / ROOM
        assert float(np.linalg.norm(trial.point)) == pytest.approx(like.beta)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_rounds_with_room_for_a_step_do_not_fail_at_a_fixed_length(seed: int) -> None:
    problem = known(seed)
    algorithm = MarginBisection(module="fixed-length", epochs=10**7, tolerance=0.05)
    state, step = run_through(algorithm, problem.system), problem.shortest / 2
    assert {"reached", "hopeless"} & {ended.outcome for ended in state.rounds}
    for ended in state.rounds:
        if ended.beta + step / 2 <= problem.margin:
            assert ended.outcome in ("reached", "known")
        step /= 2


@pytest.mark.parametrize("module", ["free-length", "fixed-length"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_relaxed_module_finds_a_margin_where_the_strict_one_fails(
    seed: int, module: Any
) -> None:
    """beta norm(a_f) / norm(a_s) at least; only additions of rows come between a_f and a_s."""
    problem = known(seed)
    beta, zero = 1.1 * problem.margin, np.zeros(problem.rows.shape[1])
    if beta >= problem.shortest:
        beta = (problem.margin + problem.shortest) / 2
    begun = WeightedPoint(zero, np.zeros(len(problem.rows)), 0.0)
    trial = MarginTrial(beta, begun, AllRows(problem.rows.copy()), module, False, 5.0, 0.1)
    while not trial.exhausted:
        trial.sweep(10**9)
        assert not trial.satisfied
        trial.bound()
    first, weights = trial.point.copy(), trial.weights()
    trial.relax(10**6)
    assert trial.weights() == pytest.approx(weights)
    while not trial.satisfied:
        assert not trial.exhausted
        trial.sweep(10**9)
        trial.bound()
    lengths = [float(np.linalg.norm(point)) for point in (first, trial.point)]
    assert problem.worst(trial.point) > beta * lengths[0] / lengths[1] / ROOM
    added = (trial.weights() - weights) / trial.rate
    assert added == pytest.approx(np.rint(added), abs=1e-6)
    assert (added > -1e-6).all()


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_second_procedure_learns_from_failures(seed: int) -> None:
    """It knows a margin after the first round, of half the shortest norm, whatever that is."""
    problem = orthonormal(seed)
    states = {
        part: run_through(MarginBisection(epochs=400, relaxed=part), problem.system)
        for part in (0.0, 0.5)
    }
    assert states[0.0].rounds[0].margin == 0.0
    assert states[0.5].rounds[0].outcome == "exhausted"
    assert states[0.5].rounds[0].margin > 0.0


# --- rows that are swept -------------------------------------------------------------------------


def large(seed: int) -> FloatArray:
    """2000 rows of dimension 5 with a large margin, which few of them decide."""
    rows = np.random.default_rng(seed).standard_normal((2000, 5))
    rows[:, 0] = 1.0 + np.abs(rows[:, 0])
    return rows


def few_of(rows: FloatArray, point: FloatArray) -> WorkingRows:
    """The ten rows of least score at a point; five may join at a time."""
    return WorkingRows.least(Matrix(rows), rows @ point, 5)


def test_the_rows_of_least_score_join_and_keep_their_places() -> None:
    rows = large(0)
    point = rows.mean(axis=0)
    few = few_of(rows, point)
    scores = rows @ point
    assert set(few.indices) == set(np.argsort(scores)[:10])
    assert few.join(scores, float(np.sort(scores)[12])) == 3  # none of those that are there
    assert set(few.indices) == set(np.argsort(scores)[:13])
    few = few_of(rows, point)
    other = np.array([1.0, 2.0, 0.0, 0.0, 0.0])
    scores = rows @ other
    before = few.indices.copy()
    assert few.join(scores, np.inf) == 5
    assert np.array_equal(few.indices[:10], before)
    outside = np.setdiff1d(np.argsort(scores), before)
    assert set(few.indices[10:]) == set(outside[np.argsort(scores[outside])[:5]])
    assert np.array_equal(few.rows, rows[few.indices])
    assert few.squares == pytest.approx((few.rows**2).sum(1))
    shares = np.arange(15.0)
    assert few.spread(shares, 2000) @ rows == pytest.approx(shares @ few.rows)
    assert few.join(scores, float(scores[few.indices].min()) - 10.0) == 0


@pytest.mark.parametrize("module", ["free-length", "fixed-length"])
@pytest.mark.parametrize("relaxed", [False, True])
def test_rows_join_under_way_until_all_have_the_margin(relaxed: bool, module: Any) -> None:
    """In both modules; the point stays the combination of rows that the weights say it is."""
    rows = np.random.default_rng(5).standard_normal((300, 8))
    rows[:, 0] = 0.5 + np.abs(rows[:, 0])
    system = ConicSystem.from_rows(rows, margin="directional")
    exact = solve(system, "minimum-norm-point", goal={"margin_ratio": 0.9999})
    assert exact.margin_lower is not None
    beta, weights = 0.9 * exact.margin_lower, np.zeros(300)
    weights[int((rows**2).sum(axis=1).argmax())] = 30.0  # far from the best direction
    begun = WeightedPoint(weights @ rows, weights, 0.0)
    few, joined = few_of(rows, rows.mean(axis=0)), 0
    trial = MarginTrial(beta, begun, few, module, False, 10**6, 0.01)
    if relaxed:
        trial.relax(10**6)
    while True:
        while not trial.satisfied:
            assert not trial.exhausted
            trial.sweep(7)
            trial.bound()
        assert trial.weights() @ rows == pytest.approx(trial.point, rel=1e-9)
        scores = rows @ trial.point
        threshold = trial.limit if relaxed else beta * float(np.linalg.norm(trial.point))
        lacking = np.setdiff1d(np.flatnonzero(scores <= threshold), few.indices)
        assert trial.join(scores) == (len(lacking) > 0)
        if not len(lacking):
            break
        joined += 1
    assert joined > 0
    assert float(scores.min()) > threshold / ROOM
    # Of the relaxed module b is asked for, not beta norm(a) of the point as it is now
    assert not trial.join(np.full(300, threshold * ROOM))


@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_a_working_set_stays_small_and_the_margin_is_that_of_all_rows(seed: int) -> None:
    rows = large(seed)
    system = ConicSystem.from_rows(rows, margin="directional")
    exact = solve(system, "minimum-norm-point", goal={"margin_ratio": 0.9999})
    assert exact.margin_upper is not None
    results = {}
    for setting, options in PLACES.items():
        algorithm = MarginBisection(epochs=500, **options)
        results[setting] = solve(
            system, algorithm, goal={"margin_ratio": 0.99}, budget=Budget(updates=10**8)
        )
        assert results[setting].goal_reached
        assert results[setting].margin_lower >= 0.99 * exact.margin_upper
    assert results["few"].products < results["all"].products / 2
    state = run_through(MarginBisection(epochs=500, **PLACES["few"]), system)
    assert 2 * 3 <= len(state.swept.rows) < 200
    assert float((rows @ state.best.point).min()) == pytest.approx(
        state.best.margin * float(np.linalg.norm(state.best.point))
    )


def test_a_working_set_takes_sparse_and_mapped_rows(tmp_path: Any) -> None:
    rows = large(3)
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    results = []
    for data, memory in [(rows, None), (sp.csr_array(rows), None), (mapped, 10**6)]:
        system = ConicSystem.from_rows(data, memory=memory)
        goal = {"margin_ratio": 0.95}
        results.append(solve(system, MarginBisection(working_set=True), goal=goal))
    assert all(result.goal_reached for result in results)
    margins = [result.margin_lower for result in results]
    assert margins == pytest.approx([margins[0]] * 3, rel=0.05)


@pytest.mark.parametrize("location", PLACES)
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_without_a_separator_weights_are_claimed(seed: int, location: str) -> None:
    rows = infeasible(3, 20, np.random.default_rng(seed))
    algorithm = MarginBisection(epochs=30, rounds=8, **PLACES[location])
    result = solve(rows, algorithm, goal={"margin_ratio": 0.9}, budget=Budget(updates=10**6))
    assert result.status in (Status.MARGIN_BOUNDED, Status.INFEASIBLE)
    assert result.margin_lower is None or result.margin_lower <= 0.0
    assert result.margin_upper is not None
    assert result.margin_upper <= 0.3


def test_the_message_describes_the_end() -> None:
    problem: Known = known(4)
    result = solve(problem.system, MarginBisection(epochs=20), goal="budget")
    assert "the bisection has come to steps of" in result.message


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("location", PLACES)
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_the_iterates_do_not_depend_on_how_they_are_split_into_steps(
    seed: int, location: str, variant: str
) -> None:
    """Bit by bit, also from one round to the next."""
    problem = known(seed)
    algorithm = MarginBisection(epochs=30, **VARIANTS[variant], **PLACES[location])
    full = run_through(algorithm, problem.system)
    system = ready(algorithm, problem.system)
    state = algorithm.start(system, np.random.default_rng(0))
    while not state.ending:
        algorithm.step(system, state, 1)
    assert state.rounds == full.rounds
    assert np.array_equal(state.point, full.point)
    assert np.array_equal(state.weights, full.weights)
