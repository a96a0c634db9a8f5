"""Rows in single precision for primal-dual steps: written out, or sparse where that is cheaper."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.rescaling.rescaled_sweeps import imaged
from perceptron_lab.compiled.entropic_separation import Rows
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray, IntArray

# Part of the entries that sparse rows store at most: an entry of theirs takes as long as ten others
SPARSE = 0.1
_CHUNK = 2**17  # Entries that are converted at a time


def stays_sparse(operator: Matrix) -> bool:
    """Return whether steps on these rows as they are stored are cheaper than written out."""
    stored, most = operator.stored, SPARSE * operator.size * operator.dimension
    return isinstance(stored, sp.csr_array) and stored.nnz <= most


def in_single(
    operator: Matrix,
    indices: IntArray,
    transform: FloatArray | None,
    *,
    known: Rows | None = None,
    written: FloatArray | None = None,
) -> Rows:
    """Return some rows times T, divided by their norms; never all of them in double precision.

    Parameters
    ----------
    operator, indices
        Unit rows, and which of them, shape ``(k,)``.
    transform
        T, shape ``(n, r)``; None, the identity, leaves sparse rows sparse.
    known
        What this function has returned for the first of the indices, or None.
    written
        The rows in double precision, if they are at hand, shape ``(k, n)``, or None.
    """
    stored = operator.stored
    first = 0 if known is None else known.shape[0]
    if stays_sparse(operator) and transform is None:
        assert isinstance(stored, sp.csr_array)
        joining = _sparse(stored, operator.scale, indices[first:])
        if known is None:
            return joining
        assert isinstance(known, sp.csr_array)
        return sp.csr_array(sp.vstack([known, joining], format="csr"))
    dimension = operator.dimension if transform is None else transform.shape[1]
    rows = np.empty((len(indices), dimension), np.float32)
    if isinstance(known, np.ndarray):
        rows[:first] = known
    step = max(1, _CHUNK // operator.dimension)
    for start in range(first, len(rows), step):
        at = slice(start, start + step)
        given = operator.rows(indices[at]) if written is None else written[at]
        rows[at] = imaged(given, transform)
    return rows


def _sparse(stored: sp.csr_array, scale: FloatArray | None, indices: IntArray) -> sp.csr_array:
    """Return some rows of a CSR array times their scale."""
    rows = stored[indices]
    values = rows.data
    if scale is not None:
        values = values * np.repeat(scale[indices], np.diff(rows.indptr))
    columns, ends = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return sp.csr_array((values.astype(np.float32), columns, ends), shape=rows.shape)
