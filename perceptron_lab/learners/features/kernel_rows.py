"""Examples that are known by a kernel matrix computed once for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_lab.inputs import checked_rows
from perceptron_lab.learners.features.kernel_columns import FeatureKernel, dense, kernel_values
from perceptron_lab.results import FloatArray, IntArray

BLOCK = 256
"""Rows that are made dense at a time."""


@dataclass(frozen=True)
class KernelRows:
    """Some of the examples whose kernel matrix is known.

    Indexed like rows, it gives fewer of them and copies nothing: one matrix serves the training
    examples, the test examples and every fold of a cross-validation.

    Parameters
    ----------
    kernel
        k.
    matrix
        k(x_i, x_j) of all examples, shape ``(n, n)``.
    indices
        Which of them these are, shape ``(m,)``.
    """

    kernel: FeatureKernel
    matrix: FloatArray
    indices: IntArray

    @classmethod
    def of(cls, kernel: FeatureKernel, rows: Any) -> KernelRows:
        """Return all examples; n^2 doubles are held, but sparse rows are never made dense.

        Parameters
        ----------
        kernel
            Linear, Polynomial or Rbf.
        rows
            The examples, dense or sparse, shape ``(n, columns)``.
        """
        data = checked_rows(rows)
        count = data.shape[0]
        matrix = np.empty((count, count))
        for start in range(0, count, BLOCK):
            some = slice(start, start + BLOCK)
            matrix[:, some] = kernel_values(kernel, data, dense(data[some]))
        return cls(kernel, matrix, np.arange(count, dtype=np.int64))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of these and of all examples."""
        return len(self.indices), len(self.matrix)

    def __getitem__(self, chosen: npt.ArrayLike | slice) -> KernelRows:
        """Return the examples at some positions, an array of integers, a mask, or a slice."""
        index = chosen if isinstance(chosen, slice) else np.asarray(chosen)
        return KernelRows(self.kernel, self.matrix, self.indices[index])

    def against(self, others: KernelRows) -> FloatArray:
        """Return k(x_i, z_j), x_i of these and z_j of other examples of the same matrix."""
        return np.asarray(self.matrix[np.ix_(self.indices, others.indices)])
