"""Bases of the ranges of computed weights on a face of the dual cone, and their rounding.

Weights of a matrix block that are singular have the form V S V', V a basis of their range in
reduced echelon form, V = [I; K] up to the order of the rows, S positive definite. On the boundary
of a second-order cone w is a multiple of (u, 1), norm(u) = 1, and u is treated as K.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg
from flint import fmpz_mat

from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems.exact_pencil import ExactPencil

# An entry of K with a longer numerator or denominator is called irrational
LONGEST_ENTRY = 10**40
# The error of u of a ray beside ranges that are rounded by lattices
RAY_ERROR = 1e-9

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


def bases_of(pencil: ExactPencil, guess: Sequence[FloatArray], cut: float) -> list[Basis]:
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
    p, q, p_before, q_before, remainder = 1, 0, 0, 1, x
    while True:
        floor = math.floor(remainder)
        p, q, p_before, q_before = floor * p + p_before, floor * q + q_before, p, q
        if abs(x - Fraction(p, q)) <= error:
            return Fraction(p, q)
        remainder = 1 / (remainder - floor)


def rounded(basis: Basis, error: float) -> Basis:
    """Return a basis with K of simple rationals; the other parts as they are."""
    if not basis.framed:
        return basis
    bound = Fraction(error)

    def rational(number: float) -> Fraction:
        return simplest(Fraction(number), bound * max(Fraction(1), abs(Fraction(number))))

    return replace(basis, tail=entrywise(rational, basis.tail))


def by_lattice(bases: Sequence[Basis], scale: float) -> list[Basis] | None:
    """Return bases whose ranges are spanned by short whole vectors near those computed, or None.

    LLL's algorithm finds them among the rows [e_i, scale P e_i], P the projection onto the
    complement of the range: entries of K are quotients of their minors, and much longer.
    """
    integral = []
    for basis in bases:
        rank = len(basis.pivots)
        if basis.kind != "matrix" or not rank or not basis.complement:
            integral.append(basis if basis.kind != "ray" else rounded(basis, RAY_ERROR))
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
        integral.append(replace(basis, tail=tail.T))
    return integral


def entrywise(function: Callable[[Any], Any], table: Any) -> Any:
    """Return a table of Python numbers, a function of those of another one."""
    return np.array([[function(x) for x in row] for row in table.tolist()], object).reshape(
        table.shape
    )


def long_entries(bases: Sequence[Basis]) -> list[Fraction]:
    """Return the entries of K that are no short fractions."""
    entries = [x for basis in bases if basis.framed for x in basis.tail.ravel().tolist()]
    return [x for x in entries if max(abs(x.numerator), x.denominator) > LONGEST_ENTRY]
