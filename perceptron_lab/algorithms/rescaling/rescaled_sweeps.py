"""The rescaled perceptron in its practical form, by compiled sweeps over a few dense rows.

It is Algorithm 4 of `Kharechko2009` with rho = 1 / (2 sqrt n) and sigma = 1 / (6 sqrt n) (the
preset ``practical`` of :class:`.RescaledPerceptron`
has both at the former), except that each phase goes through the rows in cyclic order instead of
asking for the most violated one: an update costs the rows looked at, not all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import PIECE, TimeIsUp, check_time
from perceptron_lab.numerics.compiled.cyclic_sweeps import (
    GOING_ON,
    SEPARATED,
    separating_sweeps,
    stretch_again,
    unstretched,
)
from perceptron_lab.numerics.compiled.kernel import RealArray
from perceptron_lab.numerics.roundoff import UNIT_ROUNDOFF


@dataclass
class RescaledSweeps:
    """Some rows a of a system and their images a'T / norm(a'T) in a rescaled space.

    A point z of that space stands for y = T z, T = T_0 (I + x_1 x_1') ... (I + x_s x_s') with the
    directions x_i of the stretches. The images are swept over and stretched in place; rows that
    join are stretched in the same way.

    What outlasts the time limit raises TimeIsUp.

    ``rows`` are rows of norm about 1, shape ``(k, n)``, in double precision. ``transform`` is T_0,
    shape ``(n, r)`` (None: the identity). ``precision`` is the type of images and sweeps, and
    ``rows_examined`` counts the rows that the sweeps have examined.
    """

    rows: FloatArray
    transform: FloatArray | None = None
    precision: type[np.floating[Any]] = np.float32
    rows_examined: int = 0
    images: npt.NDArray[Any] = field(init=False)
    directions: npt.NDArray[Any] = field(init=False)
    point: npt.NDArray[Any] = field(init=False)

    def __post_init__(self) -> None:
        dimension = self.rows.shape[1] if self.transform is None else self.transform.shape[1]
        self.directions = np.empty((0, dimension), self.precision)
        self.point = np.zeros(dimension, self.precision)
        self.images = self._image(self.rows)

    @property
    def stretches(self) -> int:
        """The number of stretches of the space so far."""
        return len(self.directions)

    def _image(self, rows: FloatArray) -> npt.NDArray[Any]:
        images = np.array(imaged(rows, self.transform), dtype=self.precision, order="C")
        at_once = PIECE // (2 * images.size + 1) + 1
        for first in range(0, len(self.directions), at_once):
            check_time()
            stretch_again(images, self.directions[first : first + at_once])
        return images

    def in_double(self) -> RescaledSweeps:
        """Return a copy in double precision, with the same stretches."""
        other = RescaledSweeps(self.rows, self.transform, np.float64, self.rows_examined)
        other.directions = self.directions.astype(np.float64)
        other.images = other._image(self.rows)
        return other

    def join(self, rows: FloatArray) -> None:
        """Append rows, and stretch their images like the others."""
        self.images = np.concatenate([self.images, self._image(rows[len(self.rows) :])])
        self.rows = rows

    def separate(self, rng: np.random.Generator, most: int) -> FloatArray | None:
        """Return y with a'y > 0 for all rows, or None after ``most`` more stretches of the space.

        The sweeps begin at the last answer. What they find is checked on the rows as given: they
        may end on the boundary and take it for the inside.
        """
        dimension = len(self.point)
        # The practical form: sigma = O(1 / sqrt n), without a theorem
        sigma = 1.0 / (6.0 * math.sqrt(dimension))
        relaxed = math.floor(8.0 * dimension * math.log(max(2.0, math.sqrt(dimension)))) + 1
        row, left, stretch = 0, most, False
        while left > 0:
            starts = rng.standard_normal((left + 2, dimension), dtype=np.float32)
            directions = np.empty((left, dimension), self.precision)
            ending, stretches, _, examined, row = separating_sweeps(
                self.images,
                self.point,
                starts.astype(self.precision),
                directions,
                sigma,
                4 * dimension,
                relaxed,
                row,
                stretch,
            )
            self.directions = np.concatenate([self.directions, directions[:stretches]])
            self.rows_examined += examined
            if ending == GOING_ON:
                raise TimeIsUp
            if ending != SEPARATED:
                break
            answer = self.point.astype(float)
            unstretched(answer, self.directions)
            if self.transform is not None:
                answer = np.asarray(self.transform @ answer)
            if separates(self.rows, answer):
                return answer
            left, stretch = left - stretches, True
        self.point[:] = 0.0
        return None


def imaged(rows: FloatArray, transform: FloatArray | None) -> FloatArray:
    """Return the rows a'T / norm(a'T), or the rows themselves without a T."""
    if transform is None:
        return rows
    check_time(2.0 * rows.size * transform.shape[1])
    mapped = rows @ transform
    mapped /= np.sqrt(np.einsum("ij,ij->i", mapped, mapped))[:, None]
    return mapped


def separates(rows: FloatArray, point: FloatArray) -> bool:
    """Return whether a'y > 0 for all nearly unit rows, by more than the rounding error."""
    slack = 4.0 * (len(point) + 2) * UNIT_ROUNDOFF * float(np.linalg.norm(point))
    return bool((rows @ point).min() > slack)


_CHUNK = 2**17  # Entries that are converted at a time


def in_single(
    operator: Matrix,
    indices: IntArray,
    transform: FloatArray | None,
    *,
    converted: RealArray | None = None,
    written: FloatArray | None = None,
) -> RealArray:
    """Return normalised rows a'T in single precision, without a copy in double precision.

    Parameters
    ----------
    operator, indices
        Unit rows, and which of them, shape ``(k,)``.
    transform
        T, shape ``(n, r)``; None is the identity.
    converted
        What this function has returned for the first of the indices, or None.
    written
        The rows in double precision, if they are available, shape ``(k, n)``, or None.
    """
    first = 0 if converted is None else len(converted)
    dimension = operator.dimension if transform is None else transform.shape[1]
    rows = np.empty((len(indices), dimension), np.float32)
    if converted is not None:
        rows[:first] = converted
    step = max(1, _CHUNK // operator.dimension)
    for start in range(first, len(rows), step):
        at = slice(start, start + step)
        base_rows = operator.rows(indices[at]) if written is None else written[at]
        rows[at] = imaged(base_rows, transform)
    return rows
