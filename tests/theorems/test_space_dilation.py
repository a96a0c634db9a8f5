"""Space dilation (sections 2.5 to 2.8 of Kharechko2009): its ellipsoids, its bound, its limits."""

import math

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.algorithms.rescaling.ellipsoid import Ellipsoid, log_volume_radius
from perceptron_lab.algorithms.rescaling.space_dilation import SpaceDilation
from perceptron_lab.core.results import Status
from tests.families import FEASIBLE, feasible_of, planted
from tests.repetitions import repeated
from tests.theorems.courses import ready, walk


def growth(dilation):
    """q, the factor of the radius per update."""
    return (dilation**2 + 1) / (2 * dilation)


def volume_method(dilation, first_step=1.0):
    return SpaceDilation(
        dilation=dilation,
        step_rule="geometric",
        first_step=first_step,
        ratio=growth(dilation),
    )


def best_dilation(n):
    return math.sqrt((n + 1) / (n - 1))


@pytest.mark.parametrize("seed", repeated(range(20), kept=3))
def test_an_update_is_the_perceptrons_in_the_dilated_space(seed):
    """(2.5) and Definition 2.8: D x <- D x + eta b and D <- (I + (lambda - 1) b b') D."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    rows, _ = planted(n, 30, 1e-3, rng)
    algorithm = SpaceDilation(dilation=rng.uniform(1.1, 2.0), step_rule="inverse-sqrt")
    system = ConicSystem.from_rows(rows)
    state, dilated = algorithm.start(system, rng), np.eye(n)
    for t in range(12):  # the condition number of D is up to lambda^t
        before = state.point.copy()
        cut = system.cut(before)
        if cut is None:
            break
        b = np.linalg.solve(dilated.T, cut.normal)
        b /= np.linalg.norm(b)
        state, claim = algorithm.step(system, state, 1)
        assert claim is None
        shifted = dilated @ (state.point - before)
        assert shifted == pytest.approx(algorithm.step_size(t) * b, rel=1e-7, abs=1e-9)
        dilated = dilated + (algorithm.dilation - 1) * np.outer(b, b @ dilated)
        assert state.inverse @ dilated == pytest.approx(np.eye(n), abs=1e-6)
    assert state.updates > 0


@pytest.mark.parametrize("stretch", [0.5, 0.9, 1.0, 1.2])
@pytest.mark.parametrize("seed", repeated(range(20), kept=1))
def test_its_ellipsoids_lose_no_feasible_point_and_have_the_stated_volumes(seed, stretch):
    """norm(D (y - x)) <= q^t for the feasible y of the unit ball, whatever the dilation."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    rows, z = planted(n, 30, 0.01, rng)
    dilation = best_dilation(n) ** stretch
    algorithm = volume_method(dilation, (dilation**2 - 1) / (2 * dilation**2))
    inside = z * rng.uniform(0.1, 1.0, (5, 1))
    for state in walk(algorithm, ready(algorithm, ConicSystem.from_rows(rows)), 60):
        radius = growth(dilation) ** state.updates
        gap = np.linalg.solve(state.inverse, (inside - state.point).T)
        assert np.linalg.norm(gap, axis=0).max() <= radius * (1 + 1e-7)
        volume = n * math.log(radius) + np.linalg.slogdet(state.inverse)[1]
        shrinkage = math.log(dilation) - n * math.log(growth(dilation))
        assert volume == pytest.approx(-state.updates * shrinkage, abs=1e-7)


@pytest.mark.parametrize("stretch", [0.7, 1.0, 1.15])
@pytest.mark.parametrize("seed", repeated(range(20), kept=1))
def test_updates_stay_within_the_bound_of_the_volume(seed, stretch):
    """With a budget that would show an update too many."""
    rng = np.random.default_rng(seed)
    n, margin = int(rng.integers(2, 9)), 10.0 ** -rng.integers(1, 6)
    rows, _ = planted(n, 40, margin, rng)
    algorithm = volume_method(best_dilation(n) ** stretch, first_step=10.0 ** rng.integers(-3, 3))
    bound = algorithm.bound(ConicSystem.from_rows(rows).facts(margin))
    q = growth(algorithm.dilation)
    shrinkage = math.log(algorithm.dilation) - n * math.log(q)
    assert bound.value == pytest.approx(n * -log_volume_radius(n, margin) / shrinkage)
    budget = Budget(updates=math.ceil(bound.value) + 1)
    result = solve(rows, algorithm, oracle="random", seed=seed, budget=budget)
    assert result.status is Status.FEASIBLE
    assert result.updates <= bound.value
    assert result.bound.value >= bound.value * (1 - 1e-9)


@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_the_bound_holds_on_every_kind_of_system(seed, kind):
    system, margin = feasible_of(kind, seed)
    n = ready(SpaceDilation(), system).dimension
    algorithm = volume_method(best_dilation(n))
    bound = algorithm.bound(ready(algorithm, system).facts(margin))
    result = solve(system, algorithm, budget=Budget(updates=math.ceil(bound.value) + 1))
    assert result.status is Status.FEASIBLE
    assert result.updates <= bound.value


@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_the_ellipsoid_method_has_the_best_of_these_bounds(n):
    """n ln(1/r0) over ln lambda - n ln q; 2 n^2 ln(1/r0) is a bound of it."""
    facts = ConicSystem.from_rows(np.eye(n)).facts(1e-3)
    best = volume_method(best_dilation(n)).bound(facts).value
    assert best <= Ellipsoid(variant="exact").bound(facts).value
    assert best >= 0.7 * Ellipsoid(variant="exact").bound(facts).value
    for stretch in (0.8, 0.95, 1.05, 1.2):
        assert volume_method(best_dilation(n) ** stretch).bound(facts).value > best


def test_other_steps_and_dilations_state_why_they_have_no_bound():
    facts = ConicSystem.from_rows(np.eye(5)).facts(1e-3)
    for algorithm, reason in [
        (SpaceDilation(), "unless steps grow by (lambda^2+1)/(2 lambda) = 1.25"),
        (SpaceDilation(dilation=1.1, step_rule="geometric", ratio=1.1), "unless steps grow by"),
        (volume_method(2.0), "in dimension 5 this dilation lets the volume grow"),
    ]:
        bound = algorithm.bound(facts)
        assert bound.value is None
        assert reason in bound.reason
    assert "margin" in volume_method(1.1).bound(ConicSystem.from_rows(np.eye(5)).facts()).reason


@pytest.mark.parametrize("seed", repeated(range(10), kept=2))
def test_without_dilation_it_is_the_normalised_perceptron(seed):
    """lambda = 1 + 1e-12 and constant steps: the same updates, within 1 / rho^2."""
    rows, _ = planted(5, 30, 0.05, np.random.default_rng(seed))
    dilated = solve(rows, SpaceDilation(dilation=1 + 1e-12))
    plain = solve(rows, Perceptron())
    assert dilated.status is plain.status is Status.FEASIBLE
    assert dilated.updates == plain.updates <= 1 / 0.05**2
    assert dilated.point == pytest.approx(plain.point, abs=1e-6)
