"""partial_fit is the online perceptron, and a fit its rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from perceptron_lab.estimators import MarginPerceptronClassifier, PerceptronClassifier
from perceptron_lab.problems.streams import online_perceptron
from tests.repetitions import repeated


def stream(seed: int, classes: int = 2) -> tuple[Any, Any]:
    """Whole numbers, so that every sum is exact in any order; labels with some noise."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-9, 10, (120, 4)).astype(float)
    labels = (rows @ rng.integers(-3, 4, (4, classes))).argmax(axis=1)
    labels[:classes] = np.arange(classes)
    return rows, np.where(rng.random(120) < 0.05, 0, labels)


@pytest.mark.parametrize("seed", repeated(range(20), kept=1))
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_its_updates_are_the_mistakes_of_the_online_perceptron(
    seed: int, classes: int, intercept: bool
) -> None:
    rows, labels = stream(seed, classes)
    model = PerceptronClassifier(normalized=False, fit_intercept=intercept)
    for part in (slice(0, 1), slice(1, 70), slice(70, None)):
        model.partial_fit(rows[part], labels[part], classes=np.arange(classes))
    for k, label in enumerate([1] if classes == 2 else range(classes)):
        other = online_perceptron(rows, labels == label, affine=intercept)
        assert model.updates_[k] == other.mistakes.total > 0
        assert model.coef_[k].tolist() == other.weight.tolist()
        assert model.intercept_[k] == -other.threshold
    assert model.n_iter_ == model.updates_.max()


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_rows_of_norm_1_are_presented_as_such(seed: int) -> None:
    rows, labels = stream(seed)
    lifted = np.hstack([rows, np.ones((120, 1))])
    lifted /= np.linalg.norm(lifted, axis=1, keepdims=True)
    other = online_perceptron(lifted, labels)
    model = PerceptronClassifier().partial_fit(rows, labels, classes=[0, 1])
    assert model.updates_.tolist() == [other.mistakes.total]
    assert np.append(model.coef_, model.intercept_) == pytest.approx(other.weight)


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_a_margin_is_measured_in_the_longest_row_so_far(seed: int) -> None:
    rows, labels = stream(seed)
    rows[0] *= 3.0  # the longest, of the first call
    model = MarginPerceptronClassifier(b=0.5, normalized=False)
    lifted = np.hstack([rows, np.ones((120, 1))]) * np.where(labels == 1, 1.0, -1.0)[:, None]
    point, updates, longest = np.zeros(5), 0, 0.0
    for part in (slice(0, 50), slice(50, None)):
        model.partial_fit(rows[part], labels[part], classes=[0, 1])
        longest = max(longest, float((lifted[part] ** 2).sum(axis=1).max()))
        for row in lifted[part]:
            if row @ point <= 0.5 * longest:
                point += row
                updates += 1
    # The norm of the longest row is rounded, a score is not: one equal to the limit may go over.
    assert model.updates_[0] == pytest.approx(updates, abs=1)
    if model.updates_[0] == updates:
        assert np.append(model.coef_, model.intercept_).tolist() == point.tolist()


@pytest.mark.parametrize("model", [PerceptronClassifier, MarginPerceptronClassifier])
def test_sparse_examples_are_presented_alike(model: Any) -> None:
    rows, labels = stream(0)
    rows = np.tile(rows, (20, 1))  # more than are made dense at a time
    labels = np.tile(labels, 20)
    dense = model(normalized=False).partial_fit(rows, labels, classes=[0, 1])
    sparse = model(normalized=False).partial_fit(sp.csc_array(rows), labels, classes=[0, 1])
    assert sparse.updates_.tolist() == dense.updates_.tolist()
    assert sparse.coef_.tolist() == dense.coef_.tolist()


def test_a_fit_makes_the_mistakes_of_all_passes() -> None:
    rows, labels = stream(1)
    other = online_perceptron(rows, labels == 1, affine=True, passes=1000)
    keep = np.ones(len(labels), dtype=bool)
    if not other.mistakes.separated:  # the noise is left out
        truth = online_perceptron(rows, labels == 1, affine=True).decision_function(rows) > 0
        keep = truth == (labels == 1)
        rows, labels = rows[keep], labels[keep]
        other = online_perceptron(rows, labels == 1, affine=True, passes=10_000)
    assert other.mistakes.separated
    model = PerceptronClassifier(normalized=False).fit(rows, labels)
    assert model.updates_.tolist() == [other.mistakes.total]
    scale = np.linalg.norm(np.append(other.weight, other.threshold))
    assert model.coef_[0] == pytest.approx(other.weight / scale, rel=1e-12)
    assert model.intercept_[0] == pytest.approx(-other.threshold / scale, rel=1e-12)
    assert model.separable_ is True


def test_nothing_is_verified_without_stored_examples() -> None:
    rows, labels = stream(2)
    model = PerceptronClassifier().partial_fit(rows, labels, classes=[0, 1])
    assert (model.status_, model.separable_, model.certificate_) == (Status.FITTED, None, ())
    assert model.margin_bounds_.tolist() == [[-np.inf, np.inf]]
    assert np.isnan(model.margin_).all()


def test_partial_fit_resumes_after_fit() -> None:
    rows, labels = np.array([[1.0], [2.0], [4.0], [5.0]]), [0, 0, 1, 1]
    model = PerceptronClassifier().fit(rows, labels)
    before, updates = model.coef_.copy(), model.updates_.copy()
    model.partial_fit(rows, labels)  # all are right: nothing changes
    assert (model.coef_ == before).all()
    assert (model.updates_ == updates).all()
    model.partial_fit([[3.9]], [0])
    assert model.updates_.tolist() == (updates + 1).tolist()


@pytest.mark.parametrize(
    ("model", "arguments", "reason"),
    [
        (
            PerceptronClassifier(),
            ([[1.0]], [0]),
            "classes are missing; give all labels in the first",
        ),
        (
            PerceptronClassifier(),
            ([[1.0]], [2], [0, 1]),
            r"label 2 is not among the classes \[0, 1\]; name all classes",
        ),
        (PerceptronClassifier(), ([[1.0]], [0], [0]), "needs examples of two classes"),
        (
            PerceptronClassifier(kernel="rbf"),
            ([[1.0]], [0], [0, 1]),
            "partial_fit with kernel='rbf', which would need all examples before; use fit",
        ),
        (
            PerceptronClassifier(fit_intercept=False),
            ([[0.0]], [0], [0, 1]),
            "row 0 is zero",
        ),
    ],
)
def test_invalid_streams_are_refused(model: Any, arguments: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        model.partial_fit(*arguments)


def test_other_classes_than_before_are_refused() -> None:
    model = PerceptronClassifier().partial_fit([[1.0]], [0], classes=[0, 1])
    with pytest.raises(
        InputError, match=r"classes=\[0, 1, 2\], after \[0, 1\] in the previous call"
    ):
        model.partial_fit([[1.0]], [0], classes=[0, 1, 2])
