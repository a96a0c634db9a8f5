"""Automorphisms T of the blocks of a cone with w = T e, and the data seen through them, A T.

T is defined by the doubles that represent it, so that w = T e lies inside the dual cone by
construction. Elements are in isometric coordinates: weights divided by sqrt(multiplicity), in which
the trace inner product is the plain dot product and norm(e)^2 is the rank.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from perceptron_lab.operators.blockwise import Data
from perceptron_lab.results import FloatArray, IntArray

ROWS_AT_A_TIME = 4096


class Automorphism(ABC):
    """T of one block at the weights w = T e.

    Attributes
    ----------
    place
        Where it lies in the flat coordinates.
    unit
        e in isometric coordinates, shape ``(k,)``, norm(e)^2 = rank.
    """

    place: IntArray
    unit: FloatArray
    rank: int

    @abstractmethod
    def columns(self) -> tuple[FloatArray, float]:
        """Return fl(A T) in isometric coordinates, ``(n, k)``, and a bound of its error's norm."""

    @abstractmethod
    def moved(self, step: FloatArray) -> Self | None:
        """Return that at T (e + d), d in isometric coordinates; None where it is not inside."""

    @abstractmethod
    def weights(self) -> FloatArray:
        """Return T e, rounded, in flat coordinates."""

    def operations(self, unknowns: int) -> float:
        """Return about how many operations ``columns`` and its product take."""
        return 2.0 * len(self.unit) * float(unknowns) ** 2


def dense_rows(data: Data, at: IntArray, used: IntArray) -> FloatArray:
    """Return some rows of the data, dense, with the columns that are used."""
    rows: Any = data[at]
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray())[:, used]


def used_columns(data: Data, support: IntArray) -> IntArray:
    """Return the unknowns that occur in these coordinates: the others have no equation."""
    if isinstance(data, sp.csr_array):
        rows = data[support]
        return np.unique(rows.indices[rows.data != 0]).astype(np.int64)
    used = np.zeros(data.shape[1], dtype=bool)
    for start in range(0, len(support), ROWS_AT_A_TIME):
        used |= data[support[start : start + ROWS_AT_A_TIME]].any(axis=0)
    return np.flatnonzero(used)
