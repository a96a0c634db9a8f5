"""Families of rows whose margin, or whose infeasibility, is known by construction.

The margin of unit rows a_i is rho = max over unit y of min_i a_i'y. Where a family gives a point,
its margin is a lower bound of rho; where it gives weights w in the simplex, norm(sum w_i a_i) is an
upper bound, 0 to rounding. All constructions hold in exact arithmetic; in floating point each entry
is off by a few units of 1e-16.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.linalg.blas import dger

from perceptron_lab.core.results import FloatArray


@dataclass(frozen=True)
class MarginSet:
    """Rows, or labelled examples, with the solutions known by construction.

    Parameters
    ----------
    rows
        Unit rows a_i where ``labels`` is None, else examples; shape ``(m, dimension)``.
    labels
        +1 or -1 for each example, shape ``(m,)``; their system is that of affine separators.
    point, weights
        A feasible point, or a convex combination of the rows that is 0, shape ``(m,)``; or None.
    """

    rows: FloatArray
    labels: FloatArray | None = None
    point: FloatArray | None = None
    weights: FloatArray | None = None


def exact(rng: Generator, *, dimension: int, rows: int, margin: float) -> MarginSet:
    """Unit rows of margin exactly rho, with the centre y*.

    Of an orthonormal basis w_i of the complement of a random unit y*, the 2 (n - 1) rows
    +-sqrt(1 - rho^2) w_i + rho y* are placed among others with a'y* = rho + (1 - rho) h, where h is
    distributed as the absolute height of a uniform point of the sphere. A unit vector
    y = alpha y* + v, v orthogonal to y*, has at most the score rho alpha <= rho on one row of every
    pair +-w_i, so that the margin is rho and y* attains it; n is the dimension.
    """
    basis = _orthonormal(rng, dimension)
    centre, complement = basis[:, 0], basis[:, 1:].T
    data = above_margin(rng, centre, rows, margin)
    tight = rng.choice(rows, 2 * (dimension - 1), replace=False)
    across = math.sqrt((1.0 - margin) * (1.0 + margin)) * np.vstack([complement, -complement])
    data[tight] = across + margin * centre
    return MarginSet(data, point=centre)


def reflected(rng: Generator, *, dimension: int, rows: int, difficulty: float) -> MarginSet:
    """Unit rows uniform on a half-sphere, flattened towards its boundary.

    A uniform point of the sphere is reflected into y*'a >= 0 for a random unit y*, its component
    along y* is multiplied by the difficulty f, and the row is normalised again: rows of height h
    get the height f h / sqrt(1 - h^2 + f^2 h^2). The smaller f, the smaller the margin, roughly in
    proportion; a lower bound of it is min_i a_i'y*.

    This is the synthetic data of `YuKilincCarbonell2014` (section 7.1) as far as it is known: f
    stands in for kappa, of which the paper says only that the margin grows with it. By the ratios
    of the paper's running times its kappa = 1 is about f = 0.3.
    """
    centre = random_unit(rng, dimension)
    return MarginSet(half_sphere(rng, centre, rows, difficulty), point=centre)


def thin(rng: Generator, *, dimension: int, rows: int, margin: float) -> MarginSet:
    """Unit rows of an elliptic cone with log-spaced axes: ill-conditioned, of margin exactly rho.

    In an orthonormal basis (z, w_2, .., w_n) the rows z + c, with c uniform on the unit sphere of
    the complement of z, describe a circular cone of half-angle 45 degrees. The diagonal map
    diag(1, 1/s_2, .., 1/s_n), with s log-spaced from 1 down to s_n = rho / sqrt(1 - rho^2), turns
    it into a_i = z + sum_j c_ij w_j / s_j, then normalised. (In dimension 2, or where s_n > 1, all
    s_j are s_n.) Since norm(a_i) <= 1 / rho, a_i'z / norm(a_i) >= rho; two rows belong to
    c = +-w_n, and no unit y has more than rho on both. So the margin is rho, attained by z.
    """
    basis = _orthonormal(rng, dimension)
    narrowest = margin / math.sqrt((1.0 - margin) * (1.0 + margin))
    axes = np.geomspace(max(1.0, narrowest), narrowest, dimension - 1)
    axes[-1] = narrowest
    inside = rng.standard_normal((rows, dimension))
    inside[:, 0] = 0.0
    tight = rng.choice(rows, 2, replace=False)
    inside[tight] = 0.0
    inside[tight, -1] = 1.0, -1.0
    inside /= _norms(inside)[:, None]
    inside[:, 1:] /= axes
    inside[:, 0] = 1.0
    inside /= _norms(inside)[:, None]
    return MarginSet(inside @ basis.T, point=np.ascontiguousarray(basis[:, 0]))


def convex_combination(rng: Generator, *, dimension: int, rows: int) -> MarginSet:
    """Infeasible unit rows, 0 being a known convex combination of them.

    All rows but the last are uniform on a half-sphere. The last one is -s / norm(s) for
    s = sum_j x_j a_j with x_j uniform in [0.5, 1.5]; x and norm(s), divided by their sum, are the
    weights. They are all positive and the rows span the space, so that 0 lies inside the hull, and
    rounding cannot make the system feasible.
    """
    data = np.empty((rows, dimension))
    centre = random_unit(rng, dimension)
    data[:-1] = half_sphere(rng, centre, rows - 1, 1.0)
    weights = rng.uniform(0.5, 1.5, rows)
    total = weights[:-1] @ data[:-1]
    weights[-1] = np.linalg.norm(total)
    data[-1] = -total / weights[-1]
    return MarginSet(data, weights=weights / weights.sum())


def gaussian(rng: Generator, *, dimension: int, rows: int) -> MarginSet:
    """Rows of independent standard normal entries, as they come.

    By Cover's function counting theorem m rows in dimension n are feasible with probability

        2^(1 - m) sum_{k < n} binomial(m - 1, k),

    which is 1 for m <= n, 1/2 for m = 2 n and nearly 0 well beyond: there the system is infeasible,
    and near m = 2 n the margin, or the distance of 0 from the hull's boundary, is tiny.
    """
    return MarginSet(rng.standard_normal((rows, dimension)))


def classes(rng: Generator, *, dimension: int, rows: int, separation: float) -> MarginSet:
    """Two classes of equal size, normal with unit covariance, a distance apart.

    x_i = s_i (d / 2) u + noise in dimension - 1 features, labels s_i = +-1 in random order (the
    odd example is positive), u a random unit vector, d the separation; the affine separator (w, b)
    is sought. Where (u, 0) separates the examples it is the known point; otherwise nothing is
    known: a fraction of Phi(-d / 2) of the examples lies on the wrong side of it.
    """
    direction = random_unit(rng, dimension - 1)
    labels = rng.permutation(np.where(np.arange(rows) % 2 == 0, 1.0, -1.0))
    examples = rng.standard_normal((rows, dimension - 1))
    _add(examples, labels * (separation / 2.0), direction)
    separates = bool((labels * (examples @ direction) > 0.0).all())
    return MarginSet(examples, labels, np.append(direction, 0.0) if separates else None)


def worst_case(rng: Generator, *, steepness: int) -> MarginSet:
    """The four rows on which the perceptron takes long (`PerceptronNotes`, section 3.1).

    The positive examples (1, 1), (1, 0), (1/K, 1) and the negative one (0, 1) give the rows (1, 1),
    (1, 0), (1/K, 1), (0, -1). The bisector of the last two normalised rows, (cos t, -sin t) with
    tan t = 1 / (K + sqrt(K^2 + 1)), is the best point: the margin is sin t, about 1 / (2 K). The
    input takes O(log K) bits; the perceptron without normalisation makes exactly 2 K^2 - 2 K + 5
    updates in the order of the notes (:func:`perceptron_lab.problems.streams.perceptron.worst_case`
    proves it) and at least K in whatever order; other orders measured take about 2 K^2 as well.
    """
    data = np.array([[1.0, 1.0], [1.0, 0.0], [1.0 / steepness, 1.0], [0.0, -1.0]])
    point = _unit(np.array([steepness + math.hypot(steepness, 1.0), -1.0]))
    return MarginSet(data, point=point)


def random_unit(rng: Generator, dimension: int) -> FloatArray:
    """Return a point that is uniform on the unit sphere."""
    return _unit(rng.standard_normal(dimension))


def above_margin(rng: Generator, axis: FloatArray, rows: int, margin: float) -> FloatArray:
    """Return unit rows with a'axis >= margin: margin + (1 - margin) h, h as in :func:`exact`.

    Shape ``(rows, len(axis))``; uniform in the other directions.
    """
    heights = margin + (1.0 - margin) * _heights(rng, len(axis), rows)
    return _rows_at(rng, axis, heights)


def _unit(vector: FloatArray) -> FloatArray:
    return np.asarray(vector / np.linalg.norm(vector))


def _norms(rows: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def _orthonormal(rng: Generator, dimension: int) -> FloatArray:
    """Return a random orthonormal basis as columns."""
    return np.asarray(np.linalg.qr(rng.standard_normal((dimension, dimension)))[0])


def _add(rows: FloatArray, heights: FloatArray, direction: FloatArray) -> None:
    # In place: the data may fill half of the memory
    dger(1.0, direction, heights, a=rows.T, overwrite_a=1)


def _heights(rng: Generator, dimension: int, rows: int) -> FloatArray:
    # |u_1| of points u uniform on the sphere: u_1^2 is Beta(1/2, (dimension - 1)/2)
    return np.sqrt(rng.beta(0.5, (dimension - 1) / 2.0, rows))


def _rows_at(rng: Generator, axis: FloatArray, heights: FloatArray) -> FloatArray:
    """Return unit rows with a_i'axis = heights_i, uniform in the other directions."""
    rows = rng.standard_normal((len(heights), len(axis)))
    for _ in range(2):  # the second time takes away what rounding left of the first
        _add(rows, -(rows @ axis), axis)
    rows *= (np.sqrt(1.0 - heights**2) / _norms(rows))[:, None]
    _add(rows, heights, axis)
    return rows


def half_sphere(rng: Generator, axis: FloatArray, rows: int, difficulty: float) -> FloatArray:
    """Return the unit rows of :func:`reflected` around an axis, shape ``(rows, len(axis))``."""
    heights = _heights(rng, len(axis), rows)
    lifted = difficulty * heights
    return _rows_at(rng, axis, lifted / np.hypot(np.sqrt(1.0 - heights**2), lifted))
