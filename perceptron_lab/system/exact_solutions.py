"""Exact solutions of linear equations near computed ones, by python-flint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

from flint import fmpz_mat, nmod_mat

from perceptron_lab.system.conditions import over_common
from perceptron_lab.system.lifted_solutions import lifted_solution

# Ranks are taken modulo this prime; what it gets wrong, the exact check of the answer finds
PRIME = 2**61 - 1
# Entries of the equations, and their rank, beyond which an elimination takes minutes
MOST_ENTRIES = 4_000_000
MOST_PIVOTS = 500
# Systems of so many equations are solved by lifting, which takes less time there
SMALLEST_LIFTED = 60
# Equations are multiplied as a matrix unless it has so many places for each entry
_DENSE = 4


class Equation(NamedTuple):
    """sum_j entries_j x_j = right, in whole numbers."""

    entries: Mapping[int, int]
    right: int


def near_solution(
    equations: Sequence[Equation],
    guess: Sequence[Fraction],
    order: Sequence[int],
    most_pivots: int | None = None,
) -> list[Fraction] | None:
    """Return an exact solution of equations near a guess; None if there is none, or too much work.

    Unknowns that come first in ``order`` are solved for, as far as they are independent; the others
    keep their guess.

    Parameters
    ----------
    equations
        In unknowns 0, ..., N - 1.
    guess
        Of the unknowns, shape ``(N,)``.
    order
        The unknowns that may be solved for, each once.
    most_pivots
        The rank beyond which there is too much work; None: :data:`MOST_PIVOTS`.
    """
    found = near_multiples(equations, guess, order, most_pivots)
    return None if found is None else [Fraction(one, found[1]) for one in found[0]]


def near_multiples(
    equations: Sequence[Equation],
    guess: Sequence[Fraction],
    order: Sequence[int],
    most_pivots: int | None = None,
) -> tuple[list[int], int] | None:
    """Return such a solution, as :func:`near_solution`, over a common denominator > 0, and it."""
    used = {j for one in equations for j in one.entries}
    columns = [j for j in order if j in used]
    if len(equations) * len(columns) > MOST_ENTRIES:
        return None
    chosen = basis(equations, columns, most_pivots)
    if chosen is None:
        return None
    rows, pivots = chosen
    numerators, denominator = over_common(guess)
    solved = set(pivots)
    sides = [
        equations[i].right * denominator
        - sum(a * numerators[j] for j, a in equations[i].entries.items() if j not in solved)
        for i in rows
    ]
    square = [[equations[i].entries.get(j, 0) for j in pivots] for i in rows]
    answer = _square_solution(square, sides)
    if answer is None:
        return None
    multiples, multiple = answer
    found = [one * multiple for one in numerators]
    for j, one in zip(pivots, multiples, strict=True):
        found[j] = one
    common = denominator * multiple
    return (found, common) if _solves(equations, found, common) else None


def _square_solution(
    square: Sequence[Sequence[int]], sides: Sequence[int]
) -> tuple[list[int], int] | None:
    """Return N and D > 0 with A N = D b, A regular modulo the prime; None if it is not found."""
    if not sides:
        return [], 1
    if len(sides) >= SMALLEST_LIFTED:
        return lifted_solution(square, sides)
    found: Any = fmpz_mat(square).solve(fmpz_mat([[side] for side in sides]))
    numerators, denominator = found.numer_denom()
    return [int(one) for one in numerators.entries()], int(denominator)


def independent(columns: Sequence[Mapping[int, int]]) -> bool:
    """Return whether it is proved that columns of whole numbers are linearly independent.

    They are if they are so modulo the prime.
    """
    rows = sorted({i for column in columns for i in column})
    if len(rows) < len(columns) or len(rows) * len(columns) > MOST_ENTRIES:
        return False
    table = [[column.get(i, 0) % PRIME for i in rows] for column in columns]
    return len(_pivots(table)) == len(columns)


def basis(
    equations: Sequence[Equation], columns: Sequence[int], most_pivots: int | None = None
) -> tuple[list[int], list[int]] | None:
    """Return independent equations, and as many of the columns in which they are so."""
    if not equations or not columns:
        return [], []
    table = [[one.entries.get(j, 0) % PRIME for j in columns] for one in equations]
    pivots = _pivots(table)
    if len(pivots) > (MOST_PIVOTS if most_pivots is None else most_pivots):
        return None
    turned = [[row[place] for row in table] for place in pivots]
    return _pivots(turned), [columns[place] for place in pivots]


def _pivots(table: list[list[int]]) -> list[int]:
    """Return the pivots' columns in the echelon form of a matrix modulo the prime."""
    if not table or not table[0]:
        return []
    reduced, rank = nmod_mat(
        len(table), len(table[0]), list(chain.from_iterable(table)), PRIME
    ).rref()
    found, column = list[int](), 0
    for row in range(int(rank)):
        while int(_entry(reduced, row, column)) == 0:
            column += 1
        found.append(column)
        column += 1
    return found


def _entry(matrix: Any, row: int, column: int) -> Any:
    return matrix[row, column]


def _solves(equations: Sequence[Equation], numerators: Sequence[int], denominator: int) -> bool:
    entries = sum(len(one.entries) for one in equations)
    if entries * _DENSE <= len(equations) * len(numerators):
        return all(
            sum(a * numerators[j] for j, a in one.entries.items()) == one.right * denominator
            for one in equations
        )
    places = range(len(numerators))
    table = fmpz_mat([[one.entries.get(j, 0) for j in places] for one in equations])
    products = table * fmpz_mat([[one] for one in numerators])
    sides = (one.right * denominator for one in equations)
    return all(found == side for found, side in zip(products.entries(), sides, strict=True))
