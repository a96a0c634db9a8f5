"""The simplex method from a given basis, every number of it exact.

While a variable of the basis is beyond a limit, the dual simplex method takes it there: with the
costs where the basis is dual feasible, else with costs 0. Where no nonbasic variable can take it
there, its row proves that there is no point (Farkas). From a feasible basis the primal simplex
method lowers the costs. By Bland's rule, which takes over after some pivots, it ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from flint import fmpz

from perceptron_lab.algorithms.linear.alternatives import Work
from perceptron_lab.algorithms.linear.exact_basis import (
    AT_LOWER,
    AT_UPPER,
    ExactBasis,
    as_fraction,
)
from perceptron_lab.systems.block_triangular import Quotient, minus

# Pivots by the largest violation, or reduced cost; Bland's rule follows
_LARGEST: Final = 100


@dataclass(frozen=True)
class Outcome:
    """What a basis proves; nothing of the following: that the work is spent.

    Parameters
    ----------
    basis
        The last basis.
    optimal
        Whether it is feasible and has no improving variable.
    contradiction
        Weights of Farkas' lemma, of the conditions as given.
    ray
        A direction r of unbounded descent from the basis, which is feasible: c'r < 0.
    """

    basis: ExactBasis
    optimal: bool = False
    contradiction: Mapping[int, Fraction] = field(default_factory=dict)
    ray: tuple[Fraction, ...] | None = None

    @property
    def ended(self) -> bool:
        """Whether the program is solved."""
        return self.optimal or bool(self.contradiction) or self.ray is not None


def pivoted(basis: ExactBasis, work: Work, most: int | None = None) -> Outcome:
    """Return what the simplex method ends with, or the basis that it reaches.

    Parameters
    ----------
    basis
        Where it begins.
    work
        The pivots that are left, and the time.
    most
        Pivots of this call at most.

    Raises
    ------
    SingularError
        If the basis is singular.
    TimeIsUp
        If a time limit ends within a pivot.
    """
    count = 0
    while True:
        # Bland's rule cannot cycle, but takes more pivots
        bland = count > _LARGEST
        outcome = _dual(basis, bland) if basis.violations else _primal(basis, bland)
        if isinstance(outcome, Outcome):
            return outcome
        # After the step: a basis that proves something needs no further pivot
        if work.spent() or (most is not None and count >= most):
            return Outcome(basis)
        basis = outcome
        work.pivots_made += 1
        count += 1


def _dual(basis: ExactBasis, bland: bool) -> ExactBasis | Outcome:
    """Take a variable of the basis to the limit that it is beyond."""
    violations = basis.violations
    leaving = min(violations) if bland else max(violations, key=lambda at: abs(violations[at]))
    rises = violations[leaving] < 0
    row = basis.row(leaving)
    able = [at for at, (p, _) in row.items() if basis.movable(at, 1 if (p > 0) == rises else -1)]
    if not able:
        return _infeasible(basis, leaving, row, rises)
    # There are no signs of reduced costs that a ratio test would keep
    if basis.improving or not basis.costs:
        entering = min(able) if bland else max(able, key=lambda at: _size(row[at]))
    else:
        entering = min(able, key=lambda at: (*_ratio(basis, row, at), at if bland else 0))
    return basis.exchanged(leaving, AT_LOWER if rises else AT_UPPER, entering)


def _size(value: Quotient) -> Fraction:
    return abs(as_fraction(value))


def _ratio(basis: ExactBasis, row: Mapping[int, Quotient], at: int) -> tuple[Fraction, Fraction]:
    cost, size = basis.reduced_costs.get(at), _size(row[at])
    # Of equal ratios the one with the largest pivot comes first
    return (Fraction() if cost is None else _size(cost) / size), -size


def _infeasible(
    basis: ExactBasis, leaving: int, row: Mapping[int, Quotient], rises: bool
) -> Outcome:
    """Return the proof of a row whose variable cannot get to its limit."""
    width, sign = basis.program.width, 1 if rises else -1
    # Whatever the others do within their limits, the row keeps the variable beyond its own
    multipliers = {at - width: (-sign * p, q) for at, (p, q) in row.items() if at >= width}
    if leaving >= width:
        multipliers[leaving - width] = (fmpz(sign), fmpz(1))
    weights = basis.program.weights(multipliers, {})
    assert weights is not None
    return Outcome(basis, contradiction=weights)


def _primal(basis: ExactBasis, bland: bool) -> ExactBasis | Outcome:
    """Lower the costs from a feasible basis."""
    if not basis.costs or not basis.improving:
        return Outcome(basis, optimal=True)
    costs = basis.reduced_costs
    entering = (
        basis.improving[0] if bland else max(basis.improving, key=lambda at: _size(costs[at]))
    )
    direction = -1 if costs[entering][0] > 0 else 1
    moves = basis.column(entering)
    best: tuple[Fraction, int, int] | None = None
    for at, move in moves.items():
        rises = (move[0] > 0) == (direction > 0)
        limit = (basis.program.upper if rises else basis.program.lower)[at]
        if limit is not None:
            room = _size(minus(limit.quotient, basis.values[at])) / _size(move)
            # Equal rooms: the first variable, as Bland's rule has it
            candidate = room, at, AT_UPPER if rises else AT_LOWER
            best = candidate if best is None else min(best, candidate)
    if best is None:
        width = basis.program.width
        ray = (moves.get(j) for j in range(width))
        along = tuple(Fraction() if r is None else direction * as_fraction(r) for r in ray)
        return Outcome(basis, ray=along)
    _, leaving, state = best
    # It reaches its own other limit first: the basis stays
    if leaving == entering:
        states = basis.states.copy()
        states[entering] = state
        return ExactBasis(basis.program, states)
    return basis.exchanged(leaving, state, entering)
