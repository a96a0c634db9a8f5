"""Mirror-Prox on sampled products: unbiased estimates, the derived bound, entries read."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.saddle_points.sublinear import (
    SampledState,
    SublinearMirrorProx,
    drawn,
    gap_bound,
)
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import FloatArray, Status
from tests.families import planted
from tests.repetitions import parts, repeated
from tests.theorems.courses import SEEDS, ready

MARGIN = math.sqrt(0.5)
ALGORITHM = SublinearMirrorProx()


def rows_of(seed: int) -> FloatArray:
    """Twelve unit rows of margin sqrt(1 / 2): one, and eleven copies of another at a right angle.

    The mean of the rows, and every mean that prefers the copies, has a smaller margin.
    """
    rng = np.random.default_rng(seed)
    rows = np.array([[1.0, 1.0]] + [[1.0, -1.0]] * 11) * MARGIN
    return rng.permutation(rows) * rng.choice([-1.0, 1.0], 2)


def unchecked(system: ConicSystem, seed: int, iterations: int) -> SampledState:
    """The state after iterations that no check ends."""
    state = ALGORITHM.start(system, np.random.default_rng(seed))
    state.due = state.checked = iterations + 1
    state, claim = ALGORITHM.step(system, state, iterations)
    assert claim is None
    return state


@pytest.mark.parametrize("seeds", parts(20, kept=6))
def test_the_gap_is_within_the_derived_bound(seeds: range) -> None:
    """rho - min a_i'y <= K(s) / sqrt(T) with probability 1 - 3 exp(-s), and K(1 + ln 3) on average.

    Both bounds are less than rho here, so that y = 0, whose gap is rho, would break them.
    """
    gaps, iterations, exponent = [], 700, 5.0
    for seed in seeds:
        rows = rows_of(seed)
        state = unchecked(ready(ALGORITHM, ConicSystem.from_rows(rows)), seed, iterations)
        gaps.append(MARGIN - float((rows @ state.point).min()) / iterations)
    entry = math.sqrt(2.0) * MARGIN  # G = sqrt(n) max |a_ij|
    often = gap_bound(1.0, entry, 12, exponent) / math.sqrt(iterations)
    mean = gap_bound(1.0, entry, 12, 1.0 + math.log(3.0)) / math.sqrt(iterations)
    assert mean < often < MARGIN
    assert all(0.0 <= gap <= often for gap in gaps)
    assert np.mean(gaps) <= mean


def test_a_separator_is_proved_within_the_expected_number() -> None:
    updates = []
    for seed in SEEDS:
        result = solve(rows_of(seed), ALGORITHM, budget=Budget(updates=10**5), seed=seed)
        assert result.status is Status.FEASIBLE
        updates.append(result.updates)
        # Of the largest entry, which is MARGIN here, and of the margin that is proved
        proved = Facts(2, 12, result.margin_lower, unit_rows=True, largest_entry=MARGIN)
        assert result.bound.value == pytest.approx(ALGORITHM.bound(proved).value)
    facts = Facts(2, 12, margin=MARGIN, unit_rows=True)
    bound = ALGORITHM.bound(replace(facts, largest_entry=MARGIN))
    without_entry = ALGORITHM.bound(facts)
    assert bound.kind == "expectation"
    assert bound.value is not None
    assert without_entry.value is not None
    assert np.mean(updates) <= bound.value < 0.8 * without_entry.value < 10**5


def test_the_largest_entry_is_that_of_the_unit_rows_in_any_form() -> None:
    rows, _ = planted(5, 40, 0.05, np.random.default_rng(1))
    for form in (3.0 * rows, sp.csr_array(-rows), rows.astype(np.float64)):
        system = ready(ALGORITHM, ConicSystem.from_rows(form))
        assert system.facts(0.05).largest_entry is None
        ALGORITHM.start(system, np.random.default_rng(0))
        assert system.facts(0.05).largest_entry == pytest.approx(np.abs(rows).max())


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_estimates_are_unbiased_and_bounded(seed: int) -> None:
    """The mean over all columns j, of probability |y_j| / norm_1(y), is A y itself."""
    rng = np.random.default_rng(seed)
    rows, y = rng.standard_normal((7, 5)), rng.standard_normal(5)
    system = ready(ALGORITHM, ConicSystem.from_rows(rows))
    total = float(np.abs(y).sum())
    estimates = [system.column(j) * math.copysign(total, y[j]) for j in range(5)]
    mean = sum(abs(y[j]) / total * estimates[j] for j in range(5))
    assert mean == pytest.approx(system.operator.scores(y))
    entry = math.sqrt(5.0) * np.abs(system.matrix.scaled()).max() * np.linalg.norm(y)
    assert np.abs(estimates).max() <= entry * (1 + 1e-12)


def test_indices_are_drawn_by_mass_and_never_without_mass() -> None:
    class Fixed:
        """A generator whose numbers are given."""

        def __init__(self, number: float) -> None:
            self.number = number

        def random(self) -> float:
            return self.number

    masses = np.array([0.0, 1.0, 0.0, 3.0, 0.0])
    generators: list[Any] = [Fixed(at) for at in (0.0, 0.24, 0.25, 0.9, 1.0)]
    assert [drawn(generator, masses) for generator in generators] == [1, 1, 3, 3, 3]


@pytest.mark.parametrize("extrapolated", [False, True])
def test_what_is_read_is_counted(extrapolated: bool) -> None:
    rows, _ = planted(5, 40, 0.05, np.random.default_rng(1))
    algorithm = SublinearMirrorProx(extrapolated=extrapolated)
    system = ready(algorithm, ConicSystem.from_rows(rows))
    state = algorithm.start(system, np.random.default_rng(0))
    state.due = state.checked = 100
    algorithm.step(system, state, 50)
    draws = 100 if extrapolated else 50
    # The first point is 0, whose estimate needs no column
    assert system.counters.products == pytest.approx(draws / 40 + (draws - 1) / 5)


def test_formats_and_seeds_decide_nothing_and_everything() -> None:
    rows, _ = planted(5, 40, 0.3, np.random.default_rng(1))
    forms = [rows, sp.csr_array(rows), np.asfortranarray(rows)]
    results = [solve(form, ALGORITHM, seed=seed) for form, seed in itertools.product(forms, [0, 1])]
    assert all(result.status is Status.FEASIBLE for result in results)
    assert len({(result.updates, result.point.tobytes()) for result in results[::2]}) == 1
    assert results[0].point.tobytes() != results[1].point.tobytes()


def test_an_epsilon_certificate_and_other_cones() -> None:
    """Opposite rows: the rows drawn tell when norm(A x) may be small enough to be computed."""
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    result = solve(rows, ALGORITHM, goal={"margin_upper": 0.1}, budget=Budget(updates=10**4))
    assert result.margin_upper is not None
    assert result.margin_upper <= 0.1
    with pytest.raises(InputError, match="sublinear-mirror-prox runs on rows and kernels only"):
        solve(ConicSystem.second_order(np.eye(3), [3]), ALGORITHM)
