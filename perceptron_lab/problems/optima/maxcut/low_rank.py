"""An interval of a wanted width around the optimum: from sweeps to proofs.

Sweeps (:class:`.Ascent`) continue until the dual point (:mod:`.dual_point`), as it is or corrected,
is estimated to prove the width; then one decomposition of F(x + s 1), s what the width leaves for a
uniform shift, proves it (:mod:`.bounds`). Estimates only decide when to try; an estimate that
was too good costs a decomposition.

On large, loosely connected graphs, such as tori, eigenvectors of F(x) with negative eigenvalues
live on few vertices, more of them the larger the graph, and a uniform shift for the worst of them
is too much for all. If the width is wide enough, the decomposition raises the pivots that are too
small: shifts of a few vertices, which the rest of the width pays for.

V by accelerated coordinate ascent: max <C, VV'> over matrices with rows of norm 1.

The best v_i for the other rows is g_i / |g_i|, g_i = sum_{j != i} c_ij v_j; a sweep sets every row
so, in turn. Before a sweep V is extrapolated by t / (t + 5) of the last step, t the sweeps since
the last restart, as Nesterov does; it restarts where a step turns against the momentum. Of rank
k with k (k + 1) > 2 n, and mostly of a far smaller one, all local maxima are global.

References
----------
P.-W. Wang, W.-C. Chang, J. Z. Kolter, The mixing method, arXiv:1706.00476. B. O'Donoghue,
E. Candes, Adaptive restart for accelerated gradient schemes, Found. Comput. Math. 15 (2015):
restart by the gradient. N. Boumal, V. Voroninski, A. Bandeira, The non-convex Burer-Monteiro
approach works on smooth semidefinite programs, NeurIPS 2016.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.run_options import Stop
from perceptron_lab.core.time_limit import (
    RATE,
    TimeIsUp,
    affordable,
    clock_seconds,
    last_proofs,
    seconds_left,
    time_is_up,
    time_limit,
)
from perceptron_lab.numerics.compiled.maxcut import sweep
from perceptron_lab.numerics.symmetric.lanczos import lowest_eigenpair, negative_direction
from perceptron_lab.numerics.symmetric.raised_factor import RaisedFactor
from perceptron_lab.problems.optima.maxcut.bounds import (
    BoundHistory,
    Enclosure,
    dominant_upper,
    lower_by_signs,
    proved_lower,
    proved_upper_with,
)
from perceptron_lab.problems.optima.maxcut.dual_point import RANGE, DualPoint, range_of
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram

# t / (t + this): with 2 to 6 the sweeps to a width differ by less than with the seed
DELAY = 5.0
# The size of new columns compared with rows of norm 1
_NEW = 1e-3
# and of a direction of negative curvature of F(x)
_FIRST = 0.1


class Ascent:
    """Coordinate ascent on C / 2^k, k the exponent of the program.

    Parameters
    ----------
    program
        The program.
    rank
        k, columns of V.
    rng
        Draws the rows of the first V, uniformly.
    """

    def __init__(self, program: MaxCutProgram, rank: int, rng: np.random.Generator) -> None:
        weights = program.weights
        self._starts = weights.indptr.astype(np.int64)
        self._columns = weights.indices.astype(np.int64)
        self._values = np.ldexp(weights.data, -program.exponent)
        self.weights = sp.csr_array(
            (self._values, weights.indices, weights.indptr), shape=weights.shape
        )
        self._rng = rng
        self.sweeps = 0
        self._restart(rng.standard_normal((program.order, rank)))

    def _restart(self, vectors: FloatArray) -> None:
        norms = np.linalg.norm(vectors, axis=1)[:, None]
        vectors[norms[:, 0] == 0.0, 0] = 1.0
        self.vectors = vectors / np.where(norms > 0.0, norms, 1.0)
        self._previous, self._sweeps_since_restart = self.vectors.copy(), 0

    def run(self, sweeps: int) -> None:
        """Make ``sweeps`` sweeps."""
        data = self._starts, self._columns, self._values
        since, swapped = sweep(
            *data, self.vectors, self._previous, sweeps, self._sweeps_since_restart, DELAY
        )
        if swapped:
            self.vectors, self._previous = self._previous, self.vectors
        self._sweeps_since_restart = since
        self.sweeps += sweeps

    def widen(self, direction: FloatArray | None = None) -> None:
        """Double the rank by small columns, along which V may leave a saddle point.

        Parameters
        ----------
        direction
            Of negative curvature, a unit vector: the first of the new columns. Others are random.
        """
        n, rank = self.vectors.shape
        more = _NEW * self._rng.standard_normal((n, rank))
        if direction is not None:
            more[:, 0] = _FIRST * np.sqrt(n) * direction
        self._restart(np.hstack([self.vectors, more]))


# No progress: the estimate fell by less than this factor in this number of sweeps
_PROGRESS, _STUCK = 0.8, 600
# Estimates of a relative width below this are rounding errors
_ROUNDING = 1e-14

# Largest share of the time budget that is reserved for proofs
_PROOFS = 0.5


@dataclass(frozen=True)
class Limits:
    """Limits at which a search stops before its width; the seconds are the time limit."""

    seconds: float
    sweeps: int
    stop: Stop | None

    def exhausted_limit(self, sweeps: int, last: float = 0.0) -> str | None:
        """Return a sentence on the limit that is reached, or None.

        Parameters
        ----------
        sweeps
            Number of sweeps so far.
        last
            Expected seconds of the final proofs.
        """
        if sweeps >= self.sweeps:
            return f"the budget of {self.sweeps} sweeps is spent"
        left = seconds_left()
        end = None if self.stop is None else self.stop()  # after the clock, which asks it as well
        if end is None and left <= min(last, _PROOFS * self.seconds):
            return f"the budget of {self.seconds:g} seconds is spent"
        return end


@dataclass
class Progress:
    """The best estimate so far, to detect that estimates no longer decrease."""

    since: int = 0
    best: float = math.inf

    def has_stalled(self, estimate: float, sweeps: int) -> bool:
        """Add an estimate; return whether the estimates have stalled or are rounding errors."""
        # Estimates oscillate with the momentum: only a clear decrease counts as progress.
        if estimate < _PROGRESS * self.best:
            self.best, self.since = estimate, sweeps
        return estimate <= _ROUNDING or sweeps - self.since >= max(_STUCK, sweeps // 2)


RANKS = {0: 16, 600: 24, 3000: 32, 100_000: 16}
"""Initial number of columns of V by least order: more columns need fewer, but longer sweeps."""
FIRST = 24
"""Sweeps before the first estimate."""
LOCAL = 10.0
"""From this product of order and width on, single vertices are shifted as well."""
# Then: sweeps before the first estimate; the part of the width for the uniform shift; pivots below
# this part of a diagonal entry are raised to twice as much, which a hundred vertices may cost
_FIRST_LOCAL, _UNIFORM, _FLOOR = 600, 0.8, 1e-2
MOST_SWEEPS = 1_000_000
# Share of the width that a shift may use; ratio of a shift to its estimate
_SPENT, _AMPLE = 0.999, 4.0
# Factor of the bound of rounding errors, which grows with x
_ROUNDED = 1.001
# A direction with more than this share of its squared norm off the range of V lies outside it
_BESIDE = 0.5
# Cost of the proof of a lower bound per edge, in floating-point operations of the same duration
PER_EDGE = 4000.0
# Least and largest number of products in a search for negative curvature before a proof
_LEAST_PRODUCTS, _MOST_PRODUCTS = 40, 120
# Largest order with a Krylov basis in memory
_LARGEST_KRYLOV = 100_000
# A correction is attempted at this multiple of the width, again when the estimate has fallen by the
# second factor, and by the third if the last correction gained less than a factor of 2
_NEAR, _AGAIN, _IN_VAIN = 20.0, 0.25, 0.2


def enclose(
    program: MaxCutProgram,
    *,
    width: float = 1e-8,
    rank: int | None = None,
    seed: int = 0,
    seconds: float = math.inf,
    sweeps: int = MOST_SWEEPS,
    watch: Callable[[BoundHistory], None] | None = None,
    stop: Stop | None = None,
) -> Enclosure:
    """Return a proved interval around the optimum of a MAXCUT program.

    Parameters
    ----------
    program
        The program.
    width
        The wanted (upper - lower) / max(1, |upper|), > 0.
    rank
        Columns of V; None: those of :data:`RANKS`, doubled where the sweeps make no progress.
    seed
        Of the first V.
    seconds, sweeps
        Limits. Seconds include proofs at the end; where these would take too long, bounds are those
        of a cut and of diagonal dominance.
    watch, stop
        ``watch`` is called with the history at every record, ``stop`` for a reason to end.

    Examples
    --------
    >>> pentagon = MaxCutProgram.of_graph(5, range(5), [1, 2, 3, 4, 0], [1.0] * 5)
    >>> found = enclose(pentagon, width=1e-10)
    >>> found.reached, found.lower <= (25 + 5 * 5**0.5) / 8 <= found.upper
    (True, True)
    """
    run = _Enclosing(program, width, watch, clock_seconds())
    columns = rank or [most for least, most in RANKS.items() if program.order >= least][-1]
    ascent = Ascent(program, columns, np.random.default_rng(seed))
    with np.errstate(over="ignore", invalid="ignore"), time_limit(seconds, stop):
        message = run.search(ascent, Limits(seconds, sweeps, stop), widens=rank is None)
    return run.result(message)


def _outside(direction: FloatArray, vectors: FloatArray) -> bool:
    """Return whether a unit vector lies mostly outside the range of V."""
    inside = (direction @ vectors) @ range_of(vectors, RANGE)
    return float(inside @ inside) < 1.0 - _BESIDE


def _widened(ascent: Ascent, direction: FloatArray | None) -> bool:
    """Double the columns of V unless all local maxima are already global; return whether it did."""
    n, rank = ascent.vectors.shape
    if rank * (rank + 1) > 2 * n:
        return False
    ascent.widen(direction)
    return True


@dataclass
class _Enclosing:
    """The bounds proved so far, and the estimates that decide when a proof is attempted."""

    program: MaxCutProgram
    width: float
    watch: Callable[[BoundHistory], None] | None
    began: float
    lower: float = -math.inf
    upper: float = math.inf
    vectors: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    point: FloatArray = field(default_factory=lambda: np.empty(0))
    history: BoundHistory = field(default_factory=BoundHistory)
    proof_seconds: float = 0.0
    safety_factor: float = 1.1
    factor: RaisedFactor | None = None  # None where the time does not suffice for it

    def search(self, ascent: Ascent, limits: Limits, *, widens: bool) -> str:
        """Sweep and prove until the width is proved, or a limit is reached; return why."""
        due, corrected_at, progress = self._first_estimate, math.inf, Progress()
        self._prepare()
        # The invariant: lower and upper are proved at every pass; estimates never enter them.
        before: tuple[int, float] | None = None
        while True:
            self._sweep(ascent, due, limits)
            dual = DualPoint.of(ascent.weights, ascent.vectors)
            estimate = self._estimate(dual)
            self._record(ascent.sweeps, estimate)
            worth = estimate <= self.width and affordable(self._proof_operations)
            outside = self._attempt_proof(dual, ascent) if worth else None
            close = (
                not self._local
                and not time_is_up()
                and estimate <= min(_NEAR * self.width, _AGAIN * corrected_at)
            )
            if not self.reached and close:
                corrected = dual.corrected()
                corrected_at = estimate * (
                    1.0 if corrected.deficit < dual.deficit / 2.0 else _IN_VAIN
                )
                if self._estimate(corrected) <= self.width and affordable(self._proof_operations):
                    self._attempt_proof(corrected, ascent)
            if self.reached:
                return self._reached_message
            spent = limits.exhausted_limit(ascent.sweeps, self._proof_operations / RATE)
            stuck = progress.has_stalled(estimate, ascent.sweeps)
            if (
                (outside is not None or stuck)
                and not spent
                and widens
                and _widened(ascent, outside)
            ):
                progress, corrected_at, stuck = Progress(ascent.sweeps), math.inf, False
            if spent or stuck:
                self._prove_final_bounds(dual, ascent)
                return (
                    self._reached_message
                    if self.reached
                    else spent or "the sweeps make no more progress"
                )
            due = ascent.sweeps + self._sweeps_to_next(ascent.sweeps, estimate, before)
            before = ascent.sweeps, estimate

    def _prepare(self) -> None:
        """Find the order of elimination, within half of the time."""
        with suppress(TimeIsUp), time_limit(0.5 * seconds_left()):
            self.factor = RaisedFactor(self.program.pattern)

    @property
    def _factor(self) -> RaisedFactor:
        assert self.factor is not None, "proofs that are not affordable"
        return self.factor

    @property
    def _local(self) -> bool:
        """Whether pivots are raised in order to shift single vertices."""
        return self.program.order * self.width >= LOCAL

    @property
    def _first_estimate(self) -> int:
        return _FIRST_LOCAL if self._local else FIRST

    @property
    def _reached_message(self) -> str:
        return f"the relative width {self.width:g} is reached"

    def _sweep(self, ascent: Ascent, due: int, limits: Limits) -> None:
        """Sweep until the ascent has made ``due`` sweeps, or a limit is reached."""
        batch = 1
        while ascent.sweeps < min(due, limits.sweeps):
            clock = clock_seconds()
            # Batches grow until the clock is read about every 0.05 s.
            ascent.run(min(batch, due - ascent.sweeps, limits.sweeps - ascent.sweeps))
            now = clock_seconds()
            if limits.exhausted_limit(0, self._proof_operations / RATE):
                return
            batch = 2 * batch if now - clock < 0.05 else batch

    def _estimate(self, dual: DualPoint) -> float:
        """Return the relative width that a dual point is expected to prove."""
        deficit = dual.gap + self.safety_factor * (dual.deficit - dual.gap)
        if self.factor is None:
            return math.inf
        if deficit <= 1e3 * self.width * dual.lengths.sum():  # matters, then
            deficit += float(self.factor.rounding(dual.lengths).sum())
        value = self.program.diagonal.sum() + np.ldexp(dual.lengths.sum(), self.program.exponent)
        relative = float(np.ldexp(max(deficit, 0.0), self.program.exponent) / max(1.0, abs(value)))
        return relative if math.isfinite(relative) else math.inf

    def _sweeps_to_next(
        self, sweeps: int, estimate: float, before: tuple[int, float] | None
    ) -> int:
        """Return the expected number of sweeps to the width, at the rate of the last ones."""
        ahead = sweeps / 2
        if not self._local and before is not None and 0.0 < estimate < before[1] < math.inf:
            rate = math.log(before[1] / estimate) / (sweeps - before[0])
            ahead = 0.7 * math.log(max(estimate / self.width, 1.0)) / rate
        return max(4, int(min(max(ahead, sweeps / 32), sweeps)))

    @property
    def reached(self) -> bool:
        """Whether the width is proved."""
        size = max(1.0, abs(self.upper))
        return math.isfinite(size) and self.upper - self.lower <= self.width * size

    def _point(self, dual: DualPoint, shift: float) -> FloatArray:
        """Return x + s 1 plus the allowance for rounding, in the program's scale, as is s."""
        lengths = dual.lengths + np.ldexp(shift, -self.program.exponent)
        lengths = lengths + _ROUNDED * self._factor.rounding(lengths)
        return np.asarray(self.program.diagonal + np.ldexp(lengths, self.program.exponent))

    def _attempt_proof(self, dual: DualPoint, ascent: Ascent) -> FloatArray | None:
        """Try to prove the bounds of a dual point, shifted as far as the width allows.

        If that fails, return a direction of negative curvature of F(x) outside the range of V, if
        one is found: then V has too few columns, or is at a saddle point.
        """
        clock = clock_seconds()
        program = self.program
        self._raise_lower(ascent.vectors)
        plain = self._point(dual, 0.0)
        share = _UNIFORM if self._local else _SPENT
        most = share * self.width * max(1.0, abs(self.lower)) + self.lower - plain.sum()
        most /= program.order
        needed = np.ldexp(max(0.0, -dual.lowest), program.exponent) + 1e-14 * np.abs(plain).mean()
        direction = None
        if most > 0.0 and self._local:
            self._lower_upper(self._point(dual, float(most)), _FLOOR)
        elif most > 0.0:
            direction = self._direction_below(dual, most)
            if direction is None:
                self._lower_upper(self._point(dual, min(float(most), _AMPLE * float(needed))))
        if not self.reached:
            self.safety_factor *= 1.15
        self.proof_seconds += clock_seconds() - clock
        self._record(ascent.sweeps, self.history.estimate[-1])
        return None if direction is None or not _outside(direction, ascent.vectors) else direction

    def _direction_below(self, dual: DualPoint, shift: float) -> FloatArray | None:
        """Return v with v'F(x)v < -s if products that cost less than a proof find one, or None."""
        matrix = sp.csr_array(sp.diags_array(dual.lengths) - dual.weights)
        products = int(math.sqrt(self._factor.elimination.operations / (2.0 * len(dual.lengths))))
        if products < _LEAST_PRODUCTS:
            return None
        least = -float(np.ldexp(shift, -self.program.exponent))
        return negative_direction(matrix, least, min(products, _MOST_PRODUCTS))[0]

    def _prove_final_bounds(self, dual: DualPoint, ascent: Ascent) -> None:
        """Prove the best bounds in the time left, by shifts of a few multiples of the estimate."""
        clock = clock_seconds()
        with last_proofs():
            self._prove_within(dual, ascent)
        self.proof_seconds += clock_seconds() - clock
        self._record(ascent.sweeps, self.history.estimate[-1])

    @property
    def _proof_operations(self) -> float:
        """Approximate number of operations of a proof of both bounds."""
        upper = 0.0 if self.factor is None else self._upper_operations
        return self._lower_operations + upper

    @property
    def _lower_operations(self) -> float:
        return PER_EDGE * len(self.program.edges[2])

    @property
    def _upper_operations(self) -> float:
        # and of the products that estimate the least eigenvalue
        if self.factor is None:
            return math.inf
        return 2.0 * float(self.factor.elimination.operations) + 400.0 * self.program.weights.nnz

    def _prove_within(self, dual: DualPoint, ascent: Ascent) -> None:
        if affordable(self._lower_operations):
            self._raise_lower(ascent.vectors)
        elif not math.isfinite(self.lower):
            self.lower, self.vectors = lower_by_signs(self.program, ascent.vectors)
        if affordable(self._upper_operations):
            self._prove_shifted(dual)
        if not math.isfinite(self.upper):
            self.upper, self.point = dominant_upper(self.program)

    def _prove_shifted(self, dual: DualPoint) -> None:
        size = float(np.abs(self._point(dual, 0.0)).mean())
        lowest = dual.lowest if self._local else min(dual.lowest, self._lowest(dual))
        needed = float(np.ldexp(max(0.0, -lowest), self.program.exponent)) + 1e-15 * size
        if self._local:
            needed = max(needed, self.width * abs(self.lower) / self.program.order)
        # The least eigenvalue is an estimate: where it was too high, a larger shift is needed.
        for multiple in (1.2, 4.0, 16.0, 64.0):
            before = self.upper
            x = self._point(dual, multiple * needed)
            if x.sum() >= before or not affordable(self._upper_operations):
                break
            self._lower_upper(x, _FLOOR if self._local else 0.0)

    def _lowest(self, dual: DualPoint) -> float:
        """Return an estimate of the least eigenvalue of F(x), also outside of the range of V."""
        n = len(dual.lengths)
        if n > _LARGEST_KRYLOV:
            return 0.0
        matrix = sp.csr_array(sp.diags_array(dual.lengths) - dual.weights)
        eigenpair = lowest_eigenpair(matrix, 1e-2 * abs(dual.deficit) / n)
        return eigenpair.value - eigenpair.error

    def _raise_lower(self, vectors: FloatArray) -> None:
        bound = proved_lower(self.program, vectors)
        if bound > self.lower or not len(self.vectors):
            self.lower, self.vectors = bound, vectors.copy()

    def _lower_upper(self, x: FloatArray, floor: float = 0.0) -> None:
        """Prove an upper bound at x, if there is time for it."""
        with suppress(TimeIsUp):
            bound, point = proved_upper_with(self.program, x, self._factor, floor)
            if bound < self.upper or not len(self.point):
                self.upper, self.point = bound, point

    def _record(self, sweeps: int, estimate: float) -> None:
        history = self.history
        history.seconds.append(clock_seconds() - self.began)
        history.sweeps.append(sweeps)
        history.lower.append(self.lower if math.isfinite(self.lower) else None)
        history.upper.append(self.upper if math.isfinite(self.upper) else None)
        history.estimate.append(estimate)
        if self.watch is not None:
            self.watch(history)

    def result(self, message: str) -> Enclosure:
        """Return the result."""
        total = clock_seconds() - self.began
        return Enclosure(
            vectors=self.vectors,
            point=self.point,
            lower=self.lower,
            upper=self.upper,
            reached=self.reached,
            history=self.history,
            seconds=total - self.proof_seconds,
            proof_seconds=self.proof_seconds,
            message=message,
        )
