"""The kernel of a classifier: by a name of scikit-learn's, or by its record."""

from __future__ import annotations

from typing import Annotated, Any, Literal

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
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.sparse_arrays import dense

NAMED: dict[str, Kernel] = {"linear": Linear(), "poly": Polynomial(), "rbf": Rbf()}


def _in_words(value: Any, _: Any) -> Any:
    # pydantic reports the members of a union one by one, and takes a class for its record
    known = [*NAMED, "precomputed"]
    record = isinstance(value, Kernel) and not isinstance(value, type)
    if value is None or record or (isinstance(value, str) and value in known):
        return value
    mend = did_you_mean(value, known) if isinstance(value, str) else ""
    raise PydanticCustomError(
        "kernel",
        "input should be None, {names}, or a record such as Rbf(gamma=0.5) of "
        "perceptron_lab.cones.operators.kernels{mend}",
        {"names": ", ".join(map(repr, known)), "mend": mend},
    )


KernelChoice = Annotated[
    Literal["linear", "poly", "rbf", "precomputed"] | Kernel | None, WrapValidator(_in_words)
]
"""None for the features themselves; a name stands for the record with its defaults."""


def learned_matrix(choice: KernelChoice, examples: Any, intercept: bool) -> KernelMatrix:
    """Return the kernel's values on examples, shape ``(m, m)``, plus 1 for an intercept."""
    if choice == "precomputed":
        matrix = KernelMatrix(symmetrised(dense(examples)))
    else:
        matrix = kernel_matrix(_record(choice), dense(examples))
    return plus_one(matrix) if intercept else matrix


def new_values(choice: KernelChoice, examples: Any, support: Any, at: Any) -> FloatArray:
    """Return K(x, x_j) of new examples x, shape ``(m, k)``.

    Parameters
    ----------
    choice, examples
        The kernel, and the x; if precomputed, K(x, x_j) of all examples x_j that were learned.
    support, at
        The k examples x_j that are wanted, and which of those learned they are.
    """
    if choice == "precomputed":
        return dense(examples)[:, at]
    return _record(choice).matrix(dense(examples), support)


def _record(choice: KernelChoice) -> Kernel:
    if isinstance(choice, str):
        return NAMED[choice]
    assert choice is not None
    return choice
