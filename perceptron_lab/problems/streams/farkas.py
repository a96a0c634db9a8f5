"""Exact weights u >= 0 with A'u = 0 and b'u >= 0, near computed ones, and what they prove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from perceptron_lab.cones.operators.blockwise import chosen_rows
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.systems import ConicSystem

# Weights below such a part of the largest may stand for zeros
NOTHING = (0.0, 1e-11, 1e-6)
# Products of fractions that an elimination may take: about a second
MOST_PRODUCTS = 200_000


@dataclass(frozen=True, repr=False)
class Farkas:
    """Weights u >= 0 of the inequalities A x >= b by which A x > b has no solution.

    Parameters
    ----------
    empty
        True: A'u = 0 and b'u > 0, and not even A x >= b has a solution (Farkas' lemma). False:
        A'u = 0 and b'u = 0, and every solution of A x >= b, if there are any, has a_i'x = b_i
        wherever u_i > 0.
    weights
        u as doubles, shape ``(m,)``, or a positive multiple of it where doubles would not hold it
        (see :func:`.to_doubles`).
    rows
        The i with u_i > 0, ascending.
    exact
        u_i for these i, without rounding. None: exact ones, with the same zeros, are proved to
        exist near the doubles.
    """

    empty: bool
    weights: FloatArray
    rows: IntArray
    exact: tuple[Fraction, ...] | None

    def __repr__(self) -> str:
        """Return what is proved in a line; exact numbers may have thousands of digits."""
        what = "A x >= b" if self.empty else "A x > b"
        return f"<Farkas: {what} has no solution, by rows {self.rows.tolist()}>"


def proved_farkas(system: ConicSystem, weights: FloatArray) -> Farkas | None:
    """Return what weights near exact ones prove; None where no exact ones are found.

    Parameters
    ----------
    system
        The rows (a_i, -b_i), and (0, 1) below them, as given.
    weights
        (u, u_0) >= 0, finite, shape ``(m + 1,)``.
    """
    for part in NOTHING:
        support = np.flatnonzero(weights > part * weights.max())
        exact = _null_weights(system, support, weights[support])
        if exact is not None:
            flat = np.zeros(len(weights))
            flat[support] = to_doubles(exact, scaled=True)
            empty = bool(support[-1] == len(weights) - 1)
            rows = support[:-1] if empty else support
            return Farkas(empty, flat[:-1], rows, tuple(exact[: len(rows)]))
    proof = system.prove_infeasible(weights)
    if proof is None:
        return None
    found = proof.weights
    return Farkas(bool(found[-1] > 0.0), found[:-1], np.flatnonzero(found[:-1] > 0.0), None)


def _null_weights(
    system: ConicSystem, support: IntArray, weights: FloatArray
) -> list[Fraction] | None:
    """Return exact weights > 0 of some rows, whose combination is 0, near the given ones.

    Those of a basis of the rows, heavy ones first, are solved for; the others stay.
    """
    operator = system.operator
    assert isinstance(operator, Matrix)
    count, dimension = len(support), operator.dimension
    if not count or operator.roundings or count * dimension * min(count, dimension) > MOST_PRODUCTS:
        return None
    heavy = np.argsort(-weights, kind="stable")
    rows = chosen_rows(operator.stored, support[heavy])
    lines, basis = _reduced([[Fraction(entry) for entry in line] for line in rows.T.tolist()])
    found = [Fraction(weight) for weight in weights[heavy].tolist()]
    free = [column for column in range(count) if column not in set(basis)]
    for line, column in zip(lines, basis, strict=True):
        found[column] = -sum((line[other] * found[other] for other in free), Fraction())
    if min(found) <= 0:
        return None
    return [found[place] for place in np.argsort(heavy).tolist()]


def _reduced(lines: Sequence[list[Fraction]]) -> tuple[list[list[Fraction]], list[int]]:
    """Return the reduced echelon form of a matrix, without zero lines, and its pivots' columns."""
    rest, done, basis = list(lines), list[list[Fraction]](), list[int]()
    for column in range(len(lines[0])):
        pivot = next((line for line in rest if line[column]), None)
        if pivot is None:
            continue
        rest.remove(pivot)
        first = [entry / pivot[column] for entry in pivot]
        rest, done = _without(rest, first, column), [*_without(done, first, column), first]
        basis.append(column)
    return done, basis


def _without(
    lines: list[list[Fraction]], pivot: list[Fraction], column: int
) -> list[list[Fraction]]:
    """Subtract multiples of the pivot from lines, so that their entry in its column is 0."""
    return [
        [entry - line[column] * other for entry, other in zip(line, pivot, strict=True)]
        if line[column]
        else line
        for line in lines
    ]
