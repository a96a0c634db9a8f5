from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from perceptron_lab.cones.operators.kernels import Linear, Polynomial
from perceptron_lab.core.errors import InputError
from perceptron_lab.estimators import SoftEllipsoidClassifier, SquaredHingeClassifier
from perceptron_lab.estimators.learners.partial_cholesky import kernel_matrix
from perceptron_lab.estimators.learners.registered.tuned_classifiers import TunedPolynomialSvm
from tests.repetitions import examples

SVM = SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0)
MODELS = [SVM, SquaredHingeClassifier()]
seeds = st.integers(0, 2**32 - 1)
weights = st.sampled_from([None, "balanced"])


def clouds(seed: int, count: int = 60, columns: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping clouds of unequal size."""
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(count) % 4 == 0, 1, -1)
    rows = rng.standard_normal((count, columns)) * (rng.random((count, columns)) < 0.6)
    return rows + 0.5 * labels[:, None] * (np.arange(columns) < 2), labels


@given(seeds, weights, st.sampled_from([1e-6, 1e-3, 1.0]))
def test_the_linear_scorer_is_at_its_minimum(seed: int, weight: Any, ridge: float) -> None:
    rows, labels = clouds(seed)
    model = SquaredHingeClassifier(regularisation=ridge, class_weight=weight)
    fitted = model.fit(rows, labels)
    shares = np.full(60, 1 / 60) if weight is None else np.where(labels > 0, 1 / 30, 1 / 90)
    hinges = np.maximum(0.0, 1.0 - labels * (rows @ fitted.coef_[0] + fitted.intercept_))
    pull = -shares * labels * hinges
    gradient = np.append(rows.T @ pull + 0.5 * ridge * fitted.coef_[0], pull.sum())
    assert fitted.converged_
    assert np.linalg.norm(gradient) <= 1e-8
    value = 0.5 * shares @ hinges**2 + 0.25 * ridge * fitted.coef_[0] @ fitted.coef_[0]
    assert fitted.objective_ == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(
        fitted.decision_function(rows), rows @ fitted.coef_[0] + fitted.intercept_
    )


def test_weights_by_label_are_shares_of_the_total() -> None:
    rows, labels = clouds(3)  # 15 positive, 45 negative
    balanced, weighted = (
        SquaredHingeClassifier(class_weight=weight).fit(rows, labels)
        for weight in ("balanced", {1: 6, -1: 2})
    )
    assert weighted.objective_ == pytest.approx(balanced.objective_, rel=1e-9)
    even = SquaredHingeClassifier().fit(rows, labels)
    assert weighted.objective_ != pytest.approx(even.objective_, rel=1e-3)


@pytest.mark.parametrize("factor", [0.0, -1.0, np.nan, np.inf])
def test_impossible_weights_by_label_are_refused(factor: float) -> None:
    model = SquaredHingeClassifier(class_weight={1: factor, -1: 1.0})
    with pytest.raises(InputError, match="class_weight"):
        model.fit(*clouds(0))


@settings(max_examples=examples(20))
@given(seeds, weights, st.sampled_from([1e-4, 1e-2, 1.0]))
def test_the_linear_scorer_is_the_soft_ellipsoid_of_rank_0(
    seed: int, weight: Any, ridge: float
) -> None:
    rows, labels = clouds(seed)
    linear = SquaredHingeClassifier(regularisation=ridge, class_weight=weight).fit(rows, labels)
    flat = SoftEllipsoidClassifier(
        rank=0, regularisation=ridge, class_weight=weight, tol=1e-14
    ).fit(rows, labels)
    assert linear.objective_ <= flat.objective_ * (1 + 1e-9)
    assert flat.objective_ == pytest.approx(linear.objective_, rel=1e-6)
    np.testing.assert_allclose(
        linear.decision_function(rows), flat.decision_function(rows), atol=1e-3
    )


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_sparse_rows_as_dense_rows(model: BaseEstimator) -> None:
    rows, labels = clouds(1)
    dense = model.fit(rows, labels).decision_function(rows)
    sparse = model.fit(sp.csr_array(rows), labels).decision_function(sp.csr_array(rows))
    np.testing.assert_allclose(sparse, dense, atol=1e-6)
    assert dense[labels > 0].mean() > dense[labels < 0].mean()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_labels_in_every_form(model: BaseEstimator) -> None:
    rows, labels = clouds(2)
    expected = clone(model).fit(rows, labels).decision_function(rows)
    for same in (
        labels > 0,
        (labels > 0).astype(float),
        labels.tolist(),
        np.where(labels > 0, "yes", "no"),
    ):
        assert (model.fit(rows, same).decision_function(rows) == expected).all()


@settings(max_examples=examples(20))
@given(seeds, weights, st.sampled_from([0.1, 10.0]))
def test_the_machine_on_a_kernel_matrix_is_the_machine_on_rows(
    seed: int, weight: Any, penalty: float
) -> None:
    rows, labels = clouds(seed)
    model = clone(SVM).set_params(C=penalty, class_weight=weight, tol=1e-8)
    matrix = kernel_matrix(Polynomial(degree=2, coef0=1.0, gamma=1.0), sp.csr_array(rows))
    training, new = np.arange(0, 60, 2), np.arange(1, 60, 2)
    direct = clone(model).fit(rows[training], labels[training])
    by_matrix = clone(model).set_params(kernel="precomputed")
    by_matrix.fit(matrix[np.ix_(training, training)], labels[training])
    np.testing.assert_allclose(
        by_matrix.decision_function(matrix[np.ix_(new, training)]),
        direct.decision_function(rows[new]),
        rtol=1e-4,
        atol=1e-4,
    )


def test_the_machine_draws_an_ellipse() -> None:
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1.0, 1.0, (400, 2))
    inside = (rows[:, 0] / 0.8) ** 2 + (rows[:, 1] / 0.4) ** 2 < 1.0
    scores = clone(SVM).set_params(C=1e4).fit(rows, inside).decision_function(rows)
    assert ((scores > 0) == inside).mean() > 0.99
    # No linear function comes near.
    flat = SquaredHingeClassifier(regularisation=1e-6).fit(rows, inside).decision_function(rows)
    assert scores[inside].min() > scores[~inside].max() - 0.5
    assert flat[inside].min() < np.median(flat[~inside])


def test_too_few_iterations_are_a_warning() -> None:
    rows, labels = clouds(3)
    learner = TunedPolynomialSvm(iterations=3)
    cut_off = clone(SVM).set_params(C=1e6, max_iter=3)
    with pytest.warns(ConvergenceWarning):
        assert learner.convergence_of(cut_off.fit(rows, labels)) == (0, False)
    assert learner.convergence_of(clone(SVM).set_params(max_iter=-1).fit(rows[:2], [0, 1]))[1]
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        linear = SquaredHingeClassifier(regularisation=1e-9, max_iter=1).fit(rows, labels)
    assert (linear.converged_, linear.n_iter_) == (False, 1)


def test_the_kernel_matrix_of_sparse_rows() -> None:
    rows, _ = clouds(4)
    kernel = kernel_matrix(Polynomial(degree=2, coef0=1.0, gamma=1.0), sp.csr_array(rows))
    np.testing.assert_allclose(kernel, (1.0 + rows @ rows.T) ** 2, rtol=1e-12)


def test_kernel_rows_are_computed_by_blocks() -> None:
    rows, _ = clouds(5, count=700, columns=3)
    np.testing.assert_allclose(kernel_matrix(Linear(), rows), rows @ rows.T, atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "labels", "reason"),
    [
        (np.eye(3), [1, 1, 1], "needs examples of two classes"),
        (np.eye(3), [0, 0, 0], "needs examples of two classes"),
        (np.eye(3), [1, 0], "inconsistent numbers of samples"),
        (np.eye(3), [1, 0, 3], "binary"),
        (np.full((2, 2), np.nan), [1, 0], "NaN"),
        (np.ones(3), [1, 0, 0], "2D array"),
    ],
)
def test_broken_training_data(rows: Any, labels: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        SquaredHingeClassifier().fit(rows, labels)


def test_examples_of_another_kind() -> None:
    rows, labels = clouds(6)
    with pytest.raises(ValueError, match="4 features"):
        SquaredHingeClassifier().fit(rows, labels).decision_function(rows[:, 1:])


@pytest.mark.parametrize(
    "parameters",
    [
        {"regularisation": 0.0},
        {"regularisation": float("inf")},
        {"class_weight": "heavy"},
        {"tol": -1.0},
        {"max_iter": 0},
    ],
)
def test_impossible_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"^{next(iter(parameters))}="):
        SquaredHingeClassifier(**parameters).fit(*clouds(0))
