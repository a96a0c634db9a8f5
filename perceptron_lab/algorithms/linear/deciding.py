"""Exact decision of linear systems: HiGHS's proposals made exact, else refined bases."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from perceptron_lab.algorithms.linear.alternatives import Work
from perceptron_lab.algorithms.linear.exact_answers import (
    absorbed,
    best_bounds,
    partition_by_pivots,
    point_near,
    weights_at_vertex,
    weights_near,
)
from perceptron_lab.algorithms.linear.exact_optimum import minimised
from perceptron_lab.algorithms.linear.floating_rows import (
    FloatingRows,
    HighsProposal,
    complementary_pair,
    farkas_vertex,
    floating_rows,
    least_violation,
    of_whole,
)
from perceptron_lab.algorithms.linear.highs import QUICK
from perceptron_lab.algorithms.linear.proofs import (
    LinearProof,
    Weights,
    always_tight,
    at_most,
    contradiction,
    irreducible,
    tight_at,
)
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.findings import NOTHING, Finding
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.core.time_limit import TimeIsUp, last_proofs
from perceptron_lab.numerics.exact_doubles import to_double, to_doubles
from perceptron_lab.systems.conditions import over_common
from perceptron_lab.systems.linear_system import LinearSystem

# The partition of the inequalities at a point is completed by exact pivots on a tableau up to so
# large: about a second
MOST_ENTRIES = 200_000
# Large systems have a strictly complementary pair up to so many entries
LARGEST_PAIR = 50_000


@dataclass
class LinearDecision:
    """The outcome of a decision.

    Parameters
    ----------
    status
        FEASIBLE, INFEASIBLE, or the limit that was reached.
    proof
        The exact numbers.
    method
        The method of the decision, in words.
    point
        The last computed point, shape ``(n,)``; zeros where no point was computed.
    pivots, iterations
        Exact ones, and those of HiGHS.
    finding
        The answer of HiGHS where it is not proved.
    """

    status: Status
    proof: LinearProof
    method: str
    point: FloatArray
    pivots: int = 0
    iterations: int = 0
    finding: Finding = NOTHING


def decide(
    system: LinearSystem, pivots: int, stop: Callable[[], str | None] | None = None
) -> LinearDecision:
    """Decide whether a linear system has a point, as far as the time limit allows.

    Parameters
    ----------
    system
        The system.
    pivots
        Exact pivots at most.
    stop
        Why the work was ended, if it was; asked at the end alone.
    """
    # These need no solver, and have two conditions at most
    obvious = _obvious(system)
    if obvious is not None:
        return infeasible_decision(system, obvious, "contradictory bounds", Work(0))
    search = _LinearSearch(system, Work(pivots))
    decision = None
    with suppress(TimeIsUp):
        decision = search.decided()
    if decision is None:
        decision = _undecided(search, None if stop is None else stop())
    if search.failure:
        decision.method = f"{decision.method}; {search.failure}"
    decision.pivots = search.work.pivots_made
    decision.iterations = search.iterations
    if search.proposal is not None:
        decision.iterations += search.proposal.iterations
    return decision


@dataclass
class _LinearSearch:
    """A decision under way: the conditions in doubles, what HiGHS proposes, the exact pivots."""

    system: LinearSystem
    work: Work
    rows: FloatingRows | None = None
    proposal: HighsProposal | None = None
    iterations: int = 0  # of HiGHS, for bases
    failure: str = ""  # What HiGHS ended with instead of a proposal

    def decided(self) -> LinearDecision | None:
        """Return the decision; None if there are too many pivots."""
        self.rows = floating_rows(self.system)
        # A pair also tells what is tight at every point: it goes first where it takes no time
        quick = self.rows.matrix.nnz <= QUICK
        return (self._proposed() if quick else None) or self._by_basis()

    def _proposed(self) -> LinearDecision | None:
        """Return the decision of a pair that HiGHS proposes."""
        assert self.rows is not None
        try:
            self.proposal = complementary_pair(self.rows)
        except NumericalError as error:
            self.failure = str(error)
        if self.proposal is None:
            return None
        return _made_exact(self.system, self.rows, self.proposal, self.work)

    def _by_basis(self) -> LinearDecision | None:
        """Return the decision of a basis, refined until it is exact; None if pivots are spent."""
        left = self.work.pivots - self.work.pivots_made
        optimum = minimised(self.system, {}, left)
        self.work.pivots_made += optimum.pivots
        self.iterations += optimum.iterations
        words = "exact pivots" if optimum.pivots else "a basis of HiGHS"
        if optimum.status is Status.INFEASIBLE:
            return infeasible_decision(self.system, optimum.weights, words, self.work)
        if optimum.status is not Status.FEASIBLE or optimum.point is None:
            return None
        assert self.rows is not None
        if QUICK < self.rows.matrix.nnz <= LARGEST_PAIR:
            # The point is there: a pair only adds what is tight at every point
            with suppress(TimeIsUp):
                decision = self._proposed()
                if decision is not None:
                    return decision
        return _feasible(self.system, optimum.point, {}, words, self.work)


def _obvious(system: LinearSystem) -> dict[int, Fraction] | None:
    """Return weights of one condition without unknowns, or of two opposite bounds, that do."""
    for k, row in enumerate(system.conditions):
        if not row.columns and (row.right > 0 or (row.equation and row.right)):
            return {k: Fraction(1 if row.right > 0 else -1)}
    best = best_bounds(system)
    for (j, positive), (bound, k) in best.items():
        other = best.get((j, not positive))
        if positive and other is not None and bound + other[0] > 0:
            return {i: _unit(system, i) for i in (k, other[1])}
    return None


def _unit(system: LinearSystem, k: int) -> Fraction:
    """Return the weight by which the coefficient of a bound, as given, becomes 1 or -1."""
    row = system.conditions[k]
    return Fraction(row.scale, abs(row.coefficients[0]))


def _made_exact(
    system: LinearSystem, rows: FloatingRows, proposal: HighsProposal, work: Work
) -> LinearDecision | None:
    """Return the decision that a proposal leads to; None if nothing exact is near it."""
    weights = of_whole(rows, proposal.weights)
    if not proposal.feasible:
        return _contradiction_near(system, rows, weights, work)
    point = point_near(system, proposal.point, proposal.tight)
    tight = set(proposal.tight.tolist())
    # Where the point is strict a weight is rounding error: complementary pairs have 0 there
    guess = [
        weight if system.conditions[k].equation or k in tight else Fraction()
        for k, weight in enumerate(weights)
    ]
    if point is None:
        # Conditions that are tight in doubles may contradict each other by a tiny amount
        thin = weights_near(system, guess, None)
        if thin is None or contradiction(system, thin) is None:
            return None
        return infeasible_decision(system, thin, "weights near those of HiGHS", work)
    always: Weights | None = None
    with suppress(TimeIsUp):
        # w'b = w'A x = 0 comes of itself: all that has a weight is tight at the point
        always = weights_near(system, guess, None) if len(proposal.tight) else {}
    return _feasible(system, point, always or {}, "near a point of HiGHS", work)


def _contradiction_near(
    system: LinearSystem, rows: FloatingRows, weights: Sequence[Fraction], work: Work
) -> LinearDecision | None:
    support = np.array([k for k, weight in enumerate(weights) if weight], dtype=np.int64)
    # At a vertex few conditions have weights: the contradiction is short
    vertex = farkas_vertex(rows, support) if len(support) else None
    if vertex is not None:
        at_vertex = of_whole(rows, vertex)
        multipliers = weights_near(system, at_vertex, 1)
        if multipliers is not None and contradiction(system, multipliers) is not None:
            return infeasible_decision(system, multipliers, "weights at a vertex", work)
        multipliers = absorbed(system, at_vertex)
        if multipliers is not None:
            words = "weights whose residual the bounds absorb"
            return infeasible_decision(system, multipliers, words, work)
    return None


def _feasible(
    system: LinearSystem, point: tuple[Fraction, ...], always: Weights, method: str, work: Work
) -> LinearDecision:
    """Return the decision of a feasible point; complete its partition where weights are missing."""
    tight = tight_at(system, point)
    if not set(tight) <= always_tight(system, always):
        height, equations = len(system.variables) + 1, sum(c.equation for c in system.conditions)
        small = (len(tight) + 2 * equations + height) * height <= MOST_ENTRIES
        with suppress(TimeIsUp):
            more = partition_by_pivots(system, point, work) if small else None
            if more is not None:
                point, always = more
                tight = tight_at(system, point)
    proof = LinearProof(
        point=point,
        tight=tuple(tight),
        always=always,
        complete=set(tight) <= always_tight(system, always),
        violation=(0.0, 0.0),
    )
    return LinearDecision(Status.FEASIBLE, proof, method, to_doubles(point))


def infeasible_decision(
    system: LinearSystem, weights: Weights, method: str, work: Work
) -> LinearDecision:
    """Return the decision of weights, as whole numbers without a common divisor.

    Conditions that are not needed are left out, as far as the work and the time allow. At every x,
    w'b / sum |w| is at most the largest violation of a condition.
    """
    weights, minimal = _fewest(system, weights, work)
    integers, _ = over_common(weights.values())
    divisor = math.gcd(*integers)
    # Small whole numbers are easier to read, and to check by hand
    weights = {k: Fraction(n, divisor) for k, n in zip(weights, integers, strict=True)}
    value = contradiction(system, weights)
    assert value is not None
    least = value / sum(map(abs, weights.values()))
    violation = to_double(least, rounding="down"), None
    proof = LinearProof(weights=weights, irreducible=minimal, violation=violation)
    return LinearDecision(Status.INFEASIBLE, proof, method, np.zeros(len(system.variables)))


def _fewest(system: LinearSystem, weights: Weights, work: Work) -> tuple[Weights, bool]:
    """Return weights of a contradiction, and whether none of its conditions can be left out."""
    with suppress(TimeIsUp):
        if irreducible(system, weights):
            return weights, True
        weights = weights_at_vertex(system, sorted(weights), work) or weights
        return weights, irreducible(system, weights)
    return weights, False


def _undecided(search: _LinearSearch, reason: str | None) -> LinearDecision:
    """Return the bracket of the least violation; one of its ends is a point's."""
    system, work = search.system, search.work
    status, words = Status.TIME_LIMIT, reason or "no exact answer within the budget"
    if reason is None and work.pivots_made >= work.pivots:
        status = Status.UPDATE_LIMIT
    with last_proofs(), suppress(TimeIsUp):
        point = None if search.rows is None else least_violation(search.rows)
        if point is not None and np.isfinite(point).all():
            exact = tuple(Fraction(coordinate) for coordinate in point.tolist())
            largest = system.violation(exact)
            if not largest:
                return _feasible(system, exact, {}, "a point of HiGHS", work)
            proof = LinearProof(violation=at_most(largest))
            return LinearDecision(status, proof, words, point)
    # At x = 0 what is violated is known without a solver
    origin = np.zeros(len(system.variables))
    constants = (row._replace(columns=(), coefficients=()) for row in system.conditions)
    most = max((row.violation((), 1) for row in constants), default=Fraction())
    proof = LinearProof(violation=at_most(most))
    return LinearDecision(status, proof, words, origin)
