"""Operators and cones of rows, labelled examples, kernels and second-order cones.

What a user passes is checked and converted here, once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.certificates.matrices.definite import semidefinite
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.base import Operator
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.operators.kernels import Kernel, KernelMatrix, kernel_matrix, symmetrised
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.row_source import (
    ArrayRows,
    LabelledRows,
    RowSource,
    augmented_precision,
)
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.core.errors import InputError, refuse_flags
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.class_labels import signs_of
from perceptron_lab.numerics.doubles import LARGEST_WHOLE, Doubles
from perceptron_lab.numerics.input_checks import (
    ArrayOrSparse,
    check_kernel,
    checked_rows,
    doubles_of_rows,
    refuse_empty,
    refuse_extreme_rows,
    refuse_not_finite,
)
from perceptron_lab.numerics.sparse_arrays import dense_array, scaled_rows

# Rows as users pass them, shape (m, n)
Rows = ArrayOrSparse | RowSource | Doubles

# Of rows: ``unit`` is that of the rows divided by their norms, ``directional`` of those given;
# ``geometric``, of two classes: half the distance of their hulls
Margin = Literal["unit", "directional", "geometric"]


class Parts(NamedTuple):
    """The parts of a conic system.

    Parameters
    ----------
    operator, cone
        A* and K.
    proved_on
        The data as given, where ``operator`` is a normalised view of them.
    multiple
        What the data given were multiplied by in ``proved_on``.
    """

    operator: Operator
    cone: Cone
    proved_on: Operator | None = None
    multiple: float = 1.0


def of_rows(rows: Rows, memory: int | None = None, margin: Margin = "unit") -> Parts:
    """Return rows, or unit rows; see :meth:`.ConicSystem.from_rows`."""
    if margin == "geometric":
        if not (isinstance(rows, LabelledRows) and rows.constant is not None and memory is None):
            raise InputError(
                "margin 'geometric' of rows, which have no classes; give examples with their "
                "labels, or 'unit' or 'directional'"
            )
        return _classes(Doubles(rows.examples), rows.signs.astype(np.float64), rows.omitted)
    return _unit_or_plain_rows(_checked(rows, memory), margin)


def of_labelled(
    examples: Rows,
    labels: npt.ArrayLike,
    *,
    affine: bool,
    augment: float,
    margin: Margin,
    memory: int | None,
) -> Parts:
    """Return the rows s_i (x_i, rho); see :meth:`.ConicSystem.from_labelled`."""
    refuse_flags(affine=affine)
    constant = _constant(augment, affine)
    checked = _checked(examples, memory)
    data, integers = checked.values, checked.integers
    signs = signs_of(labels, data.shape[0])
    if margin == "geometric":
        if constant != 1.0:
            raise InputError(
                f"margin 'geometric' with affine={affine}, augment={augment}; its bias is free: "
                "leave both out"
            )
        return _classes(checked, signs)
    if isinstance(data, RowSource):
        return of_rows(LabelledRows(data, signs, affine=affine, augment=augment), margin=margin)
    if integers is not None and constant is not None:
        # The constant feature is multiplied like the features, and must stay a whole double
        number = Fraction(constant) * int(checked.multiple)
        exact = number.denominator == 1 and number <= LARGEST_WHOLE
        integers = _signed(integers, signs, float(number)) if exact else None
    elif integers is not None:
        integers = _signed(integers, signs, None)
    rows = _signed(data, signs.astype(augmented_precision(data.dtype, constant)), constant)
    return _unit_or_plain_rows(replace(checked, values=rows, integers=integers), margin)


def geometric_bracket(
    lower: float, upper: float, *, longest: float, augment: float
) -> tuple[float, float]:
    """Return a bracket of the geometric margin of two classes from one of gamma_d.

    gamma = max over (w, b) of min_i s_i (w'x_i + b) / norm(w) is half the distance of the hulls of
    the classes. gamma_d is the directional margin of the rows s_i (x_i, rho), in the span of which
    the bias counts as well. With R the largest norm of these rows,

        gamma_d <= gamma <= (R / rho) gamma_d                                            (2.67).

    The first inequality is norm(w) <= norm((w, rho b)); the second holds for the best hyperplane,
    which passes between the classes and so is no further from the origin than the furthest example:
    both classes must occur. R^2 = rho^2 + max norm(x_i)^2: with rho the largest norm of an example
    gamma is found up to a factor sqrt 2, and R / rho tends to 1 as rho grows, while the bounds of
    the algorithms, (R / gamma_d)^2 and more, tend to infinity.

    Parameters
    ----------
    lower, upper
        0 <= lower <= gamma_d <= upper, as in ``margin_lower`` and ``margin_upper`` of a result on
        ``ConicSystem.from_labelled(X, y, margin="directional", augment=rho)``.
    longest
        R, or more: ``system.facts().norm``.
    augment
        rho > 0.

    Returns
    -------
    tuple of float
        Rounded outwards.

    Raises
    ------
    InputError
        If the numbers are not ordered like that, or R < rho.

    References
    ----------
    `TsampoukaShaweTaylor`, section 2.3.

    Examples
    --------
    Two points at a distance of 6, so that gamma = 3; the rows (4, 2) and (2, -2) have
    gamma_d = 6 / sqrt 5.

    >>> low, high = geometric_bracket(2.683, 2.684, longest=20**0.5, augment=2.0)
    >>> low <= 3.0 <= high
    True
    >>> print(f"{low:.2f} {high:.2f}")
    2.68 6.00
    """
    if not 0.0 <= lower <= upper < math.inf:
        raise InputError(f"gamma_d in [{lower}, {upper}]; give 0 <= lower <= upper, finite")
    if not 0.0 < augment <= longest < math.inf:
        raise InputError(
            f"augment={augment} and longest={longest}; give the constant feature, above 0, and the "
            "largest norm of the rows that have it"
        )
    # 2^-50 covers the three roundings of the product
    return lower, math.nextafter(upper * (longest / augment) * (1.0 + 2.0**-50), math.inf)


def of_kernel(
    kernel: Kernel | Literal["precomputed"],
    examples: ArrayOrSparse | KernelMatrix,
    labels: npt.ArrayLike,
) -> Parts:
    """Return the signed kernel matrix; see :meth:`.ConicSystem.from_kernel`."""
    matrix = _kernel_matrix_of(kernel, examples)
    signs = signs_of(labels, len(matrix.values))
    scale = 1.0 / np.sqrt(matrix.values.diagonal())
    view = Gram(matrix.values, signs, scale, matrix)
    return Parts(view, Orthant(len(signs)), Gram(matrix.values, signs, matrix=matrix))


def of_second_order(matrix: ArrayOrSparse, sizes: Sequence[int]) -> Parts:
    """Return stacked second-order blocks; see :meth:`.ConicSystem.second_order`."""
    doubles = doubles_of_rows(matrix)
    data = doubles.values
    refuse_not_finite(data)
    orders_given = np.atleast_1d(np.asarray(sizes))
    if (
        orders_given.dtype.kind not in "iu"
        or orders_given.min() < 1
        or orders_given.sum() != data.shape[0]
    ):
        raise InputError(
            f"blocks of sizes {sizes} for {data.shape[0]} rows; give whole numbers, 1 or more, "
            "that sum to the number of rows"
        )
    orders: list[int] = orders_given.tolist()
    # A block of size 1 is t > 0, a row
    cones: list[Cone] = [Orthant(1) if size == 1 else SecondOrder(size) for size in orders]
    operator = Matrix(data.astype(float, copy=False), roundings=doubles.roundings)
    return Parts(operator, cones[0] if len(cones) == 1 else Product(cones))


def _checked(rows: Rows, memory: int | None) -> Doubles:
    """Return a source of rows unchanged, and other rows as a matrix or a source."""
    if isinstance(rows, RowSource):
        if memory is not None:
            raise InputError("these rows have their own memory limit; leave memory out")
        return Doubles(rows)
    doubles = rows if isinstance(rows, Doubles) else doubles_of_rows(rows)
    refuse_empty(doubles.values.shape)
    if memory is None:
        return doubles
    if not isinstance(doubles.values, np.ndarray):
        raise InputError("sparse rows are in memory already; leave memory out")
    return Doubles(ArrayRows(doubles.values, memory, doubles.roundings))


def _constant(augment: float, affine: bool) -> float | None:
    """Return the constant feature to append, checked; None for none."""
    if not 0.0 < augment < math.inf:
        raise InputError(f"the constant feature augment={augment}; give a finite number above 0")
    if not affine and augment != 1.0:
        raise InputError(f"augment={augment} without a constant feature; leave one of them out")
    return float(augment) if affine else None


def _unit_or_plain_rows(doubles: Doubles, margin: Margin) -> Parts:
    """Return the rows, or unit rows that are verified on integer multiples of the data."""
    original = Matrix(doubles.values, roundings=doubles.roundings)
    norms = original.row_norms()
    refuse_extreme_rows(doubles.values, norms)
    if margin == "directional":  # whole numbers would have another margin
        return Parts(original, Orthant(doubles.values.shape[0]))
    if margin != "unit":
        raise InputError(f"margin {margin!r}; give 'unit', 'directional' or 'geometric'")
    view = Matrix(doubles.values, 1.0 / norms, doubles.roundings)
    proved_on, multiple = original, 1.0
    if doubles.integers is not None:
        proved_on, multiple = Matrix(doubles.integers), doubles.multiple
    return Parts(view, Orthant(doubles.values.shape[0]), proved_on, multiple)


def _classes(doubles: Doubles, signs: FloatArray, omitted: int | None = None) -> Parts:
    """Return two classes of examples, checked to be finite and in range."""
    classes = Classes(doubles.values, signs, omitted=omitted, roundings=doubles.roundings)
    if not classes.dimension > 1:
        raise InputError("there are labels but no features; give one column or more")
    norms = classes.example_norms()
    fine = norms < 1e150
    if not fine.all():
        refuse_extreme_rows(doubles.values, np.where(fine, 1.0, norms))
    return Parts(classes, Orthant(classes.size))


def _kernel_matrix_of(
    kernel: Kernel | Literal["precomputed"], examples: ArrayOrSparse | KernelMatrix
) -> KernelMatrix:
    """Return the checked kernel matrix of examples, computed or given."""
    if isinstance(examples, KernelMatrix) and kernel == "precomputed":
        matrix = examples
    elif isinstance(examples, KernelMatrix):
        raise InputError("a kernel matrix for a kernel; give 'precomputed' for the kernel")
    elif kernel == "precomputed":
        matrix = KernelMatrix(
            symmetrised(dense_array(checked_rows(examples)).astype(float, copy=False))
        )
    elif isinstance(kernel, type) or not isinstance(kernel, Kernel):
        raise InputError(
            f"received {kernel!r} as a kernel; give a record such as Rbf(gamma=0.5) of "
            "perceptron_lab.cones.operators.kernels, or 'precomputed'"
        )
    else:
        doubles = doubles_of_rows(examples)
        refuse_not_finite(doubles.values)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
            matrix = kernel_matrix(
                kernel, dense_array(doubles.values).astype(float, copy=False), doubles.roundings
            )
    check_kernel(matrix.values)
    if matrix.definite:
        return matrix
    values, part = semidefinite(matrix.values)
    raised = f"kernel matrix, its diagonal raised by {part:.1e} of itself" if part else None
    provenance = raised or matrix.provenance
    return replace(matrix, values=values, provenance=provenance, definite=True, diagonal_shift=part)


def _signed(
    examples: FloatArray | sp.csr_array, signs: FloatArray, constant: float | None
) -> FloatArray | sp.csr_array:
    """Return s_i x_i, or s_i (x_i, constant), in the precision of the signs."""
    ones = None if constant is None else np.full((len(signs), 1), constant, signs.dtype)
    if ones is None:
        return scaled_rows(examples, signs)
    if isinstance(examples, np.ndarray):
        rows = np.empty((len(signs), examples.shape[1] + 1), signs.dtype)
        np.multiply(examples, signs[:, None], out=rows[:, :-1])
        np.multiply(ones, signs[:, None], out=rows[:, -1:])
        return rows
    return scaled_rows(sp.hstack([examples, sp.csr_array(ones)]), signs)
