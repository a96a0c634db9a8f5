"""Lemmas 3.3, 3.5 and 4.3 measured; the phases of Algorithm 6; what rescaling is for."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.algorithms.perceptrons.relaxed_perceptron import RelaxedPerceptron, RelaxedState
from perceptron_lab.algorithms.rescaling.rescaled_perceptron import Constants, RescaledPerceptron
from perceptron_lab.cones.operators.rescaled import RescaledRows
from perceptron_lab.core.claims import MarginAbove
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Status
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from tests.families import exact_margin, planted, planted_pencil
from tests.repetitions import repeated

pytestmark = pytest.mark.slow

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
def test_lemma_3_3_bounds_every_change_of_the_margin(seed):
    """Lemma 4.3 for rho = sigma = 1/(32n): case 2 where x'z >= theta, case 1 always."""
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


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_lemma_4_3_holds_for_all_its_parameters(seed):
    """q- for any rho >= margin and sigma >= -min a'x, q+ where |x'z| >= theta >= rho/3 as well."""
    rng = np.random.default_rng(seed)
    grown = 0
    for _ in range(15):
        n, margin = int(rng.integers(2, 7)), 10.0 ** rng.uniform(-4, -0.5)
        rows, z = planted(n, 30, margin, rng)
        x = z * rng.uniform(-1, 2) + rng.standard_normal(n)
        x /= np.linalg.norm(x)
        loose = rng.uniform(1.0, 1.3, 3) if rng.random() < 0.5 else np.ones(3)
        lowest, height = max(0.0, -float((rows @ x).min())), abs(float(x @ z))
        constants = Constants(margin * loose[0], lowest * loose[1], height / loose[2])
        if constants.sigma >= 0.8:  # beyond sqrt(2/3) the factors are negative
            continue
        after = rescaled_margin(rows, x)
        plus, minus = constants.factors()
        assert after >= margin * minus * (1 - 1e-9)
        if constants.rho / 3 <= constants.theta < 1:
            assert after >= margin * plus * (1 - 1e-9)
            grown += 1
    assert grown


def witnessed(constants, height):
    """The margin of one row after the rescaling, at the point z' of the lemma's proof, over rho.

    The row has a'z = rho and a'x = -sigma, and x'z = height: the worst case of the proof.
    """
    z, side = np.eye(3)[0], math.sqrt(1 - height**2)
    x = np.array([height, side, 0.0])
    along = -(constants.sigma + constants.rho * height) / side
    rest = math.sqrt(1 - constants.rho**2 - along**2)
    operator = RescaledRows(
        ConicSystem.from_rows(np.array([[constants.rho, along, rest]])).operator
    )
    operator.stretch(x, 1.0)
    centre = z + (constants.rho - height) / 2 * x
    return float(operator.scores(centre / np.linalg.norm(centre))[0]) / constants.rho


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_factors_4_11_and_4_12_are_those_of_the_proof_but_for_fourth_powers(seed):
    rng = np.random.default_rng(seed)
    size = 0.02
    rho, sigma, theta = size * rng.uniform(0.2, 1.0, 3) + [0, 0, 0.3 * size]
    constants = Constants(rho, sigma, theta)
    plus, minus = constants.factors()
    assert 0 <= witnessed(constants, theta) - plus <= 4 * size**4
    assert 0 <= witnessed(constants, rho / 3) - minus <= 4 * size**4


@pytest.mark.parametrize("nu", [0.5, 1.0, 10.0, 1000.0])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
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
        ("least-bound", lambda n: 1 / (64 * math.sqrt(n)), lambda n: 1 / (32 * n)),
    ],
)
@pytest.mark.parametrize("n", [1, 2, 50])
def test_presets(preset, rho, sigma, n):
    constants = RescaledPerceptron(preset=preset).constants(n)
    assert constants.rho == pytest.approx(rho(n))
    assert constants.sigma == pytest.approx(sigma(n))
    changed = RescaledPerceptron(preset=preset, c=3.0, gamma=1.0, kappa=0.5).constants(n)
    assert changed.rho == pytest.approx(1 / (3 * n))
    kappa = 0.93 if preset == "least-bound" else 1.0
    assert changed.theta == pytest.approx(0.5 / kappa * constants.theta)


PROVED = {
    "dunagan-vempala": RescaledPerceptron(preset="dunagan-vempala"),
    "thesis": RescaledPerceptron(preset="thesis"),
    "first example of section 4.6": RescaledPerceptron(preset="thesis", c=4.0, gamma=1.0),
    "least-bound": RescaledPerceptron(preset="least-bound"),
}
"""Parameters for which Theorem 4.4 holds with b = 1024, beta = 1 (section 4.6), and our own."""


@pytest.mark.parametrize("algorithm", PROVED.values(), ids=PROVED)
def test_condition_4_17_holds_for_the_proved_parameters_in_every_dimension(algorithm):
    for n in (*range(1, 300), 1000, 10**4, 10**5):
        drift, eta = algorithm.drift(n)
        assert drift >= 1 / (1024 * n)
        assert eta >= 1 / 8
        assert algorithm.without_theorem(n, unit_rows=True) == ""


def test_the_first_example_needs_the_exact_eta_in_dimensions_1_and_2():
    """With eta = 1/8, as printed, (4.21) fails there; from 3 on it holds."""
    for n in range(1, 50):
        plus, minus = PROVED["first example of section 4.6"].constants(n).factors()
        share = 1 / 8 * 15 / 16
        drift = share * math.log(plus) + (1 - share) * math.log(minus)
        assert (drift >= 1 / (1024 * n)) == (n > 2)


def test_the_default_states_that_it_has_no_theorem():
    for n in (*range(1, 300), 1000, 10**5):
        reason = RescaledPerceptron().without_theorem(n, unit_rows=True)
        assert "preset practical has no theorem" in reason
        assert "(4.17) of Theorem 4.4 fails" in reason
    rows, _ = planted(5, 30, 1e-5, np.random.default_rng(0))
    result = solve(rows, RescaledPerceptron(), seed=0)
    assert result.bound.value is None
    assert result.bound.theorem == ""
    assert result.bound.reason in result.certificate["notes"][0]
    proved = solve(planted(2, 9, 1e-3, np.random.default_rng(0))[0], PROVED["thesis"], seed=0)
    assert "notes" not in proved.certificate
    assert proved.bound.kind == "expectation"


def flat_cone(n, margin, rng):
    """Unit rows, 12 of them, of about this margin, which no sum of a few of them separates."""
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    rows = planted(n, 12, margin, rng)[0] @ (basis * np.geomspace(1, 0.05, n)) @ basis.T
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def growth_of_phases(algorithm, rows, seed):
    """Logarithms of the factors of the margin, one per rescaling, up to the separator.

    On the way: a perceptron phase that fails makes floor(1/rho^2) updates, and fails only where the
    margin is below rho; a try makes floor(2/sigma^2 ln(1/theta)) + 1 updates or fewer.
    """
    constants, most = algorithm.constants(rows.shape[1]), algorithm.perceptron_limit(rows.shape[1])
    limit = math.floor(2 / constants.sigma**2 * math.log(1 / constants.theta)) + 1
    system = ConicSystem.from_rows(rows)
    state, claim = algorithm.start(system, np.random.default_rng(seed)), None
    margin, factors, tries = exact_margin(rows)[0], [], {}
    while claim is None:
        before, rescalings = state.inner, state.rescalings
        singly = isinstance(before, RelaxedState)
        state, claim = algorithm.step(system, state, 1 if singly else most)
        if isinstance(state.inner, RelaxedState):
            if before is not state.inner:
                assert before.updates == most
                assert margin < constants.rho * (1 + 1e-9)
            at = (state.rescalings, state.inner.tries)
            tries[at] = tries.get(at, 0) + (before is state.inner)
            assert tries[at] <= limit + 1  # one turn more notices that the try is over
        elif claim is not None:
            assert state.inner.updates <= most
        if state.rescalings > rescalings:
            view = system.with_operator(state.operator)
            mapped = np.array([view.scores(e) for e in np.eye(rows.shape[1])]).T
            after = exact_margin(mapped)[0]
            factors.append(math.log(after / margin))
            assert factors[-1] >= math.log(constants.factors()[1]) - 1e-9
            margin = after
    assert (rows @ claim.point > 0).all()
    return factors


@pytest.mark.parametrize(
    ("preset", "n", "seed"),
    repeated([("thesis", 3, 0), ("thesis", 4, 1), ("dunagan-vempala", 3, 2)], kept=1),
)
def test_the_phases_of_theorem_4_4_grow_the_margin_by_its_drift(preset, n, seed):
    """What the theorem rests on, phase by phase; its own bound, from 4e7 updates on, is too large
    to be broken."""
    algorithm = PROVED[preset]
    rows = flat_cone(n, algorithm.constants(n).rho / 30, np.random.default_rng(seed))
    factors = growth_of_phases(algorithm, rows, seed)
    drift, eta = algorithm.drift(n)
    plus = math.log(algorithm.constants(n).factors()[0])
    assert len(factors) >= 3
    assert np.mean(factors) >= drift
    assert np.mean(np.array(factors) >= plus) >= eta  # case 2 has a probability of eta or more


def test_the_bound_is_4_8_times_the_updates_of_an_iteration():
    """In the plane, where eta = P(x'z >= 1/sqrt 2) = 1/4: rho = 1/(16 sqrt 2), sigma = 1/64."""
    rho, sigma, theta = 1 / (16 * math.sqrt(2)), 1 / 64, 1 / math.sqrt(2)
    plus = (1 - sigma) * (1 - 3 * sigma**2 / 2) * (1 - rho**2 / 8 - rho * theta / 4 + 3 / 16)
    minus = (1 - sigma) * (1 - 3 * sigma**2 / 2) * (1 - rho**2 / 6)
    iteration = 512 + (2 * 64**2 * math.log(2) / 2 + 1) * 4
    facts = ConicSystem.from_rows(np.eye(2)).facts
    for margin in (1e-2, 1e-50):
        choices = []
        for epsilon in np.linspace(0.001, 0.999, 1997):  # (4.8) holds for every one
            share = (1 - epsilon) / 4
            drift = share * math.log(plus) + (1 - share) * math.log(minus)
            chernoff = 2 * 2 * 4 / epsilon**2
            if drift > 0:
                choices.append(max(chernoff, math.log(1 / margin) / drift))
        rescalings = PROVED["thesis"].most_rescalings(2, margin)
        assert rescalings <= min(choices) <= rescalings * 1.01
        bound = PROVED["thesis"].bound(facts(margin))
        assert bound.value == pytest.approx(rescalings * iteration)
        assert bound.kind == "expectation"
        assert bound.theorem.startswith("Theorem 4.4 of Kharechko2009")


@pytest.mark.parametrize("preset", ["thesis", "dunagan-vempala", "practical"])
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_phase_1_has_novikoffs_bound_for_margins_of_rho_or_more(seed, preset):
    rng = np.random.default_rng(seed)
    algorithm, n = RescaledPerceptron(preset=preset), int(rng.integers(2, 6))
    margin = algorithm.constants(n).rho * rng.uniform(1.0, 1.5)
    rows, _ = planted(n, 30, margin, rng)
    bound = algorithm.bound(ConicSystem.from_rows(rows).facts(margin))
    assert bound.value == pytest.approx(margin**-2)
    assert bound.theorem.startswith("Theorem 2.7 (Novikoff)")
    assert bound.kind == "worst case"
    result = solve(rows, algorithm, budget=Budget(updates=math.ceil(margin**-2) + 1))
    assert result.status is Status.FEASIBLE
    assert result.updates <= bound.value


def test_the_bound_of_phase_1_is_attained():
    """Orthonormal rows: margin 1/sqrt(n), and n updates, well below 1/rho^2 = 256 n."""
    bound = PROVED["thesis"].bound(ConicSystem.from_rows(np.eye(4)).facts(0.5))
    assert bound.value == pytest.approx(4)
    assert solve(np.eye(4), PROVED["thesis"]).updates == 4


def test_without_a_theorem_there_is_a_reason():
    facts = ConicSystem.from_rows(np.eye(3)).facts
    thesis = PROVED["thesis"].bound
    system = planted_pencil(4, 3, 0.05, np.random.default_rng(0))[0]
    for bound, reason in [
        (RescaledPerceptron().bound(facts(1e-6)), "the preset practical has no theorem"),
        (RescaledPerceptron(d=32.0).bound(facts(1e-6)), "practical, with its parameters changed,"),
        (RescaledPerceptron(preset="thesis", nu=2.0).bound(facts(1e-6)), "nu = 1"),
        (thesis(facts()), "no positive margin"),
        (thesis(system.facts(1e-6)), "Lemma 4.3 needs unit rows"),
    ]:
        assert bound.value is None
        assert bound.theorem == ""
        assert reason in bound.reason


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


@pytest.mark.parametrize("margin", repeated([1e-7, 1e-5, 1e-9], kept=1))
def test_rescaling_solves_what_the_perceptron_cannot(margin):
    rows, _ = planted(8, 80, margin, np.random.default_rng(20))
    budget = Budget(updates=6000, seconds=100.0)
    rescaled = solve(rows, RescaledPerceptron(), budget=budget)
    assert rescaled.status is Status.FEASIBLE
    assert 0 < rescaled.margin_lower <= margin <= rescaled.margin_upper
    plain = solve(rows, "perceptron", budget=budget)
    assert plain.status is Status.UPDATE_LIMIT
    assert plain.margin_lower < 0 < margin <= plain.margin_upper


@pytest.mark.parametrize("seed", repeated(range(1, 6), kept=1))
def test_sparse_rows_take_the_same_path_as_dense_ones(seed):
    """With seed 0 a relaxed point lies on the boundary, where rounding decides how it goes on."""
    rows, _ = planted(6, 40, 1e-4, np.random.default_rng(seed))
    dense = solve(rows, RescaledPerceptron(), seed=seed)
    sparse = solve(sp.csr_array(rows), RescaledPerceptron(), seed=seed)
    assert sparse.status is dense.status is Status.FEASIBLE
    assert sparse.updates == dense.updates


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_perceptron_with_margin_as_phase_1_has_the_bound_of_li_et_al(seed):
    """Margins of rho or more: (1 + 2 tau)/rho^2 updates suffice, and 1/rho^2 never do for tau >= 3.

    a'x > tau for all rows gives margin norm(x) > tau, and norm(x)^2 <= T (1 + 2 tau) after T
    updates, so that T > tau^2 / (1 + 2 tau) / margin^2.
    """
    rng = np.random.default_rng(seed)
    n, tau = int(rng.integers(2, 6)), rng.uniform(3.0, 8.0)
    preset = ("practical", "thesis")[seed % 2]
    algorithm = RescaledPerceptron(preset=preset, phase="tau", tau=tau)
    rho = algorithm.constants(n).rho
    margin = rho * rng.uniform(1.0, 1.1)
    rows, _ = planted(n, 30, margin, rng)
    system = ConicSystem.from_rows(rows)
    state, claim = algorithm.start(system, rng), None
    while claim is None:
        state, claim = algorithm.step(system, state, 10**6)
        assert state.phase == "perceptron 1"
    bound = algorithm.bound(system.facts(margin))
    assert bound.theorem == "(2.11) of TsampoukaShaweTaylor, phase 1"
    assert bound.value == pytest.approx((1 + 2 * tau) / margin**2)
    assert tau**2 / (1 + 2 * tau) / margin**2 < state.updates <= bound.value
    assert (rows @ claim.point > tau).all()
    assert algorithm.perceptron_limit(n) == math.floor((1 + 2 * tau) / rho**2 * (1 + 1e-12))


@pytest.mark.parametrize("phase", ["tau", "relaxed"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_other_first_phases_separate_what_needs_rescaling(seed, phase):
    rng = np.random.default_rng(seed)
    rows, _ = planted(5, 30, 1e-5, rng)
    algorithm = RescaledPerceptron(phase=phase)
    system = ConicSystem.from_rows(rows)
    state, claim, most = algorithm.start(system, rng), None, algorithm.perceptron_limit(5)
    assert most == (3 * 4 * 5 if phase == "tau" else 0)  # tau = R^2 = 1, rho = 1 / (2 sqrt 5)
    while claim is None:
        state, claim = algorithm.step(system, state, 1)
        if state.phase.startswith("perceptron"):
            assert state.inner.updates <= most
    assert state.rescalings > 0
    result = solve(rows, algorithm, seed=seed, budget=Budget(updates=4000))
    assert result.status is Status.FEASIBLE  # the perceptron needs up to 1e10 updates


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_first_phase_with_margin_counts_tau_in_units_of_the_longest_cut(seed):
    """Cuts of other norms: R^2/gamma^2 + 2 tau/gamma^2, for margins gamma of rho R or more."""
    system, _ = planted_pencil(4, 3, 0.3, np.random.default_rng(seed))
    longest, tau = system.facts(0.3).atom_norm, 0.5
    algorithm = RescaledPerceptron(phase="tau", tau=tau)
    rho = algorithm.constants(system.dimension).rho
    most = algorithm.perceptron_limit(system.dimension, longest)
    assert most == math.floor((1 + 2 * tau / longest**2) / rho**2)
    state = algorithm.start(system, np.random.default_rng(0))
    assert state.limit == most
    for margin in (0.999 * rho * longest, 1.001 * rho * longest):
        bound = algorithm.bound(system.facts(margin))
        assert (bound.value is None) == (margin < rho * longest)
    assert bound.value == pytest.approx((longest**2 + 2 * tau) / margin**2)


def test_without_a_first_phase_there_is_no_bound():
    facts = ConicSystem.from_rows(np.eye(3)).facts(0.5)
    bound = RescaledPerceptron(phase="relaxed").bound(facts)
    assert (bound.value, bound.reason) == (None, "no theorem is known without a perceptron phase")
