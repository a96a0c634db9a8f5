"""An exact judge of conic systems of two unknowns: roots of polynomials in one variable."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod

from flint import arb, ctx, fmpq, fmpq_poly

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from tests.certificates.exact_weights import blocks

Polynomials = list[fmpq_poly]
PRECISION = 2000  # bits, to which roots are known


def has_interior_point(cone: Cone, data: FloatArray) -> bool:
    """Whether some y in R^2 has A y strictly inside the cone; the data are taken as fractions.

    The set of these y is open: if it is not empty, some y = (1, t) or -(1, t) is in it. A (1, t)
    is inside where all polynomials of `conditions` are above 0. They keep their signs between the
    roots, so that one t between any two neighbouring roots decides.
    """
    numbers = [[fmpq(*float(entry).as_integer_ratio()) for entry in row] for row in data]
    for sign in (1, -1):
        polynomials = list(conditions(cone, [sign * fmpq_poly(row) for row in numbers]))
        if all(any(p.coeffs()) for p in polynomials) and any(
            all(p(t) > 0 for p in polynomials) for t in between_roots(prod(polynomials))
        ):
            return True
    return False


def conditions(cone: Cone, scores: Polynomials) -> Iterator[fmpq_poly]:
    """Yield polynomials that are all above 0 exactly where the scores lie inside the cone."""
    for part, at in blocks(cone):
        block = scores[at]
        if isinstance(part, Semidefinite):
            matrix = [[fmpq_poly()] * part.rank for _ in range(part.rank)]
            for i, j, score in zip(part.rows.tolist(), part.columns.tolist(), block, strict=True):
                matrix[i][j] = matrix[j][i] = score
            yield from (
                determinant([row[:order] for row in matrix[:order]])
                for order in range(1, part.rank + 1)
            )
        elif isinstance(part, SecondOrder):
            *u, t = block
            yield from (t, t * t - sum((x * x for x in u), fmpq_poly()))
        else:
            yield from block


def determinant(matrix: list[Polynomials]) -> fmpq_poly:
    """The determinant of a small matrix, by its first row."""
    if not matrix:
        return fmpq_poly([1])
    minors = [[[*row[:j], *row[j + 1 :]] for row in matrix[1:]] for j in range(len(matrix))]
    terms = ((-1) ** j * matrix[0][j] * determinant(minor) for j, minor in enumerate(minors))
    return sum(terms, fmpq_poly())


def between_roots(polynomial: fmpq_poly) -> list[fmpq]:
    """Return a number below all real roots, one between any two neighbours, and one above all."""
    simple = polynomial // polynomial.gcd(polynomial.derivative()) if polynomial.degree() else None
    with ctx.workprec(PRECISION):
        pairs = [] if simple is None else simple.complex_roots()
        real = [root.real for root, _ in pairs if root.imag == 0]
        ends = sorted((exactly(root.lower()), exactly(root.upper())) for root in real)
    assert all(before < after for (_, before), (after, _) in pairwise(ends))
    if not ends:
        return [fmpq(0)]
    inner = [(before + after) / 2 for (_, before), (after, _) in pairwise(ends)]
    return [ends[0][0] - 1, *inner, ends[-1][1] + 1]


def exactly(number: arb) -> fmpq:
    mantissa, exponent = number.man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)
