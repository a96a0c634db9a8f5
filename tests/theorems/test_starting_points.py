"""Runs from a given point: the bounds that still hold, and what a start is worth."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from perceptron_lab import ConicSystem, solve
from perceptron_lab.algorithms.interior_point.interior_point import InteriorPoint
from perceptron_lab.algorithms.margins.perceptron_with_margin import (
    PerceptronWithMargin,
    TauPerceptron,
)
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.algorithms.perceptrons.second_order_perceptron import SecondOrderPerceptron
from perceptron_lab.algorithms.perceptrons.winnow import Winnow
from perceptron_lab.algorithms.projection.projection_rescaling import ProjectionRescaling
from perceptron_lab.algorithms.projection.rescaled_data import SPREAD, Range
from perceptron_lab.algorithms.rescaling.correlation_rescaling import CorrelationRescaling
from perceptron_lab.algorithms.rescaling.deterministic_rescaled_perceptron import (
    DeterministicRescaledPerceptron,
)
from perceptron_lab.algorithms.rescaling.ellipsoid import Ellipsoid
from perceptron_lab.algorithms.rescaling.rescaled_perceptron import RescaledPerceptron
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, Status
from tests.families import cones, infeasible, infeasible_conic, planted, planted_conic
from tests.repetitions import repeated, thinned
from tests.theorems.courses import BUDGET, SEEDS, ready

BOUNDED: dict[str, Any] = {
    "perceptron": Perceptron(),
    "classical": Perceptron(normalized=False),
    "from-barycentre": Perceptron(initial="barycentre"),
    "cyclic": "cyclic-perceptron",
    "with-margin": PerceptronWithMargin(rate=0.25, b=0.1),
    "tau": TauPerceptron(rate=0.25, tau=0.1),
    "second-order": SecondOrderPerceptron(ridge=0.3),
    "winnow": Winnow(),
    "winnow-constant": Winnow(rate=0.05),
    "deterministic": DeterministicRescaledPerceptron(),
    "deterministic-late": DeterministicRescaledPerceptron(early=False),
    "correlation": CorrelationRescaling(),
    "rescaled": RescaledPerceptron(preset="dunagan-vempala"),
    "ellipsoid": Ellipsoid(),
    "ellipsoid-safe": Ellipsoid(variant="safe"),
    "ellipsoid-deep": Ellipsoid(cuts="deep"),
    "projection": ProjectionRescaling(),
    "projection-perceptron": ProjectionRescaling(procedure="perceptron"),
    "interior-point": InteriorPoint(steps="short"),
}
ON_ROWS = {"classical", "cyclic", "with-margin", "winnow-constant"}


def starts(centre: FloatArray, rng: np.random.Generator) -> list[FloatArray]:
    """Points on the right side, on the wrong side, far away on it, and anywhere."""
    other = rng.standard_normal(len(centre))
    return [centre + 0.3 * other / np.linalg.norm(other), -centre, -7.0 * centre, other]


def check_bounds(
    name: str, system: ConicSystem, centre: FloatArray, margin: float, rng: np.random.Generator
) -> None:
    """From each start a separator is proved within the bound, by a budget that could break it."""
    algorithm = BOUNDED[name]
    named = registry.load("algorithm", algorithm)() if isinstance(algorithm, str) else algorithm
    view = ready(named, system)
    for start in starts(centre, rng):
        bound = named.bound_from(view.facts(margin), view.norm(start))
        assert bound.value is not None, bound.reason
        assert bound.value < BUDGET.updates
        result = solve(system, algorithm, start=start, budget=BUDGET)
        assert result.status is Status.FEASIBLE, result.message
        assert result.updates <= bound.value
        if result.bound.value is not None:  # for the margin that is proved, which is less
            assert result.bound.value >= bound.value


@pytest.mark.parametrize(
    ("seed", "name"), thinned(itertools.product(SEEDS, BOUNDED), step=len(BOUNDED) + 1)
)
def test_the_bound_holds_from_any_start_on_rows(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    margin = float(rng.choice([0.3, 0.1]))
    rows, centre = planted(2 + seed % 2, 12, margin, rng)
    check_bounds(name, ConicSystem.from_rows(rows), centre, margin * (1 - 1e-12), rng)


@pytest.mark.parametrize(
    ("seed", "name"),
    thinned(itertools.product(SEEDS, sorted(BOUNDED.keys() - ON_ROWS)), step=len(BOUNDED) - 4),
)
def test_the_bound_holds_from_any_start_on_cones(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    margin = float(rng.choice([0.3, 0.1]))
    kinds = list(cones().values())
    system, centre = planted_conic(kinds[seed % len(kinds)], 2 + seed % 2, margin, rng)
    check_bounds(name, system, centre, margin * (1 - 1e-12), rng)


def test_algorithms_without_a_bound_from_a_start_state_it() -> None:
    rows, centre = planted(3, 12, 0.2, np.random.default_rng(0))
    for algorithm in ("relaxation-with-margin", "space-dilation", "interior-point"):
        result = solve(rows, algorithm, start=-centre)
        assert result.bound.value is None
        assert result.bound.reason
    unstarted = solve(rows, "relaxation-with-margin").bound
    assert unstarted.value is not None


STARTED = [
    name for name in registry.names("algorithm") if registry.load("algorithm", name).takes_start
]


@pytest.mark.parametrize("name", STARTED)
def test_a_feasible_start_is_proved_at_once(name: str) -> None:
    """Also by those that ask for more than feasibility, or look at other points first."""
    rng = np.random.default_rng(3)
    rows, centre = planted(4, 30, 0.01, rng)
    systems = [ConicSystem.from_rows(rows)]
    if "second-order" in " ".join(registry.load("algorithm", name).systems.values()):
        systems.append(planted_conic(cones()["second-order"], 4, 0.01, rng)[0])
        centre_of = solve(systems[1], "auto").point
    for system in systems:
        start = 1e-3 * (centre if system.cone.of_rows else centre_of)
        result = solve(system, name, start=start)
        assert (result.status, result.updates, result.iterations) == (Status.FEASIBLE, 0, 0)
        assert result.queries == 0
        assert np.array_equal(result.point, start)


@pytest.mark.parametrize("name", STARTED)
def test_every_bad_start_is_refused(name: str) -> None:
    rows = planted(4, 30, 0.1, np.random.default_rng(0))[0]
    for start, message in (
        (np.ones(5), r"start has shape \(5,\); give 4 finite numbers"),
        (np.ones((4, 1)), r"start has shape \(4, 1\); give 4 finite numbers"),
        ([1.0, np.nan, 0.0, 0.0], r"start\[1\] is nan; give 4 finite numbers"),
        (np.zeros(4), "start is 0, which is no direction; leave it out"),
        ([None] * 4, "give 4 finite numbers"),
    ):
        with pytest.raises(InputError, match=message):
            solve(rows, name, start=start)


def nearly(centre: FloatArray, rows: FloatArray) -> FloatArray:
    """A point that violates few of the rows, by little."""
    score = np.sort(rows @ centre)[2]
    worst = rows[int((rows @ centre).argmin())]
    return centre - 1.01 * score * worst


def test_auto_begins_with_the_rows_that_a_start_violates_most() -> None:
    rows, centre = planted(20, 4000, 1e-3, np.random.default_rng(5))
    start = nearly(centre, rows)
    assert (rows @ start).min() < 0.0
    started, unstarted = solve(rows, "auto", start=start), solve(rows, "auto")
    assert started.status is unstarted.status is Status.FEASIBLE
    assert started.certificate["notes"][0] == "from a given start"
    assert not any("mean of the rows" in note for note in started.certificate["notes"])


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
@pytest.mark.parametrize("steps", ["long", "short"])
def test_a_start_near_the_interior_is_further_along_the_path(seed: int, steps: Any) -> None:
    """theta of the first pair is between 1 - part and 1 + part, below 1 for tr A*y > 0."""
    rng = np.random.default_rng(seed)
    system, centre = planted_conic(cones()["product"], 5, 0.05, rng)
    algorithm = InteriorPoint(steps=steps)
    view = ready(algorithm, system)
    r = view.cone.rank
    for start in starts(centre, rng):
        state = algorithm.start_at(view, rng, start)
        pair, e = state.iterate, state.embedding.blocks.identity
        assert e @ pair.primal == pytest.approx(r)
        assert pair.primal @ pair.dual == pytest.approx(r * pair.theta)
        trace = (system.cone.multiplicity * system.cone.identity) @ system.scores(start)
        assert (pair.theta < 1.0) == (trace > 0.0)
        part = 0.5 if steps == "short" else 0.9
        assert 1.0 - part <= pair.theta <= 1.0 + part
        lowest = state.embedding.blocks.scaling(e, e).lowest(pair.primal)
        assert lowest >= 1.0 - part - 1e-12


@pytest.mark.parametrize("seed", repeated(range(20), kept=1))
def test_data_rescaled_by_a_start_have_its_image_inside(seed: int) -> None:
    """D (A*y + s e) = e times a factor, and the extreme eigenvalues of D e have a quotient <= S."""
    rng = np.random.default_rng(seed)
    system, centre = planted_conic(cones()["product"], 5, 1e-3, rng)
    view = ready(ProjectionRescaling(), system)
    plain = Range.of(view)
    e = plain.algebra.identity
    for start in starts(centre, rng):
        base = plain.rescaled_at(view, start)
        spread = plain.algebra.eigenvalues(base.in_base(e))
        assert spread.max() <= SPREAD * spread.min() * (1 + 1e-9)
        scores = plain.roots * view.scores(start)
        low = plain.algebra.eigenvalues(scores).min()
        shift = max(-2.0 * low, 0.0)
        image = plain.algebra.eigenvalues(base.in_base(scores + shift * e))
        if shift > 1e-3 * np.abs(scores).max():
            assert image == pytest.approx(np.full(len(image), image.mean()), rel=1e-6)
        columns = base.in_base(plain.columns)
        assert base.columns == pytest.approx(columns)
        result = solve(system, "projection-rescaling", start=start)
        assert result.status is Status.FEASIBLE


@pytest.mark.parametrize("kind", ["rows", "second-order"])
def test_infeasible_systems_are_proved_infeasible_from_a_start(kind: str) -> None:
    rng = np.random.default_rng(11)
    for name in ("auto", "interior-point", "projection-rescaling"):
        sample = (
            infeasible(4, 20, rng) if kind == "rows" else infeasible_conic(cones()[kind], 4, rng)
        )
        result = solve(sample, name, start=rng.standard_normal(4))
        assert result.status is Status.INFEASIBLE, name


@pytest.mark.parametrize("name", ["perceptron", "cyclic", "with-margin", "tau", "second-order"])
def test_a_long_start_on_the_wrong_side_takes_longer_than_any_run_from_0(name: str) -> None:
    """And no longer than the bound from a start says."""
    margin, length = 0.3, 1000.0
    rows, centre = planted(3, 12, margin, np.random.default_rng(2))
    algorithm: Any = BOUNDED[name]
    named = registry.load("algorithm", algorithm)() if isinstance(algorithm, str) else algorithm
    facts = ready(named, ConicSystem.from_rows(rows)).facts(margin * (1 - 1e-12))
    result = solve(rows, algorithm, start=-length * centre, budget=BUDGET)
    bound_from_zero, bound = named.bound(facts).value, named.bound_from(facts, length).value
    assert result.status is Status.FEASIBLE
    assert bound_from_zero < result.updates <= bound


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_winnow_keeps_its_potential_from_a_start(seed: int) -> None:
    """W = sum p exp(eta (s, -s)) <= exp(k eta^2 / 2) after k mistakes, and p >= 1 / (4 d)."""
    rng = np.random.default_rng(seed)
    rows, centre = planted(4, 30, 0.05, rng)
    algorithm, system = Winnow(rate=0.1), ConicSystem.from_rows(rows)
    view = ready(algorithm, system)
    for start in starts(centre, rng):
        state = algorithm.start_at(view, rng, start)
        assert state.prior is not None
        assert state.prior.sum() == pytest.approx(1.0)
        assert state.prior.min() >= 1.0 / (4.0 * 4) - 1e-15
        assert state.point == pytest.approx(0.5 * start / np.abs(start).sum())
        claim = None
        while claim is None:
            state, claim = algorithm.step(view, state, 1)
            exponents = 0.1 * np.array([state.total, -state.total])
            potential = np.log((state.prior * np.exp(exponents)).sum())
            assert potential <= state.updates * 0.1**2 / 2.0 + 1e-9
