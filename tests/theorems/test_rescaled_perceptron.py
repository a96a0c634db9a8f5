"""Lemmas 3.3, 3.5 and 4.3 measured; the phases of Algorithm 6; what rescaling is for."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.algorithms.relaxed_perceptron import RelaxedPerceptron
from perceptron_lab.algorithms.rescaled_perceptron import RescaledPerceptron
from perceptron_lab.claims import MarginAbove
from perceptron_lab.driver import solve
from perceptron_lab.goals import Budget
from perceptron_lab.operators.rescaled import RescaledRows
from perceptron_lab.results import Status
from perceptron_lab.system import ConicSystem
from tests.families import exact_margin, planted
from tests.repetitions import repeated

SEEDS = range(20)


def rescaled_margin(rows, direction, nu=1.0):
    """The exact margin of the rows after H = I + nu x x', by the package's operator."""
    operator = RescaledRows(ConicSystem.from_rows(rows).operator)
    operator.stretch(direction, nu)
    mapped = np.array([operator.scores(e) for e in np.eye(rows.shape[1])]).T
    explicit = rows + nu * np.outer(rows @ direction, direction)
    explicit /= np.linalg.norm(explicit, axis=1, keepdims=True)
    assert np.allclose(mapped, explicit)
    return exact_margin(mapped)[0]


def relaxed_direction(rows, sigma, rng):
    """The output of Algorithm 5 from whatever start succeeds."""
    system = ConicSystem.from_rows(rows)
    algorithm = RelaxedPerceptron(sigma=sigma)
    state, claim = algorithm.start(system, rng), None
    while not isinstance(claim, MarginAbove):
        state, claim = algorithm.step(system, state, 1000)
    return claim.point


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_lemma_4_3_bounds_every_change_of_the_margin(seed):
    """Case 2 where x'z >= theta, case 1 always; Lemma 3.3 is the case rho = sigma = 1/(32n)."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    constants = RescaledPerceptron(preset="dunagan-vempala").constants(n)
    margin = constants.rho / 4
    rows, z = planted(n, 30, margin, rng)
    for _ in range(3):
        x = relaxed_direction(rows, constants.sigma, rng)
        after = rescaled_margin(rows, x)
        assert after >= margin * (1 - 1 / (32 * n) - 1 / (512 * n * n)) * (1 - 1e-9)
        if x @ z >= constants.theta:
            assert after >= margin * (1 + 1 / (3 * n)) * (1 - 1e-9)


def test_lemma_3_3_case_2_happens_often_enough():
    """At least one direction in eight grows the margin by 1 + 1/(3n); counted over 40 draws."""
    rng = np.random.default_rng(3)
    n, grown = 4, 0
    constants = RescaledPerceptron(preset="dunagan-vempala").constants(n)
    rows, _ = planted(n, 24, constants.rho / 10, rng)
    for _ in range(40):
        x = relaxed_direction(rows, constants.sigma, rng)
        grown += rescaled_margin(rows, x) >= constants.rho / 10 * (1 + 1 / (3 * n))
    assert grown >= 40 / 8


@pytest.mark.parametrize("nu", [0.5, 1.0, 10.0, 1000.0])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_lemma_3_5_along_the_centre(seed, nu):
    rng = np.random.default_rng(seed)
    margin = 0.01
    rows, z = planted(5, 30, margin, rng)
    after = rescaled_margin(rows, z, nu)
    closed_form = margin * (1 + nu) / math.sqrt(1 + (2 * nu + nu * nu) * margin**2)
    assert after == pytest.approx(closed_form, rel=1e-6)  # the touching rows stay the touching ones
    assert after > margin


@pytest.mark.parametrize(
    ("preset", "rho", "sigma"),
    [
        ("dunagan-vempala", lambda n: 1 / (32 * n), lambda n: 1 / (32 * n)),
        ("thesis", lambda n: 1 / (16 * math.sqrt(n)), lambda n: 1 / (32 * n)),
        ("practical", lambda n: 1 / (2 * math.sqrt(n)), lambda n: 1 / (2 * math.sqrt(n))),
    ],
)
@pytest.mark.parametrize("n", [1, 2, 50])
def test_presets(preset, rho, sigma, n):
    constants = RescaledPerceptron(preset=preset).constants(n)
    assert constants.rho == pytest.approx(rho(n))
    assert constants.sigma == pytest.approx(sigma(n))
    changed = RescaledPerceptron(preset=preset, c=3.0, gamma=1.0, kappa=0.5).constants(n)
    assert changed.rho == pytest.approx(1 / (3 * n))
    assert changed.theta == pytest.approx(0.5 * constants.theta)


def test_convergence_condition_4_17_holds_for_the_proved_presets_only():
    for n in (1, 2, 5, 50, 1000):
        proved, _ = RescaledPerceptron(preset="dunagan-vempala").drift(n)
        assert proved >= 1 / (1024 * n)
    assert RescaledPerceptron(preset="practical").drift(50)[0] <= 0


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_updates_stay_within_the_bound_of_theorem_4_4(seed):
    rng = np.random.default_rng(seed)
    rows, _ = planted(3, 20, 1e-4, rng)
    result = solve(rows, RescaledPerceptron(preset="thesis"), seed=seed, oracle="random")
    assert result.status is Status.FEASIBLE
    algorithm = RescaledPerceptron(preset="thesis")
    bound = algorithm.bound(ConicSystem.from_rows(rows).facts(1e-4))
    assert result.updates <= bound.value
    assert "4.4" in bound.theorem


def test_bound_is_novikoffs_for_large_margins_and_absent_without_a_theorem():
    facts = ConicSystem.from_rows(np.eye(3)).facts
    thesis = RescaledPerceptron(preset="thesis")
    assert thesis.bound(facts(0.5)).value == math.floor(256 * 3)
    assert RescaledPerceptron().bound(facts(1e-6)).value is None
    assert "(4.17)" in RescaledPerceptron().bound(facts(1e-6)).reason
    assert "nu" in RescaledPerceptron(preset="thesis", nu=2.0).bound(facts(1e-6)).reason


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_phases_follow_the_algorithm(seed):
    rng = np.random.default_rng(seed)
    n = 5
    rows, _ = planted(n, 30, 1e-5, rng)
    algorithm = RescaledPerceptron()
    system = ConicSystem.from_rows(rows)
    state, claim, phases = algorithm.start(system, rng), None, ["perceptron 1"]
    limit = math.floor(algorithm.constants(n).rho ** -2)
    while claim is None:
        state, claim = algorithm.step(system, state, 1)
        if state.phase != phases[-1]:
            phases.append(state.phase)
        if state.phase.startswith("perceptron"):
            assert state.inner.updates <= limit
        if state.inner.updates and state.operator is not None:
            assert np.allclose(state.point, state.operator.map.T @ state.inner.point)
    assert phases[:3] == ["perceptron 1", "relaxed 1", "perceptron 2"][: len(phases)]
    assert all(p.split()[0] in ("perceptron", "relaxed") for p in phases)
    assert (rows @ claim.point > 0).all()  # mapped back to the data as given


@pytest.mark.slow
@pytest.mark.parametrize("margin", repeated([1e-7, 1e-5, 1e-9], kept=1))
def test_rescaling_solves_what_the_perceptron_cannot(margin):
    rows, _ = planted(50, 400, margin, np.random.default_rng(50))
    budget = Budget(updates=250_000, seconds=100.0)
    rescaled = solve(rows, RescaledPerceptron(), budget=budget)
    assert rescaled.status is Status.FEASIBLE
    assert 0 < rescaled.margin_lower <= margin <= rescaled.margin_upper
    plain = solve(rows, "perceptron", budget=budget)
    assert plain.status is Status.UPDATE_LIMIT
    assert plain.margin_lower < 0 < margin <= plain.margin_upper


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_sparse_rows_take_the_same_path_as_dense_ones(seed):
    rows, _ = planted(6, 40, 1e-4, np.random.default_rng(seed))
    dense = solve(rows, RescaledPerceptron(), seed=seed)
    sparse = solve(sp.csr_array(rows), RescaledPerceptron(), seed=seed)
    assert sparse.status is dense.status is Status.FEASIBLE
    assert sparse.updates == dense.updates
