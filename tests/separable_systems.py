"""Separable systems of every sort, by name: shapes, conditions, margins down to 1e-8."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems import ConicSystem
from tests.families import planted

Rng = np.random.Generator
Make = Callable[[Rng], ConicSystem]

GENERATORS: dict[str, Make] = {}
"""Name -> what draws a system with a positive margin."""


def named(make: Make) -> Make:
    GENERATORS[make.__name__.replace("_", "-")] = make
    return make


def lengths(rng: Rng, count: int) -> FloatArray:
    """Lengths of rows from 1e-6 to 1e6."""
    return np.asarray(10.0 ** rng.uniform(-6, 6, count))[:, None]


def separated(rng: Rng, rows: int, dimension: int, gap: float = 0.0) -> FloatArray:
    """Gaussian rows on the right side of a random hyperplane, at least ``gap`` from it."""
    data, centre = rng.standard_normal((rows, dimension)), rng.standard_normal(dimension)
    centre /= np.linalg.norm(centre)
    heights = data @ centre
    shifted = np.sign(heights) * np.maximum(np.abs(heights), gap)
    data += np.outer(shifted - heights, centre)
    return np.asarray(data * np.sign(shifted)[:, None])


@named
def fewer_rows_than_unknowns(rng: Rng) -> ConicSystem:
    return ConicSystem.from_rows(rng.standard_normal((rng.integers(2, 30), 40)))


@named
def as_many_rows_as_unknowns(rng: Rng) -> ConicSystem:
    order = int(rng.integers(2, 40))
    return ConicSystem.from_rows(rng.standard_normal((order, order)))


@named
def many_rows(rng: Rng) -> ConicSystem:
    return ConicSystem.from_rows(separated(rng, 5000, int(rng.integers(2, 15))))


@named
def planted_margins(rng: Rng) -> ConicSystem:
    margin = 10.0 ** -rng.uniform(0.5, 4)
    return ConicSystem.from_rows(planted(int(rng.integers(2, 30)), 200, margin, rng)[0])


@named
def tiny_margins(rng: Rng) -> ConicSystem:
    margin = 10.0 ** -rng.uniform(4, 8)
    return ConicSystem.from_rows(planted(int(rng.integers(2, 30)), 200, margin, rng)[0])


@named
def tiny_margins_of_long_and_short_rows(rng: Rng) -> ConicSystem:
    rows = planted(12, 100, 10.0 ** -rng.uniform(4, 8), rng)[0]
    return ConicSystem.from_rows(rows * lengths(rng, 100))


@named
def two_nearly_opposite_rows(rng: Rng) -> ConicSystem:
    row, other = rng.standard_normal((2, 5))
    return ConicSystem.from_rows(np.vstack([row, 1e-7 * rng.uniform(0.2, 1.0) * other - row]))


@named
def ill_conditioned_rows(rng: Rng) -> ConicSystem:
    rows = planted(15, 150, 0.1, rng)[0]
    return ConicSystem.from_rows(rows * 10.0 ** rng.uniform(-5, 0, 15))


@named
def rows_of_low_rank(rng: Rng) -> ConicSystem:
    return ConicSystem.from_rows(separated(rng, 60, 4) @ rng.standard_normal((4, 25)))


@named
def repeated_rows(rng: Rng) -> ConicSystem:
    rows = np.repeat(separated(rng, 40, 6, 0.01), 3, axis=0)
    rows[::3] *= 1.0 + 1e-12 * rng.standard_normal((40, 6))
    return ConicSystem.from_rows(rng.permutation(rows))


@named
def ties_everywhere(rng: Rng) -> ConicSystem:
    """The vertices of a cube, all at the height of the margin."""
    order = int(rng.integers(2, 8))
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * order)).reshape(order, -1).T
    height = np.full((len(corners), 1), 10.0 ** -rng.uniform(0, 4))
    return ConicSystem.from_rows(np.hstack([corners, height]))


@named
def sparse_rows(rng: Rng) -> ConicSystem:
    rows = rng.random((300, 50)) * (rng.random((300, 50)) < 0.1)
    signs = np.sign(rows @ rng.standard_normal(50))
    return ConicSystem.from_rows(sp.csr_array((rows * signs[:, None])[signs != 0]))


@named
def single_precision(rng: Rng) -> ConicSystem:
    return ConicSystem.from_rows(separated(rng, 400, 8, 1e-3).astype(np.float32))


@named
def vandermonde(rng: Rng) -> ConicSystem:
    """Polynomials that are positive at points of one sign, and negative at the others."""
    points = rng.uniform(0.1, 1.0, 60) * rng.choice([-1.0, 1.0], 60)
    return ConicSystem.from_rows(np.vander(points, 7) * np.sign(points)[:, None])


@named
def blobs(rng: Rng) -> ConicSystem:
    labels = np.repeat([0.0, 1.0], 50)
    examples = rng.standard_normal((100, 4)) + 6.0 * labels[:, None]
    return ConicSystem.from_labelled(examples, labels)


@named
def raw_features(rng: Rng) -> ConicSystem:
    """Columns of all units, and far from 0, as in tables of measurements."""
    labels = rng.choice([0.0, 1.0], 120)
    labels[:2] = 0.0, 1.0
    examples = rng.standard_normal((120, 10)) + 4.0 * labels[:, None]
    return ConicSystem.from_labelled((examples + 5.0) * 10.0 ** rng.uniform(-3, 3, 10), labels)


@named
def integer_rows(rng: Rng) -> ConicSystem:
    examples = rng.integers(0, 50, (150, 6)).astype(float)
    labels = examples @ rng.integers(-5, 6, 6) > 3
    labels[:2] = True, False
    examples[:2] = np.outer([1.0, 0.0], np.zeros(6))
    return ConicSystem.from_rows(_signed(examples, labels, rng))


def _signed(examples: FloatArray, labels: np.ndarray, rng: Rng) -> FloatArray:
    """Rows of a separable table: a last column carries what the labels need."""
    signs = np.where(labels, 1.0, -1.0)
    gap = signs * rng.uniform(0.5, 2.0, len(signs))
    return np.column_stack([examples, np.ones(len(signs)), gap]) * signs[:, None]


@named
def far_from_the_origin(rng: Rng) -> ConicSystem:
    labels = np.repeat([0.0, 1.0], 30)
    examples = rng.standard_normal((60, 3)) + 1e4 + 8.0 * labels[:, None]
    return ConicSystem.from_labelled(examples, labels)


@named
def wide_and_labelled(rng: Rng) -> ConicSystem:
    examples, labels = rng.standard_normal((30, 200)), np.repeat([0.0, 1.0], 15)
    return ConicSystem.from_labelled(examples, labels)


@named
def nearly_on_a_hyperplane(rng: Rng) -> ConicSystem:
    """Rows whose last coordinate alone, of about 1e-6, says on which side they are."""
    rows = separated(rng, 80, 9, 0.2)
    rows[:, -1] = np.abs(rows[:, -1]) + 0.1
    return ConicSystem.from_rows(rows * np.append(rng.standard_normal(8), 1e-6))
