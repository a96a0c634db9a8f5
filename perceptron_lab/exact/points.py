"""Claims about a point: strict feasibility, a lower bound of its margin, an objective value.

A point is a direction, whatever its length: it is given by whole numbers. That of a feasible point
is as short as the cone allows, that of a margin has all bits of its doubles: (2) of
docs/notes/how-to-distrust-us.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.semidefinite import Semidefinite, matrices_of
from perceptron_lab.core.results import FloatArray
from perceptron_lab.exact.whole_numbers import (
    LARGEST_DENSE,
    CheckedSystem,
    Claim,
    Factor,
    elimination_order,
    exactly,
    long_factor,
    possible,
    rounded,
    short_factor,
)
from perceptron_lab.numerics.exact_doubles import to_double, to_doubles
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.conditions import over_common

# Bits of the entries of a point, from short ones to all of a double
_BITS = (3, 5, 8, 11, 14, 17, 20, 24, 28, 32, 36, 40, 44, 48, 52)
# The part of its margin that a shortened point keeps where matrices are to be factorised
_KEPT = 0.5
# The part of its size by which a point is moved into the interior
_STEP = 2.0**-7
# Binary places of a bound
_PLACES = 50
# Estimates of lowest eigenvalues are lowered by this factor until there is a Cholesky factor
_LOWER = 30.0


def feasible(
    system: ConicSystem, point: FloatArray, interior: FloatArray | None, data: CheckedSystem
) -> Iterator[Claim]:
    """Yield claims that a short point is strictly feasible, by short and by long factors.

    Any feasible point proves it: where a direction to the interior is known, one is taken that is
    farther from the boundary than the answer.

    Parameters
    ----------
    system
        On the data as given.
    point
        Proved strictly feasible.
    interior
        A direction d with A*d inside the cone or on its boundary, or None.
    data
        The checker's system.
    """
    if interior is not None:
        step = _STEP * float(np.abs(point).max()) / float(np.abs(interior).max())
        inner = point + step * interior
        if system.prove_point(inner).feasible:
            point = inner
    margin = system.prove_point(point).margin_lower
    least = _KEPT * margin if _matrices(system.cone) else 0.0
    for bits in _BITS:
        short = rounded(point, bits)
        candidate = to_doubles(short)
        proof = system.prove_point(candidate)
        if proof.feasible and proof.margin_lower >= least:
            break
    else:
        short = exactly(point)
    at = to_doubles(short)
    claim: Claim = {"claim": "feasible", "point": short}
    factors = factors_at(system, at, short, data.scale)
    if factors is not None:
        yield claim | {"factors": factors}
    factors = _shifted_factors(system, short, None, data) if factors != [] else None
    if factors is not None:
        yield claim | {"factors": factors}


def feasible_on_rows(
    system: ConicSystem, x: Sequence[Fraction], data: CheckedSystem
) -> Claim | None:
    """Return the claim that an exact x has rows >= 0 and definite matrices; None without factors.

    ``data`` is the checker's system.
    """
    numerators, denominator = over_common(x)
    point = [denominator, *numerators]
    parts = _matrices(system.cone)
    factors = _shifted_factors(system, point, None, data) if parts else []
    if factors is None:
        return None
    return {"claim": "closed feasible", "point": point, "factors": factors}


def margin_at_least(
    system: ConicSystem, point: FloatArray, bound: Fraction, data: CheckedSystem
) -> Claim | None:
    """Return the claim that a point has a margin of at least a bound, or None.

    ``data`` is the checker's system.
    """
    integers = exactly(point)
    claim: Claim = {"claim": "margin at least", "margin": system.margin_name or "directional"}
    claim |= {"bound": list(bound.as_integer_ratio()), "point": integers}
    if not _matrices(system.cone):
        return claim | {"factors": []}
    factors = _shifted_factors(system, integers, bound, data)
    return None if factors is None else claim | {"factors": factors}


def factors_at(
    system: ConicSystem, point: FloatArray, integers: list[int], scale: int
) -> list[Factor] | None:
    """Return the factors of the matrix blocks at a point, in their order, or None.

    Parameters
    ----------
    system, scale
        The data as given, and their D.
    point, whole
        The point in doubles, and a positive multiple of it in whole numbers.
    """
    at = int(np.abs(point).argmax())
    multiple = Fraction(integers[at]) / Fraction(float(point[at]))
    scores = system.operator.scores(point)
    factors = []
    for _, part, span in _matrices(system.cone):
        factor = _short(part, scores[span], scale * multiple)
        if factor is None:
            return None
        factors.append(factor)
    return factors


def _short(part: Semidefinite, scores: FloatArray, scale: Fraction) -> Factor | None:
    """Return a short factor of a matrix whose lowest eigenvalue may be far below the estimate."""
    lowest, least = 0.9 * part.lowest(scores), 1e-15 * float(np.abs(scores).max())
    while lowest > least:
        factor = short_factor(part, scores, lowest, scale)
        if factor is not None:
            return factor
        lowest /= _LOWER
    return None


def _matrices(cone: Cone) -> list[tuple[int, Semidefinite, slice]]:
    """Return number, cone and place of the matrix blocks."""
    return [
        (number, part, span)
        for number, (part, span) in enumerate(cone.blocks)
        if isinstance(part, Semidefinite)
    ]


def _shifted_factors(
    system: ConicSystem, point: list[int], bound: Fraction | None, data: CheckedSystem
) -> list[Factor] | None:
    """Return factors of q 2^64 F(y) - p D t I, t >= norm(y) 2^64, as the checker forms it.

    Of F(y) without a bound p / q.
    """
    numbers = (number for number, (kind, _) in enumerate(data.blocks) if kind == "matrix")
    parts = (part for _, part, _ in _matrices(system.cone))
    blocks = dict(zip(numbers, parts, strict=True))
    if max(part.rank for part in blocks.values()) > LARGEST_DENSE:
        return None
    matrices: dict[int, list[dict[int, int]]] = {
        number: [{i: 0} for i in range(part.rank)] for number, part in blocks.items()
    }
    p, q = (0, 1) if bound is None else (bound.numerator, bound.denominator)
    bits = 0 if bound is None else 64
    # isqrt rounds down: for p > 0 one more is no less than the norm, else less is the safe side
    length = math.isqrt(sum(entry * entry for entry in point) << 128) + (p > 0)
    for block, i, j, columns, values in data.rows:
        if block in blocks:
            score = sum(value * point[at] for at, value in zip(columns, values, strict=True))
            entry = (score * q << bits) - (p * data.scale * length if i == j else 0)
            if entry:
                matrices[block][i][j] = matrices[block][j][i] = entry
    factors = []
    for number, part in blocks.items():
        factor = _long(matrices[number], part)
        if factor is None:
            return None
        factors.append(factor)
    return factors


def _long(matrix: list[dict[int, int]], part: Semidefinite) -> Factor | None:
    """Return a factor of a matrix that is definite, though hardly perhaps."""
    largest = max(abs(value) for row in matrix for value in row.values())
    # Doubles end at 2^1024, and sums of squares of entries are to have room
    excess = max(0, largest.bit_length() - 900)
    doubles = np.zeros((part.rank, part.rank))
    for i, row in enumerate(matrix):
        for j, value in row.items():
            doubles[i, j] = to_double(value, 1 << excess)
    lowest = float(np.linalg.eigvalsh(doubles)[0])
    rounding = float(np.abs(doubles).max()) * 1e-15
    order = elimination_order(part).tolist()
    # The computed eigenvalue is wrong by about that much; smaller guesses make longer factors
    for guess in (lowest / 2.0, rounding, rounding * 1e-3, rounding * 1e-6):
        if guess > 0.0:
            factor = long_factor(matrix, order, Fraction(guess) * 2**excess)
            if factor is not None:
                return factor
    return None


def objective_at_most(
    system: ConicSystem, point: FloatArray, claimed: float, data: CheckedSystem
) -> Iterator[Claim]:
    """Yield claims that an objective c'x / x_0 is reached, near a bound, the nearest first.

    A point whose matrix is too near to a singular one for a short proof is moved into the interior
    where a direction to it is known, which costs the objective.

    Parameters
    ----------
    system, point
        Homogenised; (x_0, x) with x_0 > 0, feasible or nearly so.
    claimed
        The bound: it is claimed where the point reaches it, else its own objective is.
    data
        The checker's system.
    """
    for candidate in _candidates(system, point / point[0]):
        integers = exactly(candidate)
        factors = factors_at(system, candidate, integers, data.scale)
        if factors is None:
            continue
        value = Fraction(
            sum(c * x for c, x in zip(data.objective, integers[1:], strict=True)),
            integers[0] * data.scale,
        )
        bound = max(Fraction(claimed), _raised(value))
        pair = list(bound.as_integer_ratio())
        yield {"claim": "objective at most", "bound": pair, "point": integers, "factors": factors}


def _candidates(system: ConicSystem, point: FloatArray) -> list[FloatArray]:
    """Return a point, and those farther and farther inside."""
    interior = system.interior
    parts = [part for part, _ in matrices_of(system.cone.blocks)]
    if interior is None or not parts or not all(map(possible, parts)):
        return [point]
    order, scores = max(part.rank for part in parts), system.operator.scores(point)
    step = 16.0 * order**1.5 * float(np.abs(scores).max()) * 2.0**-52
    return [point, *(point + step * 2.0**k * interior for k in range(-12, 9, 3))]


def _raised(value: Fraction) -> Fraction:
    """Return a number at most 2^-PLACES above a fraction, and short."""
    return Fraction(math.ceil(value * 2**_PLACES), 2**_PLACES)


def lowered(value: Fraction) -> Fraction:
    """Return a number at most 2^-PLACES below a fraction, and short."""
    return -_raised(-value)
