"""The decision about a linear system: proposals of HiGHS made exact, then exact pivots."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from perceptron_lab.linear.alternatives import Work
from perceptron_lab.linear.exact_answers import (
    absorbed,
    best_bounds,
    decided_by_pivots,
    partition_by_pivots,
    point_near,
    weights_near,
)
from perceptron_lab.linear.floating_rows import FloatingRows, floating_rows
from perceptron_lab.linear.proofs import (
    LinearProof,
    Weights,
    always_tight,
    at_most,
    contradiction,
    irreducible,
    tight_at,
)
from perceptron_lab.linear.proposals import (
    Proposal,
    complementary_pair,
    farkas_vertex,
    least_violation,
    of_whole,
)
from perceptron_lab.linear.words import FEASIBLE, INFEASIBLE
from perceptron_lab.numerics.exact_doubles import to_double, to_doubles
from perceptron_lab.results import FloatArray, Status
from perceptron_lab.system.conditions import over_common
from perceptron_lab.system.linear_system import LinearSystem

# An exact tableau of more entries takes longer to set up than its pivots are worth
MOST_ENTRIES = 2_000_000
# One of at most so many takes next to no time
FEW_ENTRIES = 2_000


@dataclass
class Decision:
    """How a decision ended.

    Parameters
    ----------
    status
        FEASIBLE, INFEASIBLE, or the limit that was reached.
    proof
        The exact numbers.
    method
        How they were found.
    point
        The last computed point, shape ``(n,)``; zeros where there is none.
    pivots, iterations
        Exact ones, and those of HiGHS.
    """

    status: Status
    proof: LinearProof
    method: str
    point: FloatArray
    pivots: int = 0
    iterations: int = 0


def decide(
    system: LinearSystem,
    pivots: int,
    seconds: float,
    asked: Callable[[], object] | None = None,
) -> Decision:
    """Decide whether a linear system has a point.

    Parameters
    ----------
    system
        The system.
    pivots, seconds
        Exact pivots and seconds at most; HiGHS has the same seconds for each of its programs.
    asked
        Asked before each pivot whether to end.
    """
    work = Work(pivots, time.monotonic() + seconds, asked=asked)
    obvious = _obvious(system)
    if obvious is not None:
        return _infeasible(system, obvious, "contradictory bounds")
    rows = floating_rows(system)
    proposal = complementary_pair(rows, work.left)
    found = None if proposal is None else _made_exact(system, rows, proposal, work)
    if found is None:
        found = _by_pivots(system, work)
    if found is None:
        found = _undecided(system, rows, proposal, work)
    found.pivots = work.made
    found.iterations = 0 if proposal is None else proposal.iterations
    return found


def _obvious(system: LinearSystem) -> dict[int, Fraction] | None:
    """Return weights of one condition without unknowns, or of two opposite bounds, that do."""
    for k, one in enumerate(system.conditions):
        if not one.columns and (one.right > 0 or (one.equation and one.right)):
            return {k: Fraction(1 if one.right > 0 else -1)}
    best = best_bounds(system)
    for (j, positive), (bound, k) in best.items():
        other = best.get((j, not positive))
        if positive and other is not None and bound + other[0] > 0:
            return {i: _unit(system, i) for i in (k, other[1])}
    return None


def _unit(system: LinearSystem, k: int) -> Fraction:
    """Return the weight by which the coefficient of a bound, as given, becomes 1 or -1."""
    one = system.conditions[k]
    return Fraction(one.scale, abs(one.coefficients[0]))


def _made_exact(
    system: LinearSystem, rows: FloatingRows, proposal: Proposal, work: Work
) -> Decision | None:
    """Return the decision that a proposal leads to; None if nothing exact is near it."""
    weights = of_whole(rows, proposal.weights)
    if not proposal.feasible:
        return _contradiction_near(system, rows, weights, work)
    point = point_near(system, proposal.point, proposal.tight)
    kept = set(proposal.tight.tolist())
    guess = [
        weight if system.conditions[k].equation or k in kept else Fraction()
        for k, weight in enumerate(weights)
    ]
    if point is None:
        # What doubles take for tight may contradict itself by next to nothing
        thin = weights_near(system, guess, None)
        if thin is None or contradiction(system, thin) is None:
            return None
        return _infeasible(system, _fewest(system, thin, work), "weights near those of HiGHS")
    always = weights_near(system, guess, 0) if len(proposal.tight) else {}
    return _feasible(system, point, always or {}, "near a point of HiGHS", work)


def _fewest(system: LinearSystem, weights: Weights, work: Work) -> Weights:
    """Return weights of a contradiction of which no condition can be left out, where affordable."""
    entries = len(weights) * (len(system.variables) + 1)
    if irreducible(system, weights) or entries > FEW_ENTRIES:
        return weights
    found = decided_by_pivots(system, sorted(weights), work)
    return weights if found is None or found[0] is not None else found[1]


def _contradiction_near(
    system: LinearSystem, rows: FloatingRows, weights: Sequence[Fraction], work: Work
) -> Decision | None:
    support = np.array([k for k, weight in enumerate(weights) if weight], dtype=np.int64)
    vertex = farkas_vertex(rows, support, work.left) if len(support) else None
    if vertex is not None:
        at_vertex = of_whole(rows, vertex)
        found = weights_near(system, at_vertex, 1)
        if found is not None and contradiction(system, found) is not None:
            return _infeasible(system, found, "weights at a vertex")
        found = absorbed(system, at_vertex)
        if found is not None:
            return _infeasible(system, found, "weights whose residual the bounds absorb")
    for found in (absorbed(system, weights), weights_near(system, weights, 1)):
        if found is not None and contradiction(system, found) is not None:
            return _infeasible(system, found, "weights near those of HiGHS")
    return None


def _by_pivots(system: LinearSystem, work: Work) -> Decision | None:
    """Return the decision by exact pivots; None if they are too many."""
    if len(system.conditions) * (len(system.variables) + 1) > MOST_ENTRIES:
        return None
    found = decided_by_pivots(system, range(len(system.conditions)), work)
    if found is None:
        return None
    point, weights = found
    if point is None:
        return _infeasible(system, weights, "exact pivots")
    return _feasible(system, point, {}, "exact pivots", work)


def _feasible(
    system: LinearSystem,
    point: tuple[Fraction, ...],
    always: Weights,
    method: str,
    work: Work,
) -> Decision:
    """Return the decision of a feasible point; complete its partition where weights are missing."""
    tight = tight_at(system, *over_common(point))
    if not set(tight) <= always_tight(system, always):
        small = (len(tight) + 1) * (len(system.variables) + 1) <= MOST_ENTRIES
        more = partition_by_pivots(system, point, work) if small else None
        if more is not None:
            point, always = more
            tight = tight_at(system, *over_common(point))
    proof = LinearProof(
        point=point,
        tight=tuple(tight),
        always=always,
        complete=set(tight) <= always_tight(system, always),
        violation=(0.0, 0.0),
    )
    return Decision(Status.FEASIBLE, proof, method, to_doubles(point))


def _infeasible(system: LinearSystem, weights: Weights, method: str) -> Decision:
    """Return the decision of weights, as whole numbers without a common divisor.

    At every x, w'b / sum |w| is at most the largest violation of a condition.
    """
    whole, _ = over_common(weights.values())
    weights = dict(zip(weights, (Fraction(one, math.gcd(*whole)) for one in whole), strict=True))
    value = contradiction(system, weights)
    assert value is not None
    least = value / sum(map(abs, weights.values()))
    violation = to_double(least, rounding="down"), None
    proof = LinearProof(
        weights=weights, irreducible=irreducible(system, weights), violation=violation
    )
    return Decision(Status.INFEASIBLE, proof, method, np.zeros(len(system.variables)))


def _undecided(
    system: LinearSystem, rows: FloatingRows, proposal: Proposal | None, work: Work
) -> Decision:
    """Return the bracket of the least violation; one of its ends is a point's."""
    said = None if work.asked is None else work.asked()
    status, words = Status.TIME_LIMIT, str(said or "no exact answer within the budget")
    if said is None and work.made >= work.pivots:
        status = Status.UPDATE_LIMIT
    elif said is None and work.left and proposal is not None:
        called = FEASIBLE if proposal.feasible else INFEASIBLE
        status, words = Status.UNVERIFIED, f"{called}; the conditions are too many for exact pivots"
    point = least_violation(rows, max(work.left, 0.0 if said else 1.0))
    if point is None or not np.isfinite(point).all():
        point = np.zeros(len(system.variables))
    largest = system.violation([Fraction(one) for one in point.tolist()])
    return Decision(status, LinearProof(violation=at_most(largest)), words, point)
