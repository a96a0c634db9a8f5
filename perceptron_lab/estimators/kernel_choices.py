"""The kernel parameter of estimators, and the kernel's values on examples."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import WrapValidator
from pydantic_core import PydanticCustomError

from perceptron_lab.cones.operators.kernels import (
    Kernel,
    KernelMatrix,
    Linear,
    Polynomial,
    Rbf,
    kernel_matrix,
    plus_one,
    symmetrised,
)
from perceptron_lab.core.errors import did_you_mean
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.numerics.sparse_arrays import dense_array

NAMED: dict[str, Kernel] = {"linear": Linear(), "poly": Polynomial(), "rbf": Rbf()}


def _validated_kernel(value: object, _: object) -> object:
    # pydantic would report each member of the union, and accept a class in place of its record
    names = [*NAMED, "precomputed"]
    record = isinstance(value, Kernel) and not isinstance(value, type)
    if value is None or record or (isinstance(value, str) and value in names):
        return value
    remedy = did_you_mean(value, names) if isinstance(value, str) else ""
    raise PydanticCustomError(
        "kernel",
        "input should be None, {names}, or a record such as Rbf(gamma=0.5) of "
        "perceptron_lab.cones.operators.kernels{remedy}",
        {"names": ", ".join(map(repr, names)), "remedy": remedy},
    )


KernelChoice = Annotated[
    Literal["linear", "poly", "rbf", "precomputed"] | Kernel | None,
    WrapValidator(_validated_kernel),
]
"""None for the features themselves; a name stands for the record with its defaults."""


def training_kernel_matrix(
    choice: KernelChoice, examples: Examples, intercept: bool
) -> KernelMatrix:
    """Return the kernel's values on examples, shape ``(m, m)``, plus 1 for an intercept."""
    if choice == "precomputed":
        matrix = KernelMatrix(symmetrised(dense_array(examples)))
    else:
        matrix = kernel_matrix(_kernel_record(choice), dense_array(examples))
    return plus_one(matrix) if intercept else matrix


def kernel_columns(
    choice: KernelChoice, examples: Examples, support: FloatArray | None, at: IntArray
) -> FloatArray:
    """Return K(x, x_j) of new examples x, shape ``(m, k)``.

    Parameters
    ----------
    choice, examples
        The kernel, and the x; if precomputed, K(x, x_j) of all examples x_j that were learned.
    support, at
        The k examples x_j of the support, and their indices among the training examples.
    """
    if choice == "precomputed":
        return dense_array(examples)[:, at]
    assert support is not None
    return _kernel_record(choice).matrix(dense_array(examples), support)


def _kernel_record(choice: KernelChoice) -> Kernel:
    if isinstance(choice, str):
        return NAMED[choice]
    assert choice is not None
    return choice
