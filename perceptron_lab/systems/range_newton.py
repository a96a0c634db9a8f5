"""Newton's method for the ranges of weights on a face of the dual cone, to many digits."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.systems.exact_pencil import ExactPencil
from perceptron_lab.systems.face_bases import Basis, entrywise, simplest

# Newton steps in doubles, and in numbers of so many binary places
STEPS, LONG_STEPS, BITS = 8, 60, 400
# Singular values of Newton's equations below this part of the largest are those of no direction
SINGULAR = 1e-8
# Binary places of K that are known at least, and beyond half of which it is not rounded
KNOWN = 100


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
                tail=entrywise(lambda x: int(Fraction(x) * unit), basis.tail),
                core=entrywise(
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
                tail=entrywise(rational, basis.tail),
                core=entrywise(lambda x: Fraction(int(x), unit), np.atleast_2d(basis.core)).reshape(
                    basis.core.shape
                ),
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
