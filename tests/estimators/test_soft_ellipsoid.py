from __future__ import annotations

from functools import partial
from typing import Literal

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score

from perceptron_lab.core.errors import InputError
from perceptron_lab.estimators import SoftEllipsoidClassifier, SquaredHingeClassifier
from perceptron_lab.estimators.learners.features import GramSchmidtFeatures
from perceptron_lab.estimators.learners.tuning import Grid, best, tune
from perceptron_lab.problems.ellipsoids.soft.descent import minimise
from perceptron_lab.problems.ellipsoids.soft.low_rank import (
    LocalModel,
    Quadratic,
    SoftObjective,
    certify,
    spectrum,
)
from tests.estimators.usual_data import exclusive_or
from tests.repetitions import repeated

Data = tuple[np.ndarray, np.ndarray]


def overlapping(seed: int, count: int = 60, features: int = 3) -> Data:
    """Positives within a band around a sphere, with a tenth of all labels turned over."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((count, features))
    signs = np.where((rows**2).sum(axis=1) < features * 0.8, 1.0, -1.0)
    return rows, np.where(rng.random(count) < 0.1, -signs, signs)


def exact(rank: int, **changes: object) -> SoftEllipsoidClassifier:
    model = SoftEllipsoidClassifier(rank, regularisation=0.01, tol=1e-15, max_iter=20_000)
    return model.set_params(**changes)


def convex_optimum(rows: np.ndarray, signs: np.ndarray, weights: np.ndarray, size: float) -> float:
    """The least objective over all A >= 0, by an interior-point method."""
    features = rows.shape[1]
    matrix = cp.Variable((features, features), PSD=True)
    linear, constant = cp.Variable(features), cp.Variable()
    values = cp.hstack([row @ matrix @ row + 2 * row @ linear + constant for row in rows])
    loss = cp.sum(cp.multiply(weights, cp.pos(1 + cp.multiply(signs, values)) ** 2)) / 2
    entries = cp.vec(matrix, order="F")  # squares of a symmetric variable: wrong before cvxpy 1.9.3
    penalty = size / 2 * (cp.sum_squares(entries) + 2 * cp.sum_squares(linear))
    return float(cp.Problem(cp.Minimize(loss + penalty)).solve(solver="CLARABEL"))


def value_at(objective: SoftObjective, point: np.ndarray) -> float:
    return objective.value(Quadratic.unpacked(point, objective.features))


@given(st.integers(0, 2**32), st.integers(0, 4), st.booleans())
def test_gradient_agrees_with_differences(seed: int, rank: int, as_sparse: bool) -> None:
    rows, signs = overlapping(seed, 20, 4)
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(20))
    objective = SoftObjective(
        sp.csr_array(rows) if as_sparse else rows, signs, weights, rng.random()
    )
    point = Quadratic(rng.normal(size=(4, rank)), rng.normal(size=4), rng.normal()).packed()
    local = LocalModel(objective, point)
    value, gradient = local.value, local.gradient
    assert value == pytest.approx(objective.value(Quadratic.unpacked(point, 4)))
    differences = approx_fprime(point, partial(value_at, objective), 1e-6)
    error = np.linalg.norm(gradient - differences)
    assert error < 1e-4 * (1 + np.linalg.norm(gradient))


def test_objective_by_hand() -> None:
    objective = SoftObjective(np.array([[1.0], [2.0]]), np.array([1.0, -1.0]), np.full(2, 0.5), 0.1)
    at = Quadratic(np.array([[1.0]]), np.array([0.5]), -3.0)
    # q = 1 + 1 - 3 = -1 and 4 + 2 - 3 = 3: no hinge is left, and |A|^2 + 2 |g|^2 = 1.5.
    assert at.values(objective.examples).tolist() == [-1.0, 3.0]
    assert objective.value(at) == pytest.approx(0.05 * 1.5)
    lifted = Quadratic(at.factor, at.linear, 0.0)
    assert objective.value(lifted) == pytest.approx(0.25 * 9 + 0.05 * 1.5)


@pytest.mark.parametrize("seed", repeated(range(4), kept=1))
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_full_rank_reaches_the_convex_optimum(seed: int, class_weight: str | None) -> None:
    rows, signs = overlapping(seed)
    fitted = exact(3, class_weight=class_weight).fit(rows, signs)
    weights = np.full(60, 1 / 60)
    if class_weight == "balanced":
        weights = np.where(signs > 0, 0.5 / (signs > 0).sum(), 0.5 / (signs < 0).sum())
    optimum = convex_optimum(rows, signs, weights, 0.01)
    proof = fitted.certify(rows, signs)
    assert fitted.converged_
    assert proof.primal == pytest.approx(fitted.objective_)
    assert proof.primal == pytest.approx(optimum, rel=1e-6)
    assert 0 <= proof.gap + 1e-12 < 1e-6
    assert proof.dual <= optimum + 1e-8
    assert proof.lowest_curvature > -1e-5
    assert proof.stationarity < 1e-5


@given(st.integers(0, 2**32), st.integers(0, 3))
def test_the_dual_bounds_every_quadratic_function(seed: int, rank: int) -> None:
    """Weak duality needs no optimality: any function gives a bound of every other one."""
    rows, signs = overlapping(seed, 30)
    rng = np.random.default_rng(seed)
    objective = SoftObjective(rows, signs, rng.dirichlet(np.ones(30)), 0.05)
    quadratic = Quadratic(rng.normal(size=(3, max(rank, 1))), rng.normal(size=3), rng.normal())
    other = Quadratic(rng.normal(size=(3, rank)), rng.normal(size=3), rng.normal())
    assert certify(objective, quadratic).dual <= objective.value(other) + 1e-12


def test_the_certificate_shows_that_the_rank_is_too_low() -> None:
    rows, signs = overlapping(0)
    low, full = (exact(rank).fit(rows, signs).certify(rows, signs) for rank in (1, 3))
    assert low.stationarity < 1e-5
    assert low.lowest_curvature < -1e-3
    assert low.gap > 10 * full.gap
    assert low.primal > full.primal
    assert low.dual <= full.primal


@given(st.integers(0, 2**32), st.sampled_from([None, "balanced"]))
def test_rank_zero_and_newton_agree(seed: int, class_weight: Literal["balanced"] | None) -> None:
    rows, signs = overlapping(seed)
    newton = SquaredHingeClassifier(regularisation=0.01, class_weight=class_weight).fit(rows, signs)
    fitted = exact(0, class_weight=class_weight).fit(rows, signs)
    assert fitted.objective_ == pytest.approx(newton.objective_, rel=1e-9)
    assert fitted.decision_function(rows) == pytest.approx(newton.decision_function(rows), abs=1e-3)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_rank_zero_is_the_linear_scorer(as_sparse: bool) -> None:
    rows, signs = overlapping(1)
    rows[:, 0] += signs
    fitted = exact(0).fit(sp.csr_array(rows) if as_sparse else rows, signs)
    assert fitted.quadratic_.factor.shape == (3, 0)
    weight, constant = -2 * fitted.quadratic_.linear, -fitted.quadratic_.constant
    assert fitted.decision_function(rows) == pytest.approx(rows @ weight + constant)

    def loss(at: np.ndarray) -> float:
        hinges = np.maximum(0, 1 - signs * (rows @ at[:-1] + at[-1]))
        return float(0.5 * np.mean(hinges**2) + 0.01 / 4 * at[:-1] @ at[:-1])

    best = minimize(loss, np.zeros(4), options={"gtol": 1e-9})
    assert np.append(weight, constant) == pytest.approx(best.x, abs=1e-4)
    assert fitted.certify(rows, signs).gap < 1e-9


def test_sparse_and_dense_examples_agree() -> None:
    rows, signs = overlapping(2, 80, 5)
    rows[np.abs(rows) < 0.5] = 0.0
    dense, sparse = exact(5).fit(rows, signs), exact(5).fit(sp.csr_array(rows), signs)
    assert sparse.objective_ == pytest.approx(dense.objective_, abs=1e-10)
    assert sparse.decision_function(sp.csr_array(rows)) == pytest.approx(
        dense.decision_function(rows), abs=1e-4
    )
    single = dense.decision_function(rows.astype(np.float32))
    assert single == pytest.approx(dense.decision_function(rows), abs=1e-4)


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-9])
def test_two_starts_end_at_the_same_objective(size: float) -> None:
    rows, signs = overlapping(7, 80, 4)
    objective = SoftObjective(rows, signs, np.full(80, 1 / 80), size)
    ends = [
        minimise(
            objective,
            Quadratic.random(objective, 4, np.random.default_rng(seed)),
            tolerance=1e-6,
            steps=1000,
        )
        for seed in range(3)
    ]
    assert all(end.converged for end in ends)
    assert [end.value for end in ends] == pytest.approx([ends[0].value] * 3, rel=1e-5)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_start_without_a_direction_is_left(as_sparse: bool) -> None:
    """L = 0 is stationary, and no step in L shows that the objective falls."""
    rows, signs = overlapping(8)
    data = sp.csr_array(rows) if as_sparse else rows
    objective = SoftObjective(data, signs, np.full(60, 1 / 60), 0.01)
    start = Quadratic(np.zeros((3, 3)), np.zeros(3), 0.0)
    result = minimise(objective, start, tolerance=1e-9, steps=1000)
    assert result.converged
    assert result.value == pytest.approx(exact(3).fit(rows, signs).objective_, rel=1e-6)
    assert np.linalg.norm(result.quadratic.factor) > 0.1


@given(st.integers(0, 2**32), st.integers(0, 3))
def test_curvature_agrees_with_differences(seed: int, rank: int) -> None:
    rows, signs = overlapping(seed, 20, 4)
    rng = np.random.default_rng(seed)
    objective = SoftObjective(rows, signs, rng.dirichlet(np.ones(20)), rng.random())
    point = Quadratic(rng.normal(size=(4, rank)), rng.normal(size=4), rng.normal()).packed()
    move = rng.normal(size=point.shape)
    local, pace = LocalModel(objective, point), 1e-7
    there, back = (
        LocalModel(objective, point + pace * move),
        LocalModel(objective, point - pace * move),
    )
    if not np.array_equal(there.active, back.active):
        return  # a kink between them
    differences = (there.gradient - back.gradient) / (2.0 * pace)
    error = np.linalg.norm(local.curvature()(move) - differences)
    assert error < 1e-5 * (1.0 + np.linalg.norm(differences))


@given(st.integers(0, 2**32))
def test_spectrum_is_that_of_the_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, weights = rng.normal(size=(4, 7)), rng.normal(size=4)
    full = np.linalg.eigvalsh(rows.T @ (weights[:, None] * rows))
    short = spectrum(sp.csr_array(rows), weights)
    assert np.sort(np.append(short, np.zeros(3))) == pytest.approx(full, abs=1e-10)
    assert spectrum(rows[:, :3], weights) == pytest.approx(
        np.linalg.eigvalsh(rows[:, :3].T @ (weights[:, None] * rows[:, :3])), abs=1e-10
    )


def test_same_seed_same_fit_and_input_unmodified() -> None:
    rows, signs = overlapping(3)
    rows_before, kept_signs = rows.copy(), signs.copy()
    first, second = (
        SoftEllipsoidClassifier().fit(rows, signs),
        SoftEllipsoidClassifier().fit(rows, signs),
    )
    assert (first.quadratic_.packed() == second.quadratic_.packed()).all()
    other = SoftEllipsoidClassifier(random_state=1).fit(rows, signs)
    assert (first.quadratic_.packed() != other.quadratic_.packed()).any()
    assert other.objective_ == pytest.approx(first.objective_, rel=1e-4)
    assert (rows == rows_before).all()
    assert (signs == kept_signs).all()


def test_sample_weights_are_repetitions() -> None:
    rows, signs = overlapping(4)
    times = np.random.default_rng(0).integers(0, 4, size=60)
    for class_weight in (None, "balanced"):
        model = exact(3, class_weight=class_weight)
        weighted = clone(model).fit(rows, signs, times)
        repeated = model.fit(np.repeat(rows, times, axis=0), np.repeat(signs, times))
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)
        assert weighted.decision_function(rows) == pytest.approx(
            repeated.decision_function(rows), abs=1e-3
        )


def test_balanced_classes_have_equal_weight() -> None:
    rows, signs = overlapping(5)
    balanced = exact(3, class_weight="balanced").fit(rows, signs)
    share = (signs > 0).mean()
    halves = np.where(signs > 0, 0.5 / share, 0.5 / (1 - share))
    weighted = exact(3).fit(rows, signs, halves)
    assert balanced.objective_ == pytest.approx(weighted.objective_, rel=1e-10)
    assert balanced.certify(rows, signs).primal == pytest.approx(balanced.objective_)
    assert weighted.certify(rows, signs, 5 * halves).primal == pytest.approx(weighted.objective_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(st.integers(0, 2**32), st.integers(-6, 4))
def test_whitening_makes_it_affine_invariant(seed: int, exponent: int) -> None:
    rows, signs = overlapping(seed, 60, 2)
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(2, 2)))
    shift = rng.normal(size=2) * 10.0**exponent
    mapped = (rows @ turn) * np.array([10.0**exponent, 1.0]) + shift
    model = exact(2, whiten=True)
    plain, other = clone(model).fit(rows, signs), model.fit(mapped, signs)
    assert other.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    assert other.decision_function(mapped) == pytest.approx(plain.decision_function(rows), abs=1e-2)


def test_whitening_drops_constant_directions() -> None:
    rows, signs = overlapping(6, 60, 2)
    wide = np.column_stack([rows, rows.sum(axis=1), np.full(60, 0.1)])
    fitted = exact(4, whiten=True).fit(wide, signs)
    assert fitted.quadratic_.factor.shape == (2, 2)
    plain = exact(2, whiten=True).fit(rows, signs)
    assert fitted.decision_function(wide) == pytest.approx(plain.decision_function(rows), abs=1e-4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_example_of_each_class() -> None:
    rows = np.array([[0.0, 0.0], [1.0, 0.0]])
    for rank in (0, 2):
        fitted = exact(rank).fit(rows, [True, False])
        scores = fitted.decision_function(rows)
        assert scores[0] > 0 > scores[1]
        assert fitted.certify(rows, [True, False]).gap < 1e-8


def rings(seed: int) -> Data:
    """A disk within a ring, no line apart."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 120)
    radius = np.where(np.arange(120) < 60, rng.uniform(0, 1, 120), rng.uniform(1.5, 2, 120))
    rows = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return rows, np.where(np.arange(120) < 60, 1.0, -1.0)


def test_a_disk_in_a_ring_needs_an_ellipsoid() -> None:
    (rows, signs), (new, truth) = rings(0), rings(1)
    fitted = SoftEllipsoidClassifier(rank=2).fit(rows, signs)
    assert (np.sign(fitted.decision_function(new)) == truth).mean() > 0.98
    linear = SoftEllipsoidClassifier(rank=0).fit(rows, signs)
    assert average_precision_score(truth > 0, linear.decision_function(new)) < 0.8


def test_it_can_be_tuned() -> None:
    rows, signs = rings(0)
    grid = Grid(SoftEllipsoidClassifier(), {"rank": [0, 2], "regularisation": [1e-4, 1e-2]})
    tuned = best(tune(grid, rows, signs))
    assert tuned.parameters["rank"] == 2
    assert tuned.mean > 0.99


@pytest.mark.parametrize("data", [rings, exclusive_or])
def test_on_kernel_features(data: object) -> None:
    (rows, signs), (new, truth) = data(0), data(1)  # type: ignore[operator]
    features = GramSchmidtFeatures(20, kernel="rbf", gamma=1.0).fit(rows, signs)
    fitted = SoftEllipsoidClassifier(rank=5).fit(features.transform(rows), signs)
    assert (np.sign(fitted.decision_function(features.transform(new))) == truth).mean() > 0.97


def test_exclusive_or_is_a_slab_in_the_plane() -> None:
    """The positives lie along a diagonal: an ellipse without end, of rank 1, no half-plane."""
    (rows, signs), (new, truth) = exclusive_or(0), exclusive_or(1)
    fitted = SoftEllipsoidClassifier(rank=1).fit(rows, signs)
    assert (np.sign(fitted.decision_function(new)) == truth).mean() > 0.97
    axis = fitted.quadratic_.factor[:, 0]
    assert abs(axis @ [1, 1]) < 0.1 * np.linalg.norm(axis)
    linear = SoftEllipsoidClassifier(rank=0).fit(rows, signs)
    assert (np.sign(linear.decision_function(new)) == truth).mean() < 0.8


def fitted_once() -> SoftEllipsoidClassifier:
    return SoftEllipsoidClassifier().fit(*overlapping(0))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"rank": -1}, "rank"),
        ({"rank": 1.5}, "rank"),
        ({"regularisation": -1.0}, "regularisation"),
        ({"regularisation": float("nan")}, "regularisation"),
        ({"class_weight": "equal"}, "class_weight"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"random_state": -1}, "Seed must be"),
    ],
)
def test_parameters_out_of_range(change: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        SoftEllipsoidClassifier(**change).fit(*overlapping(0))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "labels", "reason"),
    [
        (np.eye(3), [1, 1, 1], "two classes"),
        (np.eye(3), [1, -1], "3, 2"),
        (np.eye(3), [1, 2, 3], "binary"),
        (np.array([[np.nan], [1.0]]), [1, -1], "NaN"),
        (sp.csr_array([[np.inf], [1.0]]), [1, -1], "infinity"),
        (np.zeros((0, 3)), [], "0 sample"),
        (np.zeros(3), [1, -1, 1], "2D array"),
    ],
)
def test_broken_examples(rows: np.ndarray, labels: list[int], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        SoftEllipsoidClassifier().fit(rows, labels)


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ([1.0, 2.0], r"shape \(2,\), and X 3 rows"),
        ([1.0, -1.0, 1.0], ">= 0"),
        ([1.0, np.nan, 1.0], r"sample_weight\[1\] is nan; give finite numbers >= 0"),
        ([1.0, 0.0, 0.0], "needs examples of two classes"),
    ],
)
def test_broken_weights(weights: list[float], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        SoftEllipsoidClassifier().fit(np.eye(3), [1, -1, -1], weights)


def test_scores_of_other_examples_are_refused() -> None:
    fitted = fitted_once()
    with pytest.raises(ValueError, match=r"2 features, but .* expecting 3 features"):
        fitted.decision_function(np.ones((4, 2)))
    with pytest.raises(ValueError, match="NaN"):
        fitted.decision_function(np.full((1, 3), np.nan))


def test_data_that_cannot_be_whitened_are_refused() -> None:
    model = SoftEllipsoidClassifier(whiten=True)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        model.fit(sp.csr_array(np.eye(3)), [1, -1, -1])
    with pytest.raises(InputError, match="all equal"):
        model.fit(np.ones((3, 2)), [1, -1, -1])
    with pytest.raises(TypeError, match="dense"):
        model.fit(np.eye(3), [1, -1, -1]).decision_function(sp.csr_array(np.eye(3)))


def test_no_gap_without_regularisation() -> None:
    data = overlapping(0)
    fitted = SoftEllipsoidClassifier(regularisation=0.0).fit(*data)
    with pytest.raises(InputError, match="regularisation > 0"):
        fitted.certify(*data)


def test_reaching_the_iteration_limit_is_a_warning() -> None:
    with pytest.warns(ConvergenceWarning, match="after 2 steps"):
        fitted = SoftEllipsoidClassifier(max_iter=2).fit(*overlapping(0))
    assert not fitted.converged_
    assert fitted.n_iter_ == 2


@pytest.mark.parametrize(
    ("count", "features", "rank", "seed"), repeated([(400, 10, 5, 1), (600, 15, 8, 0)], kept=1)
)
def test_separated_classes_with_little_regularisation(
    count: int, features: int, rank: int, seed: int
) -> None:
    """Without gradually lowered regularisations 6000 steps do not suffice here."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((count, features))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    positive = np.arange(count) < 2 * features
    rows[positive] += 0.3 * rng.standard_normal(features)
    model = SoftEllipsoidClassifier(rank, regularisation=1e-9, max_iter=2000).fit(rows, positive)
    assert model.converged_
    certificate = model.certify(rows, positive)
    assert 0.0 <= certificate.gap <= 0.01 * certificate.primal
    directly, cut_off = (clone(model).set_params(max_iter=most) for most in (200, 210))
    for short in (directly, cut_off):
        with pytest.warns(ConvergenceWarning):
            short.fit(rows, positive)
        assert short.n_iter_ == short.max_iter
    # what was found directly is not lost where the steps along the regularisations are cut off
    assert certificate.primal < cut_off.objective_ <= directly.objective_


@pytest.mark.parametrize("scale", [1.0, 1e10, 1e40])
def test_separated_classes_without_regularisation(scale: float) -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 10))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    positive = np.arange(200) < 20
    rows[positive] += 0.3 * rng.standard_normal(10)
    model = SoftEllipsoidClassifier(5, regularisation=0.0, max_iter=1000)
    assert model.fit(scale * rows, positive).converged_
    assert model.objective_ < 1e-20
