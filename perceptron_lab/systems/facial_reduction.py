"""One step of facial reduction in whole numbers.

Weights w in K* with A w = 0 and no weight on x_0 make <w, A*y> = 0 for all y, so that every A*y in
K lies in the face of K orthogonal to w: a matrix F has F v = 0 for the columns v of w = sum d vv',
and is N Z N' for a basis N of their orthogonal complement. These are linear equations in y; on
their solutions the system is one of lower order, N'F N, and the question is asked of it again
(Borwein and Wolkowicz, Journal of the Australian Mathematical Society 30, 1981).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mat

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.systems.conic_system import ConicSystem
from perceptron_lab.systems.exact_pencil import ExactPencil, Row, Term, Weights
from perceptron_lab.systems.exact_solutions import null_columns

IntegerVector = list[int]


@dataclass(frozen=True)
class FaceSystem(ConicSystem):
    """A system on a face, whose exact numbers are those of a pencil and not of its doubles."""

    pencil: ExactPencil | None = None

    def exact_pencil(self) -> ExactPencil | None:
        """Return the pencil."""
        return self.pencil

    def unscaled(self, point: FloatArray) -> list[Fraction]:
        """Return a point in the unknowns of the pencil, exactly."""
        assert self.pencil is not None
        pairs = zip(point.tolist(), self.pencil.lengths, strict=True)
        return [Fraction(x) / length for x, length in pairs]

    @classmethod
    def of(cls, pencil: ExactPencil) -> FaceSystem:  # type: ignore[override]
        """Return the balanced system of a pencil in doubles that proofs enclose, columns scaled."""
        pencil = pencil.balanced
        parts = [_part(kind, order) for kind, order in pencil.blocks]
        cone = Product(parts)
        spans = {b: span.start for b, (_, span) in enumerate(cone.blocks)}
        data, rounded = np.zeros((cone.size, pencil.width)), False
        for block, i, j, columns, values in pencil.rows:
            order = pencil.blocks[block][1]
            matrix = pencil.blocks[block][0] == "matrix"
            at = spans[block] + (i * order - i * (i - 1) // 2 + j - i if matrix else i)
            exact = [Fraction(x, pencil.lengths[k]) for k, x in zip(columns, values, strict=True)]
            data[at, list(columns)] = doubles = to_doubles(exact)
            rounded = rounded or any(
                Fraction(double) != number
                for double, number in zip(doubles.tolist(), exact, strict=True)
            )
        return cls(Matrix(data, roundings=int(rounded)), cone, pencil=pencil)


def _part(kind: str, order: int) -> Cone:
    if kind == "matrix":
        return Semidefinite(order, *np.triu_indices(order))
    return SecondOrder(order) if kind == "second-order" else Orthant(order)


@dataclass(frozen=True)
class Reduced:
    """A system on a face.

    Parameters
    ----------
    pencil
        In z; None where x_0 = 0 on the face.
    columns
        Z, whole: y = Z z.
    bases
        The coordinates of the face in each block: columns N, or places; None: all.
    """

    pencil: ExactPencil | None
    columns: list[IntegerVector]
    bases: list[Any]


def reduced(pencil: ExactPencil, weights: Weights) -> Reduced:
    """Return the system on the face orthogonal to weights that are not on x_0."""
    tables = tables_of(pencil)
    equations, blocks, bases = list[IntegerVector](), list[tuple[str, int]](), list[Any]()
    for (kind, order), table, terms in zip(pencil.blocks, tables, weights, strict=True):
        check_time()
        more, block, basis = _restricted(kind, order, table, terms)
        equations += more
        blocks.append(block)
        bases.append(basis)
    nonzero = [line for line in equations if any(line)]
    columns = _short(null_columns(nonzero)) if nonzero else _unit_vectors(pencil.width)
    if not any(sum(a * z for a, z in zip(tables[0][0], column, strict=True)) for column in columns):
        return Reduced(None, columns, bases)
    turned = np.array(columns, dtype=object).T
    rows = list[Row]()
    kept_blocks = list[tuple[str, int]]()
    for (kind, order), table, basis in zip(blocks, tables, bases, strict=True):
        if order:
            rows += _rows(len(kept_blocks), kind, _images(kind, table, basis, turned))
            kept_blocks.append((kind, order))
    pencil_on_face = ExactPencil(len(columns), kept_blocks, rows, True, closed=True)
    return Reduced(pencil_on_face, columns, bases)


def tables_of(pencil: ExactPencil) -> list[Any]:
    """Return the coefficients of the scores of each block, shape (order, [order,] width)."""
    shapes = [(k, k) if kind == "matrix" else (k,) for kind, k in pencil.blocks]
    tables = [np.zeros((*shape, pencil.width), dtype=object) for shape in shapes]
    for block, i, j, columns, values in pencil.rows:
        for at, value in zip(columns, values, strict=True):
            if pencil.blocks[block][0] == "matrix":
                tables[block][i, j, at] = tables[block][j, i, at] = value
            else:
                tables[block][i, at] = value
    return tables


def _restricted(
    kind: str, order: int, table: Any, terms: Sequence[Term]
) -> tuple[list[IntegerVector], tuple[str, int], Any]:
    """Return equations of the face, its kind and order, and the basis of its coordinates."""
    if not terms:
        return [], (kind, order), None
    vectors = [[int(x) for x in v] for _, v in whole_terms(terms)]
    if kind == "matrix":
        basis = _short(null_columns(vectors)) if len(vectors) < order else []
        lines = [line.tolist() for v in vectors for line in np.array(v, dtype=object) @ table]
        return lines, (kind, len(basis)), np.array(basis, dtype=object).reshape(-1, order).T
    if kind == "rows":
        fixed = {v[0] for v in vectors}
        left = [i for i in range(order) if i not in fixed]
        return [table[i].tolist() for i in sorted(fixed)], (kind, len(left)), left
    *u, t = vectors[0]
    if sum(x * x for x in u) < t * t:
        return [line.tolist() for line in table], ("rows", 0), []
    # The scores are a multiple of (-u, t), t / norm(u) = 1: the last one tells which
    lines = [(t * table[i] + x * table[-1]).tolist() for i, x in enumerate(u)]
    return lines, ("rows", 1), [order - 1]


def whole_terms(terms: Sequence[Term]) -> list[Term]:
    """Return terms with vectors of whole numbers; d is of no account for their span."""
    scales = [math.lcm(*(x.denominator for x in v)) for _, v in terms]
    return [(d, tuple(x * c for x in v)) for (d, v), c in zip(terms, scales, strict=True)]


def _short(vectors: list[IntegerVector]) -> list[IntegerVector]:
    """Return a reduced basis of the lattice of vectors, by the algorithm of Lenstra et al."""
    if not vectors:
        return []
    primitive = [[x // math.gcd(*vector) for x in vector] for vector in vectors]
    return [[int(x) for x in row] for row in fmpz_mat(primitive).lll().tolist()]


def _unit_vectors(width: int) -> list[IntegerVector]:
    return [[int(i == j) for i in range(width)] for j in range(width)]


def _images(kind: str, table: Any, basis: Any, turned: Any) -> Any:
    """Return the coefficients in z of the scores in the coordinates of a face."""
    if kind == "matrix" and basis is not None:
        table = np.einsum("ia,ijk,jb->abk", basis, table, basis)
    elif basis is not None:
        table = table[basis]
    return table @ turned


def _rows(block: int, kind: str, table: Any) -> list[Row]:
    order = range(len(table))
    pairs = [(i, j) for i in order for j in order if i <= j] if kind == "matrix" else []
    lines = [(i, j, table[i, j]) for i, j in pairs] or [(i, i, table[i]) for i in order]
    listed = [
        (i, j, {at: int(x) for at, x in enumerate(line.tolist()) if x}) for i, j, line in lines
    ]
    return [(block, i, j, tuple(row), tuple(row.values())) for i, j, row in listed if row]


def alternative(pencil: ExactPencil) -> ExactPencil:
    """Return the system of all w in K with A w = 0 and a weight on x_0.

    K is self-dual, with the trace as inner product.
    """
    index = {
        (block, i, j): k
        for k, (block, i, j) in enumerate(
            (b, i, j)
            for b, (kind, order) in enumerate(pencil.blocks)
            for i in range(order)
            for j in (range(i, order) if kind == "matrix" else (i,))
        )
    }
    equations = [[0] * len(index) for _ in range(pencil.width)]
    for block, i, j, columns, values in pencil.rows:
        for at, value in zip(columns, values, strict=True):
            equations[at][index[block, i, j]] = value * (1 + (i != j))
    basis = _short(null_columns(equations))
    lines = {
        key: {at: vector[k] for at, vector in enumerate(basis) if vector[k]}
        for key, k in index.items()
    }
    rows = [(*key, tuple(row), tuple(row.values())) for key, row in lines.items() if row]
    return ExactPencil(len(basis), pencil.blocks, rows, True, closed=True)


def substituted(pencil: ExactPencil) -> tuple[ExactPencil, list[IntegerVector]]:
    """Return a pencil with a multiple of x_0 as its first unknown u_0, and T with z = T u.

    With x_0 = a'z and a_p != 0, z_p = (x_0 - sum_j a_j z_j) / a_p.
    """
    table = tables_of(pencil)[0][0].tolist()
    p = next(j for j, entry in enumerate(table) if entry)
    sign, size = (1, table[p]) if table[p] > 0 else (-1, -table[p])
    columns = [[sign * int(i == p) for i in range(pencil.width)]]
    for j in range(pencil.width):
        if j != p:
            columns.append(
                [size * int(i == j) - sign * table[j] * int(i == p) for i in range(pencil.width)]
            )
    turned = np.array(columns, dtype=object).T
    rows = list[Row]()
    for b, ((kind, _), coefficients) in enumerate(
        zip(pencil.blocks, tables_of(pencil), strict=True)
    ):
        rows += _rows(b, kind, coefficients @ turned)
    return replace(pencil, width=len(columns), rows=rows), columns


def lifted(columns: Sequence[IntegerVector], z: FloatArray | Sequence[Fraction]) -> list[Fraction]:
    """Return y = Z z, exactly."""
    width = len(columns[0])
    exact = [Fraction(x) for x in z]
    return [
        sum((x * column[i] for x, column in zip(exact, columns, strict=True)), Fraction())
        for i in range(width)
    ]
