"""Random invertible affine maps: a new metric and a shifted origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from perceptron_lab.results import FloatArray


@dataclass(frozen=True)
class AffineMap:
    """x -> matrix x + shift.

    Parameters
    ----------
    matrix
        Symmetric positive definite, shape ``(n, n)``.
    shift
        Shape ``(n,)``.
    """

    matrix: FloatArray
    shift: FloatArray

    @classmethod
    def random(cls, rng: np.random.Generator, dimension: int, spread: float) -> Self:
        """Return V diag(lambda) V', V uniform among rotations and reflections, and a normal shift.

        log lambda_i is uniform between -log spread and log spread, spread > 1.
        """
        axes = orthogonal(rng, dimension)
        lengths = spread ** rng.uniform(-1.0, 1.0, dimension)
        return cls((axes * lengths) @ axes.T, rng.standard_normal(dimension))

    def of(self, points: FloatArray) -> FloatArray:
        """Return the images of rows, shape ``(m, n)``."""
        return np.asarray(points @ self.matrix + self.shift)


def orthogonal(rng: np.random.Generator, dimension: int) -> FloatArray:
    """Return an orthogonal matrix, uniform by Haar's measure."""
    columns, triangle = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    return np.asarray(columns * np.sign(triangle.diagonal()))
