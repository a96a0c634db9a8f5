"""Two classes of one normal distribution, by their distance from its mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.generator import seed_sequence


@dataclass(frozen=True)
class GaussianShells:
    """x standard normal; positive where norm(x)^2 < inner, negative where norm(x)^2 > outer.

    What lies between is left out. The ball of squared radius inner shows t >= outer / inner - 1;
    with few examples for their (dimension + 1)(dimension + 2) / 2 products, t is larger.

    Parameters
    ----------
    drawn
        Points drawn, of which some are left out, 1 or more (default 5000; then 1399 + 2306 are left
        for seed 0).
    dimension
        1 or more (default 20).
    inner, outer
        0 < inner <= outer (default 16 and 20).
    """

    drawn: int = 5000
    dimension: int = 20
    inner: float = 16.0
    outer: float = 20.0

    def __post_init__(self) -> None:
        if min(self.drawn, self.dimension) < 1 or not 0.0 < self.inner <= self.outer:
            raise InputError(f"{self}; allowed: drawn >= 1, dimension >= 1 and 0 < inner <= outer")

    def sample(self, seed: int) -> tuple[FloatArray, FloatArray]:
        """Return positives and negatives as rows.

        Raises
        ------
        InputError
            If the seed is negative, or a class would be empty.
        """
        rng = np.random.default_rng(seed_sequence(f"shells-{self.dimension}x{self.drawn}", seed))
        with threadpool_limits(limits=1):
            points = rng.standard_normal((self.drawn, self.dimension))
            sizes = (points**2).sum(axis=1)
        inside, outside = points[sizes < self.inner], points[sizes > self.outer]
        if not (len(inside) and len(outside)):
            raise InputError(
                f"{len(inside)} positives and {len(outside)} negatives of {self.drawn} drawn; draw "
                "more, or change the distances"
            )
        return inside, outside
