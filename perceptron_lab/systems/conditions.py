"""Linear conditions in whole numbers: inequalities, equations and bounds, as exact as given."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.numerics.doubles import exact_numbers
from perceptron_lab.numerics.exact_texts import shown_text
from perceptron_lab.numerics.input_checks import ArrayOrSparse, array_of
from perceptron_lab.numerics.sparse_arrays import WITH_DATA, check_indices

# Columns and numbers of a row that are not 0
Entries = tuple[tuple[int, ...], tuple[Fraction, ...]]


class Condition(NamedTuple):
    """a'x >= b, or a'x = b, multiplied by ``scale`` so that all its numbers are whole.

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
    """

    columns: tuple[int, ...]
    coefficients: tuple[int, ...]
    right: int
    scale: int
    equation: bool
    name: str
    bound: bool = False

    def slack(self, numerators: Sequence[int], denominator: int) -> Fraction:
        """Return a'x - b, exactly, of the condition as given.

        Parameters
        ----------
        numerators, denominator
            x = numerators / denominator, the denominator > 0.
        """
        pairs = zip(self.coefficients, self.columns, strict=True)
        value = sum(one * numerators[j] for one, j in pairs) - self.right * denominator
        return Fraction(value, denominator * self.scale)

    def violation(self, numerators: Sequence[int], denominator: int) -> Fraction:
        """Return by how much x violates the condition as given; 0 if it does not."""
        slack = self.slack(numerators, denominator)
        return abs(slack) if self.equation else max(-slack, Fraction())


def condition(
    entries: Entries,
    right: Fraction,
    name: str,
    *,
    equation: bool = False,
    bound: bool = False,
) -> Condition:
    """Return a condition a'x >= b, or a'x = b, of exact numbers."""
    columns, numbers = entries
    scale = math.lcm(right.denominator, *(number.denominator for number in numbers))
    whole = tuple(int(number * scale) for number in numbers)
    return Condition(columns, whole, int(right * scale), scale, equation, name, bound)


def bound_conditions(
    lower: Sequence[Fraction | None], upper: Sequence[Fraction | None], names: Sequence[str]
) -> list[Condition]:
    """Return x_j >= l_j and -x_j >= -u_j, where there are such bounds."""
    sides = [(lower, Fraction(1), ">="), (upper, Fraction(-1), "<=")]
    return [
        condition(
            ((j,), (sign,)), sign * limit, f"{names[j]} {relation} {shown_text(limit)}", bound=True
        )
        for limits, sign, relation in sides
        for j, limit in enumerate(limits)
        if limit is not None
    ]


def over_common(numbers: Iterable[Fraction]) -> tuple[list[int], int]:
    """Return numerators over a common denominator, and it."""
    given = list(numbers)
    common = math.lcm(*(number.denominator for number in given))
    return [number.numerator * (common // number.denominator) for number in given], common


def exact_matrix(rows: ArrayOrSparse, what: str) -> tuple[list[Entries], int]:
    """Return the rows of a matrix without their zeros, and the number of its columns.

    Parameters
    ----------
    rows
        Shape ``(m, n)``, dense or scipy.sparse, of real numbers: doubles are the numbers that they
        are, integers, fractions and decimals too; m may be 0.
    what
        Its name in messages.
    """
    if sp.issparse(rows):
        return _exact_sparse(rows, what)
    data = array_of(rows)
    if data.size == 0 and data.ndim == 1:
        return [], 0
    if data.ndim != 2:
        raise InputError(f"{what} has shape {data.shape}; give a matrix, one row per condition")
    kept = []
    for i, row in enumerate(_objects(data, what)):
        numbers = _finite(row, f"row {i} of {what}")
        places = tuple(j for j, number in enumerate(numbers) if number)
        kept.append((places, tuple(numbers[j] for j in places)))
    return kept, int(data.shape[1])


def exact_vector(numbers: npt.ArrayLike, count: int, what: str) -> list[Fraction]:
    """Return so many finite numbers exactly; one number, or a column, will do as well."""
    return _finite(_vector(numbers, count, what), what)


def exact_bounds(
    numbers: npt.ArrayLike | None, count: int, what: str, infinite: float
) -> list[Fraction | None]:
    """Return one bound per variable; None where there is none.

    Parameters
    ----------
    numbers
        One number for all, or one each; None, and ``infinite``, for none.
    count
        The number of variables.
    what
        Their name in messages.
    infinite
        -inf for lower bounds, inf for upper ones.
    """
    if numbers is None:
        return [None] * count
    given = [infinite if one is None else one for one in _vector(numbers, count, what)]
    if any(isinstance(one, float) and one == -infinite for one in given):
        raise InputError(f"{what} holds {-infinite}, which no number is beyond; remove it")
    bounded = [j for j, one in enumerate(given) if not (isinstance(one, float) and one == infinite)]
    found: list[Fraction | None] = [None] * count
    for j, number in zip(bounded, _finite([given[j] for j in bounded], what), strict=True):
        found[j] = number
    return found


def _exact_sparse(given: Any, what: str) -> tuple[list[Entries], int]:
    check_indices(given)
    stored = sp.csr_array(given if given.format in WITH_DATA else given.tocoo())
    stored.sum_duplicates()
    numbers = _finite(_objects(stored.data[None, :], what)[0], what)
    places = zip(stored.indptr[:-1].tolist(), stored.indptr[1:].tolist(), strict=True)
    columns, kept = stored.indices.tolist(), []
    for first, last in places:
        here = [k for k in range(first, last) if numbers[k]]
        kept.append((tuple(columns[k] for k in here), tuple(numbers[k] for k in here)))
    return kept, int(stored.shape[1])


def _vector(numbers: npt.ArrayLike, count: int, what: str) -> list[Any]:
    data: Any = np.asarray(numbers, dtype=object) if _ragged(numbers) else array_of(numbers)
    if data.ndim == 0:
        data = np.full(count, data.item() if data.dtype == object else data[()])
    if data.shape not in ((count,), (count, 1)):
        raise InputError(f"{what} has shape {data.shape}; give {count} numbers")
    found: list[Any] = data.ravel().tolist()
    return found


def _ragged(numbers: object) -> bool:
    """Return whether a list has None among its numbers, for a bound that is not there."""
    return isinstance(numbers, list | tuple) and any(one is None for one in numbers)


def _objects(data: Any, what: str) -> list[list[Any]]:
    """Return numbers as Python's own; doubles stay what they are."""
    if data.dtype.kind not in "buifO":
        raise InputError(f"{what} is of type {data.dtype}; give real numbers")
    if data.dtype.kind == "f" and data.dtype.itemsize > 8:
        data = data.astype(object)
    rows: list[list[Any]] = data.tolist()
    return rows


def _finite(numbers: Iterable[object], what: str) -> list[Fraction]:
    """Return finite numbers as fractions."""
    return list(_fractions(list(numbers), what))


def _fractions(numbers: list[object], what: str) -> Iterator[Fraction]:
    wanted = "real numbers (a decimal in text as Decimal)"
    for place, number in enumerate(exact_numbers(numbers, f"{what} holds", wanted)):
        if isinstance(number, float) and not math.isfinite(number):
            raise InputError(f"{what} holds {number} at place {place}; give finite numbers")
        yield Fraction(number)
