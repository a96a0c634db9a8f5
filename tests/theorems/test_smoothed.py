"""The smoothed algorithms (RamdasPena2014, Algorithms 4, 6 and 7): bounds, and Lemmas 4, 5, 8."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.spatial
import scipy.special

from perceptron_lab import ConicSystem, solve
from perceptron_lab.algorithms.smoothing.smoothed_perceptron import (
    Entropy,
    Euclidean,
    Prox,
    SmoothedPerceptron,
    SmoothedState,
    begin,
    iterate,
)
from perceptron_lab.algorithms.smoothing.smoothed_von_neumann import (
    IteratedSmoothedVonNeumann,
    SmoothedVonNeumann,
)
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.generated import margin_sets
from tests.families import (
    FEASIBLE,
    INFEASIBLE,
    complete_pattern,
    feasible_of,
    infeasible,
    infeasible_of,
    planted,
)
from tests.repetitions import repeated, thinned
from tests.theorems.courses import (
    SEEDS,
    check_bound,
    check_certificate_bound,
    check_inside_bound,
    first_claim,
    inside_hull,
    ready,
)

ALGORITHMS = [SmoothedPerceptron(), SmoothedVonNeumann(), IteratedSmoothedVonNeumann()]
OF_THE_PAPER = [SmoothedVonNeumann(mu0="paper"), IteratedSmoothedVonNeumann(mu0="paper")]
KINDS = [("feasible", kind) for kind in FEASIBLE] + [("infeasible", kind) for kind in INFEASIBLE]
NAMED = [pytest.param(kind, id="-".join(kind)) for kind in KINDS]
HALF, OTHERS = thinned(NAMED, step=2), thinned(NAMED, step=2, first=1)


@pytest.mark.parametrize("algorithm", ALGORITHMS + OF_THE_PAPER, ids=repr)
@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_iterations_stay_within_the_bound(
    seed: int, kind: str, algorithm: SmoothedPerceptron
) -> None:
    check_bound(algorithm, kind, seed)


@pytest.mark.parametrize("algorithm", ALGORITHMS[1:] + OF_THE_PAPER, ids=repr)
@pytest.mark.parametrize("kind", INFEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_certificates_come_within_the_bound(
    seed: int, kind: str, algorithm: SmoothedVonNeumann
) -> None:
    check_certificate_bound(algorithm, kind, seed, 1e-3)


@pytest.mark.parametrize("algorithm", ALGORITHMS[1:] + OF_THE_PAPER, ids=repr)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_certificates_come_within_the_bound_of_a_hull_with_0_inside(
    seed: int, algorithm: SmoothedVonNeumann
) -> None:
    check_inside_bound(algorithm, seed, 1e-4)


def test_the_bounds_of_a_hull_with_0_inside_have_their_constants() -> None:
    """Lemma 9 with the sqrt 2 that its last lines drop, and Theorem 4, for 50 unit rows."""
    facts = Facts(
        3, 50, norm=1.0, unit_rows=True, spectral=5.0, hull_radius=0.25, centre_norm=0.125
    )
    single = 2 * math.sqrt(2) * 0.5 / 1e-3
    calls = math.log2(0.125 / 1e-3) + 1
    for mu0, root in (("norm", 5.0), ("paper", math.sqrt(50))):
        bound = SmoothedVonNeumann(mu0=mu0).certificate_bound(facts, 1e-3)
        assert bound.value == pytest.approx(single * root)
        many = IteratedSmoothedVonNeumann(mu0=mu0).certificate_bound(facts, 1e-3)
        assert many.value == pytest.approx(calls * 2 * math.sqrt(2) * root * 2 / 0.25)
    far = replace(facts, hull_radius=1e-5)  # then the bounds without it are the lesser ones
    for algorithm in ALGORITHMS[1:]:
        without = algorithm.certificate_bound(replace(facts, hull_radius=None), 1e-3)
        assert algorithm.certificate_bound(far, 1e-3) == without
        assert "for 0 inside" not in without.theorem


def unit_rows_inside(seed: int) -> tuple[ConicSystem, float]:
    system, _, radius = inside_hull(seed)
    return ready(SmoothedVonNeumann(), system), radius


@pytest.mark.parametrize("size", ["norm", "paper"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_lemma_9_the_norm_falls_with_the_distance_to_the_witnesses(seed: int, size: Any) -> None:
    """norm(A p_k) <= sqrt(mu_k) dist(q, W) at every k, around random points and equal weights."""
    system, radius = unit_rows_inside(seed)
    rng = np.random.default_rng(seed)
    for around in (barycentre(system.cone), rng.dirichlet(np.full(system.cone.size, 0.2))):
        prox = Euclidean(around, size)
        reach = min(1.0, system.norm(system.operator.combine(around)) / radius)
        state = begin(system, prox)
        for k in range(60):
            assert state.smoothing == pytest.approx(4 * prox.constant(system) / ((k + 1) * (k + 2)))
            length = system.norm(state.mean)
            assert length <= math.sqrt(2 * state.smoothing) * reach * (1 + 1e-9) + 1e-12
            iterate(system, state, prox)


def test_mu_0_of_the_paper_is_2_n_and_the_other_one_is_smaller() -> None:
    system, _ = unit_rows_inside(0)
    count = system.cone.size
    for algorithm in OF_THE_PAPER:
        assert algorithm.start(system, np.random.default_rng(0)).smoothing == 2 * count
    for algorithm in ALGORITHMS[1:]:
        smaller = algorithm.start(system, np.random.default_rng(0)).smoothing
        assert smaller == pytest.approx(2 * system.spectral_norm() ** 2)
        assert smaller < 2 * count


@pytest.mark.parametrize("pair", list(zip(ALGORITHMS[1:], OF_THE_PAPER, strict=True)), ids=repr)
def test_the_smaller_mu_0_needs_fewer_iterations_on_reflected_rows(pair: Any) -> None:
    """norm(A)_2^2 of n rows in dimension d is about n / d: sqrt(d) times fewer iterations."""
    rows = margin_sets.reflected(
        np.random.default_rng(0), dimension=16, rows=400, difficulty=0.3
    ).rows
    ours, papers = (solve(rows, algorithm) for algorithm in pair)
    assert ours.status is papers.status is Status.FEASIBLE
    assert 2 * ours.iterations < papers.iterations


# --- Lemmas 4, 5 and 8 ---------------------------------------------------------------------------


def random_base(cone: Cone, rng: np.random.Generator) -> FloatArray:
    """Weights of Delta(K) with random eigenvalues in a random frame."""
    frame = cone.spectrum(rng.standard_normal(cone.size))[1]
    return cone.assemble(rng.dirichlet(np.ones(cone.rank)), frame)


def entropy_loss(system: ConicSystem, scores: FloatArray, smoothing: float) -> float:
    """max over p of <-p, s> - mu (sum p ln p + ln n): mu ln sum exp(-s_i / mu) - mu ln n."""
    exponents = -system.cone.eigenvalues(scores) / smoothing
    partition = float(scipy.special.logsumexp(exponents))
    return smoothing * (partition - math.log(system.cone.rank))


def distance_to_base(cone: Cone, element: FloatArray) -> float:
    """The distance to {p >= 0, sum p = 1} in the trace norm, by the root of sum (v - t)_+ = 1."""
    values = cone.eigenvalues(element)
    shift = scipy.optimize.brentq(
        lambda t: np.maximum(values - t, 0.0).sum() - 1.0,
        values.max() - 2.0,
        values.max(),
        xtol=1e-15,
    )
    return float(np.linalg.norm(np.maximum(values - shift, 0.0) - values))


def euclidean_loss(
    system: ConicSystem, scores: FloatArray, smoothing: float, around: FloatArray
) -> float:
    """max over p of <-p, s> - mu norm(p - q)^2 / 2, with v = q - s / mu:
    mu (norm(v)^2 - dist(v, base)^2 - norm(q)^2) / 2 in the trace norm."""
    centre = around / system.cone.multiplicity
    shifted = centre - scores / smoothing
    squares = [float((system.cone.eigenvalues(v) ** 2).sum()) for v in (shifted, centre)]
    distance = distance_to_base(system.cone, shifted)
    return smoothing * (squares[0] - distance**2 - squares[1]) / 2.0


def smoothed_losses(
    system: ConicSystem, state: SmoothedState, around: FloatArray | None
) -> tuple[float, float]:
    """L_mu(y) and L(y), from the point alone."""
    scores = system.operator.scores(state.point)
    square = system.norm(state.point) ** 2 / 2.0
    smooth = (
        entropy_loss(system, scores, state.smoothing)
        if around is None
        else euclidean_loss(system, scores, state.smoothing, around)
    )
    return smooth + square, square - float(system.cone.eigenvalues(scores).min())


def known_system(kind: tuple[str, str], seed: int) -> ConicSystem:
    family = feasible_of if kind[0] == "feasible" else infeasible_of
    return ready(SmoothedVonNeumann(), family(kind[1], seed).system)


PROX = ["entropy", "euclidean", "around a random point"]


def prox_of(name: str, system: ConicSystem, seed: int) -> tuple[Prox, FloatArray | None]:
    if name == "entropy":
        return Entropy(), None
    around = barycentre(system.cone)
    if name == "around a random point":
        around = random_base(system.cone, np.random.default_rng(seed))
    return Euclidean(around, "paper" if name == "the paper's mu_0" else "norm"), around


@pytest.mark.parametrize("prox_name", ["entropy", "euclidean", "around a random point"])
@pytest.mark.parametrize("kind", HALF)
@pytest.mark.parametrize("seed", repeated(range(3), kept=1))
def test_the_smoothed_loss_lies_below_minus_half_the_square_of_the_combination(
    seed: int, kind: tuple[str, str], prox_name: str
) -> None:
    """Lemmas 5 and 8 at every k, and Lemma 4: L(y) - mu max d <= L_mu(y) <= L(y)."""
    system = known_system(kind, seed)
    prox, around = prox_of(prox_name, system, seed)
    largest = math.log(system.cone.rank) if around is None else 1.0
    state = begin(system, prox)
    for k in range(60):
        smooth, loss = smoothed_losses(system, state, around)
        assert state.weights is not None
        combined = system.norm(system.operator.combine(state.weights))
        slack = 1e-9 * prox.constant(system)
        assert smooth <= -(combined**2) / 2.0 + slack
        assert loss - state.smoothing * largest - slack <= smooth <= loss + slack
        assert state.smoothing == pytest.approx(4 * prox.constant(system) / ((k + 1) * (k + 2)))
        iterate(system, state, prox)


@pytest.mark.parametrize("prox_name", ["entropy", "euclidean", "around a random point"])
@pytest.mark.parametrize("kind", OTHERS)
def test_the_state_agrees_with_its_definitions(kind: tuple[str, str], prox_name: str) -> None:
    system = known_system(kind, 3)
    prox, _ = prox_of(prox_name, system, 3)
    state, cone = begin(system, prox), system.cone
    for k in range(30):
        assert state.weights is not None
        assert state.updates == state.iterations == state.call_iterations == k
        assert state.weights @ cone.identity == pytest.approx(1.0)
        assert cone.eigenvalues(state.weights / cone.multiplicity).min() >= -1e-12
        assert state.mean == pytest.approx(system.operator.combine(state.weights), abs=1e-9)
        assert state.scores == pytest.approx(system.operator.scores(state.point), abs=1e-9)
        assert state.score == pytest.approx(cone.eigenvalues(state.scores).min(), abs=1e-9)
        iterate(system, state, prox)


@pytest.mark.parametrize("kind", HALF)
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_the_constants_bound_the_documented_quantities(seed: int, kind: tuple[str, str]) -> None:
    """norm(A p)^2 <= lambda norm(p)^2: for the entropy the 1-norm of the eigenvalues of p, for the
    Euclidean prox-function their 2-norm."""
    system, rng = known_system(kind, seed), np.random.default_rng(seed)
    cone = system.cone
    for _ in range(20):
        weights = random_base(cone, rng) - rng.uniform(0, 1) * random_base(cone, rng)
        shares = cone.eigenvalues(weights / cone.multiplicity)
        square = system.norm(system.operator.combine(weights)) ** 2 * (1 - 1e-9)
        assert square <= Entropy().constant(system) * np.abs(shares).sum() ** 2
        for size in ("norm", "paper"):
            around = Euclidean(barycentre(cone), size)
            assert square <= around.constant(system) * (shares**2).sum()


def test_the_smoothed_minimisers_are_minimisers() -> None:
    rng = np.random.default_rng(0)
    for kind in KINDS:
        system = known_system(kind, 1)
        scores, smoothing = rng.standard_normal(system.cone.size), 0.3
        for name in ("entropy", "euclidean", "around a random point"):
            prox, around = prox_of(name, system, 5)
            state = replace(begin(system, prox), scores=scores, smoothing=smoothing)
            weights, score = prox.nearest(system, state)
            assert score == pytest.approx(system.cone.eigenvalues(scores).min())
            distance = prox_value(system.cone, around)
            best = weights @ scores + smoothing * distance(weights)
            for _ in range(30):
                other = random_base(system.cone, rng)
                mixed = 0.9 * weights + 0.1 * other
                assert best <= mixed @ scores + smoothing * distance(mixed) + 1e-12


def prox_value(cone: Cone, around: FloatArray | None) -> Callable[[FloatArray], float]:
    """d(p) by its definition."""

    def entropy(weights: FloatArray) -> float:
        shares = np.maximum(cone.eigenvalues(weights / cone.multiplicity), 0.0)
        return float(scipy.special.xlogy(shares, shares).sum()) + math.log(cone.rank)

    def squared(weights: FloatArray) -> float:
        assert around is not None
        return float((cone.eigenvalues((weights - around) / cone.multiplicity) ** 2).sum()) / 2.0

    return entropy if around is None else squared


# --- range of double precision --------------------------------------------------------------------


@pytest.mark.parametrize("smoothing", [1.0, 1e-3, 1e-5, 1e-12, 1e-300])
def test_the_softmin_does_not_overflow_where_the_printed_one_does(smoothing: float) -> None:
    """exp(-s / mu) is infinite for s = -0.5 from mu = 7e-4 on, and 0 for all of s = 0.5, 0.6."""
    system = ConicSystem.from_rows(np.eye(2))
    for scores in (np.array([-0.5, -0.5 + smoothing]), np.array([0.5, 0.5 + smoothing])):
        state = begin(system, Entropy())
        weights, _ = Entropy().nearest(system, replace(state, scores=scores, smoothing=smoothing))
        step = (scores[1] - scores[0]) / smoothing
        assert weights == pytest.approx([1 / (1 + math.exp(-step)), 1 / (1 + math.exp(step))])


def test_a_run_goes_far_into_the_range_where_exponentials_overflow() -> None:
    rows, _ = planted(8, 400, 2e-4, np.random.default_rng(2))
    algorithm = SmoothedPerceptron()
    system = ready(algorithm, ConicSystem.from_rows(rows))
    state, claim = first_claim(algorithm, system, 10**5)
    assert isinstance(state, SmoothedState)
    assert np.abs(state.scores).max() / state.smoothing > 709.0
    assert isinstance(claim, FeasiblePoint)
    assert (rows @ claim.point > 0).all()


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: type(a).__name__)
def test_a_single_row_or_entry_needs_no_logarithm(algorithm: SmoothedPerceptron) -> None:
    """ln 1 = 0: no division by it; the base is one point, and the answer its image."""
    row = ConicSystem.from_rows(np.array([[3.0, 4.0]]))
    entry = ConicSystem(Matrix(np.array([[2.0, -1.0]])), complete_pattern(1))
    for system in (row, entry):
        result = solve(system, algorithm)
        assert result.status is Status.FEASIBLE
        assert result.updates <= 1
        assert result.margin_lower == pytest.approx(result.margin_upper)


# --- Theorem 4 ------------------------------------------------------------------------------------


def calls_of(
    algorithm: IteratedSmoothedVonNeumann, system: ConicSystem
) -> tuple[list[tuple[float, int]], Claim | None, float]:
    """delta_t and the iterations of every call; how the run ends; and norm(A q_0)."""
    state, claim = algorithm.start(system, np.random.default_rng(0)), None
    first = system.norm(system.operator.combine(state.around))
    calls = [(state.accuracy, 0)]
    while claim is None:
        call = state.call
        state, claim = algorithm.step(system, state, 1)
        if state.call > call:
            calls.append((state.accuracy, 0))
        calls[-1] = (state.accuracy, state.call_iterations)
    return calls, claim, first


@pytest.mark.parametrize("gamma", [1.5, 10.0])
@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_calls_and_iterations_stay_within_theorem_4_where_a_separator_exists(
    seed: int, kind: str, gamma: float
) -> None:
    algorithm = IteratedSmoothedVonNeumann(gamma=gamma)
    planted_system = feasible_of(kind, seed)
    system = ready(algorithm, planted_system.system)
    calls, claim, first = calls_of(algorithm, system)
    assert isinstance(claim, FeasiblePoint)
    assert len(calls) <= max(0.0, math.log(first / planted_system.margin) / math.log(gamma)) + 1
    for _, turns in calls:
        assert turns <= 2 * math.sqrt(2) * system.spectral_norm() / planted_system.margin


@pytest.mark.parametrize("gamma", [1.5, 2.0, 10.0])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_calls_and_iterations_stay_within_theorem_4_where_none_exists(
    seed: int, gamma: float
) -> None:
    """Also in terms of |rho|, the radius of the largest ball in the hull (Theorem 3), with the
    factor sqrt 2 of Lemma 9 that its last lines drop."""
    rng = np.random.default_rng(seed)
    rows = infeasible(int(rng.integers(2, 5)), 20, rng)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    radius = -scipy.spatial.ConvexHull(rows).equations[:, -1].max()
    epsilon = 1e-4
    algorithm = IteratedSmoothedVonNeumann(gamma=gamma, epsilon=epsilon)
    system = ready(algorithm, ConicSystem.from_rows(rows))
    calls, claim, first = calls_of(algorithm, system)
    assert isinstance(claim, MarginBelow)
    assert system.norm(system.operator.combine(claim.weights)) <= epsilon
    assert len(calls) <= max(0.0, math.log(first / epsilon) / math.log(gamma)) + 1
    constant = 2 * math.sqrt(2) * system.spectral_norm()
    for accuracy, turns in calls:
        assert turns <= constant / accuracy
        assert turns <= constant * gamma / radius


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_every_call_begins_around_the_last_answer_and_is_gamma_times_as_accurate(
    seed: int, kind: tuple[str, str]
) -> None:
    algorithm = IteratedSmoothedVonNeumann(gamma=1.3, epsilon=1e-3)
    system = known_system(kind, seed)
    state, claim = algorithm.start(system, np.random.default_rng(0)), None
    states = []
    while claim is None:
        weights, call = state.weights, state.call
        state, claim = algorithm.step(system, state, 1)
        if state.call > call:
            assert weights is not None
            assert np.array_equal(state.around, weights)
            image = system.norm(system.operator.combine(state.around))
            assert state.accuracy == pytest.approx(max(image, 1e-3) / 1.3)
            assert state.call_iterations == 0
            assert state.phase == f"call {state.call}"
            states.append((state.accuracy, state.updates))
    for (before, earlier), (after, later) in pairwise(states):
        assert after <= before
        assert later >= earlier


def test_a_call_that_has_run_out_of_double_precision_ends_with_the_reason() -> None:
    """It may not loop for ever: a call has a limit that exact arithmetic would keep."""
    algorithm = IteratedSmoothedVonNeumann()
    rows, _ = planted(3, 20, 1e-3, np.random.default_rng(0))
    system = ready(algorithm, ConicSystem.from_rows(rows))
    state = algorithm.start(system, np.random.default_rng(0))
    state.accuracy, state.limit = 1e-9, 5.0
    with pytest.raises(NumericalError, match="beyond double precision"):
        algorithm.step(system, state, 100)
    assert state.call_iterations == 6
