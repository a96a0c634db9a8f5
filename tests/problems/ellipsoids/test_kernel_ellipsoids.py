"""Ellipsoids in a kernel space: Gram-Schmidt features, and why all of them say nothing."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.estimators.learners.features import GramSchmidtFeatures
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation
from tests.repetitions import repeated


def two_classes(seed: int) -> tuple[FloatArray, FloatArray]:
    """Positive examples in a disc, negative ones on a ring around it and in its middle."""
    rng = np.random.default_rng(seed)
    angles, radii = rng.uniform(0, 2 * np.pi, 60), np.repeat([1.0, 3.0], 30)
    radii[:30] *= np.sqrt(rng.uniform(0.3, 1.0, 30))
    points = radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    return points, np.repeat([1.0, -1.0], 30)


def monomials(x: FloatArray) -> FloatArray:
    """The features of (x'z + 1)^2 without the constant one."""
    a, b = x.T
    root = np.sqrt(2.0)
    return np.column_stack([root * a, root * b, a * a, root * a * b, b * b])


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_all_features_of_a_kernel_give_the_ratio_of_its_own_space(seed: int) -> None:
    """The ratio is invariant under affine maps, and the features are an orthonormal basis."""
    examples, labels = two_classes(seed)
    transformer = GramSchmidtFeatures(
        n_components=60, kernel="poly", degree=2, gamma=1.0, coef0=1.0, bias=1.0
    )
    features = transformer.fit_transform(examples)
    assert transformer.n_components_ == 6
    expected = maximal_separation(*split(monomials(examples), labels))
    # The constant feature makes one dimension more than there is: the images lie in a hyperplane
    directions = np.linalg.svd(features - features.mean(axis=0))[2][:5]
    ratio = maximal_separation(*split(features @ directions.T, labels))
    assert expected.status is ratio.status is Status.FEASIBLE
    assert ratio.ratio == pytest.approx(expected.ratio, rel=1e-6)


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_a_definite_kernel_separates_any_labels_without_bound(seed: int) -> None:
    """Independent images: no negative example lies in the affine hull of the positive ones."""
    examples = two_classes(seed)[0]
    labels = np.random.default_rng(seed).permutation(np.repeat([1.0, -1.0], 30))
    transformer = GramSchmidtFeatures(n_components=60, kernel="rbf", gamma=16.0, bias=1.0)
    features = transformer.fit_transform(examples)
    assert transformer.n_components_ == 60
    assert maximal_separation(*split(features, labels)).status is Status.UNBOUNDED
    few = maximal_separation(*split(features[:, :5], labels))
    assert few.status is not Status.UNBOUNDED


def split(features: FloatArray, labels: FloatArray) -> tuple[FloatArray, FloatArray]:
    return features[labels > 0], features[labels < 0]
