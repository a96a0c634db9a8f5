"""External solvers for semidefinite programs: approximate primal and dual solutions.

A semidefinite program in block form and in SDPA's format, as external solvers read it.

Strictly feasible points of both sides of a program, from the solver that is asked to solve it.

Of the program with F_0 + s I for F_0 every feasible x has F(x) >= s I; of that with c_i - s tr F_i
for c_i every feasible Y makes X = Y + s I one of the program itself, X >= s I. Solutions of these
are strictly feasible where there is such a point, and nearly optimal where s is small. Each side is
asked for alone: the other one may have no interior, and a program without an interior on one side
is a delicate one for solvers.

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
from perceptron_lab.cones.orthant import places_of_rows
from perceptron_lab.cones.semidefinite import Semidefinite, matrices_of
from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.optima.levels import (
    blocks_behind_first,
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
        """Return that of a homogenised system with an objective, patterns as they are."""
        objective, identity = objective_of(system).values, system.cone.identity[1:]
        return cls(objective, *coefficients(system), blocks_behind_first(system), identity)

    def moved(self, slack: float = 0.0, multiplier: float = 0.0) -> BlockProgram:
        """Return the program of F(x) - slack I, and with X = Y + multiplier I of its Y.

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
        """Return entries as whole matrices, and all rows as one more block if there are any."""
        rows = places_of_rows(self.blocks)
        matrices = [part.matrix(entries[span]) for part, span in self.matrices]
        return [*matrices, entries[rows]] if len(rows) else matrices

    @property
    def multiplicity(self) -> FloatArray:
        """2 for off-diagonal entries, 1 for diagonal ones."""
        return np.concatenate([np.asarray(part.multiplicity) for part, _ in self.blocks])

    def weights(self, blocks: Blocks) -> FloatArray:
        """Return whole matrices and rows as weights on the patterns: off-diagonals doubled."""
        entries = np.zeros(len(self.constant))
        for (part, span), block in zip(self.matrices, blocks, strict=False):
            entries[span] = block[part.rows, part.columns]
        rows = places_of_rows(self.blocks)
        if len(rows):
            entries[rows] = blocks[-1]
        return entries * self.multiplicity

    def sdpa(self) -> SdpaData:
        """Return it in SDPA's format: matrices in their order, then all rows as one block.

        Of several diagonal blocks DSDP would write the last alone.
        """
        table = np.zeros((len(self.constant), 3), dtype=np.int64)
        sizes = []
        for number, (part, span) in enumerate(self.matrices):
            table[span] = np.column_stack([np.full(part.size, number), part.rows, part.columns])
            sizes.append(part.rank)
        rows = places_of_rows(self.blocks)
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
            raise InputError("all matrices of the program are 0; there is nothing to be solved")
        return SdpaData.from_entries(self.objective, sizes, indices, combined.data[nonzero])


Solver = Literal["csdp", "sdpa", "dsdp5", "clarabel", "scs"]

OBJECTIVE = f"{UNPROVED}objective"
"""The figure of an answer that is its own objective, c'x."""

_PROGRAMS: dict[str, type[SdpaProgram]] = {"csdp": Csdp, "sdpa": Sdpa, "dsdp5": Dsdp}
_LIBRARIES: dict[str, type[Direct]] = {"clarabel": ClarabelDirect, "scs": ScsDirect}


@dataclass(frozen=True)
class Approximation:
    """The approximate solution of a solver: x, its F(x), X, and its name and version.

    Parameters
    ----------
    point
        x, shape ``(m,)``.
    slack, multipliers
        F(x) and X by blocks: whole matrices, then all rows as one block.
    said
        The solver's name and version.
    """

    point: FloatArray
    slack: Blocks
    multipliers: Blocks
    said: str


@dataclass(frozen=True)
class ExternalSolver:
    """A solver by its name, its tolerance (None: its own default)."""

    solver: Solver
    tolerance: float | None = None

    @property
    def whole(self) -> bool:
        """Whether the solver takes whole matrices."""
        return self.solver in _LIBRARIES

    def present(self) -> None:
        """Raise an InputError where the solver is a program that is not on PATH."""
        if self.solver in _PROGRAMS:
            _PROGRAMS[self.solver]().path()

    def solved(self, program: BlockProgram, seconds: float) -> Approximation:
        """Return the answer that is given within some seconds; libraries take whole matrices.

        Raises
        ------
        NumericalError
            If no answer exists; the message gives the reason.
        TimeIsUp
            If a time limit ends first.
        """
        if self.solver in _PROGRAMS:
            command = _PROGRAMS[self.solver](**self._limits(seconds))
            answer, note = command.answered(program.sdpa())
            return Approximation(answer.variables, answer.slack, answer.multipliers, note)
        arguments = self.solver, self._limits(seconds), program
        quick = program.rows.nnz <= QUICK
        solution, note = _answered(*arguments) if quick else killable(_answered, *arguments)
        multipliers = program.dense(solution.multipliers / program.multiplicity)
        return Approximation(solution.point, program.dense(solution.slack), multipliers, note)

    def _limits(self, seconds: float) -> dict[str, float]:
        limits = {"time_limit": seconds}
        return limits if self.tolerance is None else limits | {"tolerance": self.tolerance}


def _answered(
    solver: Solver, limits: dict[str, float], program: BlockProgram
) -> tuple[Solved, str]:
    """Return what a library finds, and its name, version and status."""
    library = _LIBRARIES[solver](**limits)
    blocks = list(library.blocks(program.blocks))
    with quiet():
        return library.answered(program.rows, -program.constant, program.objective, blocks)


def errors_of(program: BlockProgram, answer: Approximation) -> dict[str, float]:
    """Return the six DIMACS errors of an answer and its objective, named for runs.csv.

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
    """Return max(0, -lambda_min) of the blocks; a factorisation is tried first."""
    return max(0.0, *(_lowest_below_zero(block) for block in blocks))


def _lowest_below_zero(block: FloatArray) -> float:
    if block.ndim == 1:
        return -float(block.min(initial=0.0))
    try:
        scipy.linalg.cholesky(block, check_finite=False)
    except scipy.linalg.LinAlgError:
        return -float(scipy.linalg.eigvalsh(block, subset_by_index=[0, 0])[0])
    return 0.0


Ask = Callable[[BlockProgram], Approximation]
"""A solver: the answer for a program, or a NumericalError."""

Inner = tuple[FloatArray, float]
"""A point, or weights, and their lowest eigenvalue, > 0."""

FRACTIONS = (1e-3, 1e-5, 1e-7)
"""Parts s of the mean eigenvalue of an answer that are asked for, one after another."""


def inner_point(
    system: ConicSystem, program: BlockProgram, answer: Approximation, ask: Ask
) -> Inner | None:
    """Return a point (1, x) with F(x) positive definite, and its lowest eigenvalue as computed."""
    size = _mean(answer.slack)
    if system.interior is not None:
        point = np.concatenate([[1.0], answer.point]) + size * system.interior
        lowest = _lowest(program, point)
        if lowest > 0.0:
            return point, lowest
    for slack in _tried(size):
        solution = _asked(ask, program.moved(slack=slack))
        if solution is None:
            continue
        point = np.concatenate([[1.0], solution.point])
        lowest = _lowest(program, point)
        if lowest > 0.0:
            return point, lowest
    return None


def inner_weights(
    dual: DualProblem, program: BlockProgram, answer: Approximation, ask: Ask
) -> Inner | None:
    """Return weights that satisfy the equations, with a proved lowest eigenvalue > 0; or None."""
    if dual.inner is not None or dual.least <= 0.0:
        return dual.inner
    for multiplier in _tried(_mean(answer.multipliers)):
        solution = _asked(ask, program.moved(multiplier=multiplier))
        if solution is None:
            continue
        inside = dual.interior(
            program.weights(solution.multipliers) + multiplier * program.identity
        )
        if inside is not None:
            return inside
    return None


def _tried(size: float) -> Iterator[float]:
    return (fraction * size for fraction in FRACTIONS if size > 0.0)


def _mean(blocks: Blocks) -> float:
    total = sum(float(block.trace() if block.ndim == 2 else block.sum()) for block in blocks)
    return total / sum(len(block) for block in blocks)


def _lowest(program: BlockProgram, point: FloatArray) -> float:
    entries = program.slack(point[1:] / point[0])
    return min(float(part.lowest(entries[span])) for part, span in program.blocks)


def _asked(ask: Ask, program: BlockProgram) -> Approximation | None:
    try:
        return ask(program)
    except NumericalError:
        return None
