"""The ellipsoid method with deep cuts and a sliding objective, in the variables of a program.

The search starts from an ellipsoid that contains all solutions.

A program of MAXCUT's form, F(x) = diag(g x) - F_0 with g > 0 and c > 0, has its solutions in a box:
(F(x))_ii >= 0 gives x_i >= (F_0)_ii / g_i; and since F(x) X = 0 for a dual solution X,
X_ii = c_i / g_i, |X_ij| <= sqrt(X_ii X_jj),

    g_i x_i - (F_0)_ii <= sum_{j != i} |(F_0)_ij| sqrt(X_jj / X_ii).

For other programs let X be dual feasible with least eigenvalue mu > 0, and U the
objective of a feasible point. Points x with c'x <= U have trace F(x) <= (U - <F_0, X>) / mu = T,
since <F(x), X> = c'x - <F_0, X>. So norm(F(x))_F <= T, and with G_ij = <F_i, F_j> and x_0 such that
G x_0 = (<F_i, F_0>)_i,

    (x - x_0)'G(x - x_0) = norm of the projection of F(x) on the span of the F_i, squared <= T^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.cones.base import Oracles
from perceptron_lab.cones.semidefinite import Semidefinite, matrix_positions
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import clock_seconds
from perceptron_lab.numerics.compiled.deep_cuts import (
    BEST,
    COUNTS,
    CUTS,
    FEASIBLE,
    FLAT,
    LOG_VOLUME,
    LOWER,
    NUMBERS,
    SCALE,
    UPDATES,
    deep_cut_search,
)
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.numerics.symmetric.pattern import STRUCTURE, Pattern
from perceptron_lab.problems.optima.cutting_planes import Directions
from perceptron_lab.problems.optima.levels import coefficients, objective_of
from perceptron_lab.problems.optima.lower_bounds import DualProblem
from perceptron_lab.problems.optima.optimiser import Optimiser
from perceptron_lab.problems.optima.search import Search, relative
from perceptron_lab.systems import ConicSystem

# Factor that covers the rounding errors of centres and radii
_ROOM = 1.0 + 1e-9
# Sides of a box below this part of the longest one are replaced by it
_THIN = 1e-6


@dataclass(frozen=True, eq=False)
class StartEllipsoid:
    """{x : (x - centre)'P^-1(x - centre) <= 1}, P symmetric, shape ``(m, m)``."""

    centre: FloatArray
    metric: FloatArray
    source: str


def start_ellipsoid(search: Search) -> StartEllipsoid:
    """Return an ellipsoid that contains the solutions, or raise an InputError if none is known."""
    dual = search.dual
    if dual is None:
        raise InputError(search.without_lower)
    if dual.diagonal is not None:
        return _around_box(dual)
    return _by_trace(dual, search)


def _around_box(dual: DualProblem) -> StartEllipsoid:
    assert dual.diagonal is not None
    indices, c = dual.diagonal, dual.objective
    g = np.asarray(sp.csc_array(dual.rows).data)
    lengths = np.empty(dual.size)
    root = np.zeros(dual.size)
    root[indices] = np.sqrt(c / g)
    for part, span in dual.blocks:
        off = np.zeros(part.rank)
        if isinstance(part, Semidefinite):
            sizes = np.where(part.identity > 0.0, 0.0, np.abs(dual.constant[span]))
            scale = root[span][part.identity > 0.0]
            off = part.pattern.row_sums(sizes * scale[part.rows] * scale[part.columns]) / scale**2
        lengths[span.start + np.flatnonzero(part.identity > 0.0)] = off
    low, side = dual.constant[indices] / g, lengths[indices] / g
    side = _ROOM * np.maximum(side, _THIN * max(float(side.max()), 1e-300))
    metric = np.diag(len(c) * (side / 2.0) ** 2)
    return StartEllipsoid(low + side / 2.0, metric, "the box of the solutions")


def _by_trace(dual: DualProblem, search: Search) -> StartEllipsoid:
    inner = dual.inner or search.inner
    if inner is None:
        raise InputError(
            "no ellipsoid around the solutions is known, as no positive definite dual point was "
            "found; choose objective-bisection, which needs none"
        )
    if search.upper is None:
        raise InputError(
            "no feasible point is known, which bounds the solutions; choose objective-bisection"
        )
    weights, least = inner
    trace = _ROOM * (search.upper - float(weights @ dual.constant)) / least
    right = (dual.multiplicity * dual.constant) @ dual.rows
    inverse = dual.solve_gram(np.eye(len(dual.objective)))
    metric = trace**2 * (inverse + inverse.T) / 2.0
    return StartEllipsoid(dual.solve_gram(right), metric, "the trace of F(x)")


@dataclass(frozen=True, eq=False)
class Blocks:
    """All blocks of a program as one sparse matrix F(x); rows of an orthant are blocks of order 1.

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
        """Return the blocks of a homogenised system except x_0."""
        entries, constant = coefficients(system)
        blocks = system.cone.blocks[1:]
        rows, columns, starts = matrix_positions(blocks)
        matrices = [isinstance(part, Semidefinite) for part, _ in blocks]
        return cls(Pattern(starts[-1], rows, columns), entries, -constant, starts, matrices)


class DeepCutSearch:
    """The compiled ellipsoid method with deep cuts on a program, in its order of elimination.

    Parameters
    ----------
    system
        A homogenised system with an objective.
    start
        An ellipsoid that contains the solutions.
    deep
        Whether cuts are as deep as possible; otherwise they pass through the centre.
    remembered
        Number of stored directions of cuts.
    """

    def __init__(
        self,
        system: ConicSystem,
        start: StartEllipsoid,
        *,
        deep: bool = True,
        remembered: int = 1000,
    ) -> None:
        self.blocks = Blocks.of(system)
        pattern = self.blocks.pattern
        self._elimination = elimination = pattern.elimination
        starts, columns, sides, diagonal, row_starts, row_columns, ends, below = (
            elimination.structure
        )
        indices = np.concatenate([sides, diagonal])
        rows = sp.csr_array(self.blocks.entries[indices])
        self._objective = np.array(objective_of(system).values, dtype=np.float64)
        coefficients = np.ascontiguousarray(rows.data, dtype=np.float64)
        self._program = (
            (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), starts, columns),
            (coefficients, np.ascontiguousarray(self.blocks.constant[indices])),
            (ends, below, row_starts, row_columns),
        )
        scale = float(np.abs(start.metric).max())
        self.centre, self.best = start.centre.copy(), start.centre.copy()
        # P and its scale are kept apart, since volumes fall below the range of doubles.
        self._lower = np.ascontiguousarray(np.tril(start.metric / scale))
        self._numbers = np.zeros(NUMBERS)
        self._numbers[[BEST, SCALE, LOWER]] = np.inf, scale, -np.inf
        self.counts = np.zeros(COUNTS, dtype=np.int64)
        self._cut_directions = np.zeros((remembered, pattern.order))
        self._deep = deep

    def set_incumbent(self, point: FloatArray, value: float) -> None:
        """Set the incumbent: the best feasible x and its objective."""
        self.best[:], self._numbers[BEST] = point, value

    def advance(self, most: int, target: float = -np.inf, gap: float = 0.0) -> int:
        """Make at most ``most`` updates, as :func:`deep_cut_search`, and return its value."""
        ended: int = deep_cut_search(
            self._objective,
            self.centre,
            self.best,
            self._lower,
            self._numbers,
            self.counts,
            *self._program,
            self._cut_directions,
            target,
            gap,
            most,
            self._deep,
        )
        return ended

    @property
    def value(self) -> float:
        """The least objective of a centre that was computed to be feasible, or infinity."""
        return float(self._numbers[BEST])

    @property
    def lower(self) -> float:
        """The least objective in the ellipsoid, a lower bound of the optimum up to rounding."""
        return float(self._numbers[LOWER])

    @property
    def log_volume(self) -> float:
        """The logarithm of the ellipsoid's volume over that at the start."""
        return float(self._numbers[LOG_VOLUME])

    @property
    def metric(self) -> FloatArray:
        """The matrix P of the ellipsoid, shape ``(m, m)``."""
        matrix = self._lower + np.tril(self._lower, -1).T
        return np.asarray(matrix * self._numbers[SCALE])

    def directions(self, most: int) -> Directions:
        """Return the last directions of cuts by matrix blocks, for lower bounds."""
        count, room = int(self.counts[CUTS]), len(self._cut_directions)
        last = [k % room for k in range(max(0, count - min(room, most)), count)]
        back = np.empty((len(last), self.blocks.pattern.order))
        back[:, self._elimination.order] = self._cut_directions[last]
        by_block = {}
        starts = self.blocks.starts
        for block, matrix in enumerate(self.blocks.matrices):
            block_directions = back[:, starts[block] : starts[block + 1]]
            block_directions = block_directions[
                np.abs(block_directions).max(axis=1, initial=0.0) > 0.0
            ]
            if matrix and len(block_directions):
                by_block[block] = block_directions
        return by_block


# Approximate seconds of updates between two checks of the time limit
_CHUNK_SECONDS = 0.02
# Bounds are considered after these updates at first, and then after this part of all updates:
# counts alone decide, so that they are the same on every machine
_FIRST, _SHARE = 64, 16
# A lower bound by linear programming is attempted each time the updates grow by this factor
_NEXT = 2.0
# and first when the ellipsoid indicates a relative width below this
_WORTH = 0.5


@parameter_record
class DeepCutEllipsoid(Optimiser):
    """The ellipsoid method in x, by deep cuts of both kinds, from an ellipsoid of the solutions.

    A centre whose objective is not below the best is cut off by c'y <= best; one with v'F(x)v < 0
    by v'F(y)v >= 0, v the direction at which elimination of F(x) fails; a feasible one is the best
    from now on. The cut a'y <= b, of depth alpha = (a'x - b) / sqrt(a'Pa), leads to

        x - tau Pa / sqrt(a'Pa),  tau = (1 + n alpha) / (n + 1),
        n^2 (1 - alpha^2) / (n^2 - 1) (P - 2 tau / (1 + alpha) Paa'P / a'Pa):

    volumes fall the faster the deeper the cuts are, and the solutions stay inside. c'x - sqrt(c'Pc)
    is below the optimum but for rounding; what is *proved* comes from the directions of the last
    cuts, combined by a linear program and made exactly dual feasible.

    The start: the box of the solutions for programs of MAXCUT's form; for others the ellipsoid by
    the trace of F(x), where the least-norm dual point is positive definite. Programs
    without either are refused.

    Parameters
    ----------
    width
        The wanted (upper - lower) / max(1, |upper|) of the proved bounds, > 0 (default 1e-4).
    cuts
        ``deep`` (default), or ``central``: through the centre, as in Algorithm 2.

    References
    ----------
    Bland, Goldfarb and Todd (1981), The ellipsoid method: a survey. `Kharechko2009`, Algorithm 2.
    """

    uses_oracle: ClassVar[bool] = False

    width: Positive = 1e-4
    cuts: Literal["deep", "central"] = "deep"

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return the compiled search and the functions of its order of elimination."""
        return (deep_cut_search, *STRUCTURE)

    def minimise(self, search: Search) -> str:
        """Cut until the proved bounds have the wanted width, or a limit ends the search."""
        if search.dual is not None and search.dual.diagonal is None:
            search.feasibility(Perceptron(), None)
            search.improve_lower()
            if search.upper is None:
                return search.exhausted_limit() or "no feasible point was found as a start"
        count = search.system.unknowns - 1
        run = DeepCutSearch(
            search.system, start_ellipsoid(search), deep=self.cuts == "deep", remembered=4 * count
        )
        if search.point is not None and search.upper is not None:
            run.set_incumbent(search.point[1:] / search.point[0], search.upper)
        width = search.target_width(self.width)
        last_attempt = 0.0
        while True:
            ended = _advance(run, search, search.updates + max(_FIRST, search.updates // _SHARE))
            spent, last = search.exhausted_limit(), ended == FLAT
            worth = (
                relative(run.value, run.lower) <= _WORTH and search.updates >= _NEXT * last_attempt
            )
            close = search.lower is not None and relative(run.value, search.lower) <= width
            if spent or last or worth or close:
                if math.isfinite(run.value):
                    search.improve_upper(np.concatenate([[1.0], run.best]))
                if not search.width <= width:
                    last_attempt = float(search.updates)
                    search.improve_lower(run.directions(count))
                search.record(f"update {search.updates}")
                if search.width <= width:
                    return f"the relative width {width:g} is reached"
            if spent:
                return spent
            if last:
                return "the ellipsoid has become too flat for double precision"


def _advance(run: DeepCutSearch, search: Search, due: int) -> int:
    """Make all updates up to number ``due`` unless a limit ends them; see :func:`deep_cut_search`.

    The clock decides only how many are made between two checks of the limits.
    """
    most, due = _FIRST, min(due, search.options.budget.updates)
    while True:
        clock, before = clock_seconds(), run.counts.copy()
        ended = run.advance(min(most, due - search.updates))
        elapsed = clock_seconds() - clock
        search.seconds += elapsed
        counts = run.counts - before
        search.updates += int(counts[UPDATES])
        search.queries += int(counts[CUTS] + counts[FEASIBLE])
        if ended == FLAT or search.updates >= due or search.exhausted_limit():
            return ended
        most = 2 * most if elapsed < _CHUNK_SECONDS else most
