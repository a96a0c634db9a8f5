"""Exactly feasible dual points of a program: lower bounds of any objective.

The dual problem of min c'x, F(x) positive semidefinite, asks for X with <F_i, X> = c_i exactly. For
a positive definite X = GG' near such a point, with columns g_i of G,

    X = sum_i (1 - 2 d k_i) g_i g_i' + d sum_{(i, j) in S} [(g_i + g_j)(g_i + g_j)'
                                                          + (g_i - g_j)(g_i - g_j)'],

S a set of pairs, k_i the number of them with i, and 1 / d four times the largest k_i. All weights
are positive; with vectors rounded to whole numbers and as many pairs as there are equations, the
weights of a basis are solved for in rational numbers, and stay positive if X is farther from
the boundary than from its equations. Rows have their own weights. So X is a sum of cuts with
positive multiples, and proves the bound <F_0, X>: (5) of docs/notes/how-to-distrust-us.md. On a
face X = V Z V' the vectors are V times those of Z.

Lower bounds of MAXCUT's programs
max <C, X>, diag(X) = 1, in SDPA's sign min 1'x: V in whole numbers with norm(v_i)^2 <= 4^b gives

    4^b X = VV' + diag(4^b - norm(v_i)^2),

which is positive semidefinite with 4^b on its diagonal, whatever rounding did to V: (5) of
docs/notes/how-to-distrust-us.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.linalg

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from perceptron_lab.exact.points import lowered
from perceptron_lab.exact.row_weights import MOST_PIVOTS
from perceptron_lab.exact.weights import DualCut, combined_weights, images, root_of_weights
from perceptron_lab.exact.whole_numbers import CheckedSystem, Claim, whole_multiples
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.problems.optima.bound_verification import DUAL, FACE, FACE_BLOCK, LEVEL
from perceptron_lab.problems.optima.faces import Face, restricted
from perceptron_lab.problems.optima.levels import at_level, unit_exponent
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.exact_solutions import Equation, near_solution

# Bits of the entries of MAXCUT's V
_MAXCUT_BITS = 44
# Bits of the vectors, and of the weights of rows relative to the largest
_BITS, _ROW_BITS = 48, 60
# Pairs for each equation, and how many times in all they are drawn
_PAIRS, _DRAWS = 2, 2
# Rounded roots of eigenvalues: smaller ones are lost in those of the largest
_SMALLEST = 2.0**-40


@dataclass(frozen=True)
class DualBlock:
    """A block of X, or of Z on a face.

    Parameters
    ----------
    number
        Of the block in the cone, that of x_0 being 0.
    part
        Its cone: whole matrices, or rows.
    weights
        Flat, shape ``(part.size,)``.
    basis
        V, whole numbers, if the block is V Z V'; else None.
    """

    number: int
    part: Cone
    weights: FloatArray
    basis: FloatArray | None = None


def dual_blocks(
    system: ConicSystem, proof: Mapping[str, FloatArray], lower: float
) -> list[DualBlock]:
    """Return the blocks of X near a feasible one; empty if a result has no such array.

    Weights that no strictly feasible point is below a level, with w of the objective's row, are w
    times such an X.

    Parameters
    ----------
    system
        Homogenised, with an objective, as given.
    proof, lower
        The arrays of a result, and its lower bound.
    """
    if DUAL in proof:
        if FACE not in proof:
            return _blocks(system.completed(), proof[DUAL])
        face = Face(int(proof[FACE_BLOCK][0]), proof[FACE])
        return _blocks(restricted(system, face).system.completed(), proof[DUAL], face)
    if LEVEL not in proof:
        return []
    weights = proof[LEVEL]
    _, row, *rest = np.split(weights, [1, 2])
    # Weights without the objective's row prove infeasibility, and no bound
    if not row[0] > 0.0:
        return []
    below: ConicSystem = at_level(system, lower, "unit")
    completed = system if weights.shape == (below.cone.size,) else system.completed()
    return _blocks(completed, rest[0] / np.ldexp(row[0], unit_exponent(system, lower)))


def _blocks(system: ConicSystem, weights: FloatArray, face: Face | None = None) -> list[DualBlock]:
    """Return the blocks of flat weights of all but x_0."""
    blocks = []
    for number, (part, span) in enumerate(system.cone.blocks[1:]):
        basis = face.basis if face is not None and face.block == number else None
        at = slice(span.start - 1, span.stop - 1)
        blocks.append(DualBlock(number + 1, part, weights[at], basis))
    return blocks


def objective_at_least_by_cuts(
    blocks: Sequence[DualBlock], claimed: float, data: CheckedSystem
) -> Iterator[Claim]:
    """Yield claims that an objective is at least a bound, by X near the blocks given.

    Parameters
    ----------
    blocks
        All but that of x_0.
    claimed
        The bound: it is claimed where X reaches it, else what X reaches is.
    data
        The checker's system.
    """
    for draw in range(_DRAWS):
        rng = np.random.default_rng(draw)
        weighted = [cut for block in blocks for cut in _weighted_cuts(block, data.width, rng)]
        if not weighted:
            return
        cuts, guess = [cut for cut, _ in weighted], [weight for _, weight in weighted]
        vectors = images(cuts, data)
        solved = _solved(vectors, guess, data.objective)
        # Other pairs may do
        if solved is None:
            continue
        *multiples, unit = whole_multiples([*solved, Fraction(1)])
        total = -sum(m * vector[0] for m, vector in zip(multiples, vectors, strict=True))
        bound = min(Fraction(claimed), lowered(Fraction(total, unit * data.scale)))
        pair = list(bound.as_integer_ratio())
        weights = combined_weights(cuts, multiples, data.blocks)
        yield {"claim": "objective at least", "bound": pair, "unit": unit, "weights": weights}


def _weighted_cuts(
    block: DualBlock, width: int, rng: np.random.Generator
) -> list[tuple[DualCut, Fraction]]:
    """Return cuts and positive multiples whose sum is near a block."""
    if not isinstance(block.part, Semidefinite):
        return _rows(block)
    root = root_of_weights(block.part, block.weights, _SMALLEST)
    rank = root.shape[1]
    if not rank:
        return []
    exponent = _BITS - math.frexp(float(np.abs(root).max()))[1]
    scaled = np.rint(np.ldexp(root, exponent))
    every = np.column_stack(np.triu_indices(rank, 1))
    pairs = every[rng.permutation(len(every))[: _PAIRS * width]]
    pair_counts = np.bincount(pairs.ravel(), minlength=rank)
    part = Fraction(1, 4 * max(1, int(pair_counts.max(initial=0))))
    square = Fraction(1, 4) ** exponent if exponent >= 0 else Fraction(4) ** -exponent
    columns = [[int(entry) for entry in column] for column in scaled.T.tolist()]
    cuts = [(columns[i], square * (1 - 2 * part * int(pair_counts[i]))) for i in range(rank)]
    for i, j in pairs.tolist():
        for sign in (1, -1):
            both = [a + sign * b for a, b in zip(columns[i], columns[j], strict=True)]
            cuts.append((both, square * part))
    on = None if block.basis is None else [[int(v) for v in row] for row in block.basis.tolist()]
    return [
        (DualCut(block.number, tuple(vector if on is None else _times(on, vector))), multiple)
        for vector, multiple in cuts
        if any(vector)
    ]


def _times(matrix: list[list[int]], vector: list[int]) -> list[int]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def _rows(block: DualBlock) -> list[tuple[DualCut, Fraction]]:
    """Return the rows of positive weights, and these, rounded."""
    largest = float(block.weights.max(initial=0.0))
    exponent = _ROW_BITS - math.frexp(largest)[1]
    scaled = np.rint(np.ldexp(block.weights, exponent))
    scale = Fraction(2) ** exponent
    return [
        (DualCut(block.number, (i,)), int(scaled[i]) / scale)
        for i in np.flatnonzero(scaled > 0).tolist()
    ]


def _solved(
    vectors: Sequence[Sequence[int]], guess: Sequence[Fraction], objective: Sequence[int]
) -> list[Fraction] | None:
    """Return weights >= 0 near a guess that satisfy sum_k m_k <g_k, F_i> = c_i; or None."""
    entries: list[dict[int, int]] = [{} for _ in objective]
    for k, vector in enumerate(vectors):
        for i, value in enumerate(vector[1:]):
            if value:
                entries[i][k] = value
    equations = [
        Equation(*equation) for equation in zip(entries, objective, strict=True) if any(equation)
    ]
    solution = near_solution(equations, guess, _order(vectors, guess), MOST_PIVOTS)
    return None if solution is None or min(solution) < 0 else solution


def _order(vectors: Sequence[Sequence[int]], guess: Sequence[Fraction]) -> list[int]:
    """Return the columns in the order of pivots, each as long as its weight makes it."""
    doubles = np.array([to_doubles(vector[1:], scaled=True) for vector in vectors])
    weighted = doubles * to_doubles(guess, scaled=True)[:, None]
    lengths = np.abs(weighted).max(axis=0)
    scaled = weighted / np.where(lengths > 0.0, lengths, 1.0)
    pivots = scipy.linalg.qr(scaled.T, mode="r", pivoting=True, check_finite=False)[1]
    return [int(pivot) for pivot in pivots]


def objective_at_least(vectors: FloatArray, claimed: float, data: CheckedSystem) -> Claim | None:
    """Return the claim that MAXCUT's optimum is at least a bound, by the rows of V; or None.

    Parameters
    ----------
    vectors
        V, shape ``(n, k)``, no row 0.
    claimed
        The bound: it is claimed where V reaches it, else what V reaches is.
    data
        The checker's system, whose matrix block is the last.
    """
    rows = _short_rows(vectors)
    unit = 4**_MAXCUT_BITS
    rest = [unit - sum(entry * entry for entry in row) for row in rows]
    block = len(data.blocks) - 1
    total = 0
    for number, i, j, columns, values in data.rows:
        if number == block and 0 in columns:
            # Data list one entry of a symmetric pair
            weight = sum(a * b for a, b in zip(rows[i], rows[j], strict=True)) * (1 + (i < j))
            total -= values[list(columns).index(0)] * (weight + (rest[i] if i == j else 0))
    value = Fraction(total, unit * data.scale)
    bound = min(Fraction(claimed), lowered(value))
    weights = [[[], []], [[1] * vectors.shape[1], rest, *rows]]
    pair = list(bound.as_integer_ratio())
    return {"claim": "objective at least", "bound": pair, "unit": unit, "weights": weights}


def _short_rows(vectors: FloatArray) -> list[list[int]]:
    """Return the rows of V in whole numbers, of norms near 2^BITS and not above it."""
    unit_rows = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    # A margin for the rounding of unit rows: norms must not be above 2^BITS
    length = math.ldexp(1.0, _MAXCUT_BITS) - vectors.shape[1]
    rows = [[int(entry) for entry in row] for row in np.trunc(length * unit_rows).tolist()]
    assert all(sum(entry * entry for entry in row) <= 4**_MAXCUT_BITS for row in rows)
    return rows
