"""The classifiers over the algorithms: what they find, and what they prove of it."""

from __future__ import annotations

import pickle
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from perceptron_lab.cones.operators.kernels import Polynomial, Rbf
from perceptron_lab.core.results import Status
from perceptron_lab.estimators import (
    EllipsoidMethodClassifier,
    MarginPerceptronClassifier,
    MaxMarginClassifier,
    MirrorProxClassifier,
    PerceptronClassifier,
    RescaledPerceptronClassifier,
    SmoothedPerceptronClassifier,
)
from tests.repetitions import repeated

Floats = np.ndarray[Any, np.dtype[np.float64]]
ALL = [
    PerceptronClassifier(),
    MarginPerceptronClassifier(),
    EllipsoidMethodClassifier(),
    RescaledPerceptronClassifier(max_iter=2000),
    SmoothedPerceptronClassifier(),
    MirrorProxClassifier(),
    MaxMarginClassifier(),
]
every = pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)


def clouds(seed: int, gap: float = 3.0, size: int = 24) -> tuple[Floats, Any]:
    """Two clouds in the plane: apart by the gap, or on one another without one."""
    rng = np.random.default_rng(seed)
    labels = np.arange(size) % 2
    rows = rng.uniform(-1.0, 1.0, (size, 2)) + 0.5
    rows[:, 0] += gap * labels
    return rows, np.where(labels == 1, "right", "left")


def least_norm(rows: Floats) -> float:
    """Return the least norm in the hull of rows, by non-negative least squares."""
    stacked = np.vstack([rows.T, np.ones(len(rows))])
    weights = scipy.optimize.nnls(stacked, np.append(np.zeros(rows.shape[1]), 1.0))[0]
    return float(np.linalg.norm(rows.T @ weights) / weights.sum())


def unit_rows(rows: Floats, signs: Floats) -> Floats:
    lifted = signs[:, None] * np.hstack([rows, np.ones((len(rows), 1))])
    return lifted / np.linalg.norm(lifted, axis=1, keepdims=True)


def silent(model: Any, rows: Any, labels: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).fit(rows, labels)


@every
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_the_bounds_hold_the_margin_that_another_solver_finds(model: Any, seed: int) -> None:
    rows, labels = clouds(seed)
    fitted = clone(model).fit(rows, labels)
    signs = np.where(labels == "right", 1.0, -1.0)
    exact = least_norm(unit_rows(rows, signs))
    if isinstance(model, MaxMarginClassifier):
        ends = rows[signs > 0][:, None] - rows[signs < 0][None]
        exact = least_norm(ends.reshape(-1, 2) / 2.0)
        assert fitted.margin_bounds_[0, 0] >= (1.0 - fitted.tol) * exact * (1.0 - 1e-9)
    assert fitted.margin_bounds_.shape == (1, 2)
    assert 0.0 < fitted.margin_bounds_[0, 0] <= exact * (1.0 + 1e-9)
    assert exact * (1.0 - 1e-9) <= fitted.margin_bounds_[0, 1]
    assert fitted.margin_[0] == pytest.approx(fitted.margin_bounds_[0, 0], rel=1e-9)
    assert (fitted.status_, fitted.separable_) == (Status.FEASIBLE, True)


@every
def test_the_bounds_of_a_kernel_are_those_of_its_unit_features(model: Any) -> None:
    rows, labels = exclusive_or()
    fitted = clone(model).set_params(kernel="rbf").fit(rows, labels)
    gram = Rbf().matrix(rows, rows) + 1.0  # the constant feature; K(x, x) = 2
    values, vectors = np.linalg.eigh(gram / 2.0)
    features = vectors * np.sqrt(np.maximum(values, 0.0))
    exact = least_norm(labels[:, None] * features)
    assert fitted.margin_bounds_[0, 0] <= exact * (1.0 + 1e-6)
    assert exact * (1.0 - 1e-6) <= fitted.margin_bounds_[0, 1]
    length = (
        fitted.dual_coef_[0] @ gram[np.ix_(fitted.support_, fitted.support_)] @ fitted.dual_coef_[0]
    )
    assert length == pytest.approx(1.0)
    scores = labels * fitted.decision_function(rows) / np.sqrt(2.0)
    assert scores.min() == pytest.approx(fitted.margin_[0], rel=1e-6)


@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
@pytest.mark.parametrize("b", [0.1, 1.0, 10.0])
def test_perceptrons_keep_their_promises(seed: int, b: float) -> None:
    rows, labels = clouds(seed, gap=2.3)
    signs = np.where(labels == "right", 1.0, -1.0)
    exact = least_norm(unit_rows(rows, signs))
    plain = PerceptronClassifier().fit(rows, labels)
    assert plain.n_iter_ <= (1.0 + 1e-9) / exact**2  # Novikoff
    wide = MarginPerceptronClassifier(b=b).fit(rows, labels)
    assert wide.n_iter_ <= (1.0 + 2.0 * b) * (1.0 + 1e-9) / exact**2  # (2.11)
    assert wide.margin_[0] >= exact / (2.0 + 1.0 / b) * (1.0 - 1e-9)  # (2.21)
    model = PerceptronClassifier(normalized=False).fit(rows, labels)
    directional = least_norm(signs[:, None] * np.hstack([rows, np.ones((len(rows), 1))]))
    assert model.margin_bounds_[0, 0] <= directional * (1.0 + 1e-9)
    assert directional * (1.0 - 1e-9) <= model.margin_bounds_[0, 1]


@every
@pytest.mark.parametrize("intercept", [True, False])
def test_classes_reported_as_separable_are_separable_in_exact_arithmetic(
    model: Any, intercept: bool
) -> None:
    rows, labels = clouds(1)
    rows = rows if intercept else rows - [[2.0, 0.5]]
    fitted = clone(model).set_params(fit_intercept=intercept).fit(rows, labels)
    assert fitted.separable_ is True
    assert intercept or fitted.intercept_.tolist() == [0.0]
    w, b = [Fraction(value) for value in fitted.coef_[0]], Fraction(fitted.intercept_[0])
    for row, label in zip(rows, labels, strict=True):
        score = sum((v * Fraction(x) for v, x in zip(w, row, strict=True)), b)
        assert score > 0 if label == "right" else score < 0
    point = fitted.coef_[0] if isinstance(model, MaxMarginClassifier) else np.append(w, b)
    assert np.linalg.norm(np.asarray(point, dtype=float)) == pytest.approx(1.0)


@every
def test_the_decision_function_is_linear(model: Any) -> None:
    rows, labels = clouds(2)
    fitted = clone(model).fit(rows, labels)
    values = rows @ fitted.coef_[0] + fitted.intercept_[0]
    assert fitted.decision_function(rows) == pytest.approx(values, abs=1e-14)
    assert fitted.predict(rows).tolist() == labels.tolist()
    assert fitted.coef_.shape == (1, 2)
    assert fitted.intercept_.shape == fitted.updates_.shape == (1,)
    assert fitted.n_iter_ == fitted.updates_.max()


@every
def test_classes_on_one_another_end_with_a_warning_and_no_separability(model: Any) -> None:
    rows, labels = clouds(0, gap=0.6, size=60)
    with pytest.warns(
        ConvergenceWarning,
        match=r"^(no hyperplane separates )?class 'right' (from|against) the rest",
    ):
        fitted = clone(model).fit(rows, labels)
    signs = np.where(labels == "right", 1.0, -1.0)
    feasible = scipy.optimize.linprog(
        np.zeros(3), -unit_rows(rows, signs), -np.ones(60), bounds=(None, None)
    )
    assert feasible.status == 2  # infeasible, by another solver
    assert fitted.margin_[0] < 0.0
    assert fitted.margin_bounds_[0, 0] < 0.0 <= fitted.margin_bounds_[0, 1]
    assert fitted.score(rows, labels) >= 0.6
    if isinstance(model, RescaledPerceptronClassifier) and fitted.separable_ is None:
        assert fitted.status_ is Status.UPDATE_LIMIT
        return
    assert (fitted.status_, fitted.separable_) == (Status.INFEASIBLE, False)
    assert fitted.margin_bounds_[0, 1] == 0.0
    weights = fitted.certificate_[0].weights
    lifted = signs[:, None] * np.hstack([rows, np.ones((60, 1))])
    assert weights.min() >= 0.0
    assert np.linalg.norm(weights @ lifted) <= 1e-2 * weights.sum()


def test_a_margin_below_tol_counts_as_no_separation() -> None:
    rows, labels = [[0.0], [0.999], [1.001], [2.0]], [0, 0, 1, 1]  # a margin of 4e-4
    with pytest.warns(
        ConvergenceWarning,
        match=r"^no hyperplane .* with a unit margin above 0.\d+ .proved.; lower tol",
    ):
        coarse = MirrorProxClassifier(tol=0.1).fit(rows, labels)
    assert (coarse.status_, coarse.separable_) == (Status.MARGIN_BOUNDED, None)
    assert coarse.margin_bounds_[0, 1] <= 0.1
    fine = EllipsoidMethodClassifier(tol=1e-5).fit(rows, labels)
    assert fine.separable_ is True
    assert fine.margin_bounds_[0, 0] > 1e-5


@pytest.mark.parametrize("limit", [{"max_iter": 1}, {"max_seconds": 1e-9}])
def test_limits_end_a_fit(limit: dict[str, Any]) -> None:
    rows, labels = clouds(3, gap=2.05)
    with pytest.warns(ConvergenceWarning, match="raise max_iter or max_seconds"):
        model = PerceptronClassifier(**limit).fit(rows, labels)
    assert model.status_ in (Status.UPDATE_LIMIT, Status.TIME_LIMIT)
    assert model.separable_ is None
    assert np.isfinite(model.decision_function(rows)).all()


@every
def test_several_classes_are_separated_from_the_rest(model: Any) -> None:
    rows, labels = load_wine(return_X_y=True)
    rows = StandardScaler().fit_transform(rows)
    silent_rows = silent(model, rows, np.array(["a", "b", "c"])[labels])
    assert silent_rows.coef_.shape == (3, 13)
    assert silent_rows.margin_bounds_.shape == (3, 2)
    assert len(silent_rows.certificate_) == 3
    values = silent_rows.decision_function(rows)
    assert values == pytest.approx(rows @ silent_rows.coef_.T + silent_rows.intercept_, abs=1e-12)
    assert (silent_rows.classes_[values.argmax(axis=1)] == silent_rows.predict(rows)).all()
    assert silent_rows.separable_ is True
    assert (silent_rows.predict(rows) == np.array(["a", "b", "c"])[labels]).all()


def test_one_class_that_is_not_separable_is_one_too_many() -> None:
    rows, labels = load_iris(return_X_y=True)
    with pytest.warns(
        ConvergenceWarning,
        match="^no hyperplane separates class 1 from the rest .proved.; the function is that "
        "of a soft margin",
    ):
        model = MaxMarginClassifier().fit(rows, labels)
    assert (model.status_, model.separable_) == (Status.INFEASIBLE, False)
    assert [certificate.status.value for certificate in model.certificate_] == [
        "FEASIBLE",
        "INFEASIBLE",
        "INFEASIBLE",
    ]
    assert model.margin_bounds_[0, 0] > 0.8
    assert model.soft_margin_.tolist() == [False, True, True]
    assert model.score(rows, labels) > 0.95


@every
def test_sparse_examples_have_the_same_functions(model: Any) -> None:
    rows, labels = clouds(4)
    dense = clone(model).fit(rows, labels)
    for kind in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        sparse = clone(model).fit(kind(rows), labels)
        assert sparse.separable_ is True
        assert sparse.updates_.tolist() == dense.updates_.tolist()
        assert sparse.coef_ == pytest.approx(dense.coef_, rel=1e-6)
        values = dense.decision_function(rows)
        assert sparse.decision_function(kind(rows)) == pytest.approx(values, rel=1e-6, abs=1e-6)


def exclusive_or(seed: int = 0) -> tuple[Floats, Any]:
    rng = np.random.default_rng(seed)
    corner = rng.choice([-1.0, 1.0], size=(30, 2))
    return corner + 0.2 * rng.standard_normal((30, 2)), corner.prod(axis=1)


@every
def test_a_kernel_separates_the_exclusive_or(model: Any) -> None:
    rows, labels = exclusive_or()
    model = clone(model).set_params(kernel="rbf")
    fitted = model.fit(rows, labels)
    assert fitted.separable_ is True
    assert not hasattr(fitted, "coef_")
    new, truth = exclusive_or(1)
    assert fitted.score(new, truth) == 1.0
    gram = Rbf().matrix(new, rows[fitted.support_])
    assert (rows[fitted.support_] == fitted.support_vectors_).all()
    values = gram @ fitted.dual_coef_[0] + fitted.intercept_[0]
    assert fitted.decision_function(new) == pytest.approx(values, abs=1e-12)
    assert fitted.intercept_[0] == pytest.approx(fitted.dual_coef_.sum())


def test_kernels_are_the_linear_functions_of_their_features() -> None:
    rows, labels = clouds(5)
    plain = PerceptronClassifier().fit(rows, labels)
    model = PerceptronClassifier(kernel="linear")
    by_kernel = model.fit(rows, labels)
    assert by_kernel.updates_.tolist() == plain.updates_.tolist()
    values = plain.decision_function(rows)
    assert by_kernel.decision_function(rows) == pytest.approx(values, abs=1e-9)
    by_gram = model.set_params(kernel="precomputed").fit(rows @ rows.T, labels)
    assert by_gram.decision_function(rows @ rows.T) == pytest.approx(values, abs=1e-9)
    # A fit of the other kind leaves nothing of the one before
    assert not hasattr(model.set_params(kernel=None).fit(rows, labels), "dual_coef_")


def test_kernels_of_sparse_examples_and_without_a_constant() -> None:
    rows, labels = exclusive_or()
    kernel = Polynomial(degree=2, coef0=0.0, gamma=1.0)
    dense = MaxMarginClassifier(kernel=kernel, fit_intercept=False).fit(rows, labels)
    assert dense.intercept_.tolist() == [0.0]
    assert dense.separable_ is True
    sparse = MaxMarginClassifier(kernel=kernel, fit_intercept=False).fit(sp.csr_array(rows), labels)
    values = dense.decision_function(rows)
    assert sparse.decision_function(sp.csr_array(rows)) == pytest.approx(values, rel=1e-9)


def test_searches_over_kernels_slice_a_matrix() -> None:
    rows, labels = exclusive_or()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), MaxMarginClassifier()),
        {"maxmarginclassifier__kernel": [Rbf(gamma=1e-3), Rbf(gamma=1.0)]},
        cv=3,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(rows, labels)
    assert search.best_score_ > 0.9
    accuracies = cross_val_score(
        PerceptronClassifier(kernel="precomputed"), Rbf().matrix(rows, rows), labels, cv=3
    )
    assert (
        accuracies.tolist()
        == cross_val_score(PerceptronClassifier(kernel="rbf"), rows, labels, cv=3).tolist()
    )


@every
def test_frames_pipelines_and_pickles(model: Any) -> None:
    rows, labels = clouds(6)
    frame = pd.DataFrame(rows, columns=["age", "dose"])
    scaler = StandardScaler().set_output(transform="pandas")
    fitted = make_pipeline(scaler, clone(model)).fit(frame, labels)
    assert fitted[-1].feature_names_in_.tolist() == ["age", "dose"]
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.decision_function(frame) == fitted.decision_function(frame)).all()
    assert again[-1].certificate_[0].status is Status.FEASIBLE
    with pytest.raises(ValueError, match="feature names should match"):
        fitted[-1].predict(frame.rename(columns={"age": "size"}))


@pytest.mark.parametrize(
    "state", [7, np.random.RandomState(7), np.random.default_rng(7)], ids=["int", "old", "new"]
)
def test_the_random_state_determines_the_iterates(state: Any) -> None:
    rows, labels = clouds(3, gap=2.02)
    copies = [pickle.loads(pickle.dumps(state)) for _ in range(2)]
    models = [
        silent(RescaledPerceptronClassifier(random_state=state), rows, labels) for state in copies
    ]
    assert (models[0].coef_ == models[1].coef_).all()
    assert models[0].separable_ is True
