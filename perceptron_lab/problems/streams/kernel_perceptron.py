"""The perceptron on a stream of examples known by a kernel (`PerceptronNotes`, section 2.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from perceptron_lab.cones.operators.kernels import Kernel, KernelMatrix, symmetric, symmetrised
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.input_checks import ArrayOrSparse, check_kernel, checked_rows
from perceptron_lab.numerics.sparse_arrays import dense
from perceptron_lab.problems.streams.perceptron import Mistakes, Order, Passes, signs_or_ones

# K(x_i, x_j) for the examples i and j: shape (len(i), len(j))
Values = Callable[[IntArray, IntArray], FloatArray]

# Presentations whose scores are computed at once
BLOCK = 256
# Up to this number of examples, presented more than once, all kernel values are stored: 128 MB
LARGEST_STORED = 4096


@dataclass(frozen=True)
class OnlineKernelPerceptron:
    """A kernel perceptron after its stream: f(x) = sum_j c_j K(x_j, x), and its mistakes.

    Parameters
    ----------
    support
        The examples j with c_j != 0, those with a mistake, ascending, shape ``(k,)``.
    coefficients
        c_j: the sign of example j times the mistakes on it, shape ``(k,)``.
    mistakes
        The mistakes along the stream.
    kernel
        K, or ``"precomputed"``.
    vectors
        The rows x_j of the support, shape ``(k, features)``; None if precomputed.
    """

    support: IntArray
    coefficients: FloatArray
    mistakes: Mistakes
    kernel: Kernel | Literal["precomputed"]
    vectors: FloatArray | None

    def decision_function(self, examples: ArrayOrSparse) -> FloatArray:
        """Return f(x) of every row x, shape ``(m,)``; positive for the larger label.

        Parameters
        ----------
        examples
            Rows x, shape ``(m, features)``; if precomputed, the values K(x, x_j) for all examples
            x_j of the stream, shape ``(m, size of the stream)``.
        """
        rows = _dense(examples)
        if isinstance(self.kernel, str) or self.vectors is None:
            return np.asarray(rows[:, self.support] @ self.coefficients)
        return np.asarray(self.kernel.matrix(rows, self.vectors) @ self.coefficients)


def online_kernel_perceptron(
    kernel: Kernel | Literal["precomputed"],
    examples: ArrayOrSparse | KernelMatrix,
    labels: npt.ArrayLike | None = None,
    *,
    passes: int = 1,
    order: Order = "given",
    seed: int = 0,
) -> OnlineKernelPerceptron:
    """Present a stream of examples to the kernel perceptron, and return it with its mistakes.

    It is :func:`~perceptron_lab.problems.streams.perceptron.online_perceptron` on features phi with
    phi(x)'phi(z) = K(x, z), which are never formed: w = sum_j c_j phi(x_j), the prediction on x is
    the sign of f(x) = sum_j c_j K(x_j, x), and a mistake on example i is c_i <- c_i + s_i. So the
    guarantees are the same, with R^2 = max K(x_i, x_i) and norm(w)^2 = c'K c.

    Parameters
    ----------
    kernel
        A record of :mod:`perceptron_lab.cones.operators.kernels`, or ``"precomputed"``.
    examples
        x_i as rows, shape ``(m, features)``, dense or scipy.sparse (made dense); if precomputed,
        the matrix K(x_i, x_j) itself, or a
        :class:`~perceptron_lab.cones.operators.kernels.KernelMatrix`.
    labels, passes, order, seed
        See :func:`~perceptron_lab.problems.streams.perceptron.online_perceptron`.

    Raises
    ------
    InputError
        If an argument is not as described.

    References
    ----------
    `PerceptronNotes`, section 2.5.

    Examples
    --------
    >>> from perceptron_lab.cones.operators.kernels import Polynomial
    >>> ring = [[1, 1], [-1, 1], [3, 0], [0, -3]]  # an ellipse separates them, and no line does
    >>> kernel = Polynomial(degree=2, gamma=1.0)
    >>> found = online_kernel_perceptron(kernel, ring, [0, 0, 1, 1], passes=100)
    >>> found.mistakes.separated, found.decision_function(ring) > 0
    (True, array([False, False,  True,  True]))
    """
    values, rows, size = _values_of(kernel, examples, repeated=passes != 1)
    signs = signs_or_ones(labels, size)
    coefficients = np.zeros(size)

    def sweep(sequence: IntArray) -> IntArray:
        parts = range(0, len(sequence), BLOCK)
        mistakes = [
            _sweep_block(values, sequence[k : k + BLOCK], signs, coefficients) for k in parts
        ]
        return np.concatenate([k + batch for k, batch in zip(parts, mistakes, strict=True)])

    mistakes = Passes(size, passes, order, seed).mistakes(sweep)
    support = np.flatnonzero(coefficients)
    vectors = None if rows is None else rows[support]
    return OnlineKernelPerceptron(support, coefficients[support], mistakes, kernel, vectors)


def _sweep_block(
    values: Values, block: IntArray, signs: FloatArray, coefficients: FloatArray
) -> IntArray:
    """Update the coefficients at the mistakes of a block; return their positions in it."""
    support = np.flatnonzero(coefficients)
    agreement = signs[block] * (values(block, support) @ coefficients[support])  # s f(x) each
    inner: FloatArray | None = None
    mistakes, first = list[int](), 0
    while True:
        mistaken = np.flatnonzero(agreement[first:] <= 0.0)
        if not len(mistaken):
            return np.array(mistakes, dtype=np.int64)
        position = first + int(mistaken[0])
        if inner is None:
            # Only a block with a mistake needs it: then each mistake changes later scores of the
            # block by one row, instead of a new product with the support.
            inner = values(block, block) * np.outer(signs[block], signs[block])
        coefficients[block[position]] += signs[block[position]]
        agreement += inner[position]
        mistakes.append(position)
        first = position + 1


def _values_of(
    kernel: Kernel | Literal["precomputed"],
    examples: ArrayOrSparse | KernelMatrix,
    *,
    repeated: bool,
) -> tuple[Values, FloatArray | None, int]:
    """Return the kernel's values as a function, the examples or None, and their number."""
    if isinstance(kernel, str) and kernel == "precomputed":
        if isinstance(examples, KernelMatrix):
            matrix = examples.values
        else:
            matrix = symmetrised(_dense(examples))
        check_kernel(matrix)
        return lambda left, right: matrix[np.ix_(left, right)], None, len(matrix)
    if isinstance(kernel, str | type) or not isinstance(kernel, Kernel):
        raise InputError(
            f"received {kernel!r} as a kernel; give a record such as Rbf(gamma=0.5) of "
            "perceptron_lab.cones.operators.kernels, or 'precomputed'"
        )
    if isinstance(examples, KernelMatrix):
        raise InputError("the examples are a kernel matrix; give the kernel 'precomputed'")
    rows = _dense(examples)
    if repeated and len(rows) <= LARGEST_STORED:
        values = symmetric(kernel, rows)
        return lambda left, right: values[np.ix_(left, right)], rows, len(rows)
    return lambda left, right: kernel.matrix(rows[left], rows[right]), rows, len(rows)


def _dense(examples: ArrayOrSparse) -> FloatArray:
    return np.asarray(dense(checked_rows(examples)), dtype=float)
