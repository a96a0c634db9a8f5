"""What a pass computes of a block of rows: scores with error bounds, norms, and a checksum."""

from __future__ import annotations

import zlib
from functools import cache
from typing import NamedTuple

import numpy as np

from perceptron_lab.certificates.rounding import dot_radius
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.kernel import WordArray
from perceptron_lab.numerics.compiled.row_sweeps import sweep_columns, sweep_rows
from perceptron_lab.numerics.roundoff import require_ieee_mode


class Sweep(NamedTuple):
    """What a sweep over rows computes.

    Parameters
    ----------
    scores, radius
        s = fl(A y) and r with |s - A y| <= r, shape ``(m,)`` each.
    norms
        The Euclidean norms of the rows, shape ``(m,)``, not finite where these are not.
    checksum
        CRC-32 of the hashes of the rows.
    """

    scores: FloatArray
    radius: FloatArray
    norms: FloatArray
    checksum: int


def swept(rows: FloatArray, point: FloatArray, roundings: int = 0) -> Sweep:
    """Return what a pass computes of rows in C or Fortran order; other rows are copied.

    A row has the same values in each layout, and in whatever block it is. The bound is that of
    :func:`.product_with_radius`.

    Inequality (C2) of docs/notes/how-to-distrust-us.md, and its (C33) on checksums.

    Parameters
    ----------
    rows
        A, shape ``(m, n)``, in double precision.
    point
        y, shape ``(n,)``.
    roundings
        Number of roundings of the rows' numbers, 0 or 1.
    """
    require_ieee_mode()
    count, width = rows.shape
    scores, sizes, squares = np.empty((3, count))
    hashes = np.empty(count, np.uint64)
    turned = rows.flags.f_contiguous and rows.flags.aligned
    sweep, matrix = (
        (sweep_columns, rows.T) if turned else (sweep_rows, np.require(rows, None, ["C", "A"]))
    )
    vector = np.ascontiguousarray(point, dtype=np.float64)
    sweep(matrix, vector, _keys(width), scores, sizes, squares, hashes)
    radius = dot_radius(width + roundings, sizes)
    return Sweep(scores, radius, np.sqrt(squares), zlib.crc32(hashes.data))


@cache
def _keys(width: int) -> WordArray:
    """Return random keys of hashes, the same in all processes."""
    return np.asarray(np.random.PCG64(0).random_raw(width), dtype=np.uint64)
