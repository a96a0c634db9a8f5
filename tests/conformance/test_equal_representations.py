"""The same data in several representations: the same choices and the same scores.

Every registered learner and every estimator learns the same examples as dense and as sparse rows,
turned by a rotation, as Gram-Schmidt features of full rank, and as a precomputed kernel matrix, as
far as it takes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import estimators
from perceptron_lab.cones.operators.kernels import Polynomial
from perceptron_lab.core import registry
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.learners.features import OnFeatures
from perceptron_lab.estimators.learners.learning import Learned
from perceptron_lab.estimators.online_classifiers import OnlineClassifier
from perceptron_lab.estimators.separating import SeparatingClassifier

FEATURES = 4
ROUNDED = {
    **dict.fromkeys(("soft-ellipsoid", "SoftEllipsoidClassifier"), 2e-3),
    **dict.fromkeys(("soft-separation", "SoftSeparationClassifier"), 1e-4),
}
"""Scores may differ by this part of the largest one: where a solver ends by its tolerance."""
FEW = {
    "soft-ellipsoid": {"regularisations": (1e-2, 1e-4, 1e-6)},
    "soft-separation": {"positive_penalties": (3.0, 10.0), "negative_penalties": (5.0, 20.0)},
    "polynomial-svm": {"penalties": (0.01, 0.1, 1.0)},
}
"""Values that are tried of a parameter. Where the examples left for a fit can be separated, a soft
ellipsoid takes seconds without regularisation."""
ROTATABLE = {"newton-steps", "logistic-regression", "online-perceptron", "online-kernel-perceptron"}
"""Learners without features that measure examples by inner products alone."""


def of_kind(base: type) -> list[str]:
    return [name for name in estimators.__all__ if issubclass(getattr(estimators, name), base)]


def turned(rows: np.ndarray) -> np.ndarray:
    turn, _ = np.linalg.qr(np.random.default_rng(7).standard_normal((FEATURES, FEATURES)))
    return rows @ turn


def task(separable: bool) -> Task:
    """Return positives within negatives, one in thirty of them astray; or a plane between them."""
    rng = np.random.default_rng(3)

    def half(count: int) -> tuple[Any, Any]:
        labels = np.where(np.arange(count) % 3 == 0, 1.0, -1.0)
        rows = rng.standard_normal((count, FEATURES))
        if separable:
            rows[:, 0] = labels * (0.5 + np.abs(rows[:, 0]))
        else:
            outer = 3.0 * rows / np.linalg.norm(rows, axis=1)[:, None]
            inner = (labels > 0) != (np.arange(count) % 30 == 0)
            rows = np.where(inner[:, None], 0.6 * rows, outer) + 0.2 * labels[:, None]
        return rows, labels

    (examples, labels), (test, test_labels) = half(90), half(60)
    return Task("cloud", examples, labels, test, test_labels)


def transformed(data: Task, by: Any) -> Task:
    return replace(data, examples=by(data.examples), test_examples=by(data.test_examples))


def learned(name: str) -> Iterator[tuple[str, Learned]]:
    """Yield what a learner learns, by representation."""
    kind, data = registry.load("learner", name), task(separable=False)
    if not issubclass(kind, OnFeatures):
        yield "dense", kind().learn(data, 0)
        yield "sparse", kind().learn(transformed(data, sp.csr_array), 0)
        if name in ROTATABLE:
            yield "turned", kind().learn(transformed(data, turned), 0)
        return
    parameters = FEW.get(name, {})
    full, features = kind(components=None, **parameters), kind(components=FEATURES, **parameters)
    yield "dense", full.learn(data, 0)
    if name not in ("ellipsoid-separation", "soft-separation"):  # which take dense rows alone
        yield "sparse", full.learn(transformed(data, sp.csr_array), 0)
    yield "turned", full.learn(transformed(data, turned), 0)
    yield "features", features.learn(data, 0)
    yield "features of sparse rows", features.learn(transformed(data, sp.csr_array), 0)


def assert_scores_agree(name: str, form: str, actual: np.ndarray, expected: np.ndarray) -> None:
    room = ROUNDED.get(name, 1e-5) * np.abs(expected).max()
    assert np.abs(actual - expected).max() <= room, form


LEARNERS = [
    pytest.param(name, marks=pytest.mark.long) if name == "soft-ellipsoid" else name
    for name in registry.names("learner")
]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_chooses_and_scores_alike(name: str) -> None:
    learned_scores = list(learned(name))
    _, first = learned_scores[0]
    assert len(learned_scores) >= 2
    for form, other in learned_scores[1:]:
        assert other.certificate.get("chosen") == first.certificate.get("chosen"), form
        assert other.certificate.get("edges") == first.certificate.get("edges"), form
        assert other.status is first.status, form
        assert_scores_agree(name, form, other.scores, first.scores)


def fits(name: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the scores of new examples by an estimator, by representation."""
    kind = getattr(estimators, name)
    separating = issubclass(kind, SeparatingClassifier)
    data = task(separable=separating)
    rows, new, labels = data.examples, data.test_examples, data.labels

    def scores(examples: Any, unknown: Any, **parameters: Any) -> np.ndarray:
        return np.asarray(kind(**parameters).fit(examples, labels).decision_function(unknown))

    yield "dense", scores(rows, new)
    if name not in ("EllipsoidSeparationClassifier", "SoftSeparationClassifier"):
        yield "sparse", scores(sp.csr_array(rows), sp.csr_array(new))
    yield "turned", scores(turned(rows), turned(new))
    if separating and name != "MaxMarginClassifier":  # whose rows have their own lengths
        yield "kernel", scores(rows, new, kernel="linear")
        yield "matrix", scores(rows @ rows.T, new @ rows.T, kernel="precomputed")


@pytest.mark.parametrize("name", estimators.__all__)
def test_an_estimator_scores_alike(name: str) -> None:
    scores_of_forms = list(fits(name))
    for form, scores in scores_of_forms[1:]:
        assert_scores_agree(name, form, scores, scores_of_forms[0][1])


@pytest.mark.parametrize("name", of_kind(SeparatingClassifier))
def test_a_kernel_matrix_is_its_kernel(name: str) -> None:
    data, kernel = task(separable=True), Polynomial(degree=2, coef0=1.0, gamma=1.0)
    rows, new, kind = data.examples, data.test_examples, getattr(estimators, name)
    by_name = kind(kernel=kernel).fit(rows, data.labels).decision_function(new)
    by_matrix = kind(kernel="precomputed").fit(kernel.matrix(rows, rows), data.labels)
    scores = by_matrix.decision_function(kernel.matrix(new, rows))
    assert_scores_agree(name, "matrix", scores, by_name)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("name", of_kind(OnlineClassifier))
def test_batches_are_one_stream(name: str, normalized: bool) -> None:
    data, kind = task(separable=False), getattr(estimators, name)
    rows = data.examples * np.linspace(0.5, 3.0, len(data.labels))[:, None]  # longer and longer
    full = kind(normalized=normalized).partial_fit(rows, data.labels, classes=[-1, 1])
    for ends in ([30, 60], range(1, 90), [89]):
        parted = kind(normalized=normalized)
        for part in np.split(np.arange(90), ends):
            parted.partial_fit(rows[part], data.labels[part], classes=[-1, 1])
        assert parted.updates_.tolist() == full.updates_.tolist()
        assert parted.coef_.tolist() == full.coef_.tolist()
        assert parted.intercept_.tolist() == full.intercept_.tolist()
