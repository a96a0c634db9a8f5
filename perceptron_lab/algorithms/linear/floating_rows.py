"""A linear system as HiGHS sees it: doubles, each condition divided by its largest coefficient."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import highspy
import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time, seconds_left
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.systems.linear_system import LinearSystem


class QuietHighs(highspy.Highs):
    """A solver of HiGHS without output.

    Release 1.16 prints its name while a solver is made, before an option can be set: the console is
    closed in the middle of its construction.
    """

    def enableCallbacks(self) -> Any:
        """Close the console, then do what the constructor asks for."""
        self.setOptionValue("log_to_console", False)
        return super().enableCallbacks()  # type: ignore[no-untyped-call]


INFINITE = highspy.kHighsInf
OPTIMAL, CONTRADICTION = "Optimal", "Infeasible"
"""HiGHS's names of its statuses."""
FAILED = "it ended with an error"
"""What comes before HiGHS's own word where it says so."""
QUICK = 15_000
"""Entries of a program up to which HiGHS takes about half a second at most, even if it is dense."""


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
        Of the whole numbers of a condition, exact.
    equation
        Which are equations.
    """

    matrix: sp.csr_array
    right: FloatArray
    largest: tuple[int, ...]
    equation: Any


def floating_rows(system: LinearSystem) -> FloatingRows:
    """Return the conditions of a system in doubles.

    A right-hand side that is beyond doubles, once divided, becomes the largest double.
    """
    largest = tuple(max(map(abs, one.coefficients), default=1) for one in system.conditions)
    pairs = list(zip(system.conditions, largest, strict=True))
    check_time()
    values = [to_double(number, most) for one, most in pairs for number in one.coefficients]
    columns = [j for one, _ in pairs for j in one.columns]
    ends = np.cumsum([0, *(len(one.columns) for one, _ in pairs)])
    shape = (len(pairs), len(system.variables))
    return FloatingRows(
        sp.csr_array((np.array(values, dtype=float), columns, ends), shape=shape),
        np.array([to_double(one.right, most) for one, most in pairs], dtype=float),
        largest,
        np.array([one.equation for one, _ in pairs], dtype=bool),
    )


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
        Of the simplex method.
    ray
        Of the rows, that proves infeasibility, nearly; None where there is none.
    """

    status: str
    values: FloatArray
    duals: FloatArray
    iterations: int
    ray: FloatArray | None = None

    @property
    def optimal(self) -> bool:
        """Whether HiGHS calls it solved."""
        return self.status == OPTIMAL


class HighsProgram(NamedTuple):
    """Minimise costs'v subject to bounds of v, ``columns``, and of matrix @ v, ``rows``."""

    costs: FloatArray
    columns: tuple[FloatArray, FloatArray]
    matrix: sp.csr_array
    rows: tuple[FloatArray, FloatArray]


def run_highs(program: HighsProgram) -> HighsAnswer:
    """Solve a program by HiGHS on one thread.

    Raises
    ------
    TimeIsUp
        If a time limit ends before HiGHS says anything.
    """
    given = program, seconds_left()
    quick = program.matrix.nnz <= QUICK
    return solved_here(*given) if quick else killable(solved_here, *given)


def solved_here(program: HighsProgram, seconds: float) -> HighsAnswer:
    """Return what :func:`run_highs` does, in this process, some seconds or many more.

    HiGHS has a scheduler per thread, whose number of threads is that of the first call and refused
    to be another later. So it is called in a thread of its own: neither a scheduler of a caller's
    is met here, nor is ours left behind for it.
    """
    with ThreadPoolExecutor(1) as alone:
        return alone.submit(_solved, program, seconds).result()


def _solved(program: HighsProgram, seconds: float) -> HighsAnswer:
    solver = _loaded(program, seconds)
    ended = solver.run()
    status = solver.modelStatusToString(solver.getModelStatus())
    if ended == highspy.HighsStatus.kError:
        status = f"{FAILED} ({status})"
    found, ray = solver.getSolution(), None
    if status == CONTRADICTION:
        _, there, values = solver.getDualRay()
        ray = np.array(values, dtype=float) if there else None
    return HighsAnswer(
        status,
        np.array(found.col_value, dtype=float),
        np.array(found.row_dual, dtype=float),
        max(int(solver.getInfo().simplex_iteration_count), 0),
        ray,
    )


def _loaded(given: HighsProgram, seconds: float) -> Any:
    """Return a silent HiGHS with a program."""
    matrix, program = given.matrix, highspy.HighsLp()
    program.num_col_, program.num_row_ = matrix.shape[1], matrix.shape[0]
    program.col_cost_ = given.costs
    program.col_lower_, program.col_upper_ = given.columns
    program.row_lower_, program.row_upper_ = given.rows
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = matrix.indptr
    program.a_matrix_.index_ = matrix.indices
    program.a_matrix_.value_ = matrix.data
    solver = QuietHighs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("time_limit", min(max(seconds, 0.01), INFINITE))
    solver.passModel(program)
    return solver
