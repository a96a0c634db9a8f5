"""Values of decision functions: kernels by name or record; signs of linear functions are exact."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import WrapValidator
from pydantic_core import PydanticCustomError

from perceptron_lab.certificates.rounding import exact_dot, product_with_radius
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
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF
from perceptron_lab.numerics.sparse_arrays import dense_array

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
        matrix = KernelMatrix(symmetrised(dense_array(examples)))
    else:
        matrix = kernel_matrix(_record(choice), dense_array(examples))
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
        return dense_array(examples)[:, at]
    return _record(choice).matrix(dense_array(examples), support)


def _record(choice: KernelChoice) -> Kernel:
    if isinstance(choice, str):
        return NAMED[choice]
    assert choice is not None
    return choice


LARGEST = Fraction(sys.float_info.max)


def linear_values(rows: Any, weights: FloatArray, intercepts: FloatArray) -> FloatArray:
    """Return f_k(x) = w_k'x + b_k of every row, finite and of the right sign, shape ``(m, k)``.

    Sums in which rounding or overflow may decide the sign are formed in exact arithmetic and
    rounded once. A value beyond the range of doubles becomes the largest or the smallest one of
    its sign.

    Parameters
    ----------
    rows
        Examples, an array in double precision or a CSR array, shape ``(m, n)``.
    weights, intercepts
        w_k and b_k, shapes ``(k, n)`` and ``(k,)``.
    """
    if not weights.shape[1]:  # a kernel without support examples
        return np.tile(intercepts, (rows.shape[0], 1))
    with np.errstate(all="ignore"):  # values that are not finite are computed again
        values = np.asarray(rows @ weights.T + intercepts)
        stored = rows if isinstance(rows, np.ndarray) else rows.data
        largest = max(float(stored.max(initial=0.0)), -float(stored.min(initial=0.0)))
        sizes = largest * np.abs(weights).sum(axis=1) + np.abs(intercepts)
    terms = weights.shape[1] + 1
    bounds = 1.01 * (terms + 2) * UNIT_ROUNDOFF * sizes + 2.0 * terms * SMALLEST
    for k, bound in enumerate(bounds.tolist()):
        uncertain = np.flatnonzero(~(np.abs(values[:, k]) > bound) | ~np.isfinite(values[:, k]))
        if len(uncertain):
            some = rows[uncertain]
            values[uncertain, k] = _signed_values(some, weights[k], float(intercepts[k]))
    return values


def _signed_values(rows: Any, weights: FloatArray, intercept: float) -> FloatArray:
    """Return w'x + b of every row, exact sums rounded once where rounding may decide the sign."""
    with np.errstate(all="ignore"):
        values, radius = product_with_radius(rows, weights)
        values = values + intercept
        radius = radius * (1.0 + 1e-10) + 2.0 * UNIT_ROUNDOFF * np.abs(values)
    for at in np.flatnonzero(~(np.abs(values) > radius) | ~np.isfinite(values)).tolist():
        row, used = rows[[at]], slice(None)
        if isinstance(row, np.ndarray):
            row = row[0]
        else:
            row, used = row.data, row.indices
        values[at] = _nearest(exact_dot(row, weights[used]) + Fraction(intercept))
    return np.asarray(values)


def _nearest(value: Fraction) -> float:
    """Return the nearest double; not 0 and not infinity where the value is neither."""
    near = float(min(max(value, -LARGEST), LARGEST))
    return near if near or not value else (SMALLEST if value > 0 else -SMALLEST)
