"""A conic system whose rows are chosen by an adversary in answer to queries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from perceptron_lab.algorithms.resisting.adversary import Adversary
from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.cones.base import Atom, Cone, Oracles
from perceptron_lab.cones.operators.base import Operator
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.rescaled import Rescaled
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.errors import DataError, InputError, NumericalError, counted
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Bound, FloatArray, Result, Status, Trace
from perceptron_lab.core.run_options import RunOptions, TraceOptions
from perceptron_lab.core.time_limit import clock_seconds
from perceptron_lab.systems.conic_system import ConicSystem
from perceptron_lab.systems.counted import OVERFLOW
from perceptron_lab.systems.system import Counters, Cut, Loop

if TYPE_CHECKING:
    from perceptron_lab.algorithms.base import AnyAlgorithm

ANSWERS = "rows"
"""The key of the answers in the certificate of a run: a sign per row, which determines it."""
MISTAKES, ROUNDS = COUNTED = "mistakes", "rounds"
"""The figures of a run: points answered by a row that they violate, and rounds (0: none)."""


_NO_BOUND = Bound(
    None, "runs in rounds", "its theorem bounds the updates of one round, and not the mistakes"
)


class ShownRows(Operator):
    """The current rows of an adversary; as they change, no rescaled copy may be kept.

    Parameters
    ----------
    rows
        Shape ``(forced, dimension)``; the adversary changes those that it has not shown.
    """

    def __init__(self, rows: FloatArray) -> None:
        self.size, self.dimension = rows.shape
        self.rows = rows

    def scores(self, point: FloatArray) -> FloatArray:
        """Return the products of all rows with a point."""
        return np.asarray(self.rows @ point)

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return a combination of rows."""
        return np.asarray(weights @ self.rows)

    def normal(self, atom: Atom) -> FloatArray:
        """Return the combination of the rows in the atom's span."""
        return np.asarray(atom.values @ self.rows[atom.span])


@dataclass(frozen=True, kw_only=True)
class ResistingSystem(ConicSystem):
    """Unit rows of margin rho or more, of which an algorithm knows the revealed ones.

    A query, :meth:`cut`, is answered by the
    :class:`~perceptron_lab.algorithms.resisting.adversary.Adversary`: every algorithm that learns
    by queries alone makes ``adversary.forced`` mistakes or more before a point passes. Nothing else
    can be asked: an algorithm that looks at all rows is run in rounds, on the rows shown so far
    (:func:`drive_in_rounds`). The result of a run is
    about the set that is fixed in the end, which the certificate's ``rows`` tell.

    Parameters
    ----------
    adversary
        Its rows are the operator's, which change in place until they are shown.

    Examples
    --------
    >>> from perceptron_lab import solve
    >>> resisting = ResistingSystem.of_margin(10, 0.01)
    >>> resisting.adversary.forced
    35
    >>> result = solve(resisting, "ellipsoid")
    >>> result.status.value, result.certificate["figures"]["mistakes"] >= 35
    ('FEASIBLE', True)
    """

    adversary: Adversary

    @classmethod
    def of_margin(cls, dimension: int, margin: float) -> ResistingSystem:
        """Return the system of dimension n >= 1 and 0 < margin <= 1, with no row revealed."""
        if dimension < 1 or not 0.0 < margin <= 1.0:
            raise InputError(
                f"dimension {dimension}, margin {margin:g}; give 1 or more, and 0 < margin <= 1"
            )
        adversary = Adversary(dimension, margin)
        cone = Orthant(adversary.forced)
        return cls(ShownRows(adversary.rows), cone, unit_rows=True, adversary=adversary)

    def driven(self, algorithm: AnyAlgorithm, options: RunOptions, loop: Loop) -> Result:
        """Run an online algorithm on this system, and any other algorithm in rounds."""
        if algorithm.online:
            return super().driven(algorithm, options, loop)
        return drive_in_rounds(self, algorithm, options, loop)

    def started(self, oracles: Oracles, rng: np.random.Generator) -> ResistingSystem:
        """Return the system before its first query; it is its own oracle."""
        if oracles:
            raise InputError("a resisting system answers its queries itself; leave the oracle out")
        fresh = Adversary(self.adversary.dimension, self.adversary.margin)
        operator = ShownRows(fresh.rows)
        return replace(self, operator=operator, counters=Counters(), adversary=fresh)

    def cut(self, point: FloatArray, slack: float = 0.0) -> Cut | None:
        """Query a point: return a revealed row with <a, point> <= 0, or None.

        A rescaled system asks about the point H'y that y stands for. None: all rows are shown, and
        none is violated; or, with a tolerance of the system, none by more than it.
        """
        if slack:
            raise InputError("a resisting system answers without slack; run it in rounds")
        if not np.isfinite(point).all():
            raise NumericalError(OVERFLOW)
        rescaled = self.operator
        queried = rescaled.to_base(point) if isinstance(rescaled, Rescaled) else point
        row = self.adversary.answer(queried)
        if row is None and self.tolerance:  # a proof has failed: beyond rounding errors
            return super().cut(point)
        self.counters.queries += 1
        if row is None:
            return None
        return self._cut(Atom(slice(row, row + 1), np.ones(1)), point)

    def scores(self, point: FloatArray) -> FloatArray:
        """Return the scores of all rows if all are revealed; otherwise raise InputError."""
        self._refuse_early(np.ones(self.cone.size))
        return super().scores(point)

    def priced(self, point: FloatArray) -> FloatArray:
        """Return the scores, as :meth:`scores` does."""
        return self.scores(point)

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return A weights for weights of revealed rows; other weights raise InputError."""
        self._refuse_early(weights)
        return super().combine(weights)

    def _refuse_early(self, point: FloatArray) -> None:
        if point[self.adversary.revealed :].any():
            raise InputError(
                "weights of rows that the resisting system has not shown; query points first"
            )

    def prove_point(self, point: FloatArray) -> PointProof:
        """Prove the margin of a point, once all rows are revealed."""
        if self.adversary.revealed < self.adversary.forced:
            return PointProof(False, -math.inf, 0, "rows that were not shown may be violated")
        return super().prove_point(point)

    def _innermost(self) -> tuple[Operator, Cone]:
        """Return the current rows, whose norms an operator may change."""
        return Matrix(self.adversary.rows.copy()), self.cone

    def answer(self, result: Result, rounds: int = 0) -> Result:
        """Return a result with the mistakes, and the answers that determine the rows."""
        counted = {MISTAKES: float(self.adversary.mistakes), ROUNDS: float(rounds)}
        statistics = {
            "figures": result.certificate.get("figures", {}) | self.adversary.figures | counted,
            ANSWERS: self.adversary.answers,
        }
        return replace(result, certificate=result.certificate | statistics)

    def fixed(self, certificate: Mapping[str, object]) -> ConicSystem:
        """Return the ordinary system of the rows that a run's certificate determines."""
        answers = certificate.get(ANSWERS)
        if not isinstance(answers, str):
            raise DataError(
                "the certificate does not determine the rows that were shown; run it again"
            )
        adversary = Adversary(self.adversary.dimension, self.adversary.margin)
        adversary.fix(answers)
        return ConicSystem.from_rows(adversary.rows)


def drive_in_rounds(
    system: ResistingSystem, algorithm: AnyAlgorithm, options: RunOptions, loop: Loop
) -> Result:
    """Run an algorithm repeatedly on the rows revealed so far until its point passes.

    `Kharechko2009`, section 2.2: an algorithm for a finite set becomes an online learner when it is
    run again with each new example. Its hypothesis is the point that is *proved* to satisfy all
    rows shown, at first 0; the answer to it is a row that it violates, hence a new one. So it makes
    no mistake twice, and as many as there are rows, if it can solve each of the systems: the lower
    bound is attained. A round without a proved point ends the run, which has then found nothing.

    Parameters
    ----------
    system
        The system whose adversary is asked, from its initial state.
    algorithm
        Run on the rows of a round by the ``loop``.
    options
        The goal is ``decide``: no other has a meaning for rows that are not all known. The budget
        is that of all rounds together. Bounds and traces are those of all rounds, too.

    Returns
    -------
    Result
        That of the last round, on the set that is fixed in the end; updates, iterations, products
        and seconds are sums over all rounds, queries are those of the adversary.
    """
    if options.goal != "decide":
        raise InputError(f"goal {options.goal} in rounds on a resisting system; leave the goal out")
    clock, proofs = clock_seconds(), 0.0
    trace, alike = Trace(), replace(options, facts=None, trace=TraceOptions(), observe=None)
    begun = system.started({}, np.random.default_rng(0))
    adversary = begun.adversary
    adversary.answer(np.zeros(system.dimension))
    while True:
        revealed = ConicSystem.from_rows(adversary.rows[: adversary.revealed].copy())
        result = loop(
            revealed, algorithm, replace(alike, budget=_remaining_budget(options.budget, trace))
        )
        proofs += result.proof_seconds
        _append(trace, result, adversary.mistakes)
        if "margin_above" in result.certificate.get("claim", {}):
            raise InputError(
                "a relaxed answer need not satisfy the rows that are known, and is no hypothesis; "
                "choose an algorithm that ends on strictly feasible points"
            )
        if result.status is not Status.FEASIBLE or adversary.answer(result.point) is None:
            beside = proofs, clock_seconds() - clock
            return begun.answer(_combined_result(begun, result, trace, beside), rounds=len(trace))


def _remaining_budget(limits: Budget, trace: Trace) -> Budget:
    """Return the part of a budget that is left after some rounds."""
    if not len(trace):
        return limits
    updates, seconds = limits.updates - trace.updates[-1], limits.seconds - trace.seconds[-1]
    return Budget(updates=max(updates, 0), seconds=max(seconds, 0.0))


def _append(trace: Trace, result: Result, queries: int) -> None:
    """Append the last record of a round to the trace of all rounds, with summed costs."""
    trace.queries.append(queries)
    for name in ("updates", "iterations", "products", "seconds"):
        costs: list[float] = getattr(trace, name)
        costs.append(getattr(result, name) + (costs[-1] if costs else 0))
    for name in ("phase", "margin", "upper"):
        getattr(trace, name).append(getattr(result.trace, name)[-1])


def _combined_result(
    system: ResistingSystem, result: Result, trace: Trace, beside: tuple[float, float]
) -> Result:
    """Return the result of all rounds: the last round's, with summed costs and all rows.

    ``beside`` are the seconds of the proofs, and of everything.
    """
    rounds, weights = len(trace), result.weights
    if weights is not None:
        weights = np.pad(weights, (0, system.adversary.forced - len(weights)))
    return replace(
        result,
        weights=weights,
        # of the rows known: others have a lower one, and no point of it
        margin_lower=result.margin_lower if result.status is Status.FEASIBLE else None,
        updates=trace.updates[-1],
        queries=rounds,
        iterations=trace.iterations[-1],
        products=trace.products[-1],
        seconds=trace.seconds[-1],
        proof_seconds=beside[0],
        total_seconds=beside[1],
        trace=trace,
        bound=_NO_BOUND,
        message=f"{result.message}; {counted(rounds, 'round')}",
    )
