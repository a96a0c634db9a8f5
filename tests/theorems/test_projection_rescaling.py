"""Projection and rescaling: bounds, rates of the basic procedures, and what a rescaling gains."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from perceptron_lab import Budget, solve
from perceptron_lab.algorithms.projection import rescaled_data
from perceptron_lab.algorithms.projection.projection_rescaling import (
    PROCEDURES,
    ProjectionRescaling,
    ProjectionState,
)
from perceptron_lab.algorithms.projection.side import (
    Side,
    accuracy_for,
    greatest_growth,
    largest_potential,
)
from perceptron_lab.cones.jordan import algebra_of
from perceptron_lab.core.claims import FeasiblePoint, MarginBelow
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from perceptron_lab.systems import ConicSystem
from tests.families import FEASIBLE, INFEASIBLE
from tests.repetitions import repeated, thinned
from tests.theorems.courses import (
    SEEDS,
    check_bound,
    check_certificate_bound,
    first_claim,
    ready,
    walk,
)

ALGORITHMS = [ProjectionRescaling(procedure=name) for name in PROCEDURES]  # type: ignore[arg-type]
FAMILIES: dict[str, dict[str, Any]] = {
    "orthant": {"rows": 20},
    "second-order": {"blocks": 6, "block_size": 4},
    "semidefinite": {"blocks": 2, "order": 4},
    "mixed": {"rows": 6, "blocks": 2, "block_size": 3, "order": 3},
}
SMOOTHED = ALGORITHMS[0]
CASES = [(name, algorithm) for algorithm in ALGORITHMS for name in FAMILIES]
every_case = pytest.mark.parametrize(("family", "algorithm"), thinned(CASES, step=5))
every_family = pytest.mark.parametrize("family", repeated(FAMILIES, kept=2))


def pairs(kinds: list[str], step: int) -> list[Any]:
    """Kinds of systems with the procedures whose bounds on them a budget could break."""
    few = {"polynomial Gram"}  # rank 16 and more
    every = [(k, a) for k in kinds for a in ALGORITHMS if k not in few or a is SMOOTHED]
    return thinned(every, step=step)


def system_of(family: str, seed: int, **rest: Any) -> tuple[ConicSystem, FloatArray | None]:
    """A conditioned system, and its known x = A*y in isometric coordinates."""
    record = ConditionedCones(family=family, **FAMILIES[family], **rest)
    sample = record.generate(seed)
    system = record.problem(seed).system
    if sample.point is None:
        return system, None
    return system, np.sqrt(sample.cone.multiplicity) * (sample.data @ sample.point)


@pytest.mark.parametrize(("kind", "algorithm"), pairs(FEASIBLE, step=4))
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_updates_stay_within_the_bound(
    seed: int, kind: str, algorithm: ProjectionRescaling
) -> None:
    check_bound(algorithm, kind, seed)


@pytest.mark.parametrize(("kind", "algorithm"), pairs(INFEASIBLE, step=3))
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_certificates_come_within_the_bound(
    seed: int, kind: str, algorithm: ProjectionRescaling
) -> None:
    check_certificate_bound(algorithm, kind, seed, 1e-2)


# --- the basic procedures -----------------------------------------------------------------------


RATES = {
    "perceptron": lambda t, rank: 1.0 / (t + 1.0),
    "von-neumann": lambda t, rank: 1.0 / (t + rank),
    "away-steps": lambda t, rank: 2.0 / (t + rank + 1.0),
    "smoothed": lambda t, rank: 4.0 / ((t + 1.0) * (t + 2.0)),
}


@every_case
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_projections_become_small_while_no_element_is_found(
    seed: int, family: str, algorithm: ProjectionRescaling
) -> None:
    """On subspaces that miss the interior of K: the complements of those with a point inside."""
    name = algorithm.procedure
    system, _ = system_of(family, seed, delta=1e-4, side="infeasible")
    algebra = algebra_of(system.cone)
    base = rescaled_data.Range.of(ready(algorithm, system))
    columns = np.linalg.qr(base.columns)[0]
    procedure = PROCEDURES[name](algebra, lambda x: columns @ (columns.T @ x))
    for t in range(100):
        square = float(procedure.image @ procedure.image)
        assert square <= RATES[name](t, algebra.rank) * (1 + 1e-9)
        assert procedure.weights @ algebra.identity == pytest.approx(1.0)
        assert algebra.eigenvalues(procedure.weights).min() >= -1e-12
        image = columns @ (columns.T @ procedure.weights)
        assert np.allclose(procedure.image, image, atol=1e-12)
        assert procedure.step() is None
    for accuracy in (0.5, 0.07):
        limit = procedure.limit(algebra.rank, accuracy)
        assert RATES[name](limit, algebra.rank) <= accuracy**2 * (1 + 1e-9)


# --- the potential --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=5))
def test_a_rescaling_grows_as_much_as_it_can(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.dirichlet(np.full(12, 0.3))
    top = float(rng.uniform(0.1, 1.1)) / 12
    step, growth = greatest_growth(values, top)

    def negative(share: float) -> float:
        return -float(np.log1p(share * (values - top)).sum())

    best = scipy.optimize.minimize_scalar(
        negative, bounds=(0.0, 1.0 / top), method="bounded", options={"xatol": 1e-10}
    )
    assert 0.0 <= step < 1.0 / top
    assert growth == pytest.approx(-negative(step))
    assert growth >= -best.fun - 1e-5


def test_weights_that_no_scaling_grows_by_are_left() -> None:
    assert greatest_growth(np.full(4, 0.25), 0.3) == (0.0, 0.0)


@pytest.mark.parametrize("growth", [0.01, math.log(2.0), 20.0])
def test_small_projections_increase_the_potential_as_required(growth: float) -> None:
    """For every z, at lambda = eta / r; equality in the limit of one idempotent and large r."""
    rng = np.random.default_rng(0)
    eta = accuracy_for(growth)
    assert 0.0 < eta < 1.0
    for rank in (1, 5, 50):
        for spread in (0.05, 1.0, 100.0):
            values = rng.dirichlet(np.full(rank, spread))
            assert greatest_growth(values, eta / rank)[1] >= growth * (1 - 1e-6)
    unit = np.zeros(10**5)
    unit[0] = 1.0
    assert greatest_growth(unit, eta / len(unit))[1] == pytest.approx(growth, rel=0.01)


def test_the_largest_potential_is_that_of_a_vertex() -> None:
    rng = np.random.default_rng(1)
    for rank, ratio in [(1, 7.0), (3, 10.0), (8, 1e6)]:
        bound = largest_potential(rank, ratio)
        draws = np.exp(rng.uniform(0.0, math.log(ratio), (20_000, rank)))
        corners = np.where(rng.random((20_000, rank)) < 0.5, 1.0, ratio)
        for values in (draws, corners):
            growth_ = rank * np.log(values.mean(axis=1)) - np.log(values).sum(axis=1)
            assert growth_.max() <= bound + 1e-9
        assert rank < 2 or growth_.max() == pytest.approx(bound)
    assert largest_potential(5, 1.0) == 0.0


def examined(side: Side, centre: FloatArray | None) -> None:
    """Assert what the scaling of a side is to be."""
    algebra, base = side.base.algebra, side.base
    values = algebra.eigenvalues(side.scaling)
    assert values.min() > 0.0
    assert np.log(values).sum() == pytest.approx(side.potential, rel=1e-6, abs=1e-6)
    assert side.potential >= side.rescalings * side.growth
    element = side.scaling + side.slack - algebra.identity
    assert algebra.eigenvalues(side.slack).min() >= -1e-9 * (1.0 + np.abs(side.slack).max())
    columns = np.linalg.qr(base.columns)[0]
    along = columns @ (columns.T @ element)
    rest = along if not side.complement else element - along
    assert np.abs(rest).max() <= 1e-9 * max(1.0, np.abs(element).max())
    if centre is not None:
        centre = centre * algebra.rank / (centre @ algebra.identity)
        assert side.scaling @ centre <= algebra.rank * (1 + 1e-9)
        potential = -np.log(algebra.eigenvalues(centre)).sum()
        assert side.potential <= potential * (1 + 1e-9)


@every_case
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_each_rescaling_grows_and_the_scaling_dominates(
    seed: int, family: str, algorithm: ProjectionRescaling
) -> None:
    """ln det(omega) grows by ``growth`` or more, up to ln(1 / delta) of the known centre x."""
    for side in ("feasible", "infeasible"):
        system, centre = system_of(family, seed, delta=1e-3, side=side)
        twin = system_of(family, seed, delta=1e-3)[1] if centre is None else None
        rescalings = 0
        for state in walk(algorithm, ready(algorithm, system), 3000):
            assert isinstance(state, ProjectionState)
            if sum(side.rescalings for side in state.sides) > rescalings:
                rescalings = sum(side.rescalings for side in state.sides)
                examined(state.sides[0], centre)
                examined(state.sides[1], twin)
        assert rescalings > 0


@every_family
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_rescalings_grow_with_the_logarithm_of_the_condition(seed: int, family: str) -> None:
    """And every system is decided, though von Neumann's algorithm alone would not."""
    counts = []
    for delta in (1e-1, 1e-2, 1e-4):
        for side, status in (("feasible", Status.FEASIBLE), ("infeasible", Status.INFEASIBLE)):
            system, _ = system_of(family, seed, delta=delta, side=side, known="centre")
            result = solve(system, "projection-rescaling", budget=Budget(updates=5000))
            assert result.status is status
            assert result.certificate["claims_rejected"] == 0
            counts.append(result.updates)
    assert max(counts) <= 2000


def test_weights_of_a_middling_condition_prove_infeasibility() -> None:
    """Blocks scaled by w have condition 4e6: too much for normal equations, and seen as such."""
    record = ConditionedCones(
        family="second-order", blocks=12, block_size=5, delta=0.01, side="infeasible"
    )
    result = solve(record.problem(0).system, "projection-rescaling", budget=Budget(updates=5000))
    assert result.status is Status.INFEASIBLE
    assert "rescaled " in result.message


@every_family
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_bracket_of_an_ill_posed_system_is_proved(seed: int, family: str) -> None:
    """|margin| <= epsilon, from both sides, within the rescalings that the bound allows."""
    epsilon = 1e-6
    algorithm = ProjectionRescaling(epsilon=epsilon)
    system, _ = system_of(family, seed, delta=0.1, side="ill-posed")
    result = solve(system, algorithm, budget=Budget(updates=100_000))
    if result.status in (Status.FEASIBLE, Status.INFEASIBLE):  # as the doubles happen to be
        return
    assert result.status is Status.MARGIN_BOUNDED
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert -epsilon * (1 + 1e-6) <= result.margin_lower <= 0.0
    assert result.margin_upper <= epsilon * (1 + 1e-6)
    bound = algorithm.certificate_bound(ready(algorithm, system).facts(), epsilon)
    assert bound.value is not None
    assert result.updates <= bound.value


# --- answers --------------------------------------------------------------------------------------


@every_family
def test_a_side_may_answer_for_the_other(family: str) -> None:
    """Both claims are made on the data as given: A*y inside K, or A w = 0 for w inside K."""
    for side, kind in (("feasible", FeasiblePoint), ("infeasible", MarginBelow)):
        system, _ = system_of(family, 3, delta=1e-2, side=side)
        algorithm = ProjectionRescaling()
        view = ready(algorithm, system)
        state, claim = first_claim(algorithm, view, 10_000)
        assert isinstance(claim, kind)
        if isinstance(claim, FeasiblePoint):
            assert view.cone.lowest(view.operator.scores(claim.point)) > 0.0
        elif isinstance(claim, MarginBelow):
            image = view.operator.combine(claim.weights)
            assert np.abs(image).max() <= 1e-13
            assert view.cone.lowest(claim.weights / view.cone.multiplicity) > 0.0
        again, repeated_claim = algorithm.step(view, state, 5)
        assert repeated_claim is claim  # the last word, unless it is rejected
        assert again.updates == state.updates


def test_a_rejected_claim_is_followed_by_a_deeper_one() -> None:
    system, _ = system_of("second-order", 1, delta=1e-2)
    algorithm = ProjectionRescaling()
    view = ready(algorithm, system)
    state, claim = first_claim(algorithm, view, 10_000)
    assert isinstance(claim, FeasiblePoint)
    before = state.updates
    stricter = view.stricter()
    _, other = algorithm.step(stricter, state, 10_000)
    assert isinstance(other, FeasiblePoint)
    assert state.updates > before
    assert not np.array_equal(other.point, claim.point)


def test_without_a_margin_or_norms_there_is_no_bound() -> None:
    algorithm = ProjectionRescaling()
    assert algorithm.bound(Facts(3, 4, norm=1.0)).value is None
    assert algorithm.bound(Facts(3, 4, margin=0.1)).value is None
    assert algorithm.bound(Facts(3, 4, margin=5e-324, norm=1e300)).value is None
    assert algorithm.certificate_bound(Facts(3, 4), 0.1).value is None
    assert algorithm.certificate_bound(Facts(3, 4, norm=1.0), 0.0).value is None


def test_the_bound_has_its_constants() -> None:
    """Rank 3, margin L / 7, growth ln 4 - 3/4: eta = 1/4."""
    growth = math.log(4.0) - 0.75
    phases = math.floor(largest_potential(3, 7.0) / growth) + 1
    steps = {"perceptron": 144, "von-neumann": 144, "away-steps": 288, "smoothed": 25}
    for name, most in steps.items():
        algorithm = ProjectionRescaling(procedure=name, growth=growth)  # type: ignore[arg-type]
        bound = algorithm.bound(Facts(2, 3, margin=0.5, norm=3.5))
        assert bound.value == pytest.approx(2 * phases * most, rel=0.01)
        wide = algorithm.certificate_bound(Facts(2, 3, norm=3.5), 0.5)
        assert wide.value == pytest.approx(
            2 * math.ceil(3 * math.log(8.0) / growth) * most, rel=0.01
        )
