"""Iterative refinement of linear programs (Gleixner, Steffy, Wolter): exact optimal bases.

HiGHS proposes a basis; its exact solution x* either satisfies all limits, or the program is moved
to x* and its limits are multiplied by a power of two that makes the violations visible in doubles:

    l' = D (l - x*),  L' = D (L - A x*),

and HiGHS resumes from the last basis. What is beyond 10^15 is moved there: whether a basis solves
the program is decided by exact numbers alone. Where no new basis comes, exact pivots follow.

References
----------
A. M. Gleixner, D. E. Steffy, K. Wolter, Iterative refinement for linear programming, INFORMS
Journal on Computing 28 (2016) 449-464.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np
import scipy.sparse as sp
from flint import fmpz

from perceptron_lab.algorithms.linear.alternatives import Work
from perceptron_lab.algorithms.linear.bounded_program import BoundedProgram, Limit
from perceptron_lab.algorithms.linear.exact_basis import (
    AT_LOWER,
    BASIC,
    ExactBasis,
    as_fraction,
)
from perceptron_lab.algorithms.linear.exact_pivots import Outcome, pivoted
from perceptron_lab.algorithms.linear.highs import (
    CONTRADICTION,
    INFINITE,
    UNBOUNDED,
    HighsAnswer,
    HighsProgram,
    Start,
    run_highs,
)
from perceptron_lab.algorithms.linear.proofs import Weights, contradiction
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.systems.block_triangular import Quotient, SingularError
from perceptron_lab.systems.conditions import Condition, bound_conditions
from perceptron_lab.systems.linear_system import LinearSystem

# Sweeps of scaling; finite limits in doubles; refinements; pivots between two of them
_SWEEPS: Final = 4
_FAR: Final = 1e15
_ROUNDS: Final = 12
_FEW: Final = 8
# Variables of a basis, beyond which a pivot takes seconds
_LARGE: Final = 500
# Bits of whole numbers, beyond which they are cut off before they become doubles
_LONG: Final = 64
# Bits of the largest scaled entry: HiGHS refuses entries beyond 1e15
_LARGEST_BITS: Final = 49


@dataclass(frozen=True)
class ScaledProgram:
    """A program in doubles, its rows and columns multiplied by powers of two.

    Parameters
    ----------
    program
        The exact program.
    """

    program: BoundedProgram

    @cached_property
    def _entries(self) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
        """Rows, columns, and magnitudes of the entries as mantissa and exponent."""
        rows = self.program.rows
        counts = [len(row) for row in rows]
        numbers = [entry for row in rows for entry in row.values()]
        columns = np.fromiter(chain.from_iterable(rows), np.int64, len(numbers))
        bits = np.fromiter(map(int.bit_length, numbers), np.int64, len(numbers))
        cut = np.maximum(bits - _LONG, 0)
        shorter = map(operator.rshift, numbers, cut.tolist())
        mantissas, exponents = np.frexp(np.fromiter(shorter, float, len(numbers)))
        return np.repeat(np.arange(len(rows)), counts), columns, mantissas, exponents + cut

    @cached_property
    def exponents(self) -> IntArray:
        """E with x_j = 2^e_j x'_j, and 2^e_(n + i) for activities, shape ``(n + m,)``."""
        width, height = self.program.width, len(self.program.rows)
        rows, columns, mantissas, logs = self._entries
        logs = logs + np.log2(np.abs(mantissas))
        of_rows, of_columns = np.zeros(height), np.zeros(width)
        for _ in range(_SWEEPS):
            of_rows = _middle(logs + of_columns[columns], rows, height)
            of_columns = -_middle(logs - of_rows[rows], columns, width)
        # Whole exponents: scaling by powers of two rounds nothing
        exponents: IntArray = np.rint(np.concatenate([of_columns, of_rows])).astype(np.int64)
        return exponents

    @cached_property
    def matrix(self) -> sp.csr_array:
        """A in doubles, scaled."""
        width, height = self.program.width, len(self.program.rows)
        rows, columns, mantissas, logs = self._entries
        exponents = logs + self.exponents[columns] - self.exponents[width + rows]
        values = np.ldexp(mantissas, np.minimum(exponents, _LARGEST_BITS))
        return sp.csr_array(sp.coo_array((values, (rows, columns)), shape=(height, width)))

    @cached_property
    def _scaled_costs(self) -> dict[int, Fraction]:
        exponents, costs = self.exponents.tolist(), self.program.costs
        return {j: _shifted(cost, exponents[j]) for j, cost in costs.items()}

    @cached_property
    def _unit(self) -> int:
        """The k with 2^-k c in doubles, scaled, the largest near 1."""
        return _log2(max(map(abs, self._scaled_costs.values()), default=Fraction(1)))

    def costs(self) -> FloatArray:
        """Return c in doubles, scaled."""
        costs = np.zeros(self.program.width)
        for j, cost in self._scaled_costs.items():
            # HiGHS's tolerance for reduced costs is absolute: costs are brought near 1
            costs[j] = to_double(_shifted(cost, -self._unit))
        return costs

    def multipliers(self, duals: FloatArray) -> dict[int, Quotient]:
        """Return HiGHS's multipliers exactly, without those of limits that do not exist."""
        program, width = self.program, self.program.width
        exponents = self.exponents[width:].tolist()
        exact = (
            _shifted(Fraction(dual), self._unit - exponent)
            for dual, exponent in zip(duals.tolist(), exponents, strict=True)
        )
        return {
            i: (fmpz(y.numerator), fmpz(y.denominator))
            for i, y in enumerate(exact)
            # HiGHS's rounding leaves such signs; they would ask for a limit that is missing
            if y and (program.lower if y > 0 else program.upper)[width + i] is not None
        }

    def around(self, basis: ExactBasis | None) -> HighsProgram:
        """Return the program moved to the solution of a basis, or as it is, for HiGHS."""
        program, exponents = self.program, self.exponents.tolist()
        values: list[Fraction | int] = [0] * len(exponents)
        zoom = 0
        if basis is not None:
            values = list(map(as_fraction, basis.values))
            sizes = (abs(v) * Fraction(2) ** -exponents[at] for at, v in basis.violations.items())
            # The largest violation becomes about 1, so that HiGHS's tolerances are parts of it
            zoom = -_log2(max(sizes))

        def scaled(limits: Sequence[Limit | None], missing: float) -> FloatArray:
            numbers = np.full(len(limits), missing)
            for at, limit in enumerate(limits):
                if limit is not None:
                    distance = limit.value - values[at] if values[at] else limit.value
                    exact = _shifted(distance, zoom - exponents[at])
                    numbers[at] = min(max(to_double(exact), -_FAR), _FAR)
            return numbers

        check_time()
        lower, upper = scaled(program.lower, -INFINITE), scaled(program.upper, INFINITE)
        width = program.width
        columns, rows = (lower[:width], upper[:width]), (lower[width:], upper[width:])
        return HighsProgram(self.costs(), columns, self.matrix, rows)


def _middle(logs: FloatArray, groups: IntArray, count: int) -> FloatArray:
    """Return the middle between least and largest of each group; 0 for empty ones."""
    least, largest = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, groups, logs)
    np.maximum.at(largest, groups, logs)
    empty = np.isinf(least)
    least[empty] = largest[empty] = 0.0
    middle: FloatArray = 0.5 * (least + largest)
    return middle


def _log2(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()


def _shifted(value: Fraction, exponent: int) -> Fraction:
    """Return 2^exponent times a number."""
    return value * (1 << exponent) if exponent >= 0 else value / (1 << -exponent)


@dataclass
class Refinement:
    """The way to an exact solution of a program.

    Parameters
    ----------
    program
        The program.
    work
        Exact pivots that are left; what was made is counted there.
    iterations
        Iterations of HiGHS's simplex method.
    claim
        HiGHS's first status.
    last
        The last basis.
    proposal
        The last basis that HiGHS proposed.
    multipliers
        Of the rows, by HiGHS's first answer, the optimum or not; they prove a bound, if no good
        one.
    """

    program: BoundedProgram
    work: Work
    iterations: int = 0
    claim: str = ""
    last: Outcome | None = None
    proposal: ExactBasis | None = None
    multipliers: Mapping[int, Quotient] = field(default_factory=dict)

    def solved(self) -> Outcome | None:
        """Return what is proved; None where no basis comes, or the pivots are spent.

        Raises
        ------
        TimeIsUp
            If a time limit ends first; ``last`` has the last basis.
        """
        for basis in self._proposed():
            # Where each pivot takes seconds, the least violation of the rows is cheaper
            costly = self.claim == CONTRADICTION and len(basis.solved) > _LARGE
            self.proposal = basis
            with suppress(SingularError):
                self.last = pivoted(basis, self.work, 0 if costly else _FEW)
                if self.last.ended:
                    return self.last
        if self.claim == CONTRADICTION:
            weights = self._elastic_weights()
            if weights:
                return Outcome(self.slack(), contradiction=weights)
        if self.claim in UNBOUNDED:
            outcome = self._receding()
            if outcome is not None:
                return outcome
        start = self.last.basis if self.last is not None else self.slack()
        self.last = pivoted(start, self.work)
        return self.last if self.last.ended else None

    def _elastic_weights(self) -> Weights:
        """Return Farkas' weights from the least total violation of the rows, or nothing.

        That program has a point and a minimum, whatever HiGHS says of this one.
        """
        system, _ = elastic(self.program.system)
        width = len(self.program.system.variables)
        costs = dict.fromkeys(range(width, len(system.variables)), Fraction(1))
        program = BoundedProgram.of(system, costs)
        outcome = self._part(program)
        if outcome is None or not outcome.optimal:
            return {}
        weights = program.weights(outcome.basis.duals, costs) or {}
        count = len(self.program.system.conditions)
        # Weights of the signs s >= 0 say nothing about the system itself
        of_rows = {k: weight for k, weight in weights.items() if k < count}
        return {} if contradiction(self.program.system, of_rows) is None else of_rows

    def _receding(self) -> Outcome | None:
        """Return a feasible basis with a ray, or a contradiction; None without a ray.

        The ray minimises the costs over the directions of the set with entries from -1 to 1, which
        has an optimum, whatever HiGHS says of this program.
        """
        program, system = self.program, self.program.system
        directions = BoundedProgram.of(recession(system), program.costs)
        outcome = self._part(directions)
        if outcome is None or not outcome.optimal or not directions.value(outcome.basis.point) < 0:
            return None
        # A ray proves nothing without a point from which it starts
        feasible = self._part(BoundedProgram.of(system, {}))
        if feasible is None or feasible.contradiction:
            return feasible
        return Outcome(feasible.basis, ray=outcome.basis.point)

    def _part(self, program: BoundedProgram) -> Outcome | None:
        """Solve another program, within the same work."""
        search = Refinement(program, self.work)
        outcome = search.solved()
        self.iterations += search.iterations
        return outcome

    def _proposed(self) -> Iterator[ExactBasis]:
        """Yield new bases that HiGHS proposes, each from the exact solution of the last."""
        scaled = ScaledProgram(self.program)
        answer = self._answer(scaled.around(None), Start(presolve=True))
        self.claim = answer.status
        if len(answer.duals) == len(self.program.rows) and np.isfinite(answer.duals).all():
            self.multipliers = scaled.multipliers(answer.duals)
        # Presolve may decide without a basis
        if answer.states is None:
            answer = self._answer(scaled.around(None), Start())
        proposals = set[bytes]()
        for _ in range(_ROUNDS):
            if answer.states is None or answer.states.tobytes() in proposals:
                return
            # A basis that comes a second time would come again and again
            proposals.add(answer.states.tobytes())
            yield ExactBasis.of(self.program, answer.states)
            # Nothing is left to scale up: optimality is a matter of exact pivots
            if self.last is None or not self.last.basis.violations:
                return
            basis = self.last.basis
            proposals.add(basis.states.tobytes())
            answer = self._answer(scaled.around(basis), Start(basis.states))

    def _answer(self, program: HighsProgram, start: Start) -> HighsAnswer:
        answer = run_highs(program, start)
        self.iterations += answer.iterations
        return answer

    def slack(self) -> ExactBasis:
        """Return the basis of all activities."""
        width, height = self.program.width, len(self.program.rows)
        states = np.full(width + height, AT_LOWER, dtype=np.int8)
        states[width:] = BASIC
        return ExactBasis.of(self.program, states)


def elastic(
    system: LinearSystem, multiples: Mapping[int, int] | None = None
) -> tuple[LinearSystem, list[tuple[int, int]]]:
    """Return the system in which some conditions may be violated, by new variables s, t >= 0.

    Inequalities become a'x + m s >= b, equations a'x + m (s - t) = b. The variables and conditions
    of the system come first, in their order.

    Parameters
    ----------
    multiples
        Condition in whole numbers -> m > 0; those that it lacks stay. None: the largest entries of
        the conditions on several variables.

    Returns
    -------
    system, owners
        The system, and of each new variable its condition and its sign in it.
    """
    if multiples is None:
        rows = enumerate(system.conditions)
        multiples = {k: max(map(abs, r.coefficients)) for k, r in rows if len(r.columns) > 1}
    width, owners, conditions = len(system.variables), list[tuple[int, int]](), list[Condition]()
    for k, row in enumerate(system.conditions):
        # Inequalities are >=, and only a smaller right-hand side helps; equations change both ways
        signs = (1, -1)[: (k in multiples) * (1 + row.equation)]
        columns = tuple(width + len(owners) + i for i in range(len(signs)))
        entries = tuple(sign * multiples[k] for sign in signs)
        owners += [(k, sign) for sign in signs]
        conditions.append(
            row._replace(columns=row.columns + columns, coefficients=row.coefficients + entries)
        )
    names = [f"violation {i + 1}" for i in range(len(owners))]
    every = (*system.variables, *names)
    at_least_0 = bound_conditions([None] * width + [Fraction(0)] * len(names), [], every)
    return LinearSystem((*conditions, *at_least_0), every), owners


def recession(system: LinearSystem) -> LinearSystem:
    """Return the directions of a system with entries from -1 to 1: right-hand sides are 0."""
    names = system.variables
    box = bound_conditions([Fraction(-1)] * len(names), [Fraction(1)] * len(names), names)
    conditions = [row._replace(right=0) for row in system.conditions]
    return LinearSystem.of_conditions([*conditions, *box], names)
