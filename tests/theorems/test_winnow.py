"""Winnow (RamdasPena2014, section 2.2): its l1 margin, and the bound with its constant."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.perceptrons.winnow import Winnow, lifted
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import FloatArray, Status
from tests.families import FEASIBLE, infeasible, planted
from tests.repetitions import repeated
from tests.theorems.courses import SEEDS, check_bound, ready, walk


def l1_margin(rows: FloatArray) -> float:
    """max over norm(y)_1 = 1 of min_i a_i'y / norm(a_i)_inf: a linear program in (u, v, t) >= 0.

    y = u - v; norm(y)_1 <= sum (u + v) = 1, with equality at an optimum with t > 0.
    """
    count, dimension = rows.shape
    scaled = rows / np.abs(rows).max(axis=1, keepdims=True)
    cost = np.zeros(2 * dimension + 1)
    cost[-1] = -1.0
    answer = scipy.optimize.linprog(
        cost,
        A_ub=np.hstack([-scaled, scaled, np.ones((count, 1))]),
        b_ub=np.zeros(count),
        A_eq=np.append(np.ones(2 * dimension), 0.0)[None],
        b_eq=[1.0],
        bounds=(0, None),
    )
    assert answer.x is not None
    return float(answer.x[-1])


def rows_of(seed: int) -> tuple[FloatArray, Facts]:
    """Rows of different lengths, and facts that know their l1 margin."""
    rng = np.random.default_rng(seed)
    rows = planted(int(rng.integers(2, 8)), 30, 0.1, rng)[0] * rng.uniform(0.1, 10, (30, 1))
    return rows, replace(ConicSystem.from_rows(rows).facts(0.1), l1_margin=l1_margin(rows))


@pytest.mark.parametrize("share", [None, 0.25, 1.0, 1.75])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_updates_stay_within_the_bound_for_the_l1_margin(seed: int, share: float | None) -> None:
    """For the rate of no knowledge, and for multiples of rho_1 below 2."""
    rows, facts = rows_of(seed)
    margin = facts.l1_margin
    assert margin is not None
    assert margin > 0
    algorithm = Winnow() if share is None else Winnow(rate=share * margin)
    result = solve(rows, algorithm, facts=facts)
    assert result.status is Status.FEASIBLE
    size = math.log(2 * rows.shape[1])
    gain = 1 / 4 if share is None else share - share**2 / 2
    assert algorithm.bound(facts).value == pytest.approx(size / (gain * margin**2))
    assert result.updates <= size / (gain * margin**2)
    assert result.bound.value == pytest.approx(size / (gain * margin**2))


@pytest.mark.parametrize("oracle", ["first-violated", "cyclic", "random"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_bound_holds_for_whatever_cuts(seed: int, oracle: str) -> None:
    rows, facts = rows_of(seed)
    result = solve(rows, Winnow(), oracle=oracle, seed=seed, facts=facts)
    assert result.status is Status.FEASIBLE
    assert result.bound.value is not None
    assert result.updates <= result.bound.value


@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_updates_stay_within_the_bound_for_the_euclidean_margin(seed: int, kind: str) -> None:
    """rho_1 >= rho / sqrt(d), on every kind of system; Gram systems in their coordinates."""
    check_bound(Winnow(), kind, seed)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_euclidean_margin_bounds_the_l1_margin(seed: int) -> None:
    rows, facts = rows_of(seed)
    assert facts.l1_margin is not None
    assert facts.l1_margin >= 0.1 / math.sqrt(rows.shape[1]) * (1 - 1e-9)


def sparse_separator(seed: int) -> FloatArray:
    """Rows of signs with a margin on one of 64 coordinates: what multiplicative updates are for."""
    rng = np.random.default_rng(seed)
    rows = rng.choice([-1.0, 1.0], (400, 64))
    rows[:, 0] = 1.0
    return rows


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_it_needs_fewer_updates_than_its_perceptron_bound_on_few_relevant_features(
    seed: int,
) -> None:
    """rho_1 = 1 here, so that 4 ln 128 = 19 updates suffice, where rho^2 <= 1 / 64 allows 64."""
    rows = sparse_separator(seed)
    assert l1_margin(rows) == pytest.approx(1.0)
    assert solve(rows, Winnow()).updates <= 4 * math.log(128)
    assert solve(rows, Winnow(rate=1.0)).updates <= 2 * math.log(128)


@pytest.mark.parametrize("rate", [None, 0.05])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_potential_of_the_proof(seed: int, rate: float | None) -> None:
    """W = sum exp(eta s) + exp(-eta s) grows by at most exp(eta^2 / 2) at a constant rate, since
    the point that it is the softmax of has a'y <= 0; and W >= exp(eta rho_1 t)."""
    rows, facts = rows_of(seed)
    system = ready(Winnow(), ConicSystem.from_rows(rows))
    assert facts.l1_margin is not None
    algorithm = Winnow(rate=rate)
    for state in walk(algorithm, system, 300):
        t = state.updates
        if not t:
            continue
        eta = rate or math.sqrt(math.log(2 * rows.shape[1]) / t)
        assert state.point == pytest.approx(lifted(eta * state.total))
        assert np.abs(state.point).sum() <= 1 + 1e-12
        potential = 2 * np.cosh(eta * state.total).sum()
        assert math.log(potential) >= eta * facts.l1_margin * t - 1e-9
        if rate:
            start = math.log(2 * rows.shape[1])
            assert math.log(potential) <= start + t * eta**2 / 2 + 1e-9
        combined = system.operator.combine(state.weights)
        assert combined == pytest.approx(state.total)


@pytest.mark.parametrize("size", [1e-300, 1e-8, 1.0, 700.0, 1e5, 1e300])
def test_the_lifted_point_is_sinh_over_cosh_clear_of_overflow(size: float) -> None:
    exponents = size * np.array([1.0, -0.5, 0.25])
    point = lifted(exponents)
    assert np.isfinite(point).all()
    assert np.abs(point).sum() <= 1 + 1e-15
    if size <= 700:
        expected = np.sinh(exponents) / np.cosh(exponents).sum()
        assert point == pytest.approx(expected, rel=1e-7, abs=1e-16)
    else:
        assert point == pytest.approx([1.0, 0.0, 0.0])


def test_there_is_no_bound_without_a_margin_or_with_too_large_a_rate() -> None:
    rows, facts = rows_of(0)
    none = Winnow().bound(ConicSystem.from_rows(rows).facts())
    assert none.value is None
    assert "margin" in none.reason
    large = Winnow(rate=3.0).bound(facts)
    assert large.value is None
    assert "rate" in large.reason


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_infeasible_rows_are_detected_by_its_weights(seed: int) -> None:
    rows = infeasible(4, 30, np.random.default_rng(seed))
    result = solve(rows, Winnow(), budget=Budget(updates=3000))
    assert result.status in (Status.INFEASIBLE, Status.UPDATE_LIMIT)
    assert result.margin_upper is not None
    assert result.margin_upper <= 0.2
