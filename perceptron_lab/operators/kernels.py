"""Kernels: inner products of features that are never formed."""

from __future__ import annotations

from typing import Annotated, Protocol

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass
from scipy.spatial.distance import cdist

from perceptron_lab.goals import STRICT
from perceptron_lab.results import FloatArray


class Kernel(Protocol):
    """A symmetric positive semidefinite function of two examples."""

    def matrix(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return K(x_i, z_j) for the rows x_i of ``left``, z_j of ``right``."""
        ...


@dataclass(frozen=True, config=STRICT)
class Linear:
    """K(x, z) = x'z."""

    def matrix(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the inner products, shape ``(len(left), len(right))``."""
        return np.asarray(left @ right.T)


@dataclass(frozen=True, config=STRICT)
class Polynomial:
    """K(x, z) = (gamma x'z + c)^degree.

    Parameters
    ----------
    degree
        1 or more (default 3).
    coef0
        c >= 0 (default 1); a negative c would not give a positive semidefinite kernel.
    gamma
        > 0; None (default) stands for 1 / (number of features).
    """

    degree: Annotated[int, Field(ge=1)] = 3
    coef0: Annotated[float, Field(ge=0)] = 1.0
    gamma: Annotated[float, Field(gt=0)] | None = None

    def matrix(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the kernel's values, shape ``(len(left), len(right))``."""
        gamma = self.gamma or 1.0 / left.shape[1]
        return np.asarray((gamma * (left @ right.T) + self.coef0) ** self.degree)


@dataclass(frozen=True, config=STRICT)
class Rbf:
    """K(x, z) = exp(-gamma norm(x - z)^2).

    Parameters
    ----------
    gamma
        > 0; None (default) stands for 1 / (number of features).
    """

    gamma: Annotated[float, Field(gt=0)] | None = None

    def matrix(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the kernel's values, shape ``(len(left), len(right))``."""
        gamma = self.gamma or 1.0 / left.shape[1]
        return np.asarray(np.exp(-gamma * cdist(left, right, "sqeuclidean")))


def symmetric(kernel: Kernel, examples: FloatArray) -> FloatArray:
    """Return the kernel matrix of some examples, symmetric to the last bit."""
    return symmetrised(kernel.matrix(examples, examples))


def symmetrised(matrix: FloatArray) -> FloatArray:
    """Return a kernel matrix that is symmetric to the last bit, unless it is far from it.

    Rounding may have made K(x, z) and K(z, x) differ; what differs by more is no kernel, and is
    returned as it is, to be refused.
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        return matrix
    gap = np.abs(matrix - matrix.T).max()
    close = 0.0 < gap <= 1e-12 * np.abs(matrix).max()
    return np.asarray((matrix + matrix.T) / 2.0) if close else matrix
