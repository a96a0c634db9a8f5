"""Kernels: inner products of features that are never formed, with error bounds of their values.

With gamma_k = k u / (1 - k u), u = 2^-53 and n features, a computed x'z is off by at most
gamma_n |x|'|z|, and |x|'|z| <= norm(x) norm(z). Each kernel states the bound that follows;
underflow is added.

So a stored matrix K~ satisfies |K~(x, z) - K(x, z)| <= spread * sqrt(K~(x, x) K~(z, z)), whatever
cancels: one number encloses all values, and a product K c by spread * s_i sum_j s_j |c_j|,
s_i = sqrt(K~(x_i, x_i)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Protocol, runtime_checkable

import numpy as np
import scipy
from pydantic import Field

from perceptron_lab.cones.operators.base import EXACT
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.results import FloatArray, IntArray

_UNIT_ROUNDOFF = 2.0**-53
_SMALLEST = 2.0**-1074
# Larger entries have squares that overflow, and no error bound of the kernel
_LARGEST = 1e150
# Error of exp in unit roundoffs: four units in the last place, more than that of any library
_OF_EXP = 8


@runtime_checkable
class Kernel(Protocol):
    """A symmetric positive semidefinite function of two examples."""

    def matrix(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return K(x_i, z_j) for the rows x_i of ``left``, z_j of ``right``."""
        ...


@parameter_record
class Linear:
    """K(x, z) = x'z.

    The error is at most gamma_{n+1} norm(x) norm(z), the last rounding being that of the mean of
    K(x, z) and K(z, x); 0 where all entries are small multiples of one power of two.

    Examples
    --------
    >>> from perceptron_lab import ConicSystem, solve
    >>> examples, labels = [[1.0, 2.0], [-1.0, 0.0]], [1, -1]
    >>> print(solve(ConicSystem.from_kernel(Linear(), examples, labels)).status)
    FEASIBLE
    """

    def spread(self, examples: FloatArray, diagonal: FloatArray, roundings: int) -> float:
        """Return the bound of the values' errors, relative to sqrt(K(x, x) K(z, z)).

        ``diagonal`` holds the values K(x, x) > 0 as computed; ``roundings`` is 1 for examples that
        were rounded once.
        """
        if not roundings and _products_are_exact(examples):
            return 0.0
        terms = examples.shape[1] + 1 + 2 * roundings
        return _relative_error(terms) + float(4.0 * terms * _SMALLEST / diagonal.min())

    def matrix(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the inner products, shape ``(len(left), len(right))``."""
        return np.asarray(left @ right.T)


@parameter_record
class Polynomial:
    """K(x, z) = (gamma x'z + c)^degree.

    gamma x'z + c is off by gamma_{n+3} (gamma norm(x) norm(z) + c) at most, a rounding of gamma
    itself included, and that is at most gamma_{n+3} times the root of its values for (x, x) and
    (z, z). Powers multiply the number of roundings.

    Parameters
    ----------
    degree
        1 or more (default 3).
    coef0
        c >= 0 (default 1); a negative c would not give a positive semidefinite kernel.
    gamma
        > 0; None (default) stands for 1 / (number of features).

    Examples
    --------
    The polynomial kernel of degree 2 separates the labels of x1 x2:

    >>> from perceptron_lab import ConicSystem, solve
    >>> examples, labels = [[1, 1], [-1, -1], [1, -1], [-1, 1]], [1, 1, -1, -1]
    >>> print(solve(ConicSystem.from_kernel(Polynomial(degree=2), examples, labels)).status)
    FEASIBLE
    """

    degree: Count = 3
    coef0: Annotated[float, Field(ge=0)] = 1.0
    gamma: Positive | None = None

    def matrix(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the kernel's values, shape ``(len(left), len(right))``."""
        gamma = self.gamma or 1.0 / left.shape[1]
        # In place: values of many examples fill a good part of the memory.
        base = np.asarray(left @ right.T, dtype=np.float64)
        base *= gamma
        base += self.coef0
        # By squarings: a library's power need not be rounded correctly, a product is.
        power, rest = None, self.degree
        while True:
            if rest & 1:
                last = base if rest == 1 else base.copy()
                power = last if power is None else power * base
            rest >>= 1
            if not rest:
                return np.asarray(power)
            # The order of the multiplications fixes the number of roundings that ``spread`` counts.
            base *= base

    def spread(self, examples: FloatArray, diagonal: FloatArray, roundings: int) -> float:
        """Return the bound of the values' errors; see :meth:`Linear.spread`."""
        gamma = self.gamma or 1.0 / examples.shape[1]
        terms = self.degree * (examples.shape[1] + 4 + 2 * roundings) + 1
        largest = max(1.0, float(diagonal.max()))
        lost = 8.0 * terms * (gamma + 1.0) * _SMALLEST * largest / float(diagonal.min())
        return _relative_error(terms) + float(lost)


@parameter_record
class Rbf:
    """K(x, z) = exp(-gamma norm(x - z)^2).

    t = gamma norm(x - z)^2 is off by gamma_{n+4} t at most, a rounding of gamma itself included;
    t e^-t < 1, so that e^-t is off by gamma_{n+4} and what exp itself errs. Examples that were
    rounded move by u norm(x), and e^(-gamma r^2) by at most sqrt(2 gamma) per unit of r.

    Parameters
    ----------
    gamma
        > 0; None (default) stands for 1 / (number of features).

    Examples
    --------
    >>> from perceptron_lab import ConicSystem, solve
    >>> examples, labels = [[0.0], [1.0], [2.0]], [1, -1, 1]
    >>> print(solve(ConicSystem.from_kernel(Rbf(gamma=1.0), examples, labels)).status)
    FEASIBLE
    """

    gamma: Positive | None = None

    def matrix(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the kernel's values, shape ``(len(left), len(right))``."""
        gamma = self.gamma or 1.0 / left.shape[1]
        return np.asarray(np.exp(-gamma * scipy.spatial.distance.cdist(left, right, "sqeuclidean")))

    def spread(self, examples: FloatArray, diagonal: FloatArray, roundings: int) -> float:
        """Return the bound of the values' errors; see :meth:`Linear.spread`."""
        gamma = self.gamma or 1.0 / examples.shape[1]
        if float(np.abs(examples).max()) > _LARGEST:
            return math.inf
        shift_error = 0.0
        if roundings:
            longest = math.sqrt(float(np.einsum("ij,ij->i", examples, examples).max()))
            shift_error = 2.5 * _UNIT_ROUNDOFF * longest * math.sqrt(2.0 * gamma)
        lost = 4.0 * examples.shape[1] * gamma * _SMALLEST
        return _relative_error(examples.shape[1] + 6 + _OF_EXP) + float(shift_error + lost)


# Kernels with error bounds of their computed values
NAMED = (Linear, Polynomial, Rbf)


def _relative_error(terms: int) -> float:
    """Return more than gamma_k / (1 - gamma_k), relative to the computed K(x, x); k below 1e10."""
    return 1.01 * terms * _UNIT_ROUNDOFF


def _products_are_exact(examples: FloatArray) -> bool:
    """Return whether all sums of products of entries are doubles, in any order."""
    # So it is where the entries are multiples of a power of two, of at most b bits, 2 b + log2 n
    # being no more than 53.
    bits = (53 - (examples.shape[1] - 1).bit_length()) // 2
    exponent = int(np.frexp(np.abs(examples).max())[1])
    if not -400 < exponent < 400:
        return False
    multiples = np.ldexp(examples, bits - exponent)
    return bool((multiples == np.rint(multiples)).all())


def symmetric(kernel: Kernel, examples: FloatArray) -> FloatArray:
    """Return the kernel matrix of examples, exactly symmetric."""
    return symmetrised(kernel.matrix(examples, examples))


def symmetrised(matrix: FloatArray) -> FloatArray:
    """Return an exactly symmetric kernel matrix, if the matrix is symmetric up to rounding.

    Rounding may have made K(x, z) and K(z, x) differ. A matrix that differs by more is no kernel,
    and is returned unchanged for the caller to refuse.
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        return matrix
    gap = np.abs(matrix - matrix.T).max()
    close = 0.0 < gap <= 1e-12 * np.abs(matrix).max()
    return np.asarray((matrix + matrix.T) / 2.0) if close else matrix


@dataclass(frozen=True)
class KernelMatrix:
    """The stored values of a kernel on examples, with what is known about their errors."""

    values: FloatArray  # K~, symmetric to the last bit, shape (m, m)
    spread: float = 0.0  # The bound above; 0 if the stored values are exact
    groups: IntArray | None = None  # Equal numbers for identical examples, shape (m,)
    provenance: str = EXACT  # The numbers for which proofs hold
    definite: bool = False  # Whether K is positive semidefinite, by its formula or by a proof
    diagonal_shift: float = 0.0  # Relative increase of the diagonal that makes it so


def kernel_matrix(kernel: Kernel, examples: FloatArray, roundings: int = 0) -> KernelMatrix:
    """Return a kernel's values on examples, shape ``(m, features)``, finite, in double precision.

    For the kernels of this package the values are enclosed. For other kernels no error bound is
    known, and the computed values are the data.
    """
    values = symmetric(kernel, examples)
    if not isinstance(kernel, NAMED):
        return KernelMatrix(values, provenance="kernel matrix as computed")
    diagonal = values.diagonal()
    least = float(diagonal.min())
    if not (np.isfinite(values).all() and least > 0.0):
        return KernelMatrix(values)  # the caller refuses it
    spread = kernel.spread(examples, diagonal, roundings)
    groups = None if roundings else np.unique(examples, axis=0, return_inverse=True)[1].ravel()
    provenance = f"kernel values enclosed to {spread:.1e}" if spread else EXACT
    return KernelMatrix(values, spread, groups, provenance, definite=True)


def plus_one(matrix: KernelMatrix) -> KernelMatrix:
    """Return the values of K + 1, whose features are those of K and a constant one.

    As |K~(x, z)| <= sqrt(K~(x, x) K~(z, z)), the relative error bound remains valid for the larger
    diagonal, and one rounding is added.
    """
    spread = matrix.spread + 2.0 * _UNIT_ROUNDOFF
    enclosed = matrix.provenance == EXACT or matrix.spread > 0.0
    provenance = f"kernel values plus 1, enclosed to {spread:.1e}"
    return replace(
        matrix,
        values=matrix.values + 1.0,
        spread=spread,
        provenance=provenance if enclosed else f"{matrix.provenance}, plus 1",
    )
