"""Exact optima of linear programs, with points and dual weights that prove them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction

from perceptron_lab.algorithms.linear.alternatives import Work
from perceptron_lab.algorithms.linear.bounded_program import BoundedProgram
from perceptron_lab.algorithms.linear.exact_pivots import Outcome
from perceptron_lab.algorithms.linear.proofs import Weights, contradiction, least_cost, recedes
from perceptron_lab.algorithms.linear.refinement import Refinement
from perceptron_lab.core.results import Status
from perceptron_lab.core.time_limit import TimeIsUp, last_proofs
from perceptron_lab.systems.block_triangular import Quotient
from perceptron_lab.systems.linear_system import LinearSystem


@dataclass(frozen=True, repr=False)
class ExactOptimum:
    """What is proved about min c'x subject to linear conditions, in exact numbers.

    Parameters
    ----------
    status
        FEASIBLE: ``lower == upper`` is the optimum. INFEASIBLE: there is no point. UNBOUNDED:
        c'x falls without end along ``ray`` from ``point``. TIME_LIMIT, UPDATE_LIMIT: a bracket.
    point
        x, feasible, with c'x = ``upper``; None where none is known.
    weights
        Of conditions as given, >= 0 for inequalities: sum_k w_k a_k = c and sum_k w_k b_k =
        ``lower``; if infeasible, Farkas' weights: sum_k w_k a_k = 0 and sum_k w_k b_k > 0.
    ray
        r with a_k'r >= 0, or = 0 for equations, and c'r < 0.
    lower, upper
        Proved bounds of the optimum; None for infinite ones.
    pivots, iterations
        Exact pivots, and iterations of HiGHS.
    """

    status: Status
    point: tuple[Fraction, ...] | None = None
    weights: Weights = field(default_factory=dict)
    ray: tuple[Fraction, ...] | None = None
    lower: Fraction | None = None
    upper: Fraction | None = None
    pivots: int = 0
    iterations: int = 0

    @property
    def value(self) -> Fraction | None:
        """The optimum, where it is proved."""
        return self.lower if self.status is Status.FEASIBLE else None


def minimised(
    system: LinearSystem, costs: Mapping[int, Fraction], pivots: int = 1_000_000
) -> ExactOptimum:
    """Return the exact minimum of c'x over a linear system, or a bracket when the time is up.

    HiGHS proposes bases, which are solved, checked and refined exactly: see :class:`.Refinement`.
    Every answer is checked on the conditions as given. Without costs the minimum is 0 at any
    feasible point: that decides whether there is one.

    Parameters
    ----------
    system
        The conditions.
    costs
        c: variable -> number; others are 0.
    pivots
        Exact pivots at most. The time is that of the time limit.

    Returns
    -------
    optimum
        Its numbers are proved; floating-point answers are only proposals.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from perceptron_lab.systems.linear_system import linear_system
    >>> system = linear_system([[3, 1], [1, 2]], [4, 3], lower=0)
    >>> optimum = minimised(system, {0: Fraction(1), 1: Fraction(1)})
    >>> print(optimum.value, *optimum.point, *optimum.weights.values())
    2 1 1 1/5 2/5
    """
    search, status = None, Status.TIME_LIMIT
    work = Work(pivots)
    with suppress(TimeIsUp):
        search = Refinement(BoundedProgram.of(system, costs), work)
        optimum = _solved(search)
        if optimum is not None:
            return replace(optimum, pivots=work.pivots_made, iterations=search.iterations)
        status = Status.UPDATE_LIMIT
    if search is None:
        return ExactOptimum(status)
    return replace(_bracket(search, status), pivots=work.pivots_made, iterations=search.iterations)


def _solved(search: Refinement) -> ExactOptimum | None:
    """Return the solution of a program; None if the pivots are spent."""
    weights = search.program.contradiction()
    if weights is not None:
        return ExactOptimum(Status.INFEASIBLE, weights=weights)
    outcome = search.solved()
    # A basis that came in time may be proved a little later
    with last_proofs():
        return None if outcome is None else _proved(search.program, outcome)


def _proved(program: BoundedProgram, outcome: Outcome) -> ExactOptimum:
    """Return what an outcome proves, checked on the conditions as given."""
    if outcome.contradiction:
        assert contradiction(program.system, outcome.contradiction) is not None
        return ExactOptimum(Status.INFEASIBLE, weights=outcome.contradiction)
    # Checked on the conditions as given: an error in the program made of them proves nothing
    point = outcome.basis.point
    assert not program.system.violation(point)
    value = program.value(point)
    if outcome.ray is not None:
        assert recedes(program.system, outcome.ray, program.costs)
        return ExactOptimum(Status.UNBOUNDED, point, ray=outcome.ray, upper=value)
    weights = program.weights(outcome.basis.duals, program.costs)
    assert weights is not None
    assert least_cost(program.system, weights, program.costs) == value
    return ExactOptimum(Status.FEASIBLE, point, weights, lower=value, upper=value)


def _bracket(search: Refinement, status: Status) -> ExactOptimum:
    """Return bounds from multipliers, and from the point of a basis if that is feasible.

    Bases are that of all activities, which takes no time, and the last ones. Whatever the
    multipliers y are, c - A'y is made up for by bounds of variables where these exist (Neumaier
    and Shcherbina, Mathematical Programming 99, 2004).
    """
    optimum, program = ExactOptimum(status), search.program
    with last_proofs(), suppress(TimeIsUp, ArithmeticError):
        optimum = _bounded_below(optimum, program, search.multipliers)
        last = None if search.last is None else search.last.basis
        for basis in filter(None, (search.slack(), last, search.proposal)):
            optimum = _bounded_below(optimum, program, basis.duals)
            value = None if basis.violations else program.value(basis.point)
            if value is not None and (optimum.upper is None or value < optimum.upper):
                optimum = replace(optimum, point=basis.point, upper=value)
    # A bracket without width is the optimum, whatever ended the search
    met = optimum.upper is not None and optimum.lower == optimum.upper
    return replace(optimum, status=Status.FEASIBLE) if met else optimum


def _bounded_below(
    optimum: ExactOptimum, program: BoundedProgram, multipliers: Mapping[int, Quotient]
) -> ExactOptimum:
    """Return the bracket with the bound that multipliers prove, where that is larger."""
    weights = program.weights(multipliers, program.costs)
    lower = None if weights is None else least_cost(program.system, weights, program.costs)
    if weights is None or lower is None or (optimum.lower is not None and lower <= optimum.lower):
        return optimum
    return replace(optimum, weights=weights, lower=lower)
