"""Kernel matrices, and how far the values stored may be from those of the kernel.

The stored K~ satisfies |K~(x, z) - K(x, z)| <= spread * sqrt(K~(x, x) K~(z, z)): the bounds of
rounding errors of x'z are multiples of norm(x) norm(z), whatever cancels. So one number encloses
all values, and a product K c by spread * s_i sum_j s_j |c_j|, s_i = sqrt(K~(x_i, x_i)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perceptron_lab.operators.base import EXACT
from perceptron_lab.operators.kernels import NAMED, Kernel, symmetric
from perceptron_lab.results import FloatArray, IntArray


@dataclass(frozen=True)
class KernelMatrix:
    """The values of a kernel on some examples, as they are stored.

    Parameters
    ----------
    values
        K~, symmetric to the last bit, shape ``(m, m)``.
    spread
        The bound above; 0 where the values stored are meant.
    groups
        Equal numbers for examples known to be identical, shape ``(m,)``; or None.
    provenance
        What proofs on it are about.
    definite
        Whether K is known to be positive semidefinite: by its formula, or proved.
    raised
        By what part of itself the diagonal was raised to make it so.
    """

    values: FloatArray
    spread: float = 0.0
    groups: IntArray | None = None
    provenance: str = EXACT
    definite: bool = False
    raised: float = 0.0


def kernel_matrix(kernel: Kernel, examples: FloatArray, roundings: int = 0) -> KernelMatrix:
    """Return a kernel's values on examples, shape ``(m, features)``, finite, in double precision.

    They are enclosed for the kernels of this package; of others no error bound is known, and the
    values computed are meant.
    """
    values = symmetric(kernel, examples)
    if not isinstance(kernel, NAMED):
        return KernelMatrix(values, provenance="kernel matrix as computed")
    diagonal = values.diagonal()
    least = float(diagonal.min())
    if not (np.isfinite(values).all() and least > 0.0):
        return KernelMatrix(values)  # refused
    spread = kernel.spread(examples, diagonal, roundings)
    groups = None if roundings else np.unique(examples, axis=0, return_inverse=True)[1].ravel()
    provenance = f"kernel values enclosed to {spread:.1e}" if spread else EXACT
    return KernelMatrix(values, spread, groups, provenance, definite=True)
