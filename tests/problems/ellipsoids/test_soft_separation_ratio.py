from __future__ import annotations

import math
from functools import partial

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from perceptron_lab.estimators import SoftSeparationClassifier
from perceptron_lab.problems.ellipsoids.ellipsoid import WhiteCoordinates
from perceptron_lab.problems.ellipsoids.soft.boundedness import (
    critical_penalty,
    least_mean,
    project_to_capped_simplex,
)
from perceptron_lab.problems.ellipsoids.soft.separation_ratio import SoftSeparation, soft_separation
from tests.repetitions import examples, repeated

Data = tuple[np.ndarray, np.ndarray]


def overlapping(seed: int, positives: int = 40, negatives: int = 60) -> Data:
    """Two clouds about one centre, the negatives twice as wide."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((positives, 2)), 2 * rng.standard_normal((negatives, 2))


def lift(points: np.ndarray) -> np.ndarray:
    return np.hstack([points, np.ones((len(points), 1))])


def dual_optimum(data: Data, positive_penalty: float, negative_penalty: float) -> float:
    """(7.21) with upper bounds, by another solver's interface, in the given coordinates."""
    inner, outer = (lift(points) for points in data)
    first, second = cp.Variable(len(inner)), cp.Variable(len(outer))
    spread = inner.T @ cp.diag(first) @ inner - outer.T @ cp.diag(second) @ outer
    limits = [
        (spread + spread.T) / 2 >> 0,
        cp.sum(second) == 1,
        first >= 0,
        first <= positive_penalty,
        second >= 0,
        second <= negative_penalty,
    ]
    problem = cp.Problem(cp.Minimize(cp.sum(first) - 1), limits)
    return float(problem.solve(solver="CLARABEL"))


def critical(data: Data, negative_penalty: float) -> float:
    interval = soft_separation(
        *data, positive_penalty=1e3, negative_penalty=negative_penalty
    ).critical
    assert interval.upper == pytest.approx(interval.lower, rel=1e-6)
    return interval.upper


@pytest.mark.parametrize("seed", repeated(range(3), kept=1))
@pytest.mark.parametrize("share", [1.0, 0.8, 0.3, 0.05])
def test_both_sides_of_the_critical_penalty(seed: int, share: float) -> None:
    data = overlapping(seed)
    negative_penalty = 1 / (60 * share)
    penalty = critical(data, negative_penalty)
    below = soft_separation(
        *data, positive_penalty=0.98 * penalty, negative_penalty=negative_penalty
    )
    above = soft_separation(
        *data, positive_penalty=1.02 * penalty, negative_penalty=negative_penalty
    )
    assert below.status is Status.UNBOUNDED
    assert math.isinf(below.ratio)
    assert objective_along(below, data, 0.98 * penalty, negative_penalty) > 0.01 * penalty
    assert dual_optimum(data, 0.98 * penalty, negative_penalty) == math.inf
    assert above.status is Status.MARGIN_BOUNDED
    assert dual_optimum(data, 1.02 * penalty, negative_penalty) == pytest.approx(
        above.value, abs=1e-5
    )


def objective_along(
    separation: SoftSeparation, data: Data, positive_penalty: float, negative_penalty: float
) -> float:
    """The growth of the objective along E^ = direction, with the best growth of t."""
    forms = [separation.squared_distances(points) for points in data]
    growth = [t - negative_penalty * np.maximum(0, t - forms[1]).sum() for t in [*forms[1], 2.0]]
    return float(max(growth)) - positive_penalty * float(forms[0].sum())


@settings(max_examples=examples(15))
@given(st.integers(0, 2**32), st.floats(0.1, 1.0), st.floats(1.05, 20.0))
def test_solutions_are_optimal(seed: int, share: float, times: float) -> None:
    data = overlapping(seed, 25, 30)
    negative_penalty = 1 / (30 * share)
    positive_penalty = times * critical(data, negative_penalty)
    separation = soft_separation(
        *data, positive_penalty=positive_penalty, negative_penalty=negative_penalty
    )
    size = 1 + abs(separation.ratio)
    # Below by a function value, above by weights, that are feasible; so both are optimal.
    assert -1e-9 * size < separation.gap < 1e-5 * size
    assert separation.ratio > -1e-6
    assert separation.value > -1e-6
    first, second = separation.positive_weights, separation.negative_weights
    assert second.sum() == pytest.approx(1.0, abs=1e-9)
    assert min(first.min(), second.min()) >= 0
    assert first.max() <= positive_penalty
    assert second.max() <= negative_penalty
    inner, outer = (lift(separation.axes.transform(points)) for points in data)
    spread = inner.T @ (first[:, None] * inner) - outer.T @ (second[:, None] * outer)
    assert np.linalg.eigvalsh(spread)[0] > -1e-9 * np.linalg.norm(spread)
    assert np.linalg.eigvalsh(separation.quadratic)[0] > -1e-9
    # Complementary slackness (7.18).
    assert abs(np.trace(spread @ separation.quadratic)) < 1e-4 * size


def test_value_is_that_of_the_constraints() -> None:
    data = overlapping(0)
    penalty = critical(data, 1 / 55)
    separation = soft_separation(*data, positive_penalty=1.5 * penalty, negative_penalty=1 / 55)
    inner, outer = (separation.squared_distances(points) for points in data)
    slack = np.maximum(0, inner - 1), np.maximum(0, 1 + separation.ratio - outer)
    value = separation.ratio - 1.5 * penalty * slack[0].sum() - slack[1].sum() / 55
    assert separation.ratio > 1
    assert value == pytest.approx(separation.value, rel=1e-9)
    middle = ((1 + math.sqrt(1 + separation.ratio)) / 2) ** 2
    assert separation.decision_values(data[0]) == pytest.approx(middle - inner)
    assert separation.decision_values(data[0]).mean() > separation.decision_values(data[1]).mean()


def test_without_slack_it_is_the_separation_ratio() -> None:
    """Large penalties on separable data: concentric circles of radii 1 and 2, t = 3."""
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    separation = soft_separation(
        np.vstack([circle, np.zeros((1, 2))]),
        np.vstack([2 * circle, [[1.9, 1.0]]]),
        positive_penalty=100.0,
        negative_penalty=100.0,
    )
    assert separation.ratio == pytest.approx(3.0, abs=1e-6)
    assert separation.value == pytest.approx(3.0, abs=1e-6)
    assert separation.decision_values(
        np.array([[0.0, 0.0], [1.4, 0.0], [0.0, 1.6]])
    ) == pytest.approx([2.25, 2.25 - 1.96, 2.25 - 2.56], abs=1e-5)


def test_large_negative_penalty_gives_no_separation() -> None:
    """The critical penalty is 1 / m+ then, and t = 0 right above it."""
    data = overlapping(1)
    penalty = critical(data, 1.0)
    assert penalty == pytest.approx(1 / 40, rel=1e-6)
    separation = soft_separation(*data, positive_penalty=1.02 * penalty, negative_penalty=1.0)
    assert separation.ratio == pytest.approx(0.0, abs=1e-5)


@settings(max_examples=10)
@given(st.integers(0, 2**32), st.integers(-5, 4))
def test_affine_maps_do_not_change_the_separation(seed: int, exponent: int) -> None:
    data = overlapping(seed, 25, 30)
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(2, 2)))
    stretch = turn @ np.diag([10.0**exponent, 1.0])
    shift = rng.normal(size=2)
    positive_penalty = 2 * critical(data, 1 / 25)
    images = [points @ stretch + shift for points in data]
    plain, shifted = (
        soft_separation(*each, positive_penalty=positive_penalty, negative_penalty=1 / 25)
        for each in (data, images)
    )
    assert shifted.value == pytest.approx(plain.value, abs=1e-5 * (1 + plain.ratio))


@pytest.mark.parametrize("positive_penalty", [1e-3, 1.0, 1e6])
def test_few_negatives_per_penalty_are_unbounded(positive_penalty: float) -> None:
    """C- m- < 1: t grows for nothing."""
    data = overlapping(0)
    separation = soft_separation(
        *data, positive_penalty=positive_penalty, negative_penalty=0.99 / 60
    )
    assert separation.status is Status.UNBOUNDED
    assert math.isinf(separation.critical.lower)
    assert "raise the penalties" in separation.message


def test_positives_in_a_line() -> None:
    """Only negatives on that line limit the ratio; with too few of them it is unbounded."""
    rng = np.random.default_rng(0)
    inner = np.column_stack([np.linspace(-1, 1, 9), np.zeros(9)])
    off = rng.normal(size=(10, 2)) + np.array([0.0, 5.0])
    on = np.array([[3.0, 0.0], [-3.0, 0.0]])
    none = soft_separation(inner, off, positive_penalty=1e6, negative_penalty=5.0)
    assert none.status is Status.UNBOUNDED
    assert objective_along(none, (inner, off), 1e6, 5.0) > 0
    sample = np.vstack([off, on])
    few = soft_separation(inner, sample, positive_penalty=1e6, negative_penalty=0.4)
    assert few.status is Status.UNBOUNDED
    assert objective_along(few, (inner, sample), 1e6, 0.4) > 0
    low = soft_separation(inner, sample, positive_penalty=0.01, negative_penalty=0.6)
    assert low.status is Status.UNBOUNDED
    assert objective_along(low, (inner, sample), 0.01, 0.6) > 0
    enough = soft_separation(inner, sample, positive_penalty=50.0, negative_penalty=50.0)
    assert enough.ratio == pytest.approx(8.0, abs=1e-4)
    assert enough.gap < 1e-4


@settings(max_examples=10)
@given(st.integers(0, 2**32), st.integers(2, 5))
def test_positives_in_a_plane_of_any_position(seed: int, dimension: int) -> None:
    """Negatives in the same plane decide alone, wherever it lies."""
    rng = np.random.default_rng(seed)
    inner, outer = overlapping(seed, 25, 30)
    basis = rng.normal(size=(2, dimension))
    shift = 10 * rng.normal(size=dimension)
    flat = [points @ basis + shift for points in (inner, outer)]
    off = 10 * rng.normal(size=(4 if dimension > 2 else 0, dimension))
    lifted_off = np.vstack([flat[1], off])
    for penalty in (0.02, 1.0):
        alone = soft_separation(inner, outer, positive_penalty=penalty, negative_penalty=1 / 20)
        among = soft_separation(
            flat[0], lifted_off, positive_penalty=penalty, negative_penalty=1 / 20
        )
        assert among.status is alone.status
        assert among.critical.upper == pytest.approx(alone.critical.upper, rel=1e-6)
        assert among.bound == pytest.approx(alone.bound, abs=1e-5)


def test_an_unbounded_problem_ranks_by_its_direction() -> None:
    data = overlapping(0)
    separation = soft_separation(*data, positive_penalty=1e-3, negative_penalty=1.0)
    assert separation.gap == 0.0
    assert separation.status is Status.UNBOUNDED
    # (8.2) for E^ far out along the direction, divided by its length.
    length, outside = 1e12, separation.squared_distances(data[1])
    middle = ((1.0 + math.sqrt(length * outside.min())) / 2.0) ** 2
    expected = middle / length - separation.squared_distances(data[0])
    assert separation.decision_values(data[0]) == pytest.approx(expected, abs=1e-5 * outside.max())


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.floats(0.01, 2.0))
def test_least_mean_is_the_least_over_the_capped_simplex(values: list[float], cap: float) -> None:
    array = np.array(values)
    if cap * len(array) < 1:
        assert least_mean(array, cap) == math.inf
        return
    # The dual: the best t of t - cap sum max(0, t - v) is one of the values.
    best = max(t - cap * np.maximum(0, t - array).sum() for t in values)
    assert least_mean(array, cap) == pytest.approx(best, abs=1e-9)
    weights = project_to_capped_simplex(-array, cap)
    assert weights.sum() == pytest.approx(1.0, abs=1e-9)
    assert 0 <= weights.min() <= weights.max() <= cap
    assert weights @ array >= best - 1e-9


def test_critical_penalty_by_hand() -> None:
    """One dimension, positives at -1 and 1, negatives at -2 and 2: half and half is the best.

    sum_+ x^x^' = 2 I and sum_- lambda x^x^' = diag(4, 1), so that C+ must be at least 2.
    """
    penalty_bounds = critical_penalty(
        np.array([[1.0, 1.0], [-1.0, 1.0]]), np.array([[2.0, 1.0], [-2.0, 1.0]]), 0.5
    )
    assert penalty_bounds.lower == pytest.approx(2.0, rel=1e-8)
    assert penalty_bounds.upper == pytest.approx(2.0, rel=1e-8)
    assert penalty_bounds.weights == pytest.approx([0.5, 0.5])
    assert np.trace(penalty_bounds.direction) == pytest.approx(
        penalty_bounds.direction[0, 0], abs=1e-6
    )


@pytest.mark.parametrize(
    "change",
    [{"positive_penalty": 0.0}, {"negative_penalty": 1.0}, {"tol": 2.0}],
)
def test_parameters_out_of_range(change: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(change))}=.*greater|less"):
        SoftSeparationClassifier(**change).fit(*separated())
    with pytest.raises(TypeError, match="slack"):
        SoftSeparationClassifier(slack=1.0)  # type: ignore[call-arg]


def separated() -> tuple[np.ndarray, np.ndarray]:
    return np.array([[0.0], [1.0], [3.0], [5.0]]), np.array([0, 1, 1, 0])


def test_the_classifier_has_penalties_of_means() -> None:
    inner, outer = overlapping(0, 25, 30)
    rows, labels = np.vstack([inner, outer]), np.repeat([1, 0], [25, 30])
    model = SoftSeparationClassifier(positive_penalty=50.0, negative_penalty=3.0).fit(rows, labels)
    separation_ = soft_separation(inner, outer, positive_penalty=2.0, negative_penalty=0.1)
    assert model.status_ is separation_.status
    np.testing.assert_allclose(model.decision_function(rows), separation_.decision_values(rows))


@pytest.mark.parametrize("penalty", [0.0, -1.0, math.inf, math.nan])
def test_impossible_penalties(penalty: float) -> None:
    classes = overlapping(0)
    with pytest.raises(InputError, match=r"C\+ = "):
        soft_separation(*classes, positive_penalty=penalty, negative_penalty=1.0)
    with pytest.raises(InputError, match="C- = "):
        soft_separation(*classes, positive_penalty=1.0, negative_penalty=penalty)


def test_broken_examples() -> None:
    separate = partial(soft_separation, positive_penalty=1.0, negative_penalty=1.0)
    with pytest.raises(InputError, match="sparse"):
        separate(sp.csr_array(np.eye(3)), np.eye(3))
    with pytest.raises(InputError, match="rows of 2 columns; give rows of 3"):
        separate(np.eye(3), np.eye(2))
    with pytest.raises(InputError, match="NaN"):
        separate(np.full((2, 2), np.nan), np.eye(2))
    with pytest.raises(InputError, match="non-empty"):
        separate(np.eye(2), np.zeros((0, 2)))
    separation = soft_separation(*overlapping(0), positive_penalty=10.0, negative_penalty=1.0)
    with pytest.raises(InputError, match="rows of 3 columns; give rows of 2"):
        separation.decision_values(np.eye(3))


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(-8, 8))
def test_mean_zero_and_covariance_one(seed: int, features: int, exponent: int) -> None:
    rng = np.random.default_rng(seed)
    scale = np.where(np.arange(features) == 0, 10.0**exponent, 1.0)
    rows = rng.normal(size=(20, features)) * scale + rng.normal(size=features)
    weights = rng.dirichlet(np.ones(20))
    white = WhiteCoordinates.fitted(rows, weights).transform(rows)
    assert weights @ white == pytest.approx(np.zeros(features), abs=1e-6)
    assert white.T @ (weights[:, None] * white) == pytest.approx(np.eye(features), abs=1e-6)


@given(st.integers(0, 2**32))
def test_rank_is_that_of_the_examples_with_weight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(10, 2)) @ rng.normal(size=(2, 5)) + rng.normal(size=5)
    rows[:, 4] = 7.0
    assert WhiteCoordinates.fitted(rows, np.full(10, 0.1)).matrix.shape == (5, 2)
    two = np.where(np.arange(10) < 2, 0.5, 0.0)
    assert WhiteCoordinates.fitted(rows, two).matrix.shape == (5, 1)
    assert np.isfinite(WhiteCoordinates.fitted(rows, two).transform(rows)).all()


def test_data_that_cannot_be_whitened_are_refused() -> None:
    with pytest.raises(InputError, match="whiten=False"):
        WhiteCoordinates.fitted(sp.csr_array(np.eye(2)), np.full(2, 0.5))
    with pytest.raises(InputError, match="nothing to whiten"):
        WhiteCoordinates.fitted(np.ones((3, 2)), np.full(3, 1 / 3))
