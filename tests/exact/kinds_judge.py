"""A second judge of certificates of kinds of infeasibility, by dense matrices and null spaces.

Instead of the form W = sum d vv' + sum (tu' + ut') it asks for what that form proves: W is
semidefinite on the null space N of the vectors excluded before, and N is left to those z with
z'N'W N z = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

Matrix = list[list[fmpq]]


def product(*factors: Matrix) -> Matrix:
    result = factors[0]
    for factor in factors[1:]:
        columns = list(zip(*factor, strict=True))
        result = [
            [sum((a * b for a, b in zip(row, c, strict=True)), fmpq(0)) for c in columns]
            for row in result
        ]
    return result


def kernel(matrix: Matrix) -> Matrix:
    """Return a basis of the null space, as columns; the reduced echelon form shows it."""
    width = len(matrix[0])
    reduced, rank = fmpq_mat(matrix).rref()
    rows = reduced.tolist()[:rank]
    pivots = [next(j for j, x in enumerate(row) if x) for row in rows]
    free = [j for j in range(width) if j not in pivots]
    vectors = []
    for j in free:
        vector = [fmpq(int(i == j)) for i in range(width)]
        for row, pivot in zip(rows, pivots, strict=True):
            vector[pivot] = -row[j]
        vectors.append(vector)
    return (
        [list(row) for row in zip(*vectors, strict=True)] if vectors else [[] for _ in range(width)]
    )


def semidefinite(matrix: Matrix) -> bool:
    """Return whether no coefficient of det(t I + M) is negative."""
    if not matrix:
        return True
    coefficients = fmpq_mat([[-x for x in row] for row in matrix]).charpoly().coeffs()
    return all(x >= 0 for x in coefficients)


@dataclass
class Remaining:
    """The face that is left of one block: a basis, places, or a ray; None: nothing."""

    kind: str
    order: int
    basis: Any = field(init=False)

    def __post_init__(self) -> None:
        self.basis = [[fmpq(int(i == j)) for j in range(self.order)] for i in range(self.order)]
        if self.kind != "matrix":
            self.basis = set(range(self.order)) if self.kind == "rows" else "cone"

    def admits(self, w: Any) -> bool:
        """Return whether w is in the dual cone of the face, and restrict the face to w = 0."""
        return bool(getattr(self, f"_{self.kind.replace('-', '_')}")(w))

    def _matrix(self, w: Matrix) -> bool:
        if not self.basis[0]:
            return True
        turned = [list(row) for row in zip(*self.basis, strict=True)]
        inner = product(turned, w, self.basis)
        if not semidefinite(inner):
            return False
        left = kernel(inner)
        self.basis = product(self.basis, left) if left[0] else [[] for _ in self.basis]
        return True

    def _rows(self, w: list[fmpq]) -> bool:
        if min((w[i] for i in self.basis), default=0) < 0:
            return False
        self.basis = {i for i in self.basis if not w[i]}
        return True

    def _second_order(self, w: list[fmpq]) -> bool:
        *u, t = w
        if self.basis == "cone":
            square = t * t - sum(x * x for x in u)
            if t < 0 or square < 0:
                return False
            self.basis = None if square > 0 else [*(-x for x in u), t] if t else "cone"
        elif self.basis is not None:
            inner = sum((a * b for a, b in zip(w, self.basis, strict=True)), fmpq(0))
            self.basis = None if inner > 0 else self.basis
            return inner >= 0
        return True


def element(blocks: Any, lists: Any, vectors: list[list[Any]]) -> list[Any]:
    """Return the matrices and vectors that a step writes; ``vectors`` are those of the steps."""
    written = []
    for (kind, order), each, earlier in zip(blocks, lists, vectors, strict=True):
        if kind != "matrix":
            values = [fmpq(0)] * order
            for i, x in zip(*each, strict=True):
                values[i] = fmpq(x)
            written.append(values)
            continue
        parts, spanning, turned = each
        total = np.zeros((order, order), dtype=object)
        for d, v in zip(parts, spanning, strict=True):
            total += d * np.outer(np.array(v, dtype=object), np.array(v, dtype=object))
        for at, (positions, numbers) in turned:
            u, t = np.zeros(order, dtype=object), np.array(earlier[at], dtype=object)
            u[positions] = numbers
            total += np.outer(u, t) + np.outer(t, u)
        earlier += [v for d, v in zip(parts, spanning, strict=True) if d]
        written.append([[fmpq(int(x)) for x in row] for row in total])
    return written


def scores(system: Any, y: list[int]) -> list[Any]:
    """Return A y, block by block."""
    blocks: list[Any] = [
        [[fmpq(0)] * k for _ in range(k)] if kind == "matrix" else [fmpq(0)] * k
        for kind, k in system.blocks
    ]
    for b, i, j, columns, values in system.rows:
        score = fmpq(sum(x * y[at] for at, x in zip(columns, values, strict=True)))
        if system.blocks[b][0] == "matrix":
            blocks[b][i][j] = blocks[b][j][i] = score
        else:
            blocks[b][i] = score
    return blocks


def inner(blocks: Any, a: Any, b: Any) -> fmpq:
    total = fmpq(0)
    for (kind, _), x, y in zip(blocks, a, b, strict=True):
        rows = zip(x, y, strict=True) if kind == "matrix" else [(x, y)]
        total += sum((p * q for r, s in rows for p, q in zip(r, s, strict=True)), fmpq(0))
    return total


def holds(system: Any, claim: Any) -> bool:
    """Return whether a claim that follows the form of certificates proves its kind."""
    units = [[int(i == k) for i in range(system.width)] for k in range(system.width)]
    images = [scores(system, unit) for unit in units]
    last: dict[str, Any] = {}
    for name in ("chain", "sequence"):
        faces = [Remaining(*block) for block in system.blocks]
        vectors: list[list[Any]] = [[] for _ in system.blocks]
        for step in claim.get(name, ()):
            lists = step if name == "chain" else step[2]
            w = last[name] = element(system.blocks, lists, vectors)
            if not all(face.admits(part) for face, part in zip(faces, w, strict=True)):
                return False
            if name == "chain" and any(inner(system.blocks, w, image) for image in images):
                return False
            if name == "sequence" and not is_multiple(scores(system, step[0]), step[1], w):
                return False
    first = {name: w[0][0] > 0 for name, w in last.items()}
    lengths = {name: len(claim[name]) for name in last}
    match claim["claim"]:
        case "strong":
            return first == {"chain": True} and lengths == {"chain": 1}
        case "no point":
            return first == {"chain": True}
        case "weak":
            return first == {"chain": True, "sequence": True}
        case "boundary only":
            both = lengths == {"chain": 1, "sequence": 1}
            return both and first["sequence"] and any_nonzero(last["chain"])
    return False


def is_multiple(image: Any, multiple: int, w: Any) -> bool:
    if isinstance(w, list):
        return all(is_multiple(a, multiple, b) for a, b in zip(image, w, strict=True))
    return multiple > 0 and bool(image == multiple * w)


def any_nonzero(w: Any) -> bool:
    return any(map(any_nonzero, w)) if isinstance(w, list) else bool(w)
