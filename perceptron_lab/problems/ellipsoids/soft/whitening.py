"""Coordinates in which weighted examples have mean 0 and covariance I."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Examples

RANK_TOLERANCE = 1e-12
"""Singular values below this part of the largest, of columns of unit variance, are taken as 0."""


@dataclass(frozen=True)
class AffineMap:
    """z = matrix' ((x - centre) / scale)."""

    centre: FloatArray  # shape (features,)
    scale: FloatArray
    matrix: FloatArray  # shape (features, rank)

    @classmethod
    def whitening(cls, examples: Examples, weights: FloatArray) -> Self:
        """Return the map to mean 0 and covariance I of weighted examples.

        Columns are scaled to variance 1 first, so that their units do not enter the rank.
        """
        if not isinstance(examples, np.ndarray):
            raise InputError(
                "sparse examples cannot be whitened without becoming dense; give a dense matrix "
                "or whiten=False"
            )
        centre = weights @ examples
        centred = np.sqrt(weights)[:, None] * (examples - centre)
        deviation = np.linalg.norm(centred, axis=0)
        # A constant column leaves rounding errors of its mean, which are no variance.
        varies = deviation > 1e-14 * np.abs(centre)
        if not varies.any():
            raise InputError("the examples are all equal: there is nothing to whiten")
        scale = np.where(varies, deviation, 1.0)
        scaled = np.where(varies, centred / scale, 0.0)
        _, values, vectors = np.linalg.svd(scaled, full_matrices=False)
        kept = values > RANK_TOLERANCE * values[0]
        matrix = vectors[kept].T / values[kept]
        return cls(centre, scale, matrix * varies[:, None])

    def of(self, examples: Examples) -> FloatArray:
        """Return z of every example, shape ``(m, rank)``."""
        if not isinstance(examples, np.ndarray):
            raise InputError("the ellipsoid was fitted to whitened, dense examples; give such")
        return ((examples - self.centre) / self.scale) @ self.matrix
