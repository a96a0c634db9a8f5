"""Variables eliminated by linear equations, in rational numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from flint import fmpz_mat
from scipy.sparse.csgraph import connected_components

from perceptron_lab.core.errors import InputError, counted
from perceptron_lab.systems.conditions import Condition
from perceptron_lab.systems.exact_solutions import MOST_ENTRIES, Equation, basis

# Operations on bits that the solution of a square system may take, about: half a minute
MOST_WORK = 4e10


class Dependent(NamedTuple):
    """x_j = (constant + sum_f entries_f x_f) / denominator, in whole numbers, f free."""

    entries: Mapping[int, int]
    constant: int
    denominator: int


@dataclass(frozen=True)
class Elimination:
    """All solutions x of consistent equations C x = d: x = x0 + N z.

    z are variables themselves, the ``free`` ones: N has the identity in their rows, and so
    independent columns. They are as many as the solutions have dimensions: C N = 0 is checked
    exactly, and the others are as many as there are independent equations.

    Parameters
    ----------
    free
        The columns of z, ascending.
    dependent
        Column of any other variable -> its value.
    """

    free: tuple[int, ...] = ()
    dependent: Mapping[int, Dependent] = field(default_factory=dict)

    def lifted(self, scale: Fraction, values: Sequence[Fraction]) -> list[Fraction]:
        """Return t x0 + N z, exactly, for t = ``scale`` and z = ``values``.

        For t = 1 it is a solution x, and for t > 0 it is t times one.
        """
        found = dict(zip(self.free, values, strict=True))
        for j, (entries, constant, denominator) in self.dependent.items():
            total = sum((a * found[f] for f, a in entries.items()), constant * scale)
            found[j] = total / denominator
        return [found[j] for j in range(len(found))]

    def substituted(self, row: Condition) -> Condition:
        """Return a'x - b as a condition on z, its columns the places of the free variables."""
        used = [j for j in row.columns if j in self.dependent]
        common = math.lcm(*(self.dependent[j].denominator for j in used))
        place = {f: k for k, f in enumerate(self.free)}
        right, sums = row.right * common, dict[int, int]()
        for j, number in zip(row.columns, row.coefficients, strict=True):
            if j in place:
                sums[place[j]] = sums.get(place[j], 0) + number * common
                continue
            entries, constant, denominator = self.dependent[j]
            factor = number * (common // denominator)
            right -= factor * constant
            for f, entry in entries.items():
                sums[place[f]] = sums.get(place[f], 0) + factor * entry
        kept = {k: number for k, number in sorted(sums.items()) if number}
        divisor = math.gcd(right, row.scale * common, *kept.values())
        return row._replace(
            columns=tuple(kept),
            coefficients=tuple(number // divisor for number in kept.values()),
            right=right // divisor,
            scale=row.scale * common // divisor,
        )


def eliminated(equations: Sequence[Condition], width: int) -> Elimination | None:
    """Return the solutions of equations, or None if there is none.

    Equations that share no variable are solved apart. Solved for are variables that a QR
    factorisation with pivots, in doubles, takes first: that keeps N small.

    Parameters
    ----------
    equations
        C x = d.
    width
        The number of variables.

    Raises
    ------
    InputError
        If the exact solution would take too long.
    """
    dependent: dict[int, Dependent] = {}
    for component in _components(equations, width):
        dependent |= _solved(component)
    free = tuple(j for j in range(width) if j not in dependent)
    found = Elimination(free, dependent)
    for one in equations:
        left = found.substituted(one)
        if left.columns:
            raise InputError(f"{one.name} is not solved exactly; divide its numbers, or reorder")
        if left.right:
            return None
    return found


def _components(equations: Sequence[Condition], width: int) -> Iterator[list[Condition]]:
    """Yield equations that are linked by common variables."""
    pairs = [(i, j) for i, one in enumerate(equations) for j in one.columns]
    if not pairs:
        return
    rows, columns = np.array(pairs).T
    links = sp.coo_array(
        (np.ones(len(pairs)), (rows, len(equations) + columns)),
        shape=(len(equations) + width,) * 2,
    )
    _, labels = connected_components(links, directed=False)
    groups: dict[int, list[Condition]] = {}
    for one, label in zip(equations, labels.tolist(), strict=False):
        if one.columns:
            groups.setdefault(label, []).append(one)
    yield from groups.values()


def _solved(equations: Sequence[Condition]) -> dict[int, Dependent]:
    """Return the dependent variables of linked equations."""
    columns = sorted({j for one in equations for j in one.columns})
    if len(equations) * len(columns) > MOST_ENTRIES:
        raise _too_large(equations, columns)
    exact = [
        Equation(dict(zip(one.columns, one.coefficients, strict=True)), one.right)
        for one in equations
    ]
    found = basis(exact, _by_pivots(equations, columns))
    if found is None:
        raise _too_large(equations, columns)
    rows, pivots = found
    if not pivots:
        return {}
    solved = set(pivots)
    others = [j for j in columns if j not in solved]
    chosen = [exact[i] for i in rows]
    bits = sum(sum(map(abs, one.entries.values())).bit_length() for one in chosen)
    if len(pivots) ** 2 * (len(columns) + 1.0) * bits > MOST_WORK:
        raise _too_large(equations, columns)
    square = fmpz_mat([[one.entries.get(j, 0) for j in pivots] for one in chosen])
    sides = fmpz_mat([[one.right, *(-one.entries.get(j, 0) for j in others)] for one in chosen])
    answer: Any = square.solve(sides)
    whole, denominator = answer.numer_denom()
    below, values = int(denominator), whole.tolist()
    dependent = {}
    for j, (constant, *entries) in zip(pivots, values, strict=True):
        numbers = {f: int(entry) for f, entry in zip(others, entries, strict=True) if int(entry)}
        divisor = math.gcd(below, int(constant), *numbers.values())
        shared = {f: number // divisor for f, number in numbers.items()}
        dependent[j] = Dependent(shared, int(constant) // divisor, below // divisor)
    return dependent


def _by_pivots(equations: Sequence[Condition], columns: Sequence[int]) -> list[int]:
    """Return the columns in the order in which a QR factorisation with pivots takes them."""
    place = {j: k for k, j in enumerate(columns)}
    table = np.zeros((len(equations), len(columns)))
    for i, one in enumerate(equations):
        largest = max(map(abs, one.coefficients))
        for j, number in zip(one.columns, one.coefficients, strict=True):
            table[i, place[j]] = number / largest
    _, order = scipy.linalg.qr(table, mode="r", pivoting=True)
    return [columns[k] for k in order.tolist()]


def _too_large(equations: Sequence[Condition], columns: Sequence[int]) -> InputError:
    return InputError(
        f"{counted(len(equations), 'equation')} that link {counted(len(columns), 'variable')} "
        "would take more than a minute to be solved exactly; eliminate variables by some of them "
        "first, or give them sparser or in fewer digits"
    )
