"""The lower bound on mistakes: its counts, the margin of its sets, and who is held to it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from perceptron_lab import solve
from perceptron_lab.algorithms.rescaling.central_cuts import CentralCuts
from perceptron_lab.algorithms.resisting import forced as theorem
from perceptron_lab.algorithms.resisting.adversary import Adversary, exact_product
from perceptron_lab.algorithms.resisting.forced import cost, cuts, forced, margin_of
from perceptron_lab.algorithms.resisting.system import ResistingSystem
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import FloatArray, Result
from perceptron_lab.systems import ConicSystem
from tests.repetitions import repeated

DIMENSIONS, MARGINS = (2, 3, 10, 50), tuple(10.0**-k for k in range(1, 7))
RESCALED = ("deterministic-rescaled-perceptron", "correlation-rescaling")
ENCLOSING = ("ellipsoid", "simplex-cuts", "volumetric-cuts")
BOUNDED = ("perceptron", "second-order-perceptron", "winnow", *ENCLOSING, *RESCALED)
"""Those of whom a theorem bounds the mistakes from above."""
ONLINE = (*BOUNDED, "space-dilation", "central-cuts")
"""Those that ask the adversary themselves."""
RELAXED = ("relaxed-perceptron",)
"""Its answers need not satisfy the rows that it knows."""
PROGRAMS = ("csdp", "sdpa", "dsdp5", "ecos", "qsopt-ex", "soplex")
"""Programs and a package, which may not be there."""
BATCH = [name for name in registry.names("algorithm") if name not in (*ONLINE, *RELAXED, *PROGRAMS)]
FAST = ("auto", "minimum-norm-point", "rescaled-perceptron", "nnls")
"""In few updates or one, however small the margin."""


def stated(dimension: int, margin: float) -> int:
    """Return max(min(n, floor(1 / rho^2)), max_b b floor(log2(pi / arcsin(rho sqrt b))))."""
    halves = [0]
    for b in range(1, dimension // 2 + 1):
        if margin * math.sqrt(b) <= 1.0:
            halves.append(b * math.floor(math.log2(math.pi / math.asin(margin * math.sqrt(b)))))
    return max(min(dimension, math.floor(1 / Fraction(margin) ** 2)), *halves)


def exactly_within(rows: FloatArray, centre: FloatArray, margin: float) -> bool:
    """Return whether <a, y> >= rho norm(a) norm(y) > 0 for all rows, in exact arithmetic."""
    square = exact_product(centre, centre) * Fraction(margin) ** 2
    products = [exact_product(row, centre) for row in rows]
    sizes = [exact_product(row, row) for row in rows]
    return all(p > 0 and p * p >= square * s for p, s in zip(products, sizes, strict=True))


def asked_points(adversary: Adversary, rng: np.random.Generator, most: int = 100_000) -> None:
    """Ask about points that satisfy all rows known, and about others, until one passes."""
    for _ in range(most):
        point = (
            adversary.centre() if rng.random() < 0.5 else rng.standard_normal(adversary.dimension)
        )
        answer = adversary.answer(point)
        if answer is None:
            return
        assert exact_product(adversary.rows[answer], point) <= 0
    raise AssertionError("the adversary does not end")


def mistakes(result: Result) -> int:
    return int(result.certificate["figures"]["mistakes"])


@pytest.mark.parametrize("margin", MARGINS)
def test_it_forces_what_planes_alike_and_unit_vectors_do_at_least(margin: float) -> None:
    assert all(forced(n, margin) >= stated(n, margin) for n in range(1, 51))


def test_large_dimensions_force_exactly_novikoffs_bound() -> None:
    for k in range(1, 7):
        assert forced(4**k, 0.5**k) == forced(4**k + 1, 0.5**k) == 4**k
    assert [forced(n, 0.1) for n in (99, 100, 1000)] == [99, 99, 99]  # the double is above 1/10
    assert forced(100, math.nextafter(0.1, 0)) == 100


def test_the_cheapest_cuts_are_the_most() -> None:
    """No other distribution of cuts over planes and line has a larger sum."""
    for n, margin in product((1, 2, 3, 4, 5), (1.0, 0.7, 0.5, 0.3, 0.2, 0.11)):
        planes, line = divmod(n, 2)
        choices = [range(6)] * planes + [range(2)] * line
        most = max(
            sum(counts)
            for counts in product(*choices)
            if sum(map(cost, counts)) <= 1 / Fraction(margin) ** 2
        )
        assert forced(n, margin) == most


@pytest.mark.parametrize("margin", repeated([1e-6, 0.5, 0.1, 1e-3, 0.01, 1e-4], kept=2))
@pytest.mark.parametrize("dimension", repeated([2, 7, 20, 1, 3, 50], kept=3))
def test_the_final_set_has_the_margin_whatever_was_asked(dimension: int, margin: float) -> None:
    """By the project's own certificate, and in exact arithmetic."""
    for seed in range(2):
        adversary = Adversary(dimension, margin)
        asked_points(adversary, np.random.default_rng(seed))
        assert adversary.mistakes >= adversary.revealed == adversary.forced
        centre = adversary.centre()
        assert exactly_within(adversary.rows, centre, margin)
        proof = ConicSystem.from_rows(adversary.rows).prove_point(centre)
        assert proof.feasible
        assert proof.margin_lower >= margin or adversary.final_margin == margin
        assert proof.margin_lower == pytest.approx(adversary.final_margin, rel=1e-8)
        assert adversary.final_margin >= margin


def test_the_margin_is_that_of_the_theorem_from_above_as_well() -> None:
    """Weights in proportion to sqrt(c) on both ends of each arc prove that there is no more."""
    adversary = Adversary(7, 0.05)
    asked_points(adversary, np.random.default_rng(0))
    result = solve(adversary.rows, "minimum-norm-point", goal={"margin_ratio": 1 - 1e-9})
    assert result.margin_upper is not None
    assert result.margin_upper <= adversary.final_margin * (1 + 1e-8)


@pytest.mark.parametrize(("dimension", "margin"), [(2, 0.01), (10, 0.01), (16, 0.25)])
def test_one_more_cut_breaks_the_margin(
    dimension: int, margin: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = cuts(dimension, margin)
    planes = counts[: dimension // 2]
    cheapest = planes.index(min(planes))
    counts[cheapest] += 1
    assert margin_of(counts) < margin
    monkeypatch.setattr("perceptron_lab.algorithms.resisting.adversary.cuts", lambda n, rho: counts)
    adversary = Adversary(dimension, margin)
    asked_points(adversary, np.random.default_rng(0))
    result = solve(adversary.rows, "minimum-norm-point", goal={"margin_ratio": 1 - 1e-9})
    assert result.margin_upper is not None
    assert result.margin_upper < margin


@pytest.mark.parametrize("margin", [1.0, 0.8, 0.5, 0.1, 1e-3, 1e-6])
def test_in_the_plane_the_bound_is_attained(margin: float) -> None:
    """By the middle of the arc that is left: no bisection can be forced beyond them."""
    adversary = Adversary(2, margin)
    point = np.array([0.6, -0.8])
    while (row := adversary.answer(point)) is not None:
        ends = adversary.rows[: adversary.revealed]
        turned = np.column_stack([-ends[:, 1], ends[:, 0]])
        both = np.vstack([turned, -turned])
        left = both[(both @ ends.T >= -1e-12).all(axis=1)]
        point = left[0] + left[-1] if row else adversary.rows[0]
    assert adversary.mistakes == adversary.forced == stated(2, margin)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_perceptron_attains_the_bound_where_the_dimension_is_large(k: int) -> None:
    resisting = ResistingSystem.of_margin(4**k + 2, 0.5**k)
    result = solve(resisting, "perceptron", facts=resisting.facts(0.5**k))
    assert mistakes(result) == result.updates == result.bound.value == 4**k


@pytest.mark.parametrize("name", BOUNDED)
def test_theorems_allow_more_mistakes_than_are_forced(name: str) -> None:
    """Lower and upper bounds are of the same margin, and neither is broken."""
    algorithm = registry.load("algorithm", name)()
    for n, margin in product((2, 10, 50), MARGINS):
        facts = ResistingSystem.of_margin(n, margin).facts(margin)
        allowed = algorithm.bound(facts).value
        assert allowed is None or forced(n, margin) <= allowed


@pytest.mark.parametrize("name", [name for name in ONLINE if name not in RESCALED])
def test_learners_with_oracle_repeat_their_mistakes_on_the_final_set(name: str) -> None:
    resisting = ResistingSystem.of_margin(7, 0.05)
    algorithm: Any = CentralCuts(samples=30) if name == "central-cuts" else name
    result = solve(resisting, algorithm)
    final = resisting.fixed(result.certificate)
    again = solve(final, algorithm, oracle="first-violated")
    assert mistakes(result) == again.updates == result.queries - 1
    # Centres that are 0 in a plane only to rounding are answered by any row of two or more
    error = 1e-12 if name == "volumetric-cuts" else 0.0
    assert np.abs(result.point - again.point).max() <= error
    assert result.margin_lower == pytest.approx(again.margin_lower, rel=1e3 * error, abs=0.0)
    assert result.status is again.status


def forced_rows(name: str, dimension: int, margin: float, budget: Budget) -> bool:
    """Run an algorithm; return whether it has ended, after the mistakes that are forced."""
    resisting = ResistingSystem.of_margin(dimension, margin)
    result = solve(resisting, name, budget=budget)
    ended = result.status == "FEASIBLE"
    if ended:
        assert mistakes(result) >= resisting.adversary.forced
        final = resisting.fixed(result.certificate)
        assert final.prove_point(result.point).feasible
    if name not in ONLINE:
        assert mistakes(result) == result.queries <= resisting.adversary.forced
    return ended


@pytest.mark.parametrize("name", [*ONLINE, *FAST])
def test_none_makes_fewer_mistakes(name: str) -> None:
    assert forced_rows(name, 4, 0.1, Budget(updates=20_000))


@pytest.mark.long
@pytest.mark.parametrize("name", [*ONLINE, *BATCH])
def test_no_algorithm_makes_fewer_mistakes_on_small_systems(name: str) -> None:
    for dimension, margin in [(2, 0.1), (3, 0.03), (10, 0.1)]:
        assert forced_rows(name, dimension, margin, Budget(updates=3_000_000, seconds=60))


@pytest.mark.long
@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("name", [*ONLINE, *BATCH])
def test_no_algorithm_makes_fewer_mistakes(name: str, margin: float) -> None:
    """Those that end within the budget; fast ones do."""
    ended = [forced_rows(name, n, margin, Budget(updates=30_000, seconds=4)) for n in DIMENSIONS]
    assert all(ended[:3]) or name not in ("auto", "minimum-norm-point", "ellipsoid", "nnls")


def test_costs_of_rounds_are_summed() -> None:
    result = solve(ResistingSystem.of_margin(4, 0.01), "von-neumann")
    assert result.queries == len(result.trace) == mistakes(result)
    assert result.updates == result.trace.updates[-1] > result.trace.updates[0]
    assert np.all(np.diff(result.trace.products) > 0)
    assert result.total_seconds >= result.seconds + result.proof_seconds
    assert result.seconds == result.trace.seconds[-1]
    assert result.bound.value is None


def test_learners_that_need_all_rows_are_refused() -> None:
    resisting = ResistingSystem.of_margin(4, 0.1)
    for question in (lambda: resisting.scores(np.ones(4)), lambda: resisting.combine(np.ones(9))):
        with pytest.raises(InputError, match="has not shown; query points first"):
            question()
    with pytest.raises(InputError, match="answers without slack"):
        resisting.cut(np.ones(4), 0.1)
    with pytest.raises(InputError, match="leave the oracle out"):
        solve(resisting, "perceptron", oracle="cyclic")
    with pytest.raises(InputError, match="in rounds on a resisting system; leave the goal out"):
        solve(resisting, "mirror-prox", goal="budget")
    with pytest.raises(InputError, match="is no hypothesis"):
        solve(resisting, "relaxed-perceptron")


@pytest.mark.parametrize("name", ["perceptron", "rescaled-perceptron"])
def test_a_run_that_was_cut_short_has_proved_no_point(name: str) -> None:
    """The rows that it did not see may still be turned against it."""
    resisting = ResistingSystem.of_margin(6, 0.01)
    result = solve(resisting, name, budget=Budget(updates=5))
    assert result.status == "UPDATE_LIMIT"
    assert result.margin_lower is None
    assert 0 < mistakes(result) < resisting.adversary.forced
    assert len(result.certificate["rows"]) == resisting.adversary.forced


@pytest.mark.parametrize("point", [[0.0, 0.0], [1e300, -1e-300], [5e-324, 0.0], [1.0, -1.0]])
def test_every_point_is_answered_against(point: Any) -> None:
    """Until the rows are spent, at the ends of the range of doubles, too."""
    adversary = Adversary(2, 1e-3)
    for _ in range(adversary.forced):
        answer = adversary.answer(np.array(point))
        assert answer is not None
        assert exact_product(adversary.rows[answer], np.array(point)) <= 0


def test_the_error_of_rounded_vectors_is_within_the_allowance() -> None:
    """Directions are rounded to the nearest doubles: their norms and angles are off by less."""
    adversary = Adversary(2, 1e-6)
    asked_points(adversary, np.random.default_rng(3))
    for row in adversary.rows:
        assert abs(exact_product(row, row) - 1) < 2 * theorem.ERROR
