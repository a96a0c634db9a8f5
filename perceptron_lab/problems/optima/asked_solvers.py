"""Solvers of others asked to minimise a program: their approximate answers on both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg

from perceptron_lab.algorithms.external.base import QUICK, quiet
from perceptron_lab.algorithms.external.direct import ClarabelDirect, Direct, ScsDirect, Solved
from perceptron_lab.algorithms.external.largest_margin import ERRORS
from perceptron_lab.algorithms.external.sdpa_format import Blocks
from perceptron_lab.algorithms.external.sdpa_programs import Csdp, Dsdp, Sdpa, SdpaProgram
from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.optima.given_program import GivenProgram

Solver = Literal["csdp", "sdpa", "dsdp5", "clarabel", "scs"]

OBJECTIVE = f"{UNPROVED}objective"
"""The figure of an answer that is its own objective, c'x."""

_PROGRAMS: dict[str, type[SdpaProgram]] = {"csdp": Csdp, "sdpa": Sdpa, "dsdp5": Dsdp}
_LIBRARIES: dict[str, type[Direct]] = {"clarabel": ClarabelDirect, "scs": ScsDirect}


@dataclass(frozen=True)
class Approximation:
    """An answer: x, F(x) as the solver has it, X, and the solver's name and version.

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
class AskedSolver:
    """A solver by its name, its tolerance (None: its own default)."""

    solver: Solver
    tolerance: float | None = None

    @property
    def whole(self) -> bool:
        """Whether it takes whole matrices."""
        return self.solver in _LIBRARIES

    def present(self) -> None:
        """Raise an InputError where the solver is a program that is not on PATH."""
        if self.solver in _PROGRAMS:
            _PROGRAMS[self.solver]().path()

    def solved(self, program: GivenProgram, seconds: float) -> Approximation:
        """Return the answer that is given within some seconds; libraries take whole matrices.

        Raises
        ------
        NumericalError
            If there is none; the message says why.
        TimeIsUp
            If a time limit ends first.
        """
        if self.solver in _PROGRAMS:
            command = _PROGRAMS[self.solver](**self._limits(seconds))
            answer, said = command.answered(program.sdpa())
            return Approximation(answer.variables, answer.slack, answer.multipliers, said)
        given = self.solver, self._limits(seconds), program
        quick = program.rows.nnz <= QUICK
        found, said = _answered(*given) if quick else killable(_answered, *given)
        multipliers = program.dense(found.multipliers / program.multiplicity)
        return Approximation(found.point, program.dense(found.slack), multipliers, said)

    def _limits(self, seconds: float) -> dict[str, float]:
        limits = {"time_limit": seconds}
        return limits if self.tolerance is None else limits | {"tolerance": self.tolerance}


def _answered(
    solver: Solver, limits: dict[str, float], program: GivenProgram
) -> tuple[Solved, str]:
    """Return what a library finds, and its name, version and status."""
    library = _LIBRARIES[solver](**limits)
    blocks = list(library.blocks(program.blocks))
    with quiet():
        return library.answered(program.rows, -program.constant, program.objective, blocks)


def errors_of(program: GivenProgram, answer: Approximation) -> dict[str, float]:
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
            np.linalg.norm(mine - exact)
            for mine, exact in zip(
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
    found = dict(zip(ERRORS, errors, strict=True)) | {OBJECTIVE: upper}
    return {name: value for name, value in found.items() if math.isfinite(value)}


def _below_zero(blocks: Blocks) -> float:
    """Return -lambda_min of the blocks, or 0: a factor says so faster where they are definite."""
    return max(0.0, *(_lowest_below_zero(block) for block in blocks))


def _lowest_below_zero(block: FloatArray) -> float:
    if block.ndim == 1:
        return -float(block.min(initial=0.0))
    try:
        scipy.linalg.cholesky(block, check_finite=False)
    except scipy.linalg.LinAlgError:
        return -float(scipy.linalg.eigvalsh(block, subset_by_index=[0, 0])[0])
    return 0.0
