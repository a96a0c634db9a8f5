"""The example of section 2.2 of `RamdasPena2014`: bounds with and without normalised data."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from perceptron_lab.core.results import FloatArray


class Margins(NamedTuple):
    """The margin of the rows as given, that of the unit rows, and the largest norm."""

    given: float
    unit: float
    longest: float

    @property
    def bounds(self) -> tuple[float, float]:
        """R^2 / rho^2 and 1 / rho_2^2, Novikoff's bounds of both perceptrons."""
        return (self.longest / self.given) ** 2, self.unit**-2


def two_rays(ratio: float) -> FloatArray:
    """Return the four ends of the example as rows y_i x_i, shape ``(4, 2)``.

    The positive points (0.6, 0.8) s and the negative ones (0.8, 0.6) s for s = 1/r and s = r.

    Parameters
    ----------
    ratio
        r, 1 or more.
    """
    directions = np.array([[0.6, 0.8], [-0.8, -0.6]])
    return np.vstack([directions / ratio, directions * ratio])


def two_rays_margins(ratio: float) -> Margins:
    """Return the margins of :func:`two_rays`: 0.1 sqrt 2 / r, 0.1 sqrt 2, and r.

    Both are attained at y = (-1, 1)/sqrt 2. The bounds are 50 r^4 and 50: their ratio r^4 is as
    large as one likes.
    """
    unit = 0.1 * math.sqrt(2.0)
    return Margins(unit / ratio, unit, ratio)
