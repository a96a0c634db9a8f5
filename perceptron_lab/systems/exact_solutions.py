"""Exact solutions of linear equations near computed ones, by python-flint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import Any, NamedTuple

from flint import fmpq, fmpz_mat, nmod_mat

from perceptron_lab.core.time_limit import check_time, in_time
from perceptron_lab.systems.conditions import over_common
from perceptron_lab.systems.lifted_solutions import LiftedMatrix

# Ranks are taken modulo this prime; what it gets wrong, the exact check of the answer finds
PRIME = 2**61 - 1
# Entries of the equations, and their rank, beyond which an elimination takes minutes
MOST_ENTRIES = 4_000_000
MOST_PIVOTS = 500
# Systems of so many equations are solved by lifting, which takes less time there
SMALLEST_LIFTED = 60
# Equations are multiplied as a matrix unless it has so many places for each entry
_DENSE = 4
# Products modulo the prime that an elimination may make at once, about 0.5 s; and the rows that are
# eliminated at a time where they are more
_AT_ONCE, _ROWS = 2_000_000_000, 300


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
    """Return an exact solution of equations near a guess, or None.

    Unknowns that come first in ``order`` are solved for, as far as they are independent; the others
    keep their guess.

    Parameters
    ----------
    equations
        In unknowns 0, ..., N - 1.
    guess
        Guess of the unknowns, shape ``(N,)``.
    order
        The unknowns that may be solved for, each once.
    most_pivots
        The rank beyond which there is too much work; None: :data:`MOST_PIVOTS`.
    """
    multiples = near_multiples(equations, guess, order, most_pivots)
    return (
        None
        if multiples is None
        else [_fraction(numerator, multiples[1]) for numerator in multiples[0]]
    )


def _fraction(numerator: int, denominator: int) -> Fraction:
    check_time()  # a divisor of many thousand digits takes a while to be found
    return Fraction(numerator, denominator)


def near_multiples(
    equations: Sequence[Equation],
    guess: Sequence[Fraction],
    order: Sequence[int],
    most_pivots: int | None = None,
) -> tuple[list[int], int] | None:
    """Return a solution like :func:`near_solution`, as numerators and a denominator > 0."""
    most = MOST_PIVOTS if most_pivots is None else most_pivots
    if min(len(equations), len(order)) > most:
        return _peeled_solution(equations, guess, order, most)
    factors = factorised(equations, order, most_pivots)
    return (
        None
        if factors is None
        else factors.solution_near([equation.right for equation in equations], guess)
    )


def _peeled_solution(
    equations: Sequence[Equation], guess: Sequence[Fraction], order: Sequence[int], most: int
) -> tuple[list[int], int] | None:
    """Return an exact solution of many equations; their triangular part is solved by substitution.

    Equations that determine one unknown come first, again and again; those with an unknown that no
    other equation has come last; what is left between is solved as a matrix.
    """
    first, last, rows, columns = _peeled(equations, order)
    solution = [fmpq(value.numerator, value.denominator) for value in guess]
    for i, j in first:
        check_time()
        solution[j] = _value(equations[i], j, solution)
    if rows:
        check_time()
        factors = factorised([equations[i] for i in rows], columns, most)
        fractions = [_fraction(int(value.p), int(value.q)) for value in solution]
        rights = [equations[i].right for i in rows]
        core = None if factors is None else factors.solution_near(rights, fractions)
        if core is None:
            return None
        for j in columns:
            solution[j] = fmpq(core[0][j], core[1])
    for i, j in reversed(last):
        check_time()
        solution[j] = _value(equations[i], j, solution)
    for equation in equations:
        check_time()
        # Equations whose unknowns others have determined may not hold
        if sum((a * solution[j] for j, a in equation.entries.items()), fmpq(-equation.right)) != 0:
            return None
    return over_common([_fraction(int(value.p), int(value.q)) for value in solution])


def _value(equation: Equation, j: int, values: Sequence[Any]) -> Any:
    """Return the x_j that solves an equation for given values of the other unknowns."""
    rest = sum((a * values[k] for k, a in equation.entries.items() if k != j), fmpq(0))
    return (equation.right - rest) / equation.entries[j]


_Pairs = list[tuple[int, int]]


def _peeled(
    equations: Sequence[Equation], order: Sequence[int]
) -> tuple[_Pairs, _Pairs, list[int], list[int]]:
    """Return the pairs (equation, unknown) to solve first and last, and the core between them."""
    position = {j: k for k, j in enumerate(order)}
    unknowns = [{j for j in equation.entries if j in position} for equation in equations]
    holders: dict[int, set[int]] = {}
    for i, row in enumerate(unknowns):
        for j in row:
            holders.setdefault(j, set()).add(i)
    first, last = _Pairs(), _Pairs()
    single = [i for i, row in enumerate(unknowns) if len(row) == 1]
    # An equation with one unknown determines it, and may leave one in others
    while single:
        check_time()
        i = single.pop()
        if len(unknowns[i]) != 1:  # it has been determined by another equation meanwhile
            continue
        (j,) = unknowns[i]
        first.append((i, j))
        for other in holders.pop(j):
            unknowns[other].discard(j)
            if len(unknowns[other]) == 1:
                single.append(other)
    alone = [(position[j], j) for j, rows in holders.items() if len(rows) == 1]
    heapify(alone)
    # An unknown of one equation alone is solved for last, whatever the others are
    while alone:
        check_time()
        _, j = heappop(alone)
        if not holders[j]:  # its equation is another unknown's
            continue
        (i,) = holders[j]
        last.append((i, j))
        for other in unknowns[i]:
            holders[other].discard(i)
            if len(holders[other]) == 1:
                heappush(alone, (position[other], other))
        unknowns[i] = set()
    rows = [i for i, row in enumerate(unknowns) if row]
    return first, last, rows, [j for j in order if holders.get(j)]


def factorised(
    equations: Sequence[Equation], order: Sequence[int], most_pivots: int | None = None
) -> Factors | None:
    """Return the factorised left-hand sides of equations, for any right-hand sides.

    None if that is too much work; the parameters are those of :func:`near_solution`.
    """
    present = {j for equation in equations for j in equation.entries}
    columns = [j for j in order if j in present]
    if len(equations) * len(columns) > MOST_ENTRIES:
        return None
    selected = basis(equations, columns, most_pivots)
    return (
        None
        if selected is None
        else Factors([equation.entries for equation in equations], *selected)
    )


@dataclass
class Factors:
    """Left-hand sides of equations, with a regular submatrix of full rank.

    Parameters
    ----------
    entries
        Entries of the equations, in whole numbers.
    rows, pivots
        The equations and the unknowns of the regular part.
    """

    entries: Sequence[Mapping[int, int]]
    rows: list[int]
    pivots: list[int]

    def solution_near(
        self, rights: Sequence[int], guess: Sequence[Fraction]
    ) -> tuple[list[int], int] | None:
        """Return N and D > 0 with N / D a solution in which non-pivot unknowns keep their guess.

        None if no such solution exists.
        """
        numerators, denominator = over_common(guess)
        solved = set(self.pivots)
        sides = []
        for i in self.rows:
            check_time()
            fixed = sum(a * numerators[j] for j, a in self.entries[i].items() if j not in solved)
            sides.append(rights[i] * denominator - fixed)
        answer = self._square_solution(sides)
        if answer is None:
            return None
        multiples, multiple = answer
        candidate = [numerator * multiple for numerator in numerators]
        for j, pivot_numerator in zip(self.pivots, multiples, strict=True):
            candidate[j] = pivot_numerator
        common = denominator * multiple
        return (candidate, common) if self._solves(rights, candidate, common) else None

    def _square_solution(self, sides: Sequence[int]) -> tuple[list[int], int] | None:
        """Return N and D > 0 with A N = D b for the regular submatrix A, or None."""
        if not any(sides):
            return [0] * len(sides), 1
        if len(sides) >= SMALLEST_LIFTED:
            return None if self._lifted is None else self._lifted.solution(sides)
        right = fmpz_mat([[side] for side in sides])
        self._solutions += 1
        if self._solutions > 1:
            inverse, determinant = self._inverse
            return [int(entry) for entry in (inverse * right).entries()], determinant
        solution: Any = fmpz_mat(self._square).solve(right)
        numerators, denominator = solution.numer_denom()
        return [int(entry) for entry in numerators.entries()], int(denominator)

    @cached_property
    def _inverse(self) -> tuple[Any, int]:
        """N and D > 0 with A N = D I for the regular submatrix A."""
        inverse: Any = fmpz_mat(self._square).inv()
        numerators, denominator = inverse.numer_denom()
        return numerators, int(denominator)

    @property
    def _square(self) -> list[list[int]]:
        return dense_table([self.entries[i] for i in self.rows], self.pivots)

    @cached_property
    def _lifted(self) -> LiftedMatrix | None:
        return LiftedMatrix.of(self._square)

    def _solves(self, rights: Sequence[int], numerators: Sequence[int], denominator: int) -> bool:
        entries = sum(len(row) for row in self.entries)
        # Of few entries sums in Python are faster than a dense product
        if entries * _DENSE <= len(self.entries) * len(numerators):
            return all(
                sum(a * numerators[j] for j, a in row.items()) == right * denominator
                for row, right in zip(self.entries, rights, strict=True)
            )
        products: Any = self._matrix(len(numerators)) * fmpz_mat(
            [[numerator] for numerator in numerators]
        )
        sides = (right * denominator for right in rights)
        return all(product == side for product, side in zip(products.entries(), sides, strict=True))

    def _matrix(self, width: int) -> Any:
        """Return the left-hand sides as a matrix of python-flint."""
        if self._table is None:
            self._table = fmpz_mat(dense_table(self.entries, range(width)))
        return self._table

    _table: Any = field(default=None, init=False, repr=False)
    _solutions: int = field(default=0, init=False, repr=False)


def null_columns(table: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return a basis of {x : A x = 0}, one vector for each unknown without a pivot.

    Parameters
    ----------
    table
        A in whole numbers, shape ``(m, n)``.

    Raises
    ------
    TimeIsUp
        If a time limit ends first.
    """
    width = len(table[0])
    # Below that order fraction-free elimination is faster than lifting
    if min(len(table), width) >= SMALLEST_LIFTED:
        columns = _lifted_columns(table)
        if columns is not None:
            return columns
    matrix, nullity = fmpz_mat(table).nullspace()
    return [[int(matrix[i, j]) for i in range(width)] for j in range(nullity)]


def _lifted_columns(table: Sequence[Sequence[int]]) -> list[list[int]] | None:
    """Return null vectors by lifting, or None if the rank modulo the prime is too small."""
    width = len(table[0])
    equations = [Equation({j: a for j, a in enumerate(row) if a}, 0) for row in table]
    selected = basis(equations, range(width), width)
    assert selected is not None
    factors = Factors([equation.entries for equation in equations], *selected)
    columns = []
    for free in sorted(set(range(width)) - set(factors.pivots)):
        # 1 for one unknown without a pivot, 0 for the others: the pivots follow from them
        guess = [Fraction(int(j == free)) for j in range(width)]
        column = factors.solution_near([0] * len(equations), guess)
        if column is None:
            return None
        columns.append(column[0])
    return columns


def independent(columns: Sequence[Mapping[int, int]]) -> bool:
    """Return whether columns of integers are proved to be linearly independent.

    They are if they are so modulo the prime.
    """
    rows = sorted({i for column in columns for i in column})
    if len(rows) < len(columns) or len(rows) * len(columns) > MOST_ENTRIES:
        return False
    return len(_pivots(dense_table(columns, rows, PRIME))) == len(columns)


def basis(
    equations: Sequence[Equation], columns: Sequence[int], most_pivots: int | None = None
) -> tuple[list[int], list[int]] | None:
    """Return independent equations, and as many columns in which they are independent.

    None if they are more than ``most_pivots``.
    """
    if not equations or not columns:
        return [], []
    most = MOST_PIVOTS if most_pivots is None else most_pivots
    table = dense_table([equation.entries for equation in equations], columns, PRIME)
    pivots = _pivots(table, most)
    if len(pivots) > most:
        return None
    turned = [[row[column] for row in table] for column in pivots]
    return _pivots(turned), [columns[column] for column in pivots]


def dense_table(
    rows: Sequence[Mapping[int, int]], columns: Sequence[int], modulus: int | None = None
) -> list[list[int]]:
    """Return sparse rows as a table of some of their columns, its entries modulo a number."""
    position = {j: k for k, j in enumerate(columns)}
    table = []
    for row in in_time(rows):
        entries = [0] * len(position)
        for j, entry in row.items():
            if j in position:
                entries[position[j]] = entry if modulus is None else entry % modulus
        table.append(entries)
    return table


def _pivots(table: list[list[int]], most: int | None = None) -> list[int]:
    """Return the pivots' columns in the echelon form of a matrix modulo the prime.

    A large matrix is taken in parts, between which the clock is read; with more than ``most``
    pivots of the first parts the others are left out.
    """
    if not table or not table[0]:
        return []
    height, width = len(table), len(table[0])
    step = height if height * width * min(height, width) <= _AT_ONCE else _ROWS
    rows: list[list[int]] = []
    pivots = list[int]()
    for start in range(0, height, step):
        check_time()
        reduced, rank = _reduced([*rows, *table[start : start + step]])
        pivots = _columns_of_pivots(reduced, rank)
        if start + step >= height or (most is not None and rank > most):
            break
        rows = reduced.tolist()[:rank]
    return pivots


def _reduced(table: list[list[int]]) -> tuple[Any, int]:
    """Return the echelon form of a matrix modulo the prime, and its rank."""
    matrix = nmod_mat(len(table), len(table[0]), list(chain.from_iterable(table)), PRIME)
    reduced, rank = matrix.rref()
    return reduced, int(rank)


def _columns_of_pivots(reduced: object, rank: int) -> list[int]:
    pivots, column = list[int](), 0
    for row in range(rank):
        while int(_entry(reduced, row, column)) == 0:
            column += 1
        pivots.append(column)
        column += 1
    return pivots


def _entry(matrix: Any, row: int, column: int) -> Any:
    return matrix[row, column]
