"""Weights of examples and classes, warm starts, and the soft margin of inseparable classes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_validate
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_sample_weight

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from perceptron_lab.estimators import (
    EllipsoidMethodClassifier,
    EllipsoidSeparationClassifier,
    MarginPerceptronClassifier,
    MaxMarginClassifier,
    MirrorProxClassifier,
    PerceptronClassifier,
    RescaledPerceptronClassifier,
    SmoothedPerceptronClassifier,
    SoftEllipsoidClassifier,
    SoftSeparationClassifier,
    SquaredHingeClassifier,
)
from perceptron_lab.estimators.one_problem import LeastViolation
from perceptron_lab.estimators.weights import distinct_rows
from perceptron_lab.systems import ConicSystem
from tests.repetitions import repeated

SEPARATING = [
    PerceptronClassifier(max_iter=300),
    MarginPerceptronClassifier(max_iter=300),
    EllipsoidMethodClassifier(max_iter=60),
    RescaledPerceptronClassifier(max_iter=60),
    SmoothedPerceptronClassifier(max_iter=60),
    MirrorProxClassifier(max_iter=60),
    MaxMarginClassifier(),
    MaxMarginClassifier(fit_intercept=False),
    MaxMarginClassifier(kernel="rbf"),
]
WEIGHTED = [
    SquaredHingeClassifier(),
    SoftEllipsoidClassifier(rank=1, regularisation=0.1, tol=1e-12),
    EllipsoidSeparationClassifier(),
    SoftSeparationClassifier(),
]
LOSSES = [MaxMarginClassifier(), *WEIGHTED[:2]]


def name(model: Any) -> str:
    return type(model).__name__


def data(seed: int, classes: int = 2, spread: float = 1.5) -> tuple[Any, Any, Any]:
    """Inseparable clouds on a grid, with whole weights, some of which are 0."""
    rows, labels = make_blobs(40, centers=classes, cluster_std=spread, random_state=seed)
    weights = np.random.default_rng(seed).integers(0, 4, 40).astype(float)
    return np.round(4.0 * rows) / 16.0, labels, weights


def fit(model: Any, *arguments: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).fit(*arguments)


@pytest.mark.parametrize("seed", repeated(range(4), kept=1))
@pytest.mark.parametrize("model", SEPARATING, ids=name)
def test_a_row_of_weight_k_is_k_rows_exactly(model: Any, seed: int) -> None:
    rows, labels, weights = data(seed, classes=2 + seed % 2, spread=3.0)
    times = weights.astype(int)
    weighted = fit(model, rows, labels, weights)
    copies = fit(model, np.repeat(rows, times, axis=0), np.repeat(labels, times))
    removed = fit(model, rows[times > 0], labels[times > 0], weights[times > 0])
    values = weighted.decision_function(rows)
    assert (copies.decision_function(rows) == values).all()
    assert (removed.decision_function(rows) == values).all()
    assert weighted.status_ is copies.status_


@pytest.mark.parametrize("model", WEIGHTED, ids=name)
def test_weights_of_losses_are_repetitions(model: Any) -> None:
    rows, labels, weights = data(3)
    times = weights.astype(int)
    weighted = fit(model, rows, labels, weights)
    copies = fit(model, np.repeat(rows, times, axis=0), np.repeat(labels, times))
    values = weighted.decision_function(rows)
    assert copies.decision_function(rows) == pytest.approx(values, rel=1e-5, abs=1e-6)
    unweighted = fit(model, rows, labels).decision_function(rows)
    assert np.abs(unweighted - values).max() > 1e-3  # the weights matter here


def test_a_precomputed_kernel_has_the_weights_of_its_features() -> None:
    rows, labels, weights = data(5, spread=3.0)
    linear = fit(MaxMarginClassifier(kernel="linear"), rows, labels, weights)
    assert linear.soft_margin_.all()
    expected = linear.decision_function(rows)
    by_matrix = fit(MaxMarginClassifier(kernel="precomputed"), rows @ rows.T, labels, weights)
    assert by_matrix.decision_function(rows @ rows.T) == pytest.approx(expected, abs=1e-9)
    assert (weights[by_matrix.support_] > 0.0).all()


@pytest.mark.parametrize("model", LOSSES, ids=name)
def test_balanced_classes_are_the_weights_of_scikit_learn(model: Any) -> None:
    rows, labels, _ = data(2)
    rows, labels = rows[10:], labels[10:] * (np.arange(30) % 3 > 0)
    weights = compute_sample_weight("balanced", labels)
    factors = dict(zip(labels.tolist(), weights.tolist(), strict=True))
    models = [
        fit(clone(model).set_params(class_weight="balanced"), rows, labels),
        fit(model, rows, labels, weights),
        fit(clone(model).set_params(class_weight=factors), rows, labels),
    ]
    balanced, weighted, mapped = (each.decision_function(rows) for each in models)
    assert balanced == pytest.approx(weighted, rel=1e-6, abs=1e-7)
    assert mapped == pytest.approx(weighted, rel=1e-6, abs=1e-7)
    assert np.abs(fit(model, rows, labels).decision_function(rows) - weighted).max() > 1e-3


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", repeated(range(4), kept=1))
def test_the_soft_margin_satisfies_its_conditions_of_optimality(seed: int, intercept: bool) -> None:
    rows, labels, weights = data(seed, spread=3.0)
    rows, labels = np.vstack([rows[:39], rows[:1]]), np.append(labels[:39], 1 - labels[0])
    weights[[0, 39]] = 1.0  # a row in both classes
    model = fit(MaxMarginClassifier(C=0.3, fit_intercept=intercept), rows, labels, weights)
    assert model.soft_margin_.all()
    assert (model.status_, model.separable_) == (Status.INFEASIBLE, False)
    signs = np.where(labels == 1, 1.0, -1.0)
    pull = weights * signs * np.maximum(0.0, 1.0 - signs * model.decision_function(rows))
    assert 0.6 * pull @ rows == pytest.approx(model.coef_[0], rel=1e-8)
    assert abs(pull.sum()) <= (1e-8 if intercept else np.inf)
    assert intercept or model.intercept_[0] == 0.0
    certificate = model.certificate_[0]  # the proof of inseparability
    lifted = signs[:, None] * np.column_stack([rows, np.ones(40)[:, None] * intercept])
    lifted = lifted[distinct_rows(rows, labels, weights)[0]]
    assert certificate.weights.min() >= 0.0 < certificate.weights.sum()
    assert np.abs(certificate.weights @ lifted).max() <= 1e-9 * certificate.weights.sum()


def test_the_soft_margin_of_a_kernel_satisfies_its_conditions() -> None:
    rows, labels, weights = data(5, spread=3.0)
    model = fit(MaxMarginClassifier(kernel="linear", C=0.3), rows, labels, weights)
    signs = np.where(labels == 1, 1.0, -1.0)[model.support_]
    values = model.decision_function(rows[model.support_])
    merged, sums = distinct_rows(rows, labels, weights)
    counts = dict(zip(merged.tolist(), sums.tolist(), strict=True))
    weights = np.array([counts[i] for i in model.support_.tolist()])
    pull = 0.6 * weights * signs * np.maximum(0.0, 1.0 - signs * values)
    assert model.dual_coef_[0] == pytest.approx(pull, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("classes", [2, 4])
def test_the_soft_margin_is_as_accurate_as_that_of_scikit_learn(classes: int) -> None:
    rows, labels = make_blobs(400, centers=classes, cluster_std=3.0, random_state=3)
    model = fit(MaxMarginClassifier(), rows, labels)
    reference = LinearSVC().fit(rows, labels).score(rows, labels)
    assert model.score(rows, labels) >= reference - 0.01


def test_functions_that_separate_have_norm_1_and_else_margins_at_1() -> None:
    rows, labels, _ = data(0, classes=3, spread=0.3)
    hard = MaxMarginClassifier().fit(rows, labels)
    assert not hard.soft_margin_.any()
    assert np.linalg.norm(hard.coef_, axis=1) == pytest.approx(np.ones(3))
    mixed = fit(
        MaxMarginClassifier(), np.vstack([rows, rows[:1]]), np.append(labels, 1 - labels[0])
    )
    assert sorted(mixed.soft_margin_.tolist()) == [False, True, True]
    k = int(np.flatnonzero(~mixed.soft_margin_)[0])
    signs = np.where(labels == k, 1.0, -1.0)
    assert (signs * mixed.decision_function(rows)[:, k]).min() == pytest.approx(1.0, rel=2e-3)


@pytest.mark.parametrize("model", [*SEPARATING[:2], SEPARATING[6], *LOSSES[1:]], ids=name)
def test_dense_sparse_and_frames_have_equal_weighted_fits(model: Any) -> None:
    rows, labels, weights = data(6)
    rows[rows < 0.3] = 0.0
    expected = fit(model, rows, labels, weights).decision_function(rows)
    forms = [sp.csr_array(rows), pd.DataFrame(rows), sp.coo_matrix(rows)]
    for form, given in zip(forms, [weights.tolist(), pd.Series(weights), weights], strict=True):
        values = fit(model, form, labels, given).decision_function(rows)
        assert values == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_equal_rows_are_equal_in_every_representation() -> None:
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    labels, weights = np.array([0, 0, 0, 1, 0]), np.array([1.0, 2.0, 1.0, 1.0, 0.0])
    stored = sp.csr_array(
        (np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0]), [0, 1, 1, 0, 1, 1], [0, 2, 3, 4, 5, 6]),
        shape=(5, 2),
    )
    for form in (rows, stored):
        first, sums = distinct_rows(form, labels, weights)
        assert (first.tolist(), sums.tolist()) == ([0, 2, 3], [3.0, 1.0, 1.0])


def test_an_update_has_the_weight_of_its_example() -> None:
    rows, labels, _ = data(7)
    weights = 2.0 ** np.random.default_rng(7).integers(-3, 4, 40)
    weights[::5] = 0.0
    plain = PerceptronClassifier(normalized=False, fit_intercept=False)
    weighted = clone(plain).partial_fit(rows, labels, [0, 1], weights)
    left = weights > 0.0
    scaled = clone(plain).partial_fit(rows[left] * weights[left, None], labels[left], [0, 1])
    assert (weighted.coef_ == scaled.coef_).all()
    assert weighted.updates_.tolist() == scaled.updates_.tolist()


@pytest.mark.parametrize("model", SEPARATING[:2], ids=name)
def test_streams_of_unit_weights_are_streams_without(model: Any) -> None:
    rows, labels, _ = data(8)
    plain = clone(model).partial_fit(rows, labels, [0, 1])
    units = clone(model).partial_fit(rows, labels, [0, 1], np.ones(40))
    assert (plain.coef_ == units.coef_).all()
    thrice = clone(model).partial_fit(rows, labels, [0, 1], np.full(40, 3.0))
    if isinstance(model, PerceptronClassifier):  # whose limit is 0: only the scale changes
        assert thrice.coef_ == pytest.approx(3.0 * plain.coef_)
        assert thrice.updates_.tolist() == plain.updates_.tolist()


@pytest.mark.parametrize("model", SEPARATING[:6], ids=name)
def test_a_warm_start_at_a_separating_function_makes_no_update(model: Any) -> None:
    rows, labels = make_blobs(40, centers=3, cluster_std=0.5, random_state=2)
    warm = clone(model).set_params(warm_start=True, max_iter=5000).fit(rows, labels)
    assert warm.updates_.min() > 0
    values = warm.decision_function(rows)
    warm.fit(rows[:30], labels[:30])
    assert warm.status_ is Status.FEASIBLE
    assert warm.updates_.tolist() == [0, 0, 0]
    assert warm.decision_function(rows) == pytest.approx(values)
    assert (warm.margin_bounds_[:, 0] > 0.0).all()


def test_a_warm_start_continues_with_fewer_updates() -> None:
    rows, labels = make_blobs(200, centers=2, cluster_std=1.3, random_state=0)
    separated = np.abs(rows @ [0.0, 1.0] - 2.6) > 0.05
    rows, labels = rows[separated], (rows[separated] @ [0.0, 1.0] > 2.6).astype(int)
    cold = PerceptronClassifier().fit(rows, labels)
    warm = PerceptronClassifier(warm_start=True).fit(rows[::2], labels[::2]).fit(rows, labels)
    assert warm.status_ is cold.status_ is Status.FEASIBLE
    assert 0 < warm.n_iter_ < cold.n_iter_


@pytest.mark.parametrize("model", LOSSES[1:], ids=name)
def test_a_warm_start_at_the_minimum_stays_there(model: Any) -> None:
    rows, labels, weights = data(9)
    warm = clone(model).set_params(warm_start=True).fit(rows, labels, weights)
    steps, values = warm.n_iter_, warm.decision_function(rows)
    warm.fit(rows, labels, weights)
    assert warm.n_iter_ < steps
    assert warm.decision_function(rows) == pytest.approx(values, rel=1e-6, abs=1e-7)
    others = warm.fit(np.hstack([rows, rows[:, :1] ** 2]), labels)  # of another size: from 0
    assert others.n_features_in_ == 3


def test_other_classes_end_a_warm_start() -> None:
    rows, labels = make_blobs(40, centers=3, cluster_std=0.5, random_state=2)
    two = labels < 2
    warm = PerceptronClassifier(warm_start=True).fit(rows, labels).fit(rows[two], labels[two])
    assert (warm.coef_ == PerceptronClassifier().fit(rows[two], labels[two]).coef_).all()


def test_violations_count_in_proportion_to_weights() -> None:
    system = ConicSystem.from_rows(np.array([[1.0, 0.0], [0.0, 1.0]]))
    points = np.array([[-1.0, 0.5]]), np.array([[0.5, -1.0]])
    for counts, first in ((None, 1), (np.array([1.0, 3.0]), 0), (np.array([3.0, 1.0]), 1)):
        best = LeastViolation(system, counts)
        best(points[0][0])
        best(points[1][0])
        assert (best.best() == points[first][0]).all()


def test_the_limit_of_a_weighted_example_is_that_of_the_example() -> None:
    model = MarginPerceptronClassifier(b=0.5, normalized=False, fit_intercept=False)
    model.partial_fit([[2.0], [2.0]], [1, 1], [0, 1], [1.0, 0.25])
    assert model.updates_.tolist() == [1]  # then f(x) = 4 is above b R^2 = 2


def test_weights_are_routed() -> None:
    rows, labels, weights = data(4)
    weights[:6] = 1.0
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MaxMarginClassifier().set_fit_request(sample_weight=True)
        model = model.set_score_request(sample_weight=True)
        scores = cross_validate(model, rows, labels, params={"sample_weight": weights}, cv=2)
        assert (
            "sample_weight"
            in PerceptronClassifier()
            .set_partial_fit_request(sample_weight=True)
            .get_metadata_routing()
            .partial_fit.requests
        )
    assert np.isfinite(scores["test_score"]).all()


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ([1.0] * 3, r"sample_weight has shape \(3,\), and X 4 rows; give one number per row"),
        ([[1.0]] * 4, r"sample_weight has shape \(4, 1\)"),
        ([1.0, -2.0, 1.0, 1.0], r"sample_weight\[1\] is -2.0; give finite numbers >= 0"),
        ([1.0, 1.0, np.nan, 1.0], r"sample_weight\[2\] is nan; give finite"),
        ([1.0, 1.0, 1.0, np.inf], r"sample_weight\[3\] is inf; give finite"),
        ([0.0] * 4, "sample_weight is zero in every row; give some rows a weight above 0"),
        (["a"] * 4, "sample_weight holds an entry that is no number; give one number"),
        ([1.0, 1.0, 0.0, 0.0], "needs examples of two classes"),
    ],
)
@pytest.mark.parametrize("model", [SEPARATING[0], *WEIGHTED], ids=name)
def test_wrong_weights_are_refused(model: Any, weights: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        clone(model).fit([[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1], sample_weight=weights)


def test_wrong_weights_of_a_stream_and_of_repetitions_are_refused() -> None:
    rows, labels = [[1.0], [2.0]], [0, 1]
    with pytest.raises(InputError, match=r"sample_weight\[0\] is -1.0"):
        PerceptronClassifier().partial_fit(rows, labels, [0, 1], [-1.0, 1.0])
    with pytest.raises(InputError, match=r"contains 0.5; give whole numbers"):
        EllipsoidSeparationClassifier().fit(rows, labels, [1.0, 0.5])
    with pytest.raises(InputError, match="class_weight="):
        MaxMarginClassifier(class_weight={0: -1.0}).fit(rows, labels)
