"""Irrational weights on a face of the dual cone, exactly: their entries are in a number field.

Newton's method gives some hundred digits of V and S with A(V S V') = 0. Lenstra, Lenstra and
Lovasz's algorithm finds the least polynomial p of an entry a of V, and the other entries, those of
S divided by the largest one, as polynomials in a. They are only guesses: (C34) of
docs/notes/how-to-distrust-us.md proves the weights that they make. That no rational weights exist
on other faces is not proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_poly, fmpz_mat, fmpz_poly

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.systems.exact_pencil import ExactPencil
from perceptron_lab.systems.face_bases import Basis, long_entries
from perceptron_lab.systems.face_weights import refined_bases

# Binary places of the computed numbers that are correct, those that relations may take, the
# precision of balls, and the decimal places of the interval around a
_PLACES, _SHORT, _BALLS, _DIGITS = 280, 200, 400, 30
# The largest degree of a number field
MOST_DEGREE = 8


@dataclass(frozen=True)
class AlgebraicWeights:
    """Weights w(a) in K* with A w(a) = 0.

    Parameters
    ----------
    polynomial
        p, irreducible over the rational numbers, as a text in a.
    lower, upper
        a is the only root of p between these decimals.
    weights
        Doubles near w(a), block by block: matrices and vectors.
    """

    polynomial: str
    lower: Fraction
    upper: Fraction
    weights: list[FloatArray]

    def __str__(self) -> str:
        # Made of text, decimals are not rounded
        lower, upper = (Decimal(f"{x * 10**_DIGITS}e-{_DIGITS}") for x in (self.lower, self.upper))
        return f"a the only root of {self.polynomial} in [{lower}, {upper}]"


def algebraic_weights(
    pencil: ExactPencil, guess: Sequence[FloatArray]
) -> AlgebraicWeights | Fraction | None:
    """Return irrational weights near computed ones, proved; or a long entry of those not proved.

    Parameters
    ----------
    pencil, guess
        As for :func:`~perceptron_lab.systems.face_weights.weights_near`.
    """
    # Several attempts would take seconds where the weights are not algebraic of a small degree
    bases = next(refined_bases(pencil, guess), None)
    if bases is None:
        return None
    entry = long_entries(bases)[0]
    field = _Field.of(entry)
    weights = None if field is None else _proved(field, pencil, bases)
    if field is None or weights is None:
        return entry
    name = str(field.modulus).replace("x", "a").replace("+ (-", "- ").replace(")", "")
    return AlgebraicWeights(name, field.lower, field.upper, weights)


def _relation(numbers: Sequence[Fraction]) -> list[int] | None:
    """Return short integers c with sum_i c_i x_i near 0, or None."""
    rows = [
        [int(i == j) for j in range(len(numbers))] + [round(x * (1 << _PLACES))]
        for i, x in enumerate(numbers)
    ]
    *short, _ = (int(x) for x in fmpz_mat(rows).lll().tolist()[0])
    return short if sum(x.bit_length() for x in short) < _SHORT else None


@dataclass(frozen=True)
class _Field:
    """Q(a): polynomials modulo the least polynomial of a, which is in an interval."""

    modulus: fmpz_poly
    root: Fraction
    lower: Fraction
    upper: Fraction

    @classmethod
    def of(cls, root: Fraction) -> _Field | None:
        """Return the field of a number near a root, if its degree is small."""
        unit = Fraction(1, 10**_DIGITS)
        lower = (root // unit - 1) * unit
        for degree in range(2, MOST_DEGREE + 1):
            check_time()
            relation = _relation([root**k for k in range(degree + 1)])
            if relation is None or not relation[-1]:
                continue
            modulus = fmpz_poly([x * (1 if relation[-1] > 0 else -1) for x in relation])
            field = cls(modulus, root, lower, lower + 3 * unit)
            signs = [modulus(fmpq(*x.as_integer_ratio())) for x in (field.lower, field.upper)]
            one_root = signs[0] * signs[1] < 0 and not field.ball(modulus.derivative()).contains(0)
            if one_root and [power for _, power in modulus.factor()[1]] == [1]:
                return field
        return None

    def reduced(self, polynomial: fmpq_poly) -> fmpq_poly:
        """Return a polynomial of least degree with the same value at a."""
        return polynomial % fmpq_poly(self.modulus)

    def element(self, number: Fraction) -> fmpq_poly | None:
        """Return the polynomial in a that a number is near, or None."""
        degree = self.modulus.degree()
        relation = _relation([*(self.root**k for k in range(degree)), number])
        if relation is None or not relation[-1]:
            return None
        return fmpq_poly([fmpq(-c, relation[-1]) for c in relation[:-1]])

    def ball(self, polynomial: fmpq_poly | fmpz_poly) -> arb:
        """Return a ball that contains the value of a polynomial at a."""
        lower, upper = (arb(fmpq(*x.as_integer_ratio())) for x in (self.lower, self.upper))
        coefficients: list[Any] = polynomial.coeffs()
        total = arb(0)
        for coefficient in reversed(coefficients):
            total = total * lower.union(upper) + arb(coefficient)
        return total


def _proved(field: _Field, pencil: ExactPencil, bases: Sequence[Basis]) -> list[FloatArray] | None:
    """Return doubles near weights in a field, if A w = 0 and w is in K*, not of rows alone."""
    if not any(basis.pivots for basis in bases if basis.kind != "rows"):
        return None
    precision, ctx.prec = ctx.prec, _BALLS
    try:
        largest = max(abs(x) for basis in bases for x in basis.core.ravel().tolist())
        orders = [order for _, order in pencil.blocks]
        pairs = zip(orders, bases, strict=True)
        blocks = [_weights(field, order, basis, largest) for order, basis in pairs]
        weights = [block for block in blocks if block is not None]
        if len(weights) < len(blocks) or not _solves(field, pencil, weights):
            return None
        doubles = [np.array([[float(field.ball(x)) for x in row] for row in b]) for b in weights]
        return [
            table if kind == "matrix" else table[:, 0]
            for (kind, _), table in zip(pencil.blocks, doubles, strict=True)
        ]
    finally:
        ctx.prec = precision


def _weights(
    field: _Field, order: int, basis: Basis, largest: Fraction
) -> list[list[fmpq_poly]] | None:
    """Return the weights of a block, proved to be in the dual cone: rows of a matrix, or a column.

    None if an entry is not near one of the field, or nothing is proved.
    """
    rank, matrix = len(basis.pivots), basis.kind == "matrix"
    numbers = [Fraction(x) for column in basis.vectors() for x in column] if basis.framed else []
    cores = [Fraction(x) / largest for x in basis.core.ravel().tolist()]
    elements = [x for x in map(field.element, [*numbers, *cores]) if x is not None]
    if len(elements) < len(numbers) + len(cores):
        return None
    core = elements[len(numbers) :]
    columns = [elements[k * order : (k + 1) * order] for k in range(rank)] if numbers else []
    if not _inside(field, basis.kind, columns, core):
        return None
    zero = fmpq_poly([0])
    if not matrix:
        placed = dict(zip(basis.pivots, core, strict=True))
        ray = [core[0] * x for column in columns for x in column]
        return [[x] for x in ray or [placed.get(i, zero) for i in range(order)]]
    rows = [core[a * rank : (a + 1) * rank] for a in range(rank)]
    left = [
        [
            sum((v[i] * row[b] for v, row in zip(columns, rows, strict=True)), zero)
            for b in range(rank)
        ]
        for i in range(order)
    ]
    return [
        [sum((x * v[j] for x, v in zip(line, columns, strict=True)), zero) for j in range(order)]
        for line in left
    ]


def _inside(
    field: _Field, kind: str, columns: list[list[fmpq_poly]], core: list[fmpq_poly]
) -> bool:
    """Return whether S is definite, rows are positive, t > norm(u); a ray has norm(u) = 1."""
    balls = [field.ball(x) for x in core]
    if kind == "matrix":
        rank = len(columns)
        table = [balls[a * rank : (a + 1) * rank] for a in range(rank)]
        return all(arb_mat([row[:k] for row in table[:k]]).det() > 0 for k in range(1, rank + 1))
    if kind == "second-order" and balls:
        *u, t = balls
        return bool(t > 0 and t * t > sum((x * x for x in u), arb(0)))
    spheres = [sum((x * x for x in column[:-1]), fmpq_poly([-1])) for column in columns]
    return all(x > 0 for x in balls) and not any(field.reduced(x) for x in spheres)


def _solves(field: _Field, pencil: ExactPencil, blocks: Sequence[list[list[fmpq_poly]]]) -> bool:
    """Return whether A w = 0 in the field."""
    total = [fmpq_poly([0])] * pencil.width
    for b, i, j, columns, values in pencil.rows:
        check_time()
        weight = (
            blocks[b][i][j] * (1 + (i != j)) if pencil.blocks[b][0] == "matrix" else blocks[b][i][0]
        )
        for at, value in zip(columns, values, strict=True):
            total[at] += weight * value
    return not any(field.reduced(x) for x in total)
