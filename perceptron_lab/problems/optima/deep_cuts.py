"""The compiled search with deep cuts on a program: its data in the order of elimination."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.deep_cuts import (
    BEST,
    COUNTS,
    CUTS,
    LOG_VOLUME,
    LOWER,
    NUMBERS,
    SCALE,
    deep_cut_search,
)
from perceptron_lab.numerics.symmetric.pattern import Pattern
from perceptron_lab.problems.optima.cutting_planes import Directions
from perceptron_lab.problems.optima.levels import objective_of
from perceptron_lab.problems.optima.start_ellipsoids import StartEllipsoid
from perceptron_lab.systems import ConicSystem


@dataclass(frozen=True, eq=False)
class Blocks:
    """All blocks of a program as one sparse matrix F(x), rows of an orthant being orders of 1.

    Parameters
    ----------
    pattern
        Of the whole matrix.
    entries
        Entries of F_1, ..., F_m by columns, shape ``(size, m)``.
    constant
        Entries of -F_0, shape ``(size,)``.
    starts
        Where the blocks begin in the whole matrix, and its order.
    matrices
        Which blocks are matrices.
    """

    pattern: Pattern
    entries: sp.csr_array
    constant: FloatArray
    starts: list[int]
    matrices: list[bool]

    @classmethod
    def of(cls, system: ConicSystem) -> Blocks:
        """Return the blocks of a homogenised system, without that of x_0."""
        assert isinstance(system.operator, Matrix)
        data = sp.csr_array(system.operator.data)[1:]
        rows, columns, starts, matrices = [], [], [0], []
        for part, _ in system.cone.blocks[1:]:
            here = starts[-1]
            own = np.arange(part.rank)
            matrix = isinstance(part, Semidefinite)
            rows.append(here + (part.rows if isinstance(part, Semidefinite) else own))
            columns.append(here + (part.columns if isinstance(part, Semidefinite) else own))
            starts.append(here + part.rank)
            matrices.append(matrix)
        pattern = Pattern(
            starts[-1],
            np.concatenate(rows).astype(np.int64),
            np.concatenate(columns).astype(np.int64),
        )
        constant = np.asarray(data[:, [0]].toarray()).ravel()
        return cls(pattern, sp.csr_array(data[:, 1:]), constant, starts, matrices)


class DeepCutSearch:
    """The ellipsoid method with deep cuts, on a program and from an ellipsoid.

    Parameters
    ----------
    system
        A homogenised system with an objective.
    start
        An ellipsoid that holds the solutions.
    deep
        Whether cuts go as deep as they can, else through the centre.
    kept
        How many directions of cuts are kept.
    """

    def __init__(
        self, system: ConicSystem, start: StartEllipsoid, *, deep: bool = True, kept: int = 1000
    ) -> None:
        self.blocks = Blocks.of(system)
        pattern = self.blocks.pattern
        self._how = how = pattern.elimination
        starts, columns, sides, diagonal, row_starts, row_columns, ends, below = how.structure
        places = np.concatenate([sides, diagonal])
        rows = sp.csr_array(self.blocks.entries[places])
        self._objective = np.array(objective_of(system).values, dtype=np.float64)
        coefficients = np.ascontiguousarray(rows.data, dtype=np.float64)
        self._program = (
            (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), starts, columns),
            (coefficients, np.ascontiguousarray(self.blocks.constant[places])),
            (ends, below, row_starts, row_columns),
        )
        scale = float(np.abs(start.metric).max())
        self.centre, self.best = start.centre.copy(), start.centre.copy()
        self._lower = np.ascontiguousarray(np.tril(start.metric / scale))
        self._numbers = np.zeros(NUMBERS)
        self._numbers[[BEST, SCALE, LOWER]] = np.inf, scale, -np.inf
        self.counts = np.zeros(COUNTS, dtype=np.int64)
        self._kept = np.zeros((kept, pattern.order))
        self._deep = deep

    def begin_below(self, point: FloatArray, value: float) -> None:
        """Take a feasible x and its objective for the best one."""
        self.best[:], self._numbers[BEST] = point, value

    def advance(self, most: int, target: float = -np.inf, gap: float = 0.0) -> int:
        """Make updates, at most ``most``; the parameters and the value are the kernel's."""
        ended: int = deep_cut_search(
            self._objective,
            self.centre,
            self.best,
            self._lower,
            self._numbers,
            self.counts,
            *self._program,
            self._kept,
            target,
            gap,
            most,
            self._deep,
        )
        return ended

    @property
    def value(self) -> float:
        """The least objective of a centre that passed as feasible, or infinity."""
        return float(self._numbers[BEST])

    @property
    def lower(self) -> float:
        """The least objective in the ellipsoid: below the optimum, but for rounding."""
        return float(self._numbers[LOWER])

    @property
    def log_volume(self) -> float:
        """The logarithm of the ellipsoid's volume over that at the start."""
        return float(self._numbers[LOG_VOLUME])

    @property
    def metric(self) -> FloatArray:
        """The matrix P of the ellipsoid, shape ``(m, m)``."""
        whole = self._lower + np.tril(self._lower, -1).T
        return np.asarray(whole * self._numbers[SCALE])

    def directions(self, most: int) -> Directions:
        """Return the last directions of cuts by matrix blocks, for lower bounds."""
        count, room = int(self.counts[CUTS]), len(self._kept)
        last = [k % room for k in range(max(0, count - min(room, most)), count)]
        back = np.empty((len(last), self.blocks.pattern.order))
        back[:, self._how.order] = self._kept[last]
        found = {}
        starts = self.blocks.starts
        for block, matrix in enumerate(self.blocks.matrices):
            mine = back[:, starts[block] : starts[block + 1]]
            mine = mine[np.abs(mine).max(axis=1, initial=0.0) > 0.0]
            if matrix and len(mine):
                found[block] = mine
        return found
