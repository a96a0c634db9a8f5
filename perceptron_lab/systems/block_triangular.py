"""Exact solutions of sparse square systems of whole numbers, in block triangular form.

Rows are matched with columns, so that the diagonal has no zeros. The strongly connected components
of the graph "row i holds the column of row k" are the diagonal blocks (Duff and Reid, ACM
Transactions on Mathematical Software 4, 1978): they are solved one after the other. What is
triangular costs one substitution a row; small blocks are solved by python-flint, large ones by
lifting from one prime (:class:`.LiftedMatrix`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from flint import fmpz, fmpz_mat
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from perceptron_lab.core.time_limit import check_time, in_time
from perceptron_lab.systems.exact_solutions import SMALLEST_LIFTED, dense_table
from perceptron_lab.systems.lifted_solutions import LiftedMatrix

Quotient = tuple[Any, Any]
"""Numerator and denominator > 0 as whole numbers, with or without common divisors."""


class SingularError(ArithmeticError):
    """A matrix is singular, or seems to be so modulo several primes."""


def dot(entries: Mapping[int, int], values: Sequence[Quotient]) -> Quotient:
    """Return sum_j entries_j values_j, exactly."""
    total, common = fmpz(0), fmpz(1)
    for j, entry in entries.items():
        numerator, denominator = values[j]
        if not numerator:
            continue
        if denominator != common:
            shared = common.gcd(denominator)
            extra = denominator // shared
            total *= extra
            common *= extra
            numerator = numerator * (common // denominator)
        total += entry * numerator
    return total, common


def reduced(value: Quotient) -> Quotient:
    """Return a quotient without common divisors."""
    numerator, denominator = value
    divisor = denominator.gcd(numerator)
    return (numerator // divisor, denominator // divisor) if divisor != 1 else value


@dataclass
class BlockTriangular:
    """A regular sparse matrix of whole numbers, its rows and columns by blocks.

    Parameters
    ----------
    rows
        Row -> {column: entry}, without zeros.
    blocks
        Rows and columns of each diagonal block, in an order in which they can be solved.
    """

    rows: Sequence[Mapping[int, int]]
    blocks: list[tuple[list[int], list[int]]]
    _factors: dict[int, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, rows: Sequence[Mapping[int, int]]) -> BlockTriangular:
        """Return the form of a square matrix.

        Raises
        ------
        SingularError
            If no choice of entries, one in each row and each column, exists.
        """
        size = len(rows)
        if not size:
            return cls(rows, [])
        ends = np.cumsum([0, *map(len, rows)])
        columns = np.fromiter((j for row in rows for j in row), np.int64, ends[-1])
        pattern = sp.csr_array((np.ones(len(columns), np.int8), columns, ends), shape=(size, size))
        # A diagonal without zeros comes first: strong components then are the blocks
        matched = maximum_bipartite_matching(sp.csr_matrix(pattern), perm_type="column")
        # Every term of the determinant is 0
        if (matched < 0).any():
            raise SingularError("no regular choice of entries")
        check_time()
        owner = np.empty(size, dtype=np.int64)
        owner[matched] = np.arange(size)
        graph = sp.csr_array((pattern.data, owner[columns], ends), shape=(size, size))
        count, labels = connected_components(graph, connection="strong")
        members: list[list[int]] = [[] for _ in range(count)]
        for i, label in enumerate(labels.tolist()):
            members[label].append(i)
        ordered = (members[label] for label in _order(graph, labels, count))
        return cls(rows, [(block, matched[block].tolist()) for block in ordered])

    def solution(self, right: Sequence[Quotient]) -> list[Quotient]:
        """Return x with A x = b, exactly; values have a common denominator within a block.

        Raises
        ------
        SingularError
            If a block is singular.
        TimeIsUp
            If a time limit ends first.
        """
        values: list[Quotient] = [(fmpz(0), fmpz(1))] * len(self.rows)
        for number, (rows, columns) in enumerate(in_time(self.blocks)):
            sides = [minus(right[i], dot(self.rows[i], values)) for i in rows]
            if len(rows) == 1:
                values[columns[0]] = _divided(sides[0], self.rows[rows[0]][columns[0]])
                continue
            solved = self._solved(number, sides)
            for j, value in zip(columns, solved, strict=True):
                values[j] = value
        return values

    def _solved(self, number: int, sides: Sequence[Quotient]) -> list[Quotient]:
        """Return the solution of a block."""
        common = fmpz(1)
        for _, denominator in sides:
            common = common.lcm(denominator)
        wholes = [numerator * (common // denominator) for numerator, denominator in sides]
        if not any(wholes):
            return [(fmpz(0), fmpz(1))] * len(sides)
        # Kept for further right-hand sides
        if number not in self._factors:
            self._factors[number] = self._factor(number)
        numerators, divisor = self._factors[number](wholes)
        below = common * divisor
        return [(numerator, below) for numerator in numerators]

    def _factor(self, number: int) -> Any:
        rows, columns = self.blocks[number]
        table = dense_table([self.rows[i] for i in rows], columns)
        if len(table) < SMALLEST_LIFTED:
            return _Small(fmpz_mat(table))
        lifted = LiftedMatrix.of(table)
        if lifted is None:
            raise SingularError("a block is singular modulo several primes")
        return _Large(lifted)


@dataclass(frozen=True)
class _Small:
    """A small block, solved by python-flint."""

    matrix: Any

    def __call__(self, sides: Sequence[Any]) -> tuple[list[Any], Any]:
        try:
            solution = self.matrix.solve(fmpz_mat([[side] for side in sides]))
        except ZeroDivisionError:
            raise SingularError("a block is singular") from None
        numerators, denominator = solution.numer_denom()
        return numerators.entries(), denominator


@dataclass(frozen=True)
class _Large:
    """A large block, solved by lifting."""

    matrix: LiftedMatrix

    def __call__(self, sides: Sequence[Any]) -> tuple[list[Any], Any]:
        numerators, denominator = self.matrix.solution([int(side) for side in sides])
        return [fmpz(numerator) for numerator in numerators], fmpz(denominator)


def minus(first: Quotient, second: Quotient) -> Quotient:
    """Return a difference of quotients."""
    if not second[0]:
        return first
    if first[1] == second[1]:
        return first[0] - second[0], first[1]
    return first[0] * second[1] - second[0] * first[1], first[1] * second[1]


def _divided(value: Quotient, divisor: int) -> Quotient:
    sign = -1 if divisor < 0 else 1
    return reduced((sign * value[0], abs(divisor) * value[1]))


def _order(graph: Any, labels: Any, count: int) -> list[int]:
    """Return the components, each after those that its rows hold columns of."""
    edges = graph.tocoo()
    of, on = labels[edges.coords[0]], labels[edges.coords[1]]
    different = of != on
    pairs = sp.csr_array(
        (np.ones(int(different.sum()), np.int64), (on[different], of[different])),
        shape=(count, count),
    )
    pairs.sum_duplicates()
    waiting = np.bincount(pairs.indices, minlength=count)
    ready = np.flatnonzero(waiting == 0).tolist()
    for component in ready:  # it grows
        for other in pairs.indices[pairs.indptr[component] : pairs.indptr[component + 1]].tolist():
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    return ready
