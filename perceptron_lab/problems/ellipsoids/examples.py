"""The two classes that an ellipsoid separates, checked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.numerics.input_checks import checked_rows

LARGEST, SMALLEST = 1e100, 1e-100
"""The range of magnitudes, and of the spread of columns that vary."""


def two_classes(
    positives: npt.ArrayLike | Examples, negatives: npt.ArrayLike | Examples
) -> tuple[FloatArray, FloatArray]:
    """Return both classes as dense rows in double precision."""
    inner = dense_rows(positives)
    outer = dense_rows(negatives, inner.shape[1])
    spread = np.maximum(inner.max(axis=0), outer.max(axis=0))
    spread = spread - np.minimum(inner.min(axis=0), outer.min(axis=0))
    lost = np.flatnonzero((spread > 0) & (spread < SMALLEST))
    if len(lost):
        raise InputError(
            f"column {lost[0]} varies by {spread[lost[0]]:g}; the least that can be squared is "
            f"{SMALLEST:g}: rescale it, or make it constant"
        )
    return inner, outer


def dense_rows(points: npt.ArrayLike | Examples, columns: int | None = None) -> FloatArray:
    """Return dense finite rows in double precision, of so many columns if given."""
    rows = checked_rows(points)
    if not isinstance(rows, np.ndarray):
        raise InputError(
            "the examples are sparse; an ellipsoid needs dense rows of few columns: extract "
            "features first, for instance by GramSchmidtFeatures"
        )
    if columns is not None and rows.shape[1] != columns:
        raise InputError(f"rows of {rows.shape[1]} columns; give rows of {columns}, as before")
    largest = float(np.abs(rows).max())
    if largest > LARGEST:
        raise InputError(f"an entry of magnitude {largest:g}; the most is {LARGEST:g}: rescale it")
    return np.asarray(rows, dtype=np.float64)
