"""Exact weights on a face of the dual cone, near computed ones.

Weights of a matrix block that are singular have the form V S V', V a basis of their range in
reduced echelon form, V = [I; K] up to the order of the rows, S positive definite. The entries of K
are rounded to simple rationals; then A w = 0 are linear equations in S, which are solved exactly
near the computed S. On the boundary of a second-order cone w is a multiple of (u, 1),
norm(u) = 1, and u is treated as K.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import scipy.linalg
from flint import fmpz_mat

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.systems.exact_pencil import ExactPencil, Term, Weights
from perceptron_lab.systems.exact_solutions import Equation, near_solution

# Parts of the largest eigenvalue of all blocks below which eigenvalues are taken to vanish
CUTS = (1e-11, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)
# Errors of the entries of a computed K
ERRORS = (1e-9, 1e-6, 1e-4)
# Parts of a unit vector outside a range count so often in its length
SCALES = (1e5, 1e8, 1e11)
# Binary places of S that are kept where the equations leave it free, and whether its entries on the
# diagonal are (no), or those that would be changed most
PLACES = ((8, False), (40, False), (40, True))
# Products of scores and unknowns at most
MOST_PRODUCTS = 3_000_000
# Newton steps in doubles, and in numbers of so many binary places
STEPS, LONG_STEPS, BITS = 8, 60, 400
# Singular values of Newton's equations below this part of the largest are those of no direction
SINGULAR = 1e-8
# An entry of K with a longer numerator or denominator is called irrational
LONGEST_ENTRY = 10**40
# Binary places of K that are known at least, and beyond half of which it is not rounded
KNOWN = 100

Column = tuple[int, ...]


@dataclass
class Basis:
    """The range of the weights of a block, as computed.

    Parameters
    ----------
    kind
        ``matrix``, ``rows``, ``ray`` (on the boundary of a second-order cone) or ``second-order``.
    pivots, complement
        Rows of I and of K in V = [I; K]; the places of rows with weights, or of (u, t).
    tail
        K, shape ``(complement, pivots)``; u as one column for a ray.
    core
        S; the weights of rows; (u, t); the multiple of a ray.
    """

    kind: str
    pivots: list[int]
    complement: list[int]
    tail: Any
    core: Any

    def vectors(self) -> list[list[Any]]:
        """Return the columns of V, or (u, 1)."""
        columns = []
        for a, pivot in enumerate(self.pivots):
            column: list[Any] = [0] * (len(self.pivots) + len(self.complement))
            column[pivot] = 1
            for q, value in zip(self.complement, self.tail[:, a], strict=True):
                column[q] = value
            columns.append(column)
        return columns

    @property
    def framed(self) -> bool:
        """Whether there is a K."""
        return self.kind in ("matrix", "ray")


def weights_near(pencil: ExactPencil, guess: Sequence[FloatArray]) -> Weights | None:
    """Return exact weights w with A w = 0 that prove something, near computed ones; or None.

    Parameters
    ----------
    pencil
        The data.
    guess
        Of each block, in the dual cone up to errors: a symmetric matrix, or a vector.
    """
    if not any(block.any() for block in guess):
        return None
    factors = pencil.factors
    scaled = [block / float(factor) for block, factor in zip(guess, factors, strict=True)]
    weights = _near_balanced(pencil.balanced, scaled)
    if weights is None or pencil.balanced is pencil:
        return weights
    return [
        [(d * f, v) if kind != "second-order" else (d, tuple(f * x for x in v)) for d, v in terms]
        for (kind, _), terms, f in zip(pencil.blocks, weights, factors, strict=True)
    ]


def _near_balanced(pencil: ExactPencil, guess: Sequence[FloatArray]) -> Weights | None:
    """Return exact weights near computed ones, of blocks of similar size."""
    examined = set[tuple[int, ...]]()
    for cut in CUTS:
        bases = _bases(pencil, guess, cut)
        ranks = tuple(len(basis.pivots) for basis in bases)
        if ranks in examined or not any(ranks) or _too_large(pencil, bases):
            continue
        examined.add(ranks)
        for error in ERRORS:
            weights = _solved(pencil, [_rounded(basis, error) for basis in bases])
            if weights is not None:
                return weights
        refinements = [
            RangeNewton(pencil).refined(bases) or [],
            *(_by_lattice(bases, scale) or [] for scale in SCALES),
        ]
        for refined in refinements:
            # Exact arithmetic with long entries takes seconds and proves nothing
            weights = _solved(pencil, refined) if refined and not long_entries(refined) else None
            if weights is not None:
                return weights
    return None


def refined_bases(pencil: ExactPencil, guess: Sequence[FloatArray]) -> Iterator[list[Basis]]:
    """Yield bases to many digits whose K the equations determine and that are no short fractions.

    Newton's method has converged to them: A w = 0 has a solution of some ranks there, and as far as
    its digits tell no rational one.
    """
    for cut in CUTS[:-1]:
        bases = _bases(pencil, guess, cut)
        if any(basis.pivots for basis in bases) and not _too_large(pencil, bases):
            newton = RangeNewton(pencil)
            refined = (newton.refined(bases) or []) if newton.determines(bases) else []
            if long_entries(refined):
                yield refined


def long_entries(bases: Sequence[Basis]) -> list[Fraction]:
    """Return the entries of K that are no short fractions."""
    entries = [x for basis in bases if basis.framed for x in basis.tail.ravel().tolist()]
    return [x for x in entries if max(abs(x.numerator), x.denominator) > LONGEST_ENTRY]


def _too_large(pencil: ExactPencil, bases: Sequence[Basis]) -> bool:
    unknowns: int = sum(basis.core.size for basis in bases)
    return len(pencil.rows) * unknowns > MOST_PRODUCTS


def _bases(pencil: ExactPencil, guess: Sequence[FloatArray], cut: float) -> list[Basis]:
    """Return the ranges of the eigenvalues above a part of the largest one."""
    kinds = [kind for kind, _ in pencil.blocks]
    spectra: list[tuple[FloatArray, Any]] = [
        np.linalg.eigh(block) if kind == "matrix" else (np.sort(block), None)
        for kind, block in zip(kinds, guess, strict=True)
    ]
    largest = max(float(values[-1]) for values, _ in spectra)
    bases = []
    for kind, block, (values, frame) in zip(kinds, guess, spectra, strict=True):
        if kind == "matrix":
            bases.append(_matrix_basis(block / largest, frame[:, values > cut * largest]))
        else:
            bases.append(_vector_basis(kind, block / largest, cut))
    return bases


def _matrix_basis(block: FloatArray, spanning: FloatArray) -> Basis:
    rank, order = spanning.shape[1], list(range(len(block)))
    if not rank:
        return Basis("matrix", [], order, np.zeros((len(order), 0)), np.zeros((0, 0)))
    order = scipy.linalg.qr(spanning.T, mode="r", pivoting=True)[1].tolist()
    pivots, complement = sorted(order[:rank]), sorted(order[rank:])
    tail = np.linalg.solve(spanning[pivots].T, spanning[complement].T).T
    return Basis("matrix", pivots, complement, tail, block[np.ix_(pivots, pivots)])


def _vector_basis(kind: str, vector: FloatArray, cut: float) -> Basis:
    none = np.zeros((0, 0))
    if kind == "rows":
        support = np.flatnonzero(vector > cut).tolist()
        return Basis(kind, support, [], none, vector[support])
    length, last = float(np.linalg.norm(vector[:-1])), float(vector[-1])
    order = list(range(len(vector)))
    if last <= cut:
        return Basis(kind, [], [], none, np.zeros(0))
    if last - length > cut * last:
        return Basis(kind, order, [], none, vector)
    return Basis("ray", order[-1:], order[:-1], vector[:-1, None] / length, np.array([last]))


def simplest(x: Fraction, error: Fraction) -> Fraction:
    """Return a convergent of a continued fraction that is near a number, the first such one."""
    p, q, p_before, q_before, rest = 1, 0, 0, 1, x
    while True:
        floor = math.floor(rest)
        p, q, p_before, q_before = floor * p + p_before, floor * q + q_before, p, q
        if abs(x - Fraction(p, q)) <= error:
            return Fraction(p, q)
        rest = 1 / (rest - floor)


def _rounded(basis: Basis, error: float) -> Basis:
    """Return a basis with K of simple rationals; the other parts as they are."""
    if not basis.framed:
        return basis
    bound = Fraction(error)

    def rational(number: float) -> Fraction:
        return simplest(Fraction(number), bound * max(Fraction(1), abs(Fraction(number))))

    return replace(basis, tail=_entrywise(rational, basis.tail))


def _by_lattice(bases: Sequence[Basis], scale: float) -> list[Basis] | None:
    """Return bases whose ranges are spanned by short whole vectors near those computed, or None.

    LLL's algorithm finds them among the rows [e_i, scale P e_i], P the projection onto the
    complement of the range: entries of K are quotients of their minors, and much longer.
    """
    rounded = []
    for basis in bases:
        rank = len(basis.pivots)
        if basis.kind != "matrix" or not rank or not basis.complement:
            rounded.append(basis if basis.kind != "ray" else _rounded(basis, ERRORS[0]))
            continue
        order = rank + len(basis.complement)
        frame = np.linalg.qr(np.array(basis.vectors(), dtype=float).T)[0]
        projection = np.rint(scale * (np.eye(order) - frame @ frame.T)).astype(int).tolist()
        rows = [[int(i == j) for j in range(order)] + projection[i] for i in range(order)]
        short = [row[:order] for row in fmpz_mat(rows).lll().tolist()[:rank]]
        square = fmpz_mat([[row[j] for j in basis.pivots] for row in short])
        if not square.det():
            return None
        sides = fmpz_mat([[row[j] for j in basis.complement] for row in short])
        tail = np.array(
            [[Fraction(int(x.p), int(x.q)) for x in row] for row in square.solve(sides).tolist()],
            dtype=object,
        ).reshape(rank, -1)
        rounded.append(replace(basis, tail=tail.T))
    return rounded


def _entrywise(function: Callable[[Any], Any], table: Any) -> Any:
    """Return a table of Python numbers, a function of those of another one."""
    return np.array([[function(x) for x in row] for row in table.tolist()], object).reshape(
        table.shape
    )


def _solved(pencil: ExactPencil, bases: Sequence[Basis]) -> Weights | None:
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


@dataclass
class RangeNewton:
    """Newton's method for A (V S V') = 0 in K and S, in doubles first and then in long numbers."""

    pencil: ExactPencil

    def refined(self, bases: Sequence[Basis]) -> list[Basis] | None:
        """Return bases with rational K, or None where the method does not converge to any."""
        state = list(bases)
        if not any(basis.framed and basis.tail.size for basis in state):
            return None
        size = math.inf
        for _ in range(STEPS):
            check_time()
            matrix, residual = self._equations(state)
            step = np.linalg.lstsq(matrix, -residual, rcond=SINGULAR)[0]
            length = float(np.linalg.norm(step))
            if not length < 0.5 * size:
                break
            state, size = _stepped(state, step), length
        if not size < 1e-2:
            return None
        return self._in_long_numbers(state, np.linalg.pinv(matrix, rcond=SINGULAR))

    def determines(self, bases: Sequence[Basis]) -> bool:
        """Return whether the equations determine K near its computed value, to first order."""
        matrix, _ = self._equations(bases)
        _, values, directions = np.linalg.svd(matrix)
        free = directions[int((values > SINGULAR * values.max(initial=0.0)).sum()) :]
        tails = np.concatenate(
            [
                np.arange(_size_of(basis)) < (basis.tail.size if basis.framed else 0)
                for basis in bases
            ]
        )
        return bool(np.abs(free[:, tails]).max(initial=0.0) < 1e-6)

    def _in_long_numbers(self, bases: Sequence[Basis], inverse: Any) -> list[Basis] | None:
        """Take steps with a constant inverse, which gain the same number of digits each."""
        unit = 1 << BITS
        state = [
            replace(
                basis,
                tail=_entrywise(lambda x: int(Fraction(x) * unit), basis.tail),
                core=_entrywise(
                    lambda x: int(Fraction(x) * unit), np.atleast_2d(basis.core)
                ).reshape(basis.core.shape),
            )
            for basis in bases
        ]
        before = math.inf
        for _ in range(LONG_STEPS):
            check_time()
            step = -inverse @ self._residual(state)
            length = float(np.abs(step).max(initial=0.0))
            if length < 2.0 ** (40 - BITS):
                break
            if not length < 0.7 * before:
                return None
            before = length
            # Without a type numpy would round whole numbers of mixed lengths
            longer = np.array([int(Fraction(x) * unit) for x in step.tolist()], dtype=object)
            state = _stepped(state, longer)
        else:
            return None
        error = Fraction(1, 1 << (BITS - KNOWN))

        def rational(number: int) -> Fraction:
            return simplest(Fraction(number, unit), error)

        return [
            replace(
                basis,
                tail=_entrywise(rational, basis.tail),
                core=_entrywise(
                    lambda x: Fraction(int(x), unit), np.atleast_2d(basis.core)
                ).reshape(basis.core.shape),
            )
            for basis in state
        ]

    def _equations(self, state: Sequence[Basis]) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of the equations, and what is left of them."""
        parts, residual, norms, rays = [], np.zeros(self.pencil.width), [], []
        for basis, tensor in zip(state, self.pencil.tensors, strict=True):
            derivative, image, unit, ray = _derivatives(basis, tensor)
            parts.append(derivative)
            norms.append(unit)
            rays.append(ray)
            residual += image
        rows = [np.hstack(parts), np.hstack(norms)[None, :]]
        left = [residual, np.zeros(1)]
        widths = [part.shape[1] for part in parts]
        for b, ray in enumerate(rays):
            if ray is not None:
                line = np.zeros(sum(widths))
                start = sum(widths[:b])
                line[start : start + len(ray)] = 2.0 * ray
                rows.append(line[None, :])
                left.append(np.array([ray @ ray - 1.0]))
        return np.vstack(rows), np.concatenate(left)

    def _residual(self, state: Sequence[Basis]) -> FloatArray:
        """Return what is left of the equations, from long numbers."""
        matrices = [_long_weights(basis) for basis in state]
        total = [0] * self.pencil.width
        for block, i, j, columns, values in self.pencil.rows:
            matrix = state[block].kind == "matrix"
            weight = matrices[block][i, j] * (1 + (i != j)) if matrix else matrices[block][i]
            for at, value in zip(columns, values, strict=True):
                total[at] += weight * value
        lengths = self.pencil.lengths
        unit = 1 << BITS
        left = [float(Fraction(x, size * unit)) for x, size in zip(total, lengths, strict=True)]
        rays = [basis.tail[:, 0] for basis in state if basis.kind == "ray" and basis.pivots]
        spheres = [float(Fraction(int((u * u).sum()) - unit * unit, unit * unit)) for u in rays]
        return np.array([*left, 0.0, *spheres])


def _derivatives(
    basis: Basis, tensor: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray | None]:
    """Return derivatives by K and S, A w, derivatives of the trace, and u of a ray."""
    rank = len(basis.pivots)
    if basis.kind == "matrix":
        frame = np.zeros((tensor.shape[1], rank))
        frame[basis.pivots], frame[basis.complement] = np.eye(rank), basis.tail
        above = np.triu_indices(rank)
        image = tensor @ frame
        tails = 2.0 * (image @ basis.core)[:, basis.complement].reshape(len(tensor), -1)
        cores = frame.T @ image
        doubled = np.where(above[0] == above[1], 1.0, 2.0)
        return (
            np.hstack([tails, cores[:, above[0], above[1]] * doubled]),
            np.einsum("wab,ab->w", cores, basis.core),
            np.concatenate([np.zeros(tails.shape[1]), (above[0] == above[1]).astype(float)]),
            None,
        )
    if basis.kind == "ray" and rank:
        ray = np.append(basis.tail[:, 0], 1.0)
        image = tensor @ ray
        derivative = np.hstack([basis.core[0] * tensor[:, :-1], image[:, None]])
        return derivative, basis.core[0] * image, np.eye(len(ray))[-1], ray[:-1]
    derivative = tensor[:, basis.pivots]
    units = np.ones(rank) if basis.kind == "rows" else np.eye(1, max(rank, 1), rank - 1)[0][:rank]
    return derivative, derivative @ basis.core, units, None


def _size_of(basis: Basis) -> int:
    """Return the number of unknowns of a block in Newton's equations, those of K first."""
    rank = len(basis.pivots)
    core = rank * (rank + 1) // 2 if basis.kind == "matrix" else int(basis.core.size)
    return core + (int(basis.tail.size) if basis.framed else 0)


def _long_weights(basis: Basis) -> Any:
    """Return the weights of a block of long numbers, in the same units."""
    size = len(basis.pivots) + len(basis.complement)
    if not basis.pivots:
        return defaultdict(int)
    if basis.kind == "matrix":
        frame = np.zeros((size, len(basis.pivots)), dtype=object)
        for a, pivot in enumerate(basis.pivots):
            frame[pivot, a] = 1 << BITS
        frame[basis.complement] = basis.tail
        return (frame @ basis.core @ frame.T) >> (2 * BITS)
    if basis.kind == "ray":
        return [(int(basis.core[0]) * x) >> BITS for x in [*basis.tail[:, 0], 1 << BITS]]
    return defaultdict(int, zip(basis.pivots, basis.core.tolist(), strict=True))


def _stepped(state: Sequence[Basis], step: Any) -> list[Basis]:
    """Return bases whose K and S are changed by a step."""
    stepped, start = [], 0
    for basis in state:
        tail, core = basis.tail, basis.core
        if basis.framed:
            change = step[start : start + tail.size].reshape(tail.shape)
            tail, start = tail + change, start + tail.size
        if basis.kind == "matrix":
            above = np.triu_indices(len(core))
            change = np.zeros(core.shape, dtype=core.dtype)
            change[above] = step[start : start + len(above[0])]
            core, start = core + change + np.triu(change, 1).T, start + len(above[0])
        else:
            core, start = core + step[start : start + core.size], start + core.size
        stepped.append(replace(basis, tail=tail, core=core))
    return stepped
