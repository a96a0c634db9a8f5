"""The rescaled perceptron in its practical form, by compiled sweeps over a few dense rows.

It is Algorithm 4 of `Kharechko2009` with rho = sigma = 1 / (2 sqrt n) (the preset ``practical`` of
:class:`perceptron_lab.algorithms.rescaled_perceptron.RescaledPerceptron`), except that each phase
goes through the rows in cyclic order instead of asking for the most violated one: an update costs
the rows looked at, not all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_lab.algorithms.relaxed_perceptron import random_unit
from perceptron_lab.certificates.rounding import UNIT_ROUNDOFF
from perceptron_lab.compiled.cyclic_sweeps import (
    perceptron_sweep,
    relaxed_sweep,
    stretch_rows,
)
from perceptron_lab.results import FloatArray

TRIES = 100
"""Random starts of a relaxed phase at most; each succeeds with probability 1/8 or more."""
SHORTEST = 1e-5
"""A relaxed point shorter than this has lost its digits in single precision."""


@dataclass
class SweptRows:
    """Some rows a of a system and their images a'T / norm(a'T) in a rescaled space.

    A point z of that space stands for y = T z. The images are swept over and stretched in place.

    Parameters
    ----------
    given
        Rows of norm about 1, shape ``(k, n)``, double precision.
    transform
        T, shape ``(n, r)``; None stands for the identity.
    precision
        float32 or float64, of the images and sweeps.
    """

    given: FloatArray
    transform: FloatArray | None = None
    precision: type[np.floating[Any]] = np.float32
    stretches: int = 0
    images: npt.NDArray[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.images = self._image(self.given)

    def _image(self, rows: FloatArray) -> npt.NDArray[Any]:
        if self.transform is None:
            return np.array(rows, dtype=self.precision, order="C")
        mapped = rows @ self.transform
        mapped /= np.sqrt(np.einsum("ij,ij->i", mapped, mapped))[:, None]
        return np.ascontiguousarray(mapped, dtype=self.precision)

    def join(self, rows: FloatArray) -> None:
        """Take more rows in."""
        self.given = np.concatenate([self.given, rows])
        self.images = np.concatenate([self.images, self._image(rows)])

    def separate(self, rng: np.random.Generator, most: int) -> FloatArray | None:
        """Return y with a'y > 0 for all rows, or None after ``most`` stretches of the space.

        What the sweeps find is checked on the rows as given: they may end on the boundary and take
        it for the inside.
        """
        dimension, row = self.images.shape[1], 0
        sigma = 1.0 / (2.0 * math.sqrt(dimension))
        updates = 4 * dimension
        limit = math.floor(8.0 * dimension * math.log(max(2.0, math.sqrt(dimension)))) + 1
        counts = np.zeros(len(self.images))
        for _ in range(most + 1):
            point = np.zeros(dimension, self.precision)
            made, _, row = perceptron_sweep(self.images, point, counts, row, updates)
            answer = self._given(point)
            if made < updates and self.separates(answer):
                return answer
            relaxed = _relaxed(self.images, rng, sigma, row, limit)
            if relaxed is None:
                return None
            direction, row = relaxed
            answer = self._given(direction)
            if self._stretch(direction) == 0 and self.separates(answer):
                return answer
        return None

    def separates(self, point: FloatArray) -> bool:
        """Return whether a'y > 0 for all rows by more than rounding can make of 0."""
        slack = 4.0 * (len(point) + 2) * UNIT_ROUNDOFF * float(np.linalg.norm(point))
        return bool((self.given @ point).min() > slack)

    def _stretch(self, direction: npt.NDArray[Any]) -> int:
        """Apply T <- T (I + x x') for a unit x; return how many images had a'x <= 0."""
        violated = stretch_rows(self.images, direction)
        x = direction.astype(float)
        transform = np.eye(len(x)) if self.transform is None else self.transform
        transform = transform + np.outer(transform @ x, x)
        self.transform = transform / np.abs(transform).max()
        self.stretches += 1
        return violated

    def _given(self, point: npt.NDArray[Any]) -> FloatArray:
        """Return y = T z."""
        double = point.astype(float)
        return double if self.transform is None else np.asarray(self.transform @ double)


def _relaxed(
    rows: npt.NDArray[Any], rng: np.random.Generator, sigma: float, row: int, limit: int
) -> tuple[npt.NDArray[Any], int] | None:
    """Return a unit x with a'x >= -sigma for all rows, and the next row; None if none is found."""
    for _ in range(TRIES):
        point = random_unit(rows.shape[1], rng).astype(rows.dtype)
        made, _, row = relaxed_sweep(rows, point, sigma, row, limit)
        length = float(np.linalg.norm(point))
        if made < limit and length > SHORTEST:
            return point / rows.dtype.type(length), row
    return None
