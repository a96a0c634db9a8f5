"""External solvers for semidefinite programs: approximate primal and dual solutions.

The module converts a program to block form and to SDPA's format, as external solvers read it, and
finds strictly feasible points of the primal and of the dual problem with the same solver. With
F_0 + s I in place of F_0, every feasible x has F(x) >= s I. With c_i - s tr F_i in place of c_i,
every feasible Y gives a feasible X = Y + s I >= s I of the original dual problem. Such solutions
are strictly feasible, and nearly optimal if s is small. The primal and the dual problem are
perturbed separately, since one of them may have no interior, which makes the program hard for
solvers.

References
----------
C. Jansson, D. Chaykin, C. Keil, Rigorous error bounds for the optimal value in semidefinite
programming, SIAM Journal on Numerical Analysis 46 (2007) 180-200, where bounds come from solutions
of programs perturbed in this way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from perceptron_lab.algorithms.external.base import QUICK, quiet
from perceptron_lab.algorithms.external.direct import ClarabelDirect, Direct, ScsDirect, Solved
from perceptron_lab.algorithms.external.largest_margin import ERRORS
from perceptron_lab.algorithms.external.sdpa_format import Blocks
from perceptron_lab.algorithms.external.sdpa_programs import Csdp, Dsdp, Sdpa, SdpaProgram
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import row_indices
from perceptron_lab.cones.semidefinite import Semidefinite, matrices_of
from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.optima.levels import (
    blocks_without_first,
    coefficients,
    objective_of,
)
from perceptron_lab.problems.optima.lower_bounds import DualProblem
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import SdpaData


@dataclass(frozen=True, eq=False)
class BlockProgram:
    """Minimise c'x subject to F(x) = sum_i x_i F_i - F_0 in a product of matrices and rows.

    Parameters
    ----------
    objective
        c, shape ``(m,)``.
    rows
        Entries of F_1, ..., F_m by columns, shape ``(size, m)``.
    constant
        Entries of F_0, shape ``(size,)``.
    blocks
        The cones and where they lie in the entries.
    identity
        The entries of I, shape ``(size,)``.
    """

    objective: FloatArray
    rows: sp.csr_array
    constant: FloatArray
    blocks: list[tuple[Cone, slice]]
    identity: FloatArray

    @classmethod
    def of(cls, system: ConicSystem) -> BlockProgram:
        """Return the program of a homogenised system with an objective, with the same patterns."""
        objective, identity = objective_of(system).values, system.cone.identity[1:]
        return cls(objective, *coefficients(system), blocks_without_first(system), identity)

    def perturbed(self, slack: float = 0.0, multiplier: float = 0.0) -> BlockProgram:
        """Return the perturbed program of F(x) - slack I and X = Y + multiplier I.

        Its feasible x have F(x) >= slack I; X satisfies <F_i, X> = c_i where <F_i, Y> is
        c_i - multiplier tr F_i, and X >= multiplier I where Y is positive semidefinite.
        """
        traces = np.asarray(self.rows.T @ self.identity)
        return replace(
            self,
            objective=self.objective - multiplier * traces,
            constant=self.constant + slack * self.identity,
        )

    def relaxed(self) -> BlockProgram:
        """Return the program min t, F(x) + t I positive semidefinite, t the last variable."""
        return replace(
            self,
            objective=np.append(np.zeros_like(self.objective), 1.0),
            rows=sp.csr_array(sp.hstack([self.rows, sp.csr_array(self.identity[:, None])])),
        )

    def slack(self, x: FloatArray) -> FloatArray:
        """Return the entries of F(x)."""
        return np.asarray(self.rows @ x - self.constant)

    @property
    def matrices(self) -> list[tuple[Semidefinite, slice]]:
        """The blocks of matrices, in their order."""
        return matrices_of(self.blocks)

    def dense(self, entries: FloatArray) -> Blocks:
        """Return entries as full matrices, with all rows of an orthant as one last block."""
        rows = row_indices(self.blocks)
        matrices = [part.matrix(entries[span]) for part, span in self.matrices]
        return [*matrices, entries[rows]] if len(rows) else matrices

    @property
    def multiplicity(self) -> FloatArray:
        """2 for off-diagonal entries, 1 for diagonal ones."""
        return np.concatenate([np.asarray(part.multiplicity) for part, _ in self.blocks])

    def weights(self, blocks: Blocks) -> FloatArray:
        """Return full matrices and rows as weights on the patterns, off-diagonal ones doubled."""
        entries = np.zeros(len(self.constant))
        for (part, span), block in zip(self.matrices, blocks, strict=False):
            entries[span] = block[part.rows, part.columns]
        rows = row_indices(self.blocks)
        if len(rows):
            entries[rows] = blocks[-1]
        return entries * self.multiplicity

    def sdpa(self) -> SdpaData:
        """Return the program in SDPA's format: matrices in their order, then all rows as one block.

        Rows are one block because DSDP writes only the last of several diagonal blocks.
        """
        table = np.zeros((len(self.constant), 3), dtype=np.int64)
        sizes = []
        for number, (part, span) in enumerate(self.matrices):
            table[span] = np.column_stack([np.full(part.size, number), part.rows, part.columns])
            sizes.append(part.rank)
        rows = row_indices(self.blocks)
        if len(rows):
            on = np.arange(len(rows))
            table[rows] = np.column_stack([np.full(len(rows), len(sizes)), on, on])
            sizes.append(-len(rows))
        combined = sp.csr_array(
            sp.hstack([sp.csr_array(self.constant[:, None]), self.rows])
        ).tocoo()
        row, matrix = combined.coords
        nonzero = combined.data != 0.0
        indices = np.column_stack([matrix, table[row]]).astype(np.int64)[nonzero]
        if not len(indices):
            raise InputError("all matrices of the program are 0; there is nothing to solve")
        return SdpaData.from_entries(self.objective, sizes, indices, combined.data[nonzero])


Solver = Literal["csdp", "sdpa", "dsdp5", "clarabel", "scs"]

INFEASIBLE = f"{UNPROVED}infeasible"
"""Name of the metric that is 1 where a solver reports that there is no x; else it is absent."""

OBJECTIVE = f"{UNPROVED}objective"
"""Name of the metric for the objective c'x that a solver claims."""

_PROGRAMS: dict[str, type[SdpaProgram]] = {"csdp": Csdp, "sdpa": Sdpa, "dsdp5": Dsdp}
_LIBRARIES: dict[str, type[Direct]] = {"clarabel": ClarabelDirect, "scs": ScsDirect}


@dataclass(frozen=True)
class Approximation:
    """A solver's approximate solution: x, F(x) and X, with the solver's name and version.

    Parameters
    ----------
    point
        x, shape ``(m,)``.
    slack, multipliers
        F(x) and X by blocks: whole matrices, then all rows as one block.
    solver_note
        The solver's name and version.
    infeasible
        Whether the solver reports that there is no x.
    """

    point: FloatArray
    slack: Blocks
    multipliers: Blocks
    solver_note: str
    infeasible: bool = False


@dataclass(frozen=True)
class ExternalSolver:
    """An external solver by its name, with a tolerance (None: the solver's default)."""

    solver: Solver
    tolerance: float | None = None

    @property
    def takes_full_matrices(self) -> bool:
        """Whether the solver reads full matrices only, without a sparsity pattern."""
        return self.solver in _LIBRARIES

    def require_installed(self) -> None:
        """Raise an InputError if the solver is a program that is not on PATH."""
        if self.solver in _PROGRAMS:
            _PROGRAMS[self.solver]().path()

    def solve(self, program: BlockProgram, seconds: float) -> Approximation:
        """Return the solver's answer for a program within a time limit.

        Raises
        ------
        NumericalError
            If the solver fails; the message gives the reason.
        TimeIsUp
            If a time limit ends first.
        """
        if self.solver in _PROGRAMS:
            command = _PROGRAMS[self.solver](**self._limits(seconds))
            answer, note = command.call_solver(program.sdpa())
            blocks = answer.slack, answer.multipliers
            return Approximation(answer.variables, *blocks, note, answer.infeasible)
        arguments = self.solver, self._limits(seconds), program
        quick = program.rows.nnz <= QUICK
        solution, note = (
            _answer_of_library(*arguments) if quick else killable(_answer_of_library, *arguments)
        )
        multipliers = program.dense(solution.multipliers / program.multiplicity)
        slack = program.dense(solution.slack)
        return Approximation(solution.point, slack, multipliers, note, solution.infeasible)

    def _limits(self, seconds: float) -> dict[str, float]:
        limits = {"time_limit": seconds}
        return limits if self.tolerance is None else limits | {"tolerance": self.tolerance}


def _answer_of_library(
    solver: Solver, limits: dict[str, float], program: BlockProgram
) -> tuple[Solved, str]:
    """Return a library's solution, and its name, version and status."""
    library = _LIBRARIES[solver](**limits)
    blocks = list(library.blocks(program.blocks))
    with quiet():
        return library.call_solver(program.rows, -program.constant, program.objective, blocks)


def errors_of(program: BlockProgram, answer: Approximation) -> dict[str, float]:
    """Return the six DIMACS errors of an answer and its objective, by the names in runs.csv.

    The program is DIMACS's dual, X its primal variable: with the largest entries b of c and C of
    F_0, 1: norm(A(X) - c) / (1 + b); 2: -lambda_min(X) / (1 + b) or 0; 3: norm(Z - F(x)) / (1 + C)
    of the solver's slack Z; 4: -lambda_min(Z) / (1 + C) or 0; 5: (c'x - <F_0, X>) / (1 + |c'x| +
    |<F_0, X>|); 6: <X, Z> over the same. What is beyond the range of doubles is left out.

    References
    ----------
    H. D. Mittelmann, An independent benchmarking of SDP and SOCP solvers, Mathematical
    Programming 95 (2003) 407-430.
    """
    weights = program.weights(answer.multipliers)
    upper, lower = float(program.objective @ answer.point), float(program.constant @ weights)
    short = np.linalg.norm(weights @ program.rows - program.objective)
    apart = np.linalg.norm(
        [
            np.linalg.norm(computed - exact)
            for computed, exact in zip(
                answer.slack, program.dense(program.slack(answer.point)), strict=True
            )
        ]
    )
    b = 1.0 + float(np.abs(program.objective).max(initial=0.0))
    size = 1.0 + float(np.abs(program.constant).max(initial=0.0))
    product = sum(
        float(np.vdot(x, z)) for x, z in zip(answer.multipliers, answer.slack, strict=True)
    )
    values = 1.0 + abs(upper) + abs(lower)
    errors = (
        float(short) / b,
        _below_zero(answer.multipliers) / b,
        float(apart) / size,
        _below_zero(answer.slack) / size,
        (upper - lower) / values,
        product / values,
    )
    errors_by_name = dict(zip(ERRORS, errors, strict=True)) | {OBJECTIVE: upper}
    return {name: value for name, value in errors_by_name.items() if math.isfinite(value)}


def _below_zero(blocks: Blocks) -> float:
    """Return max(0, -lambda_min) of the blocks."""
    return max(0.0, *(_lowest_below_zero(block) for block in blocks))


def _lowest_below_zero(block: FloatArray) -> float:
    if block.ndim == 1:
        return -float(block.min(initial=0.0))
    # Cholesky succeeds for most blocks, at a fraction of the cost of an eigenvalue.
    try:
        scipy.linalg.cholesky(block, check_finite=False)
    except scipy.linalg.LinAlgError:
        return -float(scipy.linalg.eigvalsh(block, subset_by_index=[0, 0])[0])
    return 0.0


Ask = Callable[[BlockProgram], Approximation]
"""A function that solves a program, or raises a NumericalError."""

Inner = tuple[FloatArray, float]
"""A strictly feasible point, or weights, with its lowest eigenvalue, > 0."""

FRACTIONS = (1e-3, 1e-5, 1e-7)
"""Shifts s to try in turn, relative to the mean eigenvalue of the answer."""


def inner_point(
    system: ConicSystem, program: BlockProgram, answer: Approximation, ask: Ask
) -> Inner | None:
    """Return a point (1, x) with F(x) positive definite, and its lowest eigenvalue as computed."""
    size = _mean_eigenvalue(answer.slack)
    if system.interior is not None:
        point = np.concatenate([[1.0], answer.point]) + size * system.interior
        lowest = _lowest_eigenvalue(program, point)
        if lowest > 0.0:
            return point, lowest
    for slack in _shift_sizes(size):
        solution = _answer_or_none(ask, program.perturbed(slack=slack))
        if solution is None:
            continue
        point = np.concatenate([[1.0], solution.point])
        lowest = _lowest_eigenvalue(program, point)
        if lowest > 0.0:
            return point, lowest
    return None


def inner_weights(
    dual: DualProblem, program: BlockProgram, answer: Approximation, ask: Ask
) -> Inner | None:
    """Return weights that satisfy the equations, with a proved lowest eigenvalue > 0; or None."""
    if dual.inner is not None or dual.least <= 0.0:
        return dual.inner
    for multiplier in _shift_sizes(_mean_eigenvalue(answer.multipliers)):
        solution = _answer_or_none(ask, program.perturbed(multiplier=multiplier))
        if solution is None:
            continue
        inside = dual.interior(
            program.weights(solution.multipliers) + multiplier * program.identity
        )
        if inside is not None:
            return inside
    return None


def _shift_sizes(size: float) -> Iterator[float]:
    return (fraction * size for fraction in FRACTIONS if size > 0.0)


def _mean_eigenvalue(blocks: Blocks) -> float:
    total = sum(float(block.trace() if block.ndim == 2 else block.sum()) for block in blocks)
    return total / sum(len(block) for block in blocks)


def _lowest_eigenvalue(program: BlockProgram, point: FloatArray) -> float:
    entries = program.slack(point[1:] / point[0])
    return min(float(part.lowest(entries[span])) for part, span in program.blocks)


def _answer_or_none(ask: Ask, program: BlockProgram) -> Approximation | None:
    try:
        return ask(program)
    except NumericalError:
        return None
