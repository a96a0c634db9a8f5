"""Exact linear conditions in whole numbers: inequalities, equations and bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import compress
from operator import mul
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.numerics.doubles import exact_numbers
from perceptron_lab.numerics.exact_texts import shown_text
from perceptron_lab.numerics.input_checks import ArrayOrSparse, array_of
from perceptron_lab.numerics.sparse_arrays import WITH_DATA, check_indices

_LONG: Final = 512  # Bits of numbers whose products are quicker in python-flint
# Columns and numbers of a row that are not 0
Entries = tuple[tuple[int, ...], tuple[Fraction, ...]]
# Doubles among them are the numbers that they are
MixedEntries = tuple[tuple[int, ...], tuple[Fraction | float, ...]]


class Condition(NamedTuple):
    """a'x >= b or a'x = b, multiplied by ``scale`` so that all numbers are integers.

    Parameters
    ----------
    columns, coefficients
        The places and values of scale * a that are not 0.
    right
        scale * b.
    scale
        > 0: the least that makes them whole.
    equation
        Whether it is a'x = b.
    name
        In messages.
    bound
        Whether it is called a bound in messages, and not a row.
    upper
        Whether it was stated as an upper limit, -a'x <= -b; None where that is not known.
    """

    columns: tuple[int, ...]
    coefficients: tuple[int, ...]
    right: int
    scale: int
    equation: bool
    name: str
    bound: bool = False
    upper: bool | None = False

    def slack(self, numerators: Sequence[int], denominator: int) -> Fraction:
        """Return a'x - b of the original condition, exactly.

        Parameters
        ----------
        numerators, denominator
            x = numerators / denominator, the denominator > 0.
        """
        return Fraction(self.residual(numerators, denominator), denominator * self.scale)

    def residual(self, numerators: Sequence[int], denominator: int) -> int:
        """Return the slack times denominator and scale: a whole number of the same sign."""
        values = map(numerators.__getitem__, self.columns)
        return int(sum(map(mul, self.coefficients, values))) - self.right * denominator

    def violation(self, numerators: Sequence[int], denominator: int) -> Fraction:
        """Return by how much x violates the condition as given; 0 if it does not."""
        residual = self.residual(numerators, denominator)
        if not residual or (residual > 0 and not self.equation):
            return Fraction()
        return Fraction(abs(residual), denominator * self.scale)


@dataclass(frozen=True)
class LinearObjective:
    """c'x + constant, which is minimised or maximised; ``quadratic``: more terms are left out."""

    entries: Entries = ((), ())
    constant: Fraction = Fraction(0)
    maximise: bool = False
    quadratic: bool = False

    def costs(self) -> dict[int, Fraction]:
        """Return c without zeros, or -c of what is maximised."""
        sign = -1 if self.maximise else 1
        return {j: sign * number for j, number in zip(*self.entries, strict=True) if number}

    def value(self, cost: Fraction) -> Fraction:
        """Return c'x + constant of the value that :meth:`costs` have."""
        return (-cost if self.maximise else cost) + self.constant


def condition(
    entries: MixedEntries,
    right: Fraction,
    name: str,
    *,
    equation: bool = False,
    bound: bool = False,
    upper: bool | None = False,
) -> Condition:
    """Return a condition a'x >= b, or a'x = b, of exact numbers."""
    columns, numbers = entries
    ratios = [number.as_integer_ratio() for number in numbers]
    scale = math.lcm(right.denominator, *(denominator for _, denominator in ratios))
    integers = tuple(numerator * (scale // denominator) for numerator, denominator in ratios)
    limit = right.numerator * (scale // right.denominator)
    return Condition(columns, integers, limit, scale, equation, name, bound, upper)


def bound_conditions(
    lower: Sequence[Fraction | None], upper: Sequence[Fraction | None], names: Sequence[str]
) -> list[Condition]:
    """Return the conditions x_j >= l_j and -x_j >= -u_j for the finite bounds."""
    sides = [(lower, Fraction(1), ">="), (upper, Fraction(-1), "<=")]
    return [
        condition(
            ((j,), (sign,)),
            sign * limit,
            f"{names[j]} {relation} {shown_text(limit)}",
            bound=True,
            upper=relation == "<=",
        )
        for limits, sign, relation in sides
        for j, limit in enumerate(limits)
        if limit is not None
    ]


def over_common(numbers: Iterable[Fraction]) -> tuple[list[int], int]:
    """Return numerators and their common denominator."""
    fractions = list(numbers)
    common = math.lcm(*(number.denominator for number in fractions))
    return [number.numerator * (common // number.denominator) for number in fractions], common


def point_numerators(point: Iterable[Fraction]) -> tuple[list[Any], int]:
    """Return :func:`over_common`, long numerators as python-flint's: products are quicker."""
    numerators, common = over_common(point)
    if common.bit_length() <= _LONG:
        return numerators, common
    from flint import fmpz

    return list(map(fmpz, numerators)), common


def exact_matrix(rows: ArrayOrSparse, noun: str) -> tuple[list[MixedEntries], int]:
    """Return the nonzero entries of the rows of a matrix, and the number of columns.

    Parameters
    ----------
    rows
        Shape ``(m, n)``, dense or scipy.sparse, of real numbers: doubles are the numbers that they
        are, integers, fractions and decimals too; m may be 0.
    noun
        Its name in messages.
    """
    if sp.issparse(rows):
        return _exact_sparse(rows, noun)
    data = array_of(rows)
    if data.size == 0 and data.ndim == 1:
        return [], 0
    if data.ndim != 2:
        raise InputError(f"{noun} has shape {data.shape}; give a matrix, one row per condition")
    columns = range(data.shape[1])
    rows_of_entries = []
    for i, row in enumerate(_objects(data, noun)):
        numbers = _finite(row, f"row {i} of {noun}")
        rows_of_entries.append(
            (tuple(compress(columns, numbers)), tuple(compress(numbers, numbers)))
        )
    return rows_of_entries, len(columns)


def exact_vector(numbers: npt.ArrayLike, count: int, noun: str) -> list[Fraction]:
    """Return finite numbers exactly; a single number or a column is accepted as well."""
    return [Fraction(number) for number in _finite(_vector(numbers, count, noun), noun)]


def exact_bounds(
    numbers: npt.ArrayLike | None, count: int, noun: str, infinite: float
) -> list[Fraction | None]:
    """Return one bound per variable; None stands for an absent bound.

    Parameters
    ----------
    numbers
        One number for all, or one each; None, and ``infinite``, for none.
    count
        The number of variables.
    noun
        Their name in messages.
    infinite
        -inf for lower bounds, inf for upper ones.
    """
    if numbers is None:
        return [None] * count
    bounds = [infinite if bound is None else bound for bound in _vector(numbers, count, noun)]
    if any(isinstance(bound, float) and bound == -infinite for bound in bounds):
        raise InputError(f"{noun} holds {-infinite}, a bound that no number satisfies; remove it")
    bounded = [
        j for j, bound in enumerate(bounds) if not (isinstance(bound, float) and bound == infinite)
    ]
    exact: list[Fraction | None] = [None] * count
    for j, number in zip(bounded, _finite([bounds[j] for j in bounded], noun), strict=True):
        exact[j] = Fraction(number)
    return exact


def _exact_sparse(matrix: Any, noun: str) -> tuple[list[MixedEntries], int]:
    check_indices(matrix)
    stored = sp.csr_array(matrix if matrix.format in WITH_DATA else matrix.tocoo())
    stored.sum_duplicates()
    numbers = _finite(_objects(stored.data[None, :], noun)[0], noun)
    ends = zip(stored.indptr[:-1].tolist(), stored.indptr[1:].tolist(), strict=True)
    columns, rows_of_entries = stored.indices.tolist(), []
    for first, last in ends:
        row = numbers[first:last]
        rows_of_entries.append(
            (tuple(compress(columns[first:last], row)), tuple(compress(row, row)))
        )
    return rows_of_entries, int(stored.shape[1])


def _vector(numbers: npt.ArrayLike, count: int, noun: str) -> list[Any]:
    data: Any = np.asarray(numbers, dtype=object) if _ragged(numbers) else array_of(numbers)
    if data.ndim == 0:
        data = np.full(count, data.item() if data.dtype == object else data[()])
    if data.shape not in ((count,), (count, 1)):
        raise InputError(f"{noun} has shape {data.shape}; give {count} numbers")
    entries: list[Any] = data.ravel().tolist()
    return entries


def _ragged(numbers: object) -> bool:
    """Return whether a list contains None, which stands for an absent bound."""
    return isinstance(numbers, list | tuple) and any(number is None for number in numbers)


def _objects(data: Any, noun: str) -> list[list[Any]]:
    """Return numbers as Python objects; doubles remain doubles."""
    if data.dtype.kind not in "buifO":
        raise InputError(f"{noun} is of type {data.dtype}; give real numbers")
    if data.dtype.kind == "f" and data.dtype.itemsize > 8:
        data = data.astype(object)
    rows: list[list[Any]] = data.tolist()
    return rows


def _finite(numbers: list[Any], noun: str) -> list[Fraction | float]:
    """Return finite numbers: whole numbers, or doubles, as they are, and others as fractions."""
    kinds = set(map(type, numbers))
    if kinds == {int} or (kinds == {float} and all(map(math.isfinite, numbers))):
        return numbers
    return list(_fractions(numbers, noun))


def _fractions(numbers: list[object], noun: str) -> Iterator[Fraction]:
    expected = "real numbers (a decimal in text as Decimal)"
    for position, number in enumerate(exact_numbers(numbers, f"{noun} holds", expected)):
        if isinstance(number, float) and not math.isfinite(number):
            raise InputError(f"{noun} holds {number} at position {position}; give finite numbers")
        yield Fraction(number)
