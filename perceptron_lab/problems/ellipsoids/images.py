"""Affine images of points, and their squared norms, with bounds of the rounding errors."""

from __future__ import annotations

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF


def images_with_radius(
    points: FloatArray, shift: FloatArray, factor: FloatArray, offset: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return v = fl(G (x - c) + h) of every row x, and r with |v - exact| <= r, entry by entry.

    The difference has one rounding per entry, the dot product of k terms and h at most k + 1 per
    term: gamma_{k+2} (|G||x - c| + |h|), and the computed magnitude is off by as much. An entry of
    x that bears a relative error of one rounding itself is allowed for where c is 0.
    """
    moved = points - shift
    images = moved @ factor.T + offset
    sizes = np.abs(moved) @ np.abs(factor).T + np.abs(offset)
    terms = points.shape[1] + 1
    slack = 1.0 + 4.0 * terms * UNIT_ROUNDOFF + 1e-10
    radius = (terms + 6) * UNIT_ROUNDOFF * slack * sizes + 2.0 * (terms + 1) * SMALLEST
    return np.asarray(images), np.asarray(radius)


def square_bounds(images: FloatArray, radius: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds of the squared norms of rows known up to a radius."""
    slack = 2.0 * (images.shape[1] + 4) * UNIT_ROUNDOFF
    below = np.maximum(np.abs(images) - radius, 0.0)
    above = np.abs(images) + radius
    least = np.einsum("ij,ij->i", below, below) * (1.0 - slack)
    most = np.einsum("ij,ij->i", above, above) * (1.0 + slack)
    room = images.shape[1] * SMALLEST  # underflow of the squares
    return np.maximum(np.nextafter(least - room, 0.0), 0.0), np.nextafter(most + room, np.inf)
