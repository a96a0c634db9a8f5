"""Small sets of two classes: separable by an ellipsoid, and not."""

from __future__ import annotations

import numpy as np

from perceptron_lab.core.results import FloatArray

Classes = tuple[FloatArray, FloatArray]


def separable(seed: int, positives: int, negatives: int, dimension: int) -> Classes:
    """Positives in an ellipsoid, negatives beyond 1.3 times it."""
    rng = np.random.default_rng(seed)
    inner = rng.standard_normal((positives, dimension))
    radii = rng.random(positives) ** (1.0 / dimension)
    inner *= (radii / np.linalg.norm(inner, axis=1))[:, None]
    outer = rng.standard_normal((negatives, dimension))
    outer *= ((1.3 + rng.random(negatives)) / np.linalg.norm(outer, axis=1))[:, None]
    stretch = rng.standard_normal((dimension, dimension)) + 2.0 * np.eye(dimension)
    return inner @ stretch + 1.0, outer @ stretch + 1.0


def distant(seed: int, positives: int, negatives: int, dimension: int, factor: float) -> Classes:
    """The same with negatives so many times as far from the centre."""
    inner, outer = separable(seed, positives, negatives, dimension)
    return inner, 1.0 + factor * (outer - 1.0)


def overlapping(seed: int, positives: int, negatives: int, dimension: int) -> Classes:
    """Those of :func:`separable` with positives strewn among the negatives."""
    inner, outer = separable(seed, positives, negatives, dimension)
    rng = np.random.default_rng([seed, 1])
    mixed = outer[rng.permutation(len(outer))[: 4 * dimension + 4]]
    return np.vstack([inner, mixed + 0.05 * rng.standard_normal(mixed.shape)]), outer
