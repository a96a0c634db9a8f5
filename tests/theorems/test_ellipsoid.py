"""The ellipsoid method: volume ratio per step, containment, update bound, exit with weights."""

import math

import numpy as np
import pytest

from perceptron_lab.algorithms.advance import advance
from perceptron_lab.algorithms.rescaling.ellipsoid import (
    Ellipsoid,
    coefficients,
    deep_coefficients,
    log_volume_radius,
)
from perceptron_lab.algorithms.rescaling.space_dilation import SpaceDilation
from perceptron_lab.core.claims import MarginBelow
from perceptron_lab.core.results import Status
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from tests.families import exact_margin, infeasible, planted, planted_pencil
from tests.repetitions import repeated

SEEDS = range(20)
VARIANTS = ["exact", "safe"]


@pytest.mark.parametrize("n", [2, 3, 5, 10, 50, 1000])
def test_volume_ratios_have_their_closed_forms_and_bounds(n):
    exact = math.exp(coefficients(n, "exact").log_ratio)
    assert exact == pytest.approx(n / (n + 1) * (n * n / (n * n - 1)) ** ((n - 1) / 2))
    assert exact < math.exp(-1 / (2 * n))
    safe = math.exp(coefficients(n, "safe").log_ratio)
    assert safe == pytest.approx((1 + 1.5 / n**2) ** (n / 2) * math.sqrt((n - 1) / (n + 1)))
    assert safe <= math.exp(-1 / (5 * n))
    assert safe > exact


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_each_step_has_the_stated_volume_ratio_and_keeps_the_feasible_points(seed, variant):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    rows, z = planted(n, 30, 0.01, rng)
    system = ConicSystem.from_rows(rows)
    algorithm = Ellipsoid(variant=variant)
    state = algorithm.start(system, rng)
    inside = z * rng.uniform(0.1, 1.0, (5, 1))  # feasible points of the unit ball
    log_volume = 0.0
    for _ in range(60):
        state, claim = algorithm.step(system, state, 1)
        if claim is not None:
            break
        shape = state.scale * state.metric.matrix()
        now = 0.5 * np.linalg.slogdet(shape)[1]
        assert now - log_volume == pytest.approx(coefficients(n, variant).log_ratio, abs=1e-7)
        assert state.log_radius == pytest.approx(now / n, abs=1e-6)
        log_volume = now
        gap = inside - state.point
        assert (np.einsum("ij,ij->i", gap, np.linalg.solve(shape, gap.T).T) <= 1 + 1e-6).all()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_updates_stay_within_the_bound(seed, variant):
    rng = np.random.default_rng(seed)
    n, margin = int(rng.integers(1, 12)), 10.0 ** -rng.integers(1, 6)
    rows, _ = planted(n, 40, margin, rng) if n > 1 else (np.ones((3, 1)), None)
    result = solve(rows, Ellipsoid(variant=variant), oracle="random", seed=seed)
    assert result.status is Status.FEASIBLE
    factor = 2 if variant == "exact" else 5
    lower = exact_margin(rows)[0] if n == 1 else margin
    assert result.updates <= factor * n * n * -log_volume_radius(n, lower)
    assert result.updates <= result.bound.value


def test_the_printed_bound_fails_for_one_row():
    """2 n^2 ln(1/rho) would be 0 at rho = 1, but the centre 0 is no answer."""
    result = solve(np.array([[0.6, 0.8]]), Ellipsoid())
    assert result.updates == 1
    assert -log_volume_radius(2, 1.0) * 8 >= 1


@pytest.mark.parametrize("margin", [0.9, 0.1, 1e-3, 1e-8])
def test_volume_radius_is_that_of_the_cap_of_directions(margin):
    """The share of directions within the angle arcsin rho of z, in closed form in the plane and in
    space."""
    angle = math.asin(margin)
    assert math.exp(2 * log_volume_radius(2, margin)) == pytest.approx(angle / math.pi)
    share = math.sin(angle / 2) ** 2  # (1 - cos angle) / 2
    assert math.exp(3 * log_volume_radius(3, margin)) == pytest.approx(share)
    for n in (2, 3, 10, 200):
        assert log_volume_radius(n, margin) < log_volume_radius(n, min(1.0, 1.1 * margin))


def test_volume_radius_underflows_gracefully():
    direct = log_volume_radius(60, 1e-4)
    leading = (59 * math.log(1e-4)) / 60
    assert direct == pytest.approx(leading, abs=0.15)
    assert log_volume_radius(2000, 1e-9) == pytest.approx(math.log(1e-9), rel=0.02)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_infeasible_rows_end_with_proved_weights(seed, variant):
    rng = np.random.default_rng(seed)
    rows = infeasible(int(rng.integers(2, 6)), 20, rng)
    result = solve(rows, Ellipsoid(variant=variant, margin=1e-6))
    assert result.status is Status.INFEASIBLE
    assert result.proved
    assert result.margin_upper == 0.0
    assert (result.weights >= 0).all()
    combined = result.weights @ rows / (result.weights @ np.linalg.norm(rows, axis=1))
    assert np.linalg.norm(combined) <= 1e-12


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_its_weights_bound_the_margin_without_the_judge(seed, variant):
    """What the method itself claims, before the exact test decides the case."""
    rng = np.random.default_rng(seed)
    rows = infeasible(int(rng.integers(2, 6)), 20, rng)
    system = ConicSystem.from_rows(rows)
    algorithm = Ellipsoid(variant=variant, margin=1e-6)
    _, claim = advance(algorithm, system, algorithm.start(system, rng), 10**6)
    assert isinstance(claim, MarginBelow)
    assert claim.bound == 1e-6
    assert system.prove_weights(claim.weights) <= 1e-12


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_flat_cones_end_with_proved_weights(seed):
    """Both a'y >= 0 and -a'y >= 0: only the closed cone has solutions, and it is flat."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-3, 4, (6, 4)).astype(float)
    rows[:, 0] += 10.0
    rows = np.vstack([rows, -rows[0]])
    result = solve(rows, Ellipsoid())
    assert result.status in (Status.MARGIN_BOUNDED, Status.INFEASIBLE)
    assert result.margin_upper <= 1e-9


def test_a_margin_below_the_assumed_one_is_bounded_not_decided():
    rows, _ = planted(4, 20, 1e-3, np.random.default_rng(1))
    result = solve(rows, Ellipsoid(margin=0.5))
    if result.status is Status.MARGIN_BOUNDED:
        assert 1e-3 <= result.margin_upper <= 0.5
    else:
        assert result.status is Status.FEASIBLE


@pytest.mark.parametrize("rows", [[[1.0], [-1.0]], [[2.0], [-3.0], [1.0]]])
def test_dimension_one_is_bisection(rows):
    result = solve(np.array(rows), Ellipsoid())
    assert result.status in (Status.MARGIN_BOUNDED, Status.INFEASIBLE)
    assert result.margin_upper <= 1e-15
    assert solve(np.array([[-2.0], [-1.0]]), Ellipsoid()).point[0] == pytest.approx(-0.5)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_bound_holds_on_a_matrix_block_with_rows(seed):
    rng = np.random.default_rng(seed)
    system, z = planted_pencil(5, 4, 0.1, rng)
    result = solve(system, Ellipsoid(), oracle="cholesky")
    assert result.status is Status.FEASIBLE
    assert result.updates <= Ellipsoid().bound(system.facts(system.margin(z))).value


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_it_is_space_dilation_with_the_right_factor_and_steps(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    rows, _ = planted(n, 30, 0.01, rng)
    dilation = SpaceDilation(
        dilation=math.sqrt((n + 1) / (n - 1)),
        step_rule="geometric",
        first_step=1 / (n + 1),
        ratio=n / math.sqrt(n * n - 1),
    )
    ours, shors = solve(rows, Ellipsoid()), solve(rows, dilation)
    assert ours.updates == shors.updates
    assert np.allclose(ours.point, shors.point)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000])
def test_deep_cuts_of_depth_zero_are_central_and_deeper_ones_leave_less(n):
    central = coefficients(n, "exact")
    at_zero = deep_coefficients(n, 0.0)
    assert at_zero.step == pytest.approx(central.step)
    assert at_zero.log_ratio == pytest.approx(central.log_ratio, rel=1e-9)
    ratios = [deep_coefficients(n, depth).log_ratio for depth in (0.0, 0.1, 0.5, 0.9)]
    assert ratios == sorted(ratios, reverse=True)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_deep_cuts_keep_the_feasible_points_and_volumes_fall_faster(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    rows, z = planted(n, 30, 0.01, rng)
    system = ConicSystem.from_rows(rows)
    state = Ellipsoid(cuts="deep").start(system, rng)
    inside, log_volume = z * rng.uniform(0.1, 1.0, (5, 1)), 0.0
    for _ in range(60):
        state, claim = Ellipsoid(cuts="deep").step(system, state, 1)
        if claim is not None:
            break
        shape = state.scale * state.metric.matrix()
        now = 0.5 * np.linalg.slogdet(shape)[1]
        assert now - log_volume <= coefficients(n, "exact").log_ratio + 1e-7
        assert state.log_radius == pytest.approx(now / n, abs=1e-6)
        log_volume, gap = now, inside - state.point
        assert (np.einsum("ij,ij->i", gap, np.linalg.solve(shape, gap.T).T) <= 1 + 1e-6).all()
    assert solve(rows, Ellipsoid(cuts="deep")).status is Status.FEASIBLE


def test_deep_cuts_give_up_with_weights_that_bound_the_margin():
    opposite = np.array([[1.0, 0.0], [-1.0, 1e-4], [-1.0, -1e-4]])
    result = solve(opposite, Ellipsoid(cuts="deep", margin=1e-3))
    assert result.margin_upper is not None
    assert result.margin_upper <= 1e-3
    with pytest.raises(ValueError, match="leave the variant out"):
        Ellipsoid(cuts="deep", variant="safe")
