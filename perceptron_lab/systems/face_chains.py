"""Chains of facial reduction in the coordinates of the system itself, in whole numbers.

Weights w on a face, in its coordinates N, have A w = 0 for the y whose scores are in the face:
those with F v = 0 for the vectors v that earlier weights have excluded. On all y the image of
N w N' is therefore a combination of such equations, so that some u_k give

    W = N w N' + sum_k (v_k u_k' + u_k v_k'),    A W = 0 for all y.

A chain of such W needs no bases to be checked: see ``checker/plab_check_kinds.py``, whose form of
elements is written here.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from perceptron_lab.systems.exact_pencil import ExactPencil, Term, Weights, entry
from perceptron_lab.systems.exact_solutions import Equation, near_multiples
from perceptron_lab.systems.face_equations import semidefinite_terms
from perceptron_lab.systems.facial_reduction import Reduced, tables_of

Step = tuple[Weights, Reduced | None]
"""Weights in the coordinates of a face, and the next face; None after the last."""
Position = tuple[int, int, int]
Element = dict[Position, int]
"""The entries (block, i, j), i <= j, of an element of the dual cone of a face."""
Equality = tuple[Element, Any]
"""An element of either sign that is 0 on the face, and its image."""
Product = tuple[int, tuple[int, int], Element, Fraction]
"""Block and place of an equality, its element, and a multiple."""


class WrittenElement(NamedTuple):
    """An element of a chain as the checker reads it, and by its entries."""

    lists: list[Any]
    element: Element


@dataclass
class _Block:
    """A block of the system, restricted to a face.

    Parameters
    ----------
    number, kind, order, table
        Its place, and the coefficients of its scores.
    basis
        The coordinates of the face: columns, or places of scores; None: all.
    zeros
        Vectors v of a matrix with F v = 0 on the face.
    equalities
        What is 0 on the face, by the vector and the place of its entry.
    """

    number: int
    kind: str
    order: int
    table: Any
    basis: Any = None
    zeros: list[list[int]] = field(default_factory=list)
    equalities: dict[tuple[int, int], Equality] = field(default_factory=dict)

    @property
    def positions(self) -> list[tuple[int, int]]:
        """The places (i, j), i <= j, of its scores."""
        width = self.order if self.kind == "matrix" else 1
        return [(i, j) for i in range(self.order) for j in range(i, min(i + width, self.order))]

    def lifted(self, terms: Sequence[Term]) -> list[Term]:
        """Return terms on the face as terms of the block, their vectors whole."""
        if self.kind == "matrix":
            frame = np.eye(self.order, dtype=int).astype(object)
            frame = frame if self.basis is None else self.basis
            vectors = [(d, frame @ np.array(v, dtype=object)) for d, v in terms]
            scales = [math.lcm(*(Fraction(x).denominator for x in v)) for _, v in vectors]
            pairs = zip(scales, vectors, strict=True)
            return [(d / c**2, tuple(Fraction(x * c) for x in v)) for c, (d, v) in pairs]
        if self.basis is None:
            return list(terms)
        if self.kind == "rows":
            return [(d, (Fraction(self.basis[int(v[0])]),)) for d, v in terms]
        # On a ray the last coordinate alone is left
        return [(Fraction(1), (Fraction(),) * (self.order - 1) + (d,)) for d, _ in terms]

    def exclude(self, terms: Sequence[Term]) -> None:
        """Add the equalities that follow from weights in the lifted form."""
        if self.kind == "matrix":
            for _, exact in terms:
                v = [int(x) for x in exact]
                for i, line in enumerate(np.array(v, dtype=object) @ self.table):
                    halves = {(i, j): (1 + (i == j)) * x for j, x in enumerate(v) if x}
                    self._equality((len(self.zeros), i), halves, 2 * line)
                self.zeros.append(v)
        elif self.kind == "rows":
            for row in (int(v[0]) for _, v in terms):
                self._equality((0, row), {(row, row): 1}, self.table[row])
        elif terms:
            *u, t = terms[0][1]
            if self.basis is None and sum(x * x for x in u) == t * t:
                common = math.lcm(t.denominator, *(x.denominator for x in u))
                apex, *rest = (int(x * common) for x in (t, *u))
                for i, x in enumerate(rest):
                    line = apex * self.table[i] + x * self.table[-1]
                    self._equality((0, i), {(i, i): apex, (self.order - 1,) * 2: x}, line)
            else:
                for i in range(self.order):
                    self._equality((1, i), {(i, i): 1}, self.table[i])

    def _equality(self, key: tuple[int, int], entries: Mapping[Any, int], image: Any) -> None:
        element = {(self.number, *sorted(at)): x for at, x in entries.items() if x}
        self.equalities[key] = element, image

    def restrict(self, basis: Any) -> None:
        """Take the coordinates of a face of the present one."""
        if basis is None or self.basis is None:
            self.basis = self.basis if basis is None else basis
        elif self.kind == "matrix":
            self.basis = self.basis @ basis
        else:
            self.basis = [self.basis[i] for i in basis]

    def written(
        self,
        terms: Sequence[tuple[int, Sequence[Fraction]]],
        products: Sequence[tuple[tuple[int, int], int]],
        element: Element,
    ) -> list[Any]:
        """Return the block of an element as the checker reads it."""
        if self.kind != "matrix":
            pairs = [(i, x) for (b, i, _), x in element.items() if b == self.number]
            return [[i for i, _ in pairs], [x for _, x in pairs]]
        vectors: dict[int, dict[int, int]] = defaultdict(dict)
        for (at, i), multiple in products:
            vectors[at][i] = multiple
        turned = [[at, [[*u], [*u.values()]]] for at, u in sorted(vectors.items())]
        return [[d for d, _ in terms], [[int(x) for x in v] for _, v in terms], turned]


def written_chain(pencil: ExactPencil, steps: Sequence[Step]) -> list[WrittenElement] | None:
    """Return a chain in the form of the checker; None where that is too much work.

    Parameters
    ----------
    pencil
        The system, homogenised.
    steps
        The last has weights on x_0, or leaves a face with x_0 = 0.
    """
    blocks, written = _blocks(pencil), list[WrittenElement | None]()
    located = list(blocks)
    for weights, face in steps:
        lifted = {b.number: list[Term]() for b in blocks} | {
            b.number: b.lifted(terms) for b, terms in zip(located, weights, strict=True)
        }
        written.append(_written_step(pencil, blocks, list(lifted.values())))
        for block, basis in zip(located, [] if face is None else face.bases, strict=False):
            block.restrict(basis)
        located = [b for b in located if b.basis is None or np.size(b.basis) > 0]
    if steps[-1][1] is not None:
        first: Weights = [[(Fraction(1), (Fraction(),))], *([] for _ in blocks[1:])]
        written.append(_written_step(pencil, blocks, first))
    complete = [step for step in written if step is not None]
    return complete if len(complete) == len(written) else None


def _blocks(pencil: ExactPencil) -> list[_Block]:
    pairs = zip(pencil.blocks, tables_of(pencil), strict=True)
    return [_Block(b, kind, order, table) for b, ((kind, order), table) in enumerate(pairs)]


def _written_step(
    pencil: ExactPencil, blocks: Sequence[_Block], lifted: Weights
) -> WrittenElement | None:
    """Return weights with the multiples of equalities that make their image 0; exclude more."""
    image = [-x for x in pencil.image(lifted)]
    common = math.lcm(*(x.denominator for x in image))
    equalities = [(b.number, *pair) for b in blocks for pair in b.equalities.items()]
    lines = [line for _, _, (_, line) in equalities]
    equations = [
        Equation({e: int(line[k]) for e, line in enumerate(lines) if line[k]}, int(x * common))
        for k, x in enumerate(image)
    ]
    count = len(equalities)
    solution = near_multiples(equations, [Fraction()] * count, range(count), pencil.width)
    if solution is None:
        return None
    multiples = [Fraction(m, solution[1] * common) for m in solution[0]]
    pairs = zip(equalities, multiples, strict=True)
    products = [(b, key, element, m) for (b, key, (element, _)), m in pairs if m]
    written = _written(blocks, lifted, products)
    for block, terms in zip(blocks, lifted, strict=True):
        block.exclude(terms)
    return written


def _written(
    blocks: Sequence[_Block], terms: Weights, products: Sequence[Product] = ()
) -> WrittenElement:
    """Return terms and multiples of equalities, made whole by one multiple, and their sum."""
    scale = math.lcm(
        *(m.denominator for *_, m in products),
        *(x.denominator for listed in terms for d, v in listed for x in (d, *v)),
    )
    total: dict[Position, Fraction] = defaultdict(Fraction)
    for block, listed in zip(blocks, terms, strict=True):
        for i, j in block.positions if listed else ():
            value = entry(block.kind, listed, i, j) / (1 + (i != j))
            total[block.number, i, j] += value
    for _, _, element, m in products:
        for at, x in element.items():
            total[at] += m * x
    integers = {at: int(x * scale) for at, x in sorted(total.items()) if x}
    lists = [
        block.written(
            [(int(d * scale), v) for d, v in listed],
            [(key, int(m * scale)) for b, key, _, m in products if b == block.number],
            integers,
        )
        for block, listed in zip(blocks, terms, strict=True)
    ]
    return WrittenElement(lists, integers)


def written_sequence(
    pencil: ExactPencil, chain: Sequence[WrittenElement]
) -> list[list[Any]] | None:
    """Return [y, multiple, lists], A y = multiple times each element of a chain; or None.

    Parameters
    ----------
    pencil
        A.
    chain
        Of the alternative: its elements are images A y.
    """
    sequence, width = [], pencil.width
    for step in chain:
        equations = [
            Equation(dict(zip(columns, values, strict=True)), step.element.get((b, i, j), 0))
            for b, i, j, columns, values in pencil.rows
        ]
        solution = near_multiples(equations, [Fraction()] * width, range(width), width)
        if solution is None:
            return None
        sequence.append([*solution, step.lists])
    return sequence


def written_scores(pencil: ExactPencil, y: Sequence[Fraction]) -> list[WrittenElement] | None:
    """Return A y in the closed cone as a chain of one; None if it is not there."""
    blocks = _blocks(pencil)
    vector = np.array(y, dtype=object)
    terms = [_terms(block.kind, (block.table @ vector).tolist()) for block in blocks]
    complete = [listed for listed in terms if listed is not None]
    return [_written(blocks, complete)] if len(complete) == len(terms) else None


def _terms(kind: str, scores: list[Any]) -> list[Term] | None:
    """Return scores of a block as terms; None of a matrix that is indefinite."""
    if kind == "matrix":
        unit = np.eye(len(scores), dtype=int).tolist()
        return semidefinite_terms([[Fraction(x) for x in row] for row in scores], unit)
    if kind == "rows":
        return [(Fraction(x), (Fraction(i),)) for i, x in enumerate(scores) if x]
    return [(Fraction(1), tuple(map(Fraction, scores)))] if any(scores) else []
