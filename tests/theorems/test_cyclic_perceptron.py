"""The compiled cyclic perceptron: Novikoff's bound, and the same course as the plain loop."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.perceptrons import perceptron
from perceptron_lab.algorithms.perceptrons.perceptron import CyclicPerceptron
from perceptron_lab.algorithms.sweeping import SweptState
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.claims import FeasiblePoint
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import MarginUpper
from perceptron_lab.core.results import FloatArray, IntArray, Result, Status
from tests.families import cones, feasible_of, infeasible_of, planted, planted_conic
from tests.repetitions import repeated
from tests.theorems.courses import SEEDS, check_bound, first_claim, ready

ALGORITHM = CyclicPerceptron()


@pytest.mark.parametrize("kind", ["rows", "linear Gram", "rbf Gram", "polynomial Gram"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_updates_stay_within_novikoffs_bound(seed: int, kind: str) -> None:
    check_bound(ALGORITHM, kind, seed)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_rows_of_any_lengths_as_given_stay_within_theirs(seed: int) -> None:
    """Not seen through their norms: (L / rho)^2 with the largest norm L."""
    rng = np.random.default_rng(seed)
    unit, centre = planted(4, 25, 0.1, rng)
    rows = unit * rng.uniform(0.5, 2.0, 25)[:, None]
    system = ConicSystem(Matrix(rows), Orthant(25))
    result = solve(system, ALGORITHM)
    assert result.status is Status.FEASIBLE
    lengths = np.linalg.norm(rows, axis=1)
    assert result.updates <= (lengths.max() / (rows @ centre).min()) ** 2
    assert result.bound.value is not None
    assert result.updates <= result.bound.value


def plain(rows: FloatArray) -> tuple[FloatArray, int, int]:
    """The loop as one writes it: the point, the updates and the rows looked at."""
    point, updates, checks, quiet = np.zeros(rows.shape[1]), 0, 0, 0
    while quiet < len(rows):
        row = rows[checks % len(rows)]
        checks, quiet = checks + 1, quiet + 1
        if row @ point <= 0:
            point, updates, quiet = point + row, updates + 1, 0
    return point, updates, checks


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_iterates_and_their_cost_are_those_of_the_plain_loop(seed: int) -> None:
    rows = planted(5, 40, 0.05, np.random.default_rng(seed))[0]
    system = ready(ALGORITHM, ConicSystem.from_rows(rows * np.linspace(0.1, 10, 40)[:, None]))
    state, claim = first_claim(ALGORITHM, system, 10**6)
    point, updates, printed = plain(rows)
    assert isinstance(claim, FeasiblePoint)
    assert claim.point == pytest.approx(point, rel=1e-9, abs=1e-9)
    assert state.updates == updates
    assert system.counters.queries == updates + 1
    assert system.counters.products == pytest.approx(printed / 40 + 1)
    assert state.weights is not None
    assert state.weights.sum() == updates
    assert state.weights @ rows == pytest.approx(point, abs=1e-9)


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_the_iterates_do_not_depend_on_how_they_are_split_into_steps(seed: int) -> None:
    system = ConicSystem.from_rows(planted(5, 40, 0.02, np.random.default_rng(seed))[0])
    full = first_claim(ALGORITHM, ready(ALGORITHM, system), 10**6)[0]
    view = ready(ALGORITHM, system)
    state, claim, most = ALGORITHM.start(view, np.random.default_rng(0)), None, 1
    while claim is None:
        state, claim = ALGORITHM.step(view, state, most)
        most = most % 7 + 1
    assert state.updates == full.updates
    assert np.array_equal(state.point, full.point)


@pytest.mark.parametrize("kind", ["rows", "linear Gram", "polynomial Gram"])
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_weights_bound_the_margin_where_there_is_none(seed: int, kind: str) -> None:
    """norm(A w) / <e, w> <= 1 / sqrt(updates), as norm(x)^2 <= updates."""
    system = infeasible_of(kind, seed).system
    result = solve(system, ALGORITHM, goal="budget", budget=Budget(updates=10_000))
    assert result.status in (Status.UPDATE_LIMIT, Status.INFEASIBLE)
    assert result.margin_upper is not None
    assert result.margin_upper <= 0.01 * (1 + 1e-6)


def test_a_start_is_where_it_begins() -> None:
    rows, centre = planted(4, 30, 0.1, np.random.default_rng(0))
    result = solve(rows, ALGORITHM, start=centre)
    assert result.status is Status.FEASIBLE
    assert result.updates == 0
    assert np.array_equal(result.point, centre)


def test_rejected_claims_make_it_look_closer() -> None:
    """By the tolerance of the system the least score counts as violated, and the point changes."""
    rows = planted(3, 20, 0.1, np.random.default_rng(1))[0]
    system = ready(ALGORITHM, ConicSystem.from_rows(rows))
    state, claim = first_claim(ALGORITHM, system, 10**6)
    assert isinstance(claim, FeasiblePoint)
    scores = rows @ claim.point
    for _ in range(30):
        system = system.stricter()
        if scores.min() <= system.tolerance * np.abs(scores).max():
            break
    assert isinstance(state, SweptState)
    before, updates = state.point.copy(), state.updates
    state, claim = ALGORITHM.step(system, state, 1)
    assert claim is None
    assert state.updates == updates + 1
    assert state.point == pytest.approx(before + rows[scores.argmin()], rel=1e-12)
    assert state.weights is not None
    assert state.weights @ rows == pytest.approx(state.point)


def test_systems_that_cannot_be_swept_are_refused() -> None:
    rows, rng = planted(4, 30, 0.1, np.random.default_rng(0))[0], np.random.default_rng(1)
    with pytest.raises(InputError, match="dense rows only; take perceptron with the cyclic"):
        solve(sp.csr_array(rows), ALGORITHM)
    for cone in cones().values():
        with pytest.raises(InputError, match="rows and kernels only; choose another"):
            solve(planted_conic(cone, 4, 0.1, rng)[0], ALGORITHM)
    with pytest.raises(InputError, match="asks no oracle"):
        solve(rows, ALGORITHM, oracle="cyclic")


def test_kernels_run_in_their_coordinates() -> None:
    system, margin = feasible_of("rbf Gram", 3)
    result = solve(system, ALGORITHM)
    assert result.status is Status.FEASIBLE
    assert result.point.shape == (16,)
    assert result.margin_lower is not None
    assert 0 < result.margin_lower <= margin * (1 + 1e-9)


def test_screened_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where few rows are violated again and again, the others are not looked at each time."""
    rng = np.random.default_rng(0)
    examples = rng.standard_normal((300, 30))
    labels = np.where(examples[:, 0] + 1.5 > 0.0, 1, -1)
    labels[:3] *= -1
    screened, plain = [
        (monkeypatch.setattr(perceptron, "MANY", many), run(examples, labels))[1]
        for many in (perceptron.MANY, 10**9)
    ]
    assert screened.status is Status.UPDATE_LIMIT
    assert (screened.queries, screened.products) == (plain.queries, plain.products)
    np.testing.assert_array_equal(screened.point, plain.point)
    np.testing.assert_array_equal(screened.weights, plain.weights)


def test_the_least_of_all_bounds_is_proved_at_the_end() -> None:
    """None is proved before, as none reaches the goal."""
    rng = np.random.default_rng(2)
    examples, labels = rng.standard_normal((40, 3)), np.where(rng.random(40) < 0.5, 1, -1)
    fell = False
    for updates in range(9, 60):
        result = run(examples, labels, updates)
        bounds = result.trace.upper
        assert result.margin_upper == pytest.approx(np.nanmin(bounds), rel=1e-9)
        fell = fell or bounds[-1] > np.nanmin(bounds)
    assert fell


def run(examples: FloatArray, labels: IntArray, updates: int = 4000) -> Result:
    """Run the cyclic perceptron for a bound of the margin that it does not reach."""
    system = ConicSystem.from_labelled(examples, labels)
    goal = MarginUpper(1e-9)
    return solve(system, CyclicPerceptron(), goal=goal, budget=Budget(updates=updates))
