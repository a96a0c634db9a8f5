"""A linear system for HiGHS: doubles, each condition divided by its largest coefficient.

HiGHS proposes strictly complementary pairs and vertices of Farkas' alternative. Of the conditions
g_k'x >= h_k (k in I) and c_l'x = d_l, made homogeneous by t >= 0,

    max sum_k s_k + s_0  subject to  g_k'x - h_k t >= s_k,  c_l'x = d_l t,  t >= s_0,  0 <= s <= 1

has s in {0, 1} at its optimum, for points of a cone add up and can be multiplied: s_k = 1 where
g_k'x > h_k t is possible at all, and the multipliers y_k >= 1 where it is not. That is a strictly
complementary pair (Goldman and Tucker, Theory of linear programming, 1956; the program is that of
Freund, Roundy and Todd, 1985). s_0 = 1: x / t is a point, strict wherever a point can be; s_0 = 0:
the multipliers are weights of Farkas' lemma.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import highspy
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time, seconds_left
from perceptron_lab.numerics.exact_doubles import quotients, to_double
from perceptron_lab.systems.conditions import Condition
from perceptron_lab.systems.linear_system import LinearSystem

INFINITE = highspy.kHighsInf
OPTIMAL, CONTRADICTION = "Optimal", "Infeasible"
"""HiGHS's names of its statuses."""
UNBOUNDED = ("Unbounded", "Primal infeasible or unbounded")
"""Its names of programs that may have no minimum."""
FAILED = "it ended with an error"
"""The text before HiGHS's own status in messages."""
QUICK = 15_000
"""Entries of a program up to which HiGHS takes about half a second at most, even if it is dense."""
_PRECISE = {
    "solver": "simplex",
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
    "small_matrix_value": 1e-12,
}
_SHARE = 0.9
# Iterations of the simplex method for a complementary pair. They are counted, and not timed: which
# proof an answer has must not depend on what else the machine does
PAIR_ITERATIONS = 20_000
# Weights below this part of the largest may stand for zeros
NOTHING = 1e-9


class QuietHighs(highspy.Highs):
    """A solver of HiGHS without output.

    Release 1.16 prints its name while a solver is made, before an option can be set: the console is
    closed in the middle of its construction.
    """

    def enableCallbacks(self) -> Any:
        """Close the console, then do what the constructor asks for."""
        self.setOptionValue("log_to_console", False)
        return super().enableCallbacks()  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class FloatingRows:
    """The conditions in doubles; HiGHS only proposes answers by them.

    Parameters
    ----------
    matrix
        a_k / largest_k, shape ``(K, n)``; an empty row is divided by 1.
    right
        b_k / largest_k, shape ``(K,)``.
    largest
        The largest whole number of each condition, exact.
    equation
        Mask of the conditions that are equations.
    """

    matrix: sp.csr_array
    right: FloatArray
    largest: tuple[int, ...]
    equation: npt.NDArray[np.bool_]


def floating_rows(system: LinearSystem) -> FloatingRows:
    """Return the conditions of a system in doubles.

    A right-hand side that is beyond doubles, once divided, becomes the largest double.
    """
    largest = tuple(max(map(abs, row.coefficients), default=1) for row in system.conditions)
    pairs = list(zip(system.conditions, largest, strict=True))
    check_time()
    return FloatingRows(
        double_matrix(pairs, len(system.variables)),
        np.array([to_double(row.right, most) for row, most in pairs], dtype=float),
        largest,
        np.array([row.equation for row, _ in pairs], dtype=bool),
    )


def double_matrix(pairs: Sequence[tuple[Condition, int]], width: int) -> sp.csr_array:
    """Return the coefficients of conditions in doubles, each condition divided by a number > 0."""
    values = [value for row, divisor in pairs for value in quotients(row.coefficients, divisor)]
    columns = [j for row, _ in pairs for j in row.columns]
    ends = np.cumsum([0, *(len(row.columns) for row, _ in pairs)])
    entries = np.array(values, dtype=float), columns, ends
    return sp.csr_array(entries, shape=(len(pairs), width))


@dataclass(frozen=True)
class HighsAnswer:
    """HiGHS's answer to a program.

    Parameters
    ----------
    status
        HiGHS's own word; that it has ended with an error comes first.
    values, duals
        Of the columns, and of the rows; what it has of them.
    iterations
        Iterations of the simplex method.
    ray
        A ray of the rows that nearly proves infeasibility, or None.
    states
        The final basis: where each column and each row is, in HiGHS's numbers (0 lower, 1 basic,
        2 upper, 3 free); None without a basis.
    """

    status: str
    values: FloatArray
    duals: FloatArray
    iterations: int
    ray: FloatArray | None = None
    states: npt.NDArray[np.int8] | None = None

    @property
    def optimal(self) -> bool:
        """Whether HiGHS reports an optimal solution."""
        return self.status == OPTIMAL


class HighsProgram(NamedTuple):
    """Minimise costs'v subject to bounds of v, ``columns``, and of matrix @ v, ``rows``."""

    costs: FloatArray
    columns: tuple[FloatArray, FloatArray]
    matrix: sp.csr_array
    rows: tuple[FloatArray, FloatArray]


class Start(NamedTuple):
    """How the simplex method begins, with the least tolerances that HiGHS has.

    Parameters
    ----------
    states
        A basis, as :class:`HighsAnswer` has it; None for HiGHS's own.
    presolve
        Whether presolve may be used; not with a basis.
    """

    states: npt.NDArray[np.int8] | None = None
    presolve: bool = False


def run_highs(
    program: HighsProgram, start: Start | None = None, iterations: int | None = None
) -> HighsAnswer:
    """Solve a program by HiGHS on one thread.

    Parameters
    ----------
    program
        The program.
    start
        How the simplex method begins; None leaves everything to HiGHS.
    iterations
        Of the simplex method at most; None for no such limit.

    Raises
    ------
    TimeIsUp
        If a time limit ends before HiGHS says anything.
    """
    # HiGHS ends a little before its process is killed, so that its last multipliers are known
    arguments = program, _SHARE * seconds_left(), start, iterations
    quick = program.matrix.nnz <= QUICK
    return solved_here(*arguments) if quick else killable(solved_here, *arguments)


def solved_here(
    program: HighsProgram,
    seconds: float,
    start: Start | None = None,
    iterations: int | None = None,
) -> HighsAnswer:
    """Solve as :func:`run_highs` does, in this process, in some seconds or many more.

    HiGHS has a scheduler per thread, whose number of threads is that of the first call and refused
    to be another later. So it is called in a separate thread: this call neither meets a caller's
    scheduler nor leaves its own behind.
    """
    with ThreadPoolExecutor(1) as alone:
        return alone.submit(_solved, program, seconds, start, iterations).result()


def _solved(
    program: HighsProgram, seconds: float, start: Start | None, iterations: int | None
) -> HighsAnswer:
    solver = _loaded(program, seconds)
    if iterations is not None:
        solver.setOptionValue("simplex_iteration_limit", iterations)
    if start is not None:
        _begin(solver, program.matrix.shape[1], start)
    ended = solver.run()
    status = solver.modelStatusToString(solver.getModelStatus())
    if ended == highspy.HighsStatus.kError:
        status = f"{FAILED} ({status})"
    solution, ray = solver.getSolution(), None
    if status == CONTRADICTION:
        _, there, values = solver.getDualRay()
        ray = np.array(values, dtype=float) if there else None
    return HighsAnswer(
        status,
        np.array(solution.col_value, dtype=float),
        np.array(solution.row_dual, dtype=float),
        max(int(solver.getInfo().simplex_iteration_count), 0),
        ray,
        _states(solver.getBasis()),
    )


def _begin(solver: Any, width: int, start: Start) -> None:
    """Set what a start of the simplex method needs."""
    for name, value in _PRECISE.items():
        solver.setOptionValue(name, value)
    if start.presolve:
        return
    # With presolve it would not start from a basis
    solver.setOptionValue("presolve", "off")
    if start.states is not None:
        kinds = [highspy.HighsBasisStatus(int(state)) for state in start.states]
        basis = highspy.HighsBasis()
        basis.col_status, basis.row_status = kinds[:width], kinds[width:]
        basis.valid = True
        solver.setBasis(basis)


def _states(basis: Any) -> npt.NDArray[np.int8] | None:
    if not basis.valid:
        return None
    return np.array([int(kind) for kind in (*basis.col_status, *basis.row_status)], dtype=np.int8)


def _loaded(source: HighsProgram, seconds: float) -> Any:
    """Return a silent HiGHS with a program."""
    matrix, program = source.matrix, highspy.HighsLp()
    program.num_col_, program.num_row_ = matrix.shape[1], matrix.shape[0]
    program.col_cost_ = source.costs
    program.col_lower_, program.col_upper_ = source.columns
    program.row_lower_, program.row_upper_ = source.rows
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = matrix.indptr
    program.a_matrix_.index_ = matrix.indices
    program.a_matrix_.value_ = matrix.data
    solver = QuietHighs()  # type: ignore[no-untyped-call]
    # The same pivots, and so the same proof, on every machine
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("time_limit", min(max(seconds, 0.01), INFINITE))
    solver.passModel(program)
    return solver


@dataclass(frozen=True)
class HighsProposal:
    """An answer in doubles, not yet proved.

    Parameters
    ----------
    feasible
        Whether there seems to be a point.
    point
        x, shape ``(n,)``.
    tight
        The inequalities that seem to be tight at every point, ascending.
    weights
        Of the conditions in whole numbers, shape ``(K,)``: y and z.
    iterations
        Iterations of HiGHS's simplex method.
    """

    feasible: bool
    point: FloatArray
    tight: IntArray
    weights: FloatArray
    iterations: int


def complementary_pair(rows: FloatingRows) -> HighsProposal | None:
    """Return the pair that HiGHS finds within PAIR_ITERATIONS, or None.

    TimeIsUp is raised where the time ends first, NumericalError where HiGHS ends with an error.
    """
    count, width = rows.matrix.shape
    free = np.flatnonzero(~rows.equation)
    slack = sp.csr_array(
        (np.full(len(free), -1.0), (free, np.arange(len(free)))), shape=(count, len(free) + 1)
    )
    first = sp.csr_array(
        ([1.0, -1.0], ([0, 0], [width, width + 1 + len(free)])), shape=(1, width + 2 + len(free))
    )
    body = sp.hstack([rows.matrix, sp.csr_array(-rows.right[:, None]), slack])
    matrix = sp.csr_array(sp.vstack([body, first]))
    unknowns = matrix.shape[1]
    lower = np.full(unknowns, -INFINITE)
    lower[width:] = 0.0
    upper = np.full(unknowns, INFINITE)
    # s <= 1: on a cone the sum has no maximum otherwise
    upper[width + 1 :] = 1.0
    costs = np.zeros(unknowns)
    costs[width + 1 :] = -1.0
    above = np.append(np.where(rows.equation, 0.0, INFINITE), INFINITE)
    program = HighsProgram(costs, (lower, upper), matrix, (np.zeros(count + 1), above))
    solution = run_highs(program, iterations=PAIR_ITERATIONS)
    if solution.status.startswith(FAILED):
        raise NumericalError(f"HiGHS gives no answer: {solution.status}")
    if not solution.optimal or len(solution.values) != unknowns:
        return None
    # The conditions are homogeneous: at an optimum every slack is 0 or 1, but for rounding
    feasible = bool(solution.values[-1] > 0.5)
    scale = solution.values[width] if feasible else 1.0
    return HighsProposal(
        feasible,
        solution.values[:width] / (scale or 1.0),
        free[solution.values[width + 1 : -1] < 0.5],
        solution.duals[:-1],
        solution.iterations,
    )


def farkas_vertex(rows: FloatingRows, support: IntArray) -> FloatArray | None:
    """Return weights y >= 0, z of some conditions at a vertex of Farkas' alternative, or None.

    y'G + z'C = 0, y'h + z'd = 1. The supports of its vertices are the irreducible contradictions
    (Gleeson and Ryan, ORSA Journal on Computing 2, 1990).

    Parameters
    ----------
    support
        The conditions that may have weights.
    """
    part = sp.csr_array(rows.matrix[support])
    columns = sp.csr_array(sp.vstack([part.T, sp.csr_array(rows.right[support][None, :])]))
    target = np.append(np.zeros(rows.matrix.shape[1]), 1.0)
    lower = np.where(rows.equation[support], -INFINITE, 0.0)
    upper = np.full(len(support), INFINITE)
    # Costs that are bounded below, so that HiGHS ends at a vertex
    costs = np.where(rows.equation[support], 0.0, 1.0)
    solution = run_highs(HighsProgram(costs, (lower, upper), columns, (target, target)))
    if not solution.optimal or len(solution.values) != len(support):
        return None
    weights = np.zeros(rows.matrix.shape[0])
    weights[support] = solution.values
    return weights


def of_whole(rows: FloatingRows, weights: FloatArray) -> list[Fraction]:
    """Return weights of the divided conditions as those of the whole ones, small ones 0."""
    largest = float(np.abs(weights).max(initial=0.0))
    significant = np.where(np.abs(weights) > NOTHING * largest, weights, 0.0)
    significant = np.where(rows.equation, significant, np.maximum(significant, 0.0))
    return [
        Fraction(weight) / most
        for weight, most in zip(significant.tolist(), rows.largest, strict=True)
    ]


def least_violation(rows: FloatingRows) -> FloatArray | None:
    """Return a point with (nearly) the least violation of the divided conditions, or None."""
    count, width = rows.matrix.shape
    ones = sp.csr_array(np.ones((count, 1)))
    below = sp.hstack([rows.matrix, ones])
    equal = sp.hstack([rows.matrix[rows.equation], -ones[rows.equation]])
    matrix = sp.csr_array(sp.vstack([below, equal]))
    extra = matrix.shape[0] - count
    lower = np.append(np.full(width, -INFINITE), 0.0)
    limits = np.append(rows.right, np.full(extra, -INFINITE))
    above = np.append(np.full(count, INFINITE), rows.right[rows.equation])
    upper = np.full(width + 1, INFINITE)
    costs = np.append(np.zeros(width), 1.0)
    solution = run_highs(HighsProgram(costs, (lower, upper), matrix, (limits, above)))
    return solution.values[:-1] if solution.optimal and len(solution.values) == width + 1 else None
