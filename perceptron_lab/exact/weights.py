"""Claims proved by dual weights: infeasibility, or an upper bound of the margin.

They rest on (3) and (4) of docs/notes/how-to-distrust-us.md. Elements of dual cones are sums of
cuts in whole numbers. A cut is an element g of one block's dual cone: a row; (u, t) with
norm(u) <= t; or vv', v whole. Each makes a row A g of the data: so an infeasible cone program has a
Farkas proof in rows, where no y != 0 has A*y in the cone and the pool of cuts is fine enough.

Claims by weights as linear programs and their proofs, in the format of VIPR.

Weights are sums of cuts, sum_k m_k g_k with m_k > 0 and g_k in the dual cone: a row; (u, t) with
norm(u) <= t; vv'. Every y with A*y strictly inside K satisfies <g_k, A*y> > 0 for all k. These are
finitely many linear inequalities, and y may be made longer, so that infeasibility is a proof about
a linear program of a few rows:

    <g_k, A*y> >= 1 for all k,    0 = sum_k m_k <g_k, A*y> >= sum_k m_k >= 1.

It is written as the bound 1 of an objective that is 0, for a checker that asserts that there is one
(viprchk, compiled without NDEBUG) breaks off at the relation ``infeas``.

Of an SDPA program whose unknown x_0 has a weight, the closed program has no solution either: the
rows then are <g_k, F(x)> >= 0 in the unknowns x, x_0 = 1. A lower bound of its objective c'x is
proved by the same rows, as sum_k m_k <g_k, F(x)> = u (c'x) - sum_k m_k <g_k, F_0>.

That the g_k are in the dual cone is not in the file: a row is one by itself, vv' by its square root
v, which the certificate for the exact checker lists.

References
----------
K. K. H. Cheung, A. Gleixner, D. E. Steffy, Verifying integer programming results, Integer
Programming and Combinatorial Optimization 2017, 148-160.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from perceptron_lab.exact.row_weights import balanced
from perceptron_lab.exact.whole_numbers import (
    Blocks,
    CheckedSystem,
    Claim,
    by_places,
    exactly,
    root_above,
    rounded,
    whole,
    whole_multiples,
)
from perceptron_lab.numerics.exact_texts import exact_text
from perceptron_lab.systems.exact_pencil import ExactPencil, Weights, guess_of
from perceptron_lab.systems.face_weights import weights_near

# Weights below this part of the largest mass are those of no row
_NOTHING = 2.0**-90
# Bits of weights of matrices, whose roots have half of them
_BITS = 96
# Matrices of weights beyond this order are not written
LARGEST = 1000
# Bits of the entries of a cut
_CUT_BITS = 20


@dataclass(frozen=True)
class DualCut:
    """An element of the dual cone of a block.

    Parameters
    ----------
    block
        The number of the block.
    vector
        The place of a row, alone; (u, t); or v.
    """

    block: int
    vector: tuple[int, ...]

    def weight(self, kind: str, i: int, j: int) -> int:
        """Return the weight of the entry (i, j), i <= j, with that of its mirror image."""
        if kind == "rows":
            return int(i == self.vector[0])
        if kind == "second-order":
            return self.vector[i]
        # Data list one entry of a symmetric pair
        return (1 + (i < j)) * self.vector[i] * self.vector[j]


def pool(cone: Cone, weights: FloatArray, unknowns: int, rng: np.random.Generator) -> list[DualCut]:
    """Return cuts around weights of a cone, more than there are unknowns where the cone has them.

    Parameters
    ----------
    cone, weights
        The whole cone, and an element of its dual, flat.
    """
    cuts: list[DualCut] = []
    for number, (part, span) in enumerate(cone.blocks):
        block_weights = weights[span]
        if isinstance(part, Semidefinite):
            cuts += [DualCut(number, v) for v in _vectors(part, block_weights, unknowns, rng)]
        elif isinstance(part, SecondOrder):
            cuts += [DualCut(number, v) for v in _pairs(block_weights)]
        else:
            cuts += [DualCut(number, (int(i),)) for i in np.flatnonzero(block_weights > 0.0)]
    return cuts


def _vectors(
    part: Semidefinite, weights: FloatArray, unknowns: int, rng: np.random.Generator
) -> Iterator[tuple[int, ...]]:
    """Yield v with w, and w + d for small d, near combinations of vv'; few of them if many."""
    root = root_of_weights(part, weights, 1e-9)
    rank = root.shape[1]
    if not rank:
        return
    pairs = [(i, j) for i in range(rank) for j in range(i)]
    most = 3 * (unknowns + 1)
    # A proof needs at most one cut more than there are unknowns, so few pairs are tried
    sample = rng.permutation(len(pairs))[:most]
    directions = list(root.T)
    for at in sample.tolist():
        i, j = pairs[at]
        directions += [root[:, i] + root[:, j], root[:, i] - root[:, j]]
    for direction in directions:
        vector = tuple(rounded(direction, _CUT_BITS))
        if any(vector):
            yield vector


def root_of_weights(part: Semidefinite, weights: FloatArray, least: float = 0.0) -> FloatArray:
    """Return V, weights near VV', without eigenvalues up to a part ``least`` of the largest."""
    values, frame = np.linalg.eigh(part.matrix(weights / part.multiplicity))
    positive = values > least * max(values[-1], 0.0)
    root: FloatArray = frame[:, positive] * np.sqrt(values[positive])
    return root


def _pairs(weights: FloatArray) -> Iterator[tuple[int, ...]]:
    """Yield (u, t) around weights: moved along each coordinate by half the room in the cone."""
    if not weights.any():
        return
    u, t = weights[:-1], float(weights[-1])
    room = max(t - float(np.linalg.norm(u)), 0.0) / 2.0
    moves = [np.zeros(len(u))]
    for i in range(len(u)) if room > 1e-9 * t else ():
        for sign in (1.0, -1.0):
            move = np.zeros(len(u))
            move[i] = sign * room
            moves.append(move)
    for move in moves:
        *short, high = rounded(np.append(u + move, t), _CUT_BITS)
        # Rounded up: (u, t) has to stay in the cone
        yield (*short, max(high, root_above(sum(entry * entry for entry in short))))


def images(cuts: Sequence[DualCut], system: CheckedSystem) -> list[list[int]]:
    """Return the rows D A g of cuts."""
    sums = [[0] * system.width for _ in cuts]
    of_block: dict[int, list[int]] = {}
    for k, cut in enumerate(cuts):
        of_block.setdefault(cut.block, []).append(k)
    for block, i, j, columns, values in system.rows:
        kind = system.blocks[block][0]
        for k in of_block.get(block, ()):
            weight = cuts[k].weight(kind, i, j)
            if weight:
                for at, value in zip(columns, values, strict=True):
                    sums[k][at] += weight * value
    return sums


def combined_weights(
    cuts: Sequence[DualCut], multiples: Sequence[int], blocks: Blocks
) -> list[list[list[int]]]:
    """Return sum_k m_k g_k as the weights of a certificate, block by block."""
    weights: list[list[list[int]]] = []
    for number, (kind, order) in enumerate(blocks):
        vectors = [
            (m, cut.vector)
            for m, cut in zip(multiples, cuts, strict=True)
            if m and cut.block == number
        ]
        if kind == "matrix":
            by_row = [[vector[i] for _, vector in vectors] for i in range(order)]
            weights.append([[m for m, _ in vectors], [0] * order, *by_row])
        elif kind == "second-order":
            sums = [sum(m * vector[i] for m, vector in vectors) for i in range(order)]
            weights.append([list(range(order)) if vectors else [], sums if vectors else []])
        else:
            weights.append(by_places((vector[0], m) for m, vector in vectors))
    return weights


def infeasible_rows(
    vectors: Sequence[Sequence[int]], support: Sequence[int], guess: FloatArray
) -> Claim | None:
    """Return the claim that rows have no feasible point, by weights near a guess; or None.

    Parameters
    ----------
    vectors, support, guess
        The rows D a_i with weights in whole numbers, their places, and their weights.
    """
    multipliers = balanced(vectors, guess)
    if multipliers is None:
        return None
    weighted = [(int(i), weight) for i, weight in zip(support, multipliers, strict=True) if weight]
    return {"claim": "infeasible", "weights": [by_places(weighted)]}


def infeasible_cone(
    cone: Cone, weights: FloatArray, system: CheckedSystem, *, homogenised: bool
) -> Claim | None:
    """Return the claim that a cone program has no strictly feasible point, by cuts; or None.

    Where it is homogenised and the cuts give x_0 a weight, not even the closed cone has one.

    Parameters
    ----------
    cone, weights
        On which exact weights are proved to be near.
    system
        The checker's.
    """
    cuts = pool(cone, weights, system.width, np.random.default_rng(0))
    vectors = images(cuts, system)
    first = next((k for k, cut in enumerate(cuts) if cut.block == 0), None) if homogenised else None
    multipliers = balanced(vectors, None, first)
    if multipliers is None:
        return None
    # Data in other forms than SDPA's have no closed claims
    closed = bool(system.objective) and first is not None and multipliers[first] > 0
    blocks = combined_weights(cuts, multipliers, system.blocks)
    name = "closed infeasible" if closed else "infeasible"
    return {"claim": name, "weights": blocks}


def infeasible_on_face(cone: Cone, weights: FloatArray, system: CheckedSystem) -> Claim | None:
    """Return the claim that a cone program has no strictly feasible point, by singular weights.

    Parameters
    ----------
    cone, weights
        Exact weights with A w = 0 are near these, on the boundary of the dual cone or inside.
    system
        The checker's.
    """
    first = system.blocks[0] == ("rows", 1) and cone.blocks[0][0].size == 1
    pencil = ExactPencil(system.width, system.blocks, system.rows, homogenised=first)
    exact = weights_near(pencil, guess_of(cone, weights))
    if exact is None:
        return None
    closed = bool(system.objective) and pencil.mass_of_first(exact) > 0
    name = "closed infeasible" if closed else "infeasible"
    return {"claim": name, "weights": _written_terms(system.blocks, exact)}


def _written_terms(blocks: Blocks, weights: Weights) -> list[list[list[int]]]:
    """Return exact weights as those of a certificate, multiplied by one positive number."""
    listed = [
        (d / (common**2 if kind == "matrix" else common), b, tuple(int(x * common) for x in v))
        for b, ((kind, _), terms) in enumerate(zip(blocks, weights, strict=True))
        for d, v in terms
        for common in [math.lcm(*(x.denominator for x in v))]
    ]
    multiples = whole_multiples(d for d, _, _ in listed)
    cuts = [DualCut(b, v) for _, b, v in listed]
    return combined_weights(cuts, multiples, blocks)


def margin_at_most(cone: Cone, weights: FloatArray, bound: Fraction, margin: str) -> Claim | None:
    """Return the claim that no point has a margin above a bound; None where it is too large.

    Parameters
    ----------
    cone, weights
        An element of the dual cone, up to rounding.
    bound
        At least 0.
    margin
        Name of the margin.
    """
    largest = float(np.abs(weights).max())
    scaled = np.where(np.abs(weights) > _NOTHING * largest, weights / largest, 0.0)
    blocks: list[Any] = []
    for part, span in cone.blocks:
        block = scaled[span]
        if isinstance(part, Semidefinite):
            written = _matrix_weights(part, block)
            if written is None:
                return None
            blocks.append(written)
        else:
            blocks.append(_listed(block, second_order=isinstance(part, SecondOrder)))
    pair = list(bound.as_integer_ratio())
    return {"claim": "margin at most", "margin": margin, "bound": pair, "weights": blocks}


def _listed(block: FloatArray, *, second_order: bool) -> list[Any]:
    """Return [places, numbers], 2^BITS times the weights of rows or of (u, t)."""
    nonzero = np.flatnonzero(block)
    # Fractions: products of doubles would lose bits
    numbers = [int(Fraction(entry) * 2**_BITS) for entry in block[nonzero].tolist()]
    if second_order and len(nonzero):
        number_of = dict(zip(nonzero.tolist(), numbers, strict=True))
        *u, t = (number_of.get(i, 0) for i in range(len(block)))
        return [
            list(range(len(block))),
            [*u, max(t, root_above(sum(entry * entry for entry in u)))],
        ]
    return [nonzero.tolist(), numbers]


def _matrix_weights(part: Semidefinite, block: FloatArray) -> list[Any] | None:
    """Return [parts, diagonal, rows of V] with 2^BITS w = V diag(parts) V' + diag(diagonal)."""
    entries = block / part.multiplicity
    diagonal = part.identity > 0.0
    order = part.rank
    if not entries[~diagonal].any():
        rest = [0] * order
        for i, value in zip(part.rows[diagonal].tolist(), entries[diagonal].tolist(), strict=True):
            rest[i] = max(0, int(Fraction(value) * 2**_BITS))
        return [[], rest, *([] for _ in range(order))]
    if order > LARGEST:
        return None
    root = root_of_weights(part, block)
    short = np.rint(np.ldexp(root, _BITS // 2))
    return [[1] * root.shape[1], [0] * order, *(exactly(row, 0) for row in short)]


BY_CUTS = ("infeasible", "closed infeasible", "objective at least")
"""The claims that are proved by weights, and linear."""

Inequality = tuple[Sequence[int], int]
"""a and b of a'y >= b."""

_EMPTY = "% The objective is 0, and is proved to be 1 at least: no y satisfies the rows."


def vipr_text(system: CheckedSystem, claim: Claim) -> str | None:
    """Return the proof of a claim as a VIPR file, or None where the claim is not linear.

    Parameters
    ----------
    system
        The checker's.
    claim
        A claim that the checker accepts.
    """
    if claim["claim"] == "closed objective at most" and not any(system.objective):
        return _of_point(system, [whole(entry) for entry in claim["point"]])
    if claim["claim"] not in BY_CUTS:
        return None
    multiples, cuts = cuts_of(system.blocks, claim["weights"])
    rows = images(cuts, system)
    bounded = claim["claim"] == "objective at least"
    if not bounded and claim["claim"] == "infeasible":
        return _infeasible([(row, 1) for row in rows], multiples)
    # x_0 = 1: what it multiplies is a constant, and its own row, block 0, adds no information
    block_multiples = [m for m, cut in zip(multiples, cuts, strict=True) if cut.block]
    inequalities = [(row[1:], -row[0]) for row, cut in zip(rows, cuts, strict=True) if cut.block]
    if not bounded:
        return _infeasible(inequalities, block_multiples)
    scale = whole(claim["unit"]) * system.scale
    parts = [Fraction(m, scale) for m in block_multiples]
    p, q = (whole(number) for number in claim["bound"])
    objective = [Fraction(coefficient, system.scale) for coefficient in system.objective]
    return _file(inequalities, objective, _derivation(Fraction(p, q), parts))


def cuts_of(blocks: Blocks, weights: Sequence[Any]) -> tuple[list[int], list[DualCut]]:
    """Return m_k > 0 and g_k of the weights of a certificate, block by block."""
    weighted_cuts: list[tuple[int, DualCut]] = []
    for number, ((kind, order), lists) in enumerate(zip(blocks, weights, strict=True)):
        first, second, *vectors = ([whole(entry) for entry in part] for part in lists)
        if kind == "rows":
            weighted_cuts += [
                (m, DualCut(number, (i,))) for i, m in zip(first, second, strict=True)
            ]
        elif kind == "second-order":
            placed = dict(zip(first, second, strict=True))
            weighted_cuts.append(
                (1, DualCut(number, tuple(placed.get(i, 0) for i in range(order))))
            )
        else:
            weighted_cuts += [
                (m, DualCut(number, tuple(row[k] for row in vectors))) for k, m in enumerate(first)
            ]
            units = (tuple(int(i == j) for j in range(order)) for i in range(order))
            weighted_cuts += [
                (m, DualCut(number, unit)) for m, unit in zip(second, units, strict=True)
            ]
    nonzero = [(m, cut) for m, cut in weighted_cuts if m]
    return [m for m, _ in nonzero], [cut for _, cut in nonzero]


def _infeasible(rows: Sequence[Inequality], multiples: Sequence[int]) -> str:
    objective = [Fraction(0)] * len(rows[0][0])
    proof = _derivation(Fraction(1), [Fraction(m) for m in multiples])
    return f"{_EMPTY}\n{_file(rows, objective, proof)}"


def _of_point(system: CheckedSystem, point: Sequence[int]) -> str | None:
    """Return the file of a program of rows with the objective 0, whose optimum any point proves.

    The lower bound 0 is left out: viprchk derives no relation that holds without a proof.
    """
    if any(kind != "rows" for kind, _ in system.blocks):
        return None
    x = [Fraction(entry, point[0]) for entry in point[1:]]
    dense = (dict(zip(columns, values, strict=True)) for *_, columns, values in system.rows[1:])
    rows = [([a.get(j + 1, 0) for j in range(len(x))], -a.get(0, 0)) for a in dense]
    proof = ["RTP range -inf 0", f"SOL 1 x {_sparse(x)}", "DER 0"]
    return _file(rows, [Fraction(0)] * len(x), proof)


def _derivation(bound: Fraction, multiples: Sequence[Fraction]) -> list[str]:
    """Return the lines that derive a lower bound of the objective from multiples of the rows."""
    lower = exact_text(bound)
    derived = f"D0 G {lower} OBJ {{ lin {_sparse(multiples)} }} -1"
    return [f"RTP range {lower} inf", "SOL 0", "DER 1", derived]


def _file(rows: Sequence[Inequality], objective: Sequence[Fraction], proof: Sequence[str]) -> str:
    """Return the file: rows a'y >= b, the objective, and the lines that prove a bound of it."""
    width = len(objective)
    lines = ["VER 1.0", f"VAR {width}", " ".join(f"y{i + 1}" for i in range(width)), "INT 0"]
    lines += ["OBJ min", _sparse(objective), f"CON {len(rows)} 0"]
    lines += [f"C{k} G {exact_text(b)} {_sparse(row)}" for k, (row, b) in enumerate(rows)]
    return "\n".join([*lines, *proof]) + "\n"


def _sparse(values: Iterable[int | Fraction]) -> str:
    pairs = [f"{i} {exact_text(value)}" for i, value in enumerate(values) if value]
    return " ".join([str(len(pairs)), *pairs])
