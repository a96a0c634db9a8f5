"""Proved bounds of the optimum of MAXCUT's programs by a low-rank factor."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from perceptron_lab.cones.base import Oracles
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.time_limit import affordable, clock_seconds, last_proofs
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.numerics.compiled.maxcut import edge_products, flip_sweeps, sweep
from perceptron_lab.numerics.compiled.raised_ldl import eliminate_raised
from perceptron_lab.numerics.symmetric.pattern import STRUCTURE
from perceptron_lab.problems.optima.bound_verification import SIGNS, VECTORS
from perceptron_lab.problems.optima.maxcut.bounds import BoundHistory, Enclosure
from perceptron_lab.problems.optima.maxcut.cuts import HYPERPLANES, Cut, rounded
from perceptron_lab.problems.optima.maxcut.low_rank import PER_EDGE, enclose
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram
from perceptron_lab.problems.optima.optimiser import Optimiser
from perceptron_lab.problems.optima.search import Search
from perceptron_lab.systems import ConicSystem


@parameter_record
class LowRank(Optimiser):
    """Coordinate ascent on X = VV', a dual point with a proved correction, and a cut.

    For max <C, X>, diag(X) = 1, X positive semidefinite, and min 1'x, diag(x) - C positive
    semidefinite (SDPA files of this form are recognised, others refused): sweeps
    v_i <- g_i / |g_i|, g_i = sum_{j != i} c_ij v_j, with Nesterov's extrapolation and restarts.
    At a maximum x_i = c_ii + |g_i| is optimal; before it the negative eigenvalues of F(x) lie
    nearly in the range of V, where they are known from a matrix of order k, and taken away by a
    correction of x (a Newton step of the dual) or by a uniform shift.

    Both bounds are proved: <C, X> with X_ij = v_i'v_j / (|v_i| |v_j|), rounded down, and
    1'(x + d), rounded up, d what rounding errors of one sparse LDL' of F(x) may have hidden. An
    update, and an iteration, is a sweep.

    Parameters
    ----------
    width
        The wanted (upper - lower) / max(1, |upper|) of the proved bounds, > 0 (default 1e-8).
    hyperplanes
        Number of random hyperplanes for rounding V to a cut, 0 or more (default 32; 0: no cut).
        The best cut, improved by changes of single vertices, has the proved value ``measure.cut``,
        and ``measure.cut_ratio`` of the largest cut, or more.
    rank
        k, the columns of V, 1 or more; None (default): 16, from order 600 on 24, from 3000 on 32,
        and twice as many where the sweeps make no progress.

    References
    ----------
    S. Burer, R. D. C. Monteiro, Math. Program. 95 (2003) 329-357. P.-W. Wang, W.-C. Chang,
    J. Z. Kolter, The mixing method, arXiv:1706.00476. C. Jansson, D. Chaykin, C. Keil, Rigorous
    error bounds for the optimal value in semidefinite programming, SIAM J. Numer. Anal. 46 (2007).
    """

    uses_oracle: ClassVar[bool] = False

    width: Positive = 1e-8
    rank: Count | None = None
    hyperplanes: Annotated[int, Field(ge=0)] = HYPERPLANES

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return the sweep, the factorisation of the proofs, and the local search of cuts."""
        proofs = (edge_products, *STRUCTURE, eliminate_raised)
        return (sweep, *proofs, flip_sweeps) if self.hyperplanes else (sweep, *proofs)

    def minimise(self, search: Search) -> str:
        """Sweep until the proved bounds have the wanted width, or a limit ends the search."""
        program = MaxCutProgram.of_system(search.system)
        if program is None:
            raise InputError(
                "low-rank is for programs of MAXCUT's form: minimise x_1 + ... + x_n, diag(x) - C "
                "positive semidefinite; choose deep-cut-ellipsoid or objective-bisection"
            )
        enclosure = enclose(
            program,
            width=search.target_width(self.width),
            rank=self.rank,
            seed=search.options.seed,
            seconds=search.options.budget.seconds,
            sweeps=search.options.budget.updates,
            watch=lambda history: _record_history(search, history),
            stop=search.options.stop,
        )
        _store_enclosure(search, enclosure)
        if self.hyperplanes and len(enclosure.vectors) and program.is_graph_laplacian:
            clock = clock_seconds()
            with last_proofs():
                self._round(search, program, enclosure)
            search.proof_seconds += clock_seconds() - clock
        return enclosure.message

    def _round(self, search: Search, program: MaxCutProgram, enclosure: Enclosure) -> None:
        """Round V to a cut if the remaining time allows it."""
        if affordable(PER_EDGE * len(program.edges[2])):
            seed = search.options.seed
            cut = rounded(program, enclosure.vectors, count=self.hyperplanes, seed=seed)
            _record_cut(search, cut)


def _record_history(search: Search, history: BoundHistory) -> None:
    """Copy the latest entry of the bound history to the search."""
    search.updates = search.iterations = history.sweeps[-1]
    search.products = float(history.sweeps[-1])
    search.lower, search.upper = history.lower[-1], history.upper[-1]
    search.seconds = history.seconds[-1]
    search.record(f"sweep {history.sweeps[-1]}")


def _record_cut(search: Search, cut: Cut) -> None:
    """Record the value of a cut and a lower bound of its ratio to the largest cut."""
    if math.isfinite(cut.value):
        search.figures["cut"] = cut.value
        search.proof[SIGNS] = cut.signs.astype(float)
        ratio = None if search.upper is None else cut.ratio(search.upper)
        if ratio is not None:
            search.figures["cut_ratio"] = ratio


def _store_enclosure(search: Search, enclosure: Enclosure) -> None:
    """Store the bounds of an enclosure and the arrays that prove them in the search."""
    search.seconds, search.proof_seconds = enclosure.seconds, enclosure.proof_seconds
    search.lower = search.upper = None
    if math.isfinite(enclosure.lower):
        search.lower, search.proof = enclosure.lower, {VECTORS: enclosure.vectors}
    if math.isfinite(enclosure.upper):
        search.upper, search.point = enclosure.upper, np.concatenate([[1.0], enclosure.point])
