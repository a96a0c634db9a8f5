"""Exact weights with given ranges: the linear equations A (V S V') = 0, solved near a guess."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import scipy.linalg

from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.systems.exact_pencil import ExactPencil, Term, Weights
from perceptron_lab.systems.exact_solutions import Equation, near_solution
from perceptron_lab.systems.face_bases import Basis, Column

# Binary places of S that are kept where the equations leave it free, and whether its entries on the
# diagonal are (no), or those that would be changed most
PLACES = ((8, False), (40, False), (40, True))


def solved(pencil: ExactPencil, bases: Sequence[Basis]) -> Weights | None:
    """Return exact weights of the form V S V', near the computed S; or None.

    The unknowns are the entries of S on and above its diagonal, weights of rows, (u, t) and
    multiples of rays; V has whole numbers.
    """
    frames = [_whole_columns(basis) for basis in bases]
    if any(
        basis.kind == "ray" and columns and not _on_boundary(columns[0])
        for basis, columns in zip(bases, frames, strict=True)
    ):
        return None
    unknowns = list(_unknowns(bases))
    index = {unknown: k for k, unknown in enumerate(unknowns)}
    equations: list[dict[int, int]] = [{} for _ in range(pencil.width)]
    for block, i, j, columns, values in pencil.rows:
        check_time()
        for unknown, coefficient in _coefficients(block, bases[block], frames[block], i, j):
            for at, value in zip(columns, values, strict=True):
                sums, k = equations[at], index[unknown]
                sums[k] = sums.get(k, 0) + coefficient * value
    listed = [Equation({k: a for k, a in row.items() if a}, 0) for row in equations]
    listed = [row for row in listed if row.entries]
    units = [_unit(bases[b], frames[b], a, c) for b, a, c in unknowns]
    for precision, stable in PLACES:
        guess = [
            Fraction(round(math.ldexp(float(_entry(bases[b], a, c)), precision)), unit << precision)
            for (b, a, c), unit in zip(unknowns, units, strict=True)
        ]
        order = sorted(range(len(guess)), key=lambda k: (unknowns[k][1] == unknowns[k][2], k))
        solution = near_solution(listed, guess, _stable_order(listed, units) if stable else order)
        if solution is None or not any(solution):
            return None
        weights = _assembled(bases, frames, dict(zip(unknowns, solution, strict=True)))
        if weights is not None and pencil.proves(weights):
            return weights
    return None


def _whole_columns(basis: Basis) -> list[Column]:
    """Return the columns of V, each multiplied by a whole number that makes it whole."""
    if not basis.framed:
        return []
    columns = []
    for column in basis.vectors():
        common = math.lcm(*(Fraction(x).denominator for x in column))
        columns.append(tuple(int(x * common) for x in column))
    return columns


def _on_boundary(ray: Column) -> bool:
    return sum(x * x for x in ray[:-1]) == ray[-1] ** 2


def _unknowns(bases: Sequence[Basis]) -> Iterator[tuple[int, int, int]]:
    """Yield (block, a, b) of each unknown."""
    for block, basis in enumerate(bases):
        rank = len(basis.pivots)
        if basis.kind == "matrix":
            yield from ((block, a, b) for a, b in combinations_with_replacement(range(rank), 2))
        else:
            yield from ((block, a, a) for a in range(rank))


def _coefficients(
    block: int, basis: Basis, frame: Sequence[Column], i: int, j: int
) -> Iterator[tuple[tuple[int, int, int], int]]:
    """Yield the unknowns of the weight of a score (i, j), and their coefficients."""
    if basis.kind == "ray":
        yield from (((block, 0, 0), ray[i]) for ray in frame if ray[i])
    elif basis.kind != "matrix":
        yield from (((block, a, a), 1) for a, row in enumerate(basis.pivots) if row == i)
    for a, v in enumerate(frame) if basis.kind == "matrix" else ():
        for b in range(a, len(frame)):
            u = frame[b]
            number = v[i] * u[j] + (u[i] * v[j] if a != b else 0)
            if number:
                yield (block, a, b), number * (1 + (i != j))


def _entry(basis: Basis, a: int, b: int) -> Any:
    """Return the computed value of an unknown."""
    return basis.core[a, b] if basis.kind == "matrix" else basis.core[a]


def _unit(basis: Basis, frame: Sequence[Column], a: int, b: int) -> int:
    """Return the whole number by which an unknown was divided as V was made whole."""
    if basis.kind == "matrix":
        return frame[a][basis.pivots[a]] * frame[b][basis.pivots[b]]
    return frame[0][-1] if basis.kind == "ray" else 1


def _stable_order(equations: Sequence[Equation], units: Sequence[int]) -> list[int]:
    """Return the unknowns such that the first independent ones are changed least by errors."""
    matrix = np.zeros((len(equations), len(units)))
    for line, equation in zip(matrix, equations, strict=True):
        exact = [Fraction(coefficient, units[k]) for k, coefficient in equation.entries.items()]
        line[list(equation.entries)] = to_doubles(exact, scaled=True)
    order: list[int] = scipy.linalg.qr(matrix, mode="r", pivoting=True)[1].tolist()
    return order


def _assembled(
    bases: Sequence[Basis], frames: Sequence[Sequence[Column]], values: dict[Any, Fraction]
) -> Weights | None:
    """Return the weights of a solution, or None where they are not in the dual cone."""
    weights: Weights = []
    for block, (basis, frame) in enumerate(zip(bases, frames, strict=True)):
        rank = range(len(basis.pivots))
        diagonal = [values[block, a, a] for a in rank]
        terms: list[Term] | None
        if basis.kind == "matrix":
            core = [[values[block, min(a, b), max(a, b)] for b in rank] for a in rank]
            terms = semidefinite_terms(core, frame)
        elif basis.kind == "second-order":
            inside = not rank or (
                diagonal[-1] >= 0 and 2 * diagonal[-1] ** 2 >= sum(x * x for x in diagonal)
            )
            terms = [(Fraction(1), tuple(diagonal))] if any(diagonal) else []
            terms = terms if inside else None
        else:
            vectors = frame if basis.kind == "ray" else [(row,) for row in basis.pivots]
            pairs = list(zip(diagonal, vectors, strict=True))
            terms = [(d, tuple(map(Fraction, v))) for d, v in pairs if d]
            terms = terms if min(diagonal, default=Fraction()) >= 0 else None
        if terms is None:
            return None
        weights.append(terms)
    return weights


def semidefinite_terms(
    matrix: list[list[Fraction]], frame: Sequence[Sequence[int]]
) -> list[Term] | None:
    """Return d_k > 0 and v_k with V S V' = sum_k d_k v_k v_k', by LDL'; None if S is indefinite.

    Parameters
    ----------
    matrix
        S, symmetric, which is overwritten.
    frame
        The columns of V.
    """
    rank, terms = len(matrix), list[Term]()
    for k in range(rank):
        check_time()
        pivot, column = matrix[k][k], [matrix[i][k] for i in range(rank)]
        if pivot < 0 or (not pivot and any(column[k:])):
            return None
        if not pivot:
            continue
        factors = [Fraction(int(i == k)) if i <= k else column[i] / pivot for i in range(rank)]
        spanning = [(factor, v) for factor, v in zip(factors, frame, strict=True) if factor]
        vector = [sum((f * v[i] for f, v in spanning), Fraction()) for i in range(len(frame[0]))]
        common = Fraction(math.lcm(*(x.denominator for x in vector)))
        terms.append((pivot / common**2, tuple(x * common for x in vector)))
        for i in range(k + 1, rank):
            for j in range(k + 1, rank):
                matrix[i][j] -= factors[i] * column[j]
    return terms
