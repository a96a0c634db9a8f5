"""HiGHS on linear programs: silent, on one thread, from a given basis, ended in time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import highspy
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import seconds_left

INFINITE = highspy.kHighsInf
OPTIMAL, CONTRADICTION = "Optimal", "Infeasible"
"""HiGHS's names of these statuses."""
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
class HighsAnswer:
    """HiGHS's answer to a program.

    Parameters
    ----------
    status
        HiGHS's own name of it, after :data:`FAILED` where it ended with an error.
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
