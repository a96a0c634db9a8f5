"""The largest margin by Clarabel, SCS and ECOS, called without cvxpy.

All take minimise q'x over x and s such that A x + s = b, s in a product of cones. Here x = (y, t),
A = -(A*, -e) on the blocks of K and -(I, 0) on those of the ball. Matrices are given by a triangle,
entries off the diagonal times sqrt 2; of a second-order cone the first coordinate is the length.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from types import ModuleType
from typing import ClassVar

import clarabel
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import scs

from perceptron_lab.algorithms.base import RUNS_ON_ALL, Systems
from perceptron_lab.algorithms.external.largest_margin import (
    LargestMargin,
    LargestMarginSolver,
    Reply,
)
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core import registry
from perceptron_lab.core.errors import MissingProgramError, NumericalError
from perceptron_lab.core.refusals import Count, Positive, Proportion, parameter_record
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import seconds_left

# Both need rows before second-order cones, and these before matrices; Clarabel takes any order
KINDS = (Orthant, SecondOrder, Semidefinite)


@dataclass(frozen=True)
class ConeBlock:
    """A cone block in a solver's input: kind, order, entry indices and scaling factors."""

    kind: type[Cone]
    size: int
    entries: IntArray
    factors: FloatArray


class Solved:
    """The answer of a solver: x, s, the multipliers z, and the solver's status."""

    def __init__(
        self, point: npt.ArrayLike, slack: npt.ArrayLike, multipliers: npt.ArrayLike, status: str
    ) -> None:
        self.point, self.slack, self.multipliers = map(np.asarray, (point, slack, multipliers))
        self.status = status

    @property
    def infeasible(self) -> bool:
        """Whether the solver reports that there is no x."""
        return "infeasible" in self.status.lower() and "dual" not in self.status.lower()


class InfeasibilityClaim(NumericalError):
    """A solver reports that there is no point, and gives none."""


class Direct(LargestMarginSolver):
    """A solver that takes matrices and vectors, called once at one tolerance."""

    # Whether the triangle of a matrix is taken column by column, upper; else lower
    upper: ClassVar[bool]
    version: ClassVar[str]

    def replies(self, program: LargestMargin) -> Iterator[Reply]:
        """Call the solver once."""
        matrix, constant = program.conditions()
        objective = np.append(np.zeros(matrix.shape[1] - 1), -1.0)
        blocks = [*self.blocks(program.cone.blocks), _ball(program)]
        solved, note = self.call_solver(matrix, constant, objective, blocks)
        yield Reply(program.answer_from(solved.point, solved.slack, solved.multipliers), note)

    def call_solver(
        self,
        matrix: sp.csr_array,
        constant: FloatArray,
        objective: FloatArray,
        blocks: Sequence[ConeBlock],
    ) -> tuple[Solved, str]:
        """Minimise objective'x such that matrix x + constant lies in the blocks.

        Returns x, slack and multipliers entry by entry as the rows of the matrix are, those off a
        matrix's diagonal doubled in the multipliers; and the solver's name, version and status.
        """
        ordered = sorted(blocks, key=lambda block: KINDS.index(block.kind))
        rows = np.concatenate([block.entries for block in ordered])
        factors = np.concatenate([block.factors for block in ordered])
        # Solvers take matrices in isometric coordinates, with off-diagonals times sqrt(2)
        scaled = sp.csc_array(sp.diags_array(-factors) @ matrix[rows])
        solved = self.solve(scaled, factors * constant[rows], objective, ordered)
        name = registry.name_of("algorithm", self)
        values = (solved.point, solved.slack, solved.multipliers)
        # Failed solves return NaN: a claim of them would only be rejected later
        if not all(np.isfinite(array).all() for array in values):
            raise (InfeasibilityClaim if solved.infeasible else NumericalError)(
                f"{name} {self.version} gives no answer: {solved.status}"
            )
        slack, weights = np.zeros(len(constant)), np.zeros(len(constant))
        slack[rows], weights[rows] = solved.slack / factors, solved.multipliers * factors
        note = f"{name} {self.version} calls its answer {solved.status}"
        return Solved(solved.point, slack, weights, solved.status), note

    def blocks(self, parts: Iterable[tuple[Cone, slice]]) -> Iterator[ConeBlock]:
        """Yield the blocks of a cone with dense matrices, in the solver's form."""
        for part, span in parts:
            positions = np.arange(span.start, span.stop)
            if isinstance(part, Semidefinite):
                # The whole triangle, row by row: the lower one's columns, which SCS takes.
                order = np.lexsort((part.rows, part.columns)) if self.upper else slice(None)
                factors = np.sqrt(part.multiplicity[order])
                yield ConeBlock(Semidefinite, part.rank, positions[order], factors)
            elif isinstance(part, SecondOrder):
                # Solvers put t first, this package puts it last
                yield ConeBlock(SecondOrder, part.size, np.roll(positions, 1), np.ones(part.size))
            else:
                yield ConeBlock(Orthant, part.size, positions, np.ones(part.size))

    @abstractmethod
    def solve(
        self,
        matrix: sp.csc_array,
        bounds: FloatArray,
        objective: FloatArray,
        blocks: list[ConeBlock],
    ) -> Solved:
        """Return the solver's answer."""


def sizes_of(blocks: Iterable[ConeBlock]) -> dict[type[Cone], list[int]]:
    """Return the sizes of the blocks of each kind."""
    return {kind: [block.size for block in blocks if block.kind is kind] for kind in KINDS}


def _ball(program: LargestMargin) -> ConeBlock:
    size = program.data.shape[1] + 1
    positions = program.cone.size + np.arange(size)
    return ConeBlock(SecondOrder, size, np.roll(positions, 1), np.ones(size))


@parameter_record
class ClarabelDirect(Direct):
    """The largest margin by Clarabel itself, an interior point method, for every cone.

    Its rows tell the version, and the six DIMACS errors of its answer as ``measure.claimed_...``.

    Parameters
    ----------
    tolerance
        Clarabel's tolerances of the gap and of feasibility, > 0 (default 1e-8, its own).
    time_limit
        Seconds at most (default 300).

    References
    ----------
    P. J. Goulart and Y. Chen, Clarabel: an interior-point solver for conic programs with quadratic
    objectives (2024).
    """

    systems: ClassVar[Systems] = RUNS_ON_ALL

    upper: ClassVar[bool] = True
    version: ClassVar[str] = clarabel.__version__

    time_limit: Positive = 300.0

    def solve(
        self,
        matrix: sp.csc_array,
        bounds: FloatArray,
        objective: FloatArray,
        blocks: list[ConeBlock],
    ) -> Solved:
        """Return Clarabel's answer, computed with one thread."""
        constructors = {
            Orthant: clarabel.NonnegativeConeT,
            SecondOrder: clarabel.SecondOrderConeT,
            Semidefinite: clarabel.PSDTriangleConeT,
        }
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        settings.time_limit = min(self.time_limit, seconds_left())
        for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
            setattr(settings, name, self.tolerance)
        cones = [constructors[block.kind](block.size) for block in blocks]
        nothing = sp.csc_matrix((len(objective), len(objective)))
        solver = clarabel.DefaultSolver(
            nothing, objective, sp.csc_matrix(matrix), bounds, cones, settings
        )
        solution = solver.solve()
        return Solved(solution.x, solution.s, solution.z, str(solution.status))


@parameter_record
class ScsDirect(Direct):
    """The largest margin by SCS itself, an operator splitting method, for every cone.

    Its rows tell the version, and the six DIMACS errors of its answer as ``measure.claimed_...``.

    Parameters
    ----------
    tolerance
        SCS's absolute and relative tolerances, > 0 (default 1e-4, its own).
    iterations
        SCS's own at most (default 100000).
    time_limit
        Seconds at most (default 300).

    References
    ----------
    B. O'Donoghue, Operator splitting for a homogeneous embedding of the linear complementarity
    problem, SIAM Journal on Optimization 31 (2021).
    """

    systems: ClassVar[Systems] = RUNS_ON_ALL

    upper: ClassVar[bool] = False
    version: ClassVar[str] = scs.__version__

    tolerance: Proportion = 1e-4
    iterations: Count = 100_000
    time_limit: Positive = 300.0

    def solve(
        self,
        matrix: sp.csc_array,
        bounds: FloatArray,
        objective: FloatArray,
        blocks: list[ConeBlock],
    ) -> Solved:
        """Return SCS's answer."""
        sizes = sizes_of(blocks)
        cones = {"l": sum(sizes[Orthant]), "q": sizes[SecondOrder], "s": sizes[Semidefinite]}
        solver = scs.SCS(
            {"A": sp.csc_matrix(matrix), "b": bounds, "c": objective},
            cones,
            eps_abs=self.tolerance,
            eps_rel=self.tolerance,
            max_iters=self.iterations,
            time_limit_secs=min(self.time_limit, seconds_left()),
            verbose=False,
        )
        solution = solver.solve()
        return Solved(solution["x"], solution["s"], solution["y"], str(solution["info"]["status"]))


@parameter_record
class Ecos(Direct):
    """The largest margin by ECOS itself, an interior point method, for rows and second-order cones.

    Where it is not installed, its cells are SKIPPED and say how to install it. It has no limit of
    time. Its rows tell the version, and the six DIMACS errors of its answer as
    ``measure.claimed_...``.

    Parameters
    ----------
    tolerance
        ECOS's tolerances of the gap and of feasibility, > 0 (default 1e-8, its own).
    iterations
        ECOS's own at most (default 100).

    References
    ----------
    A. Domahidi, E. Chu and S. Boyd, ECOS: An SOCP solver for embedded systems, European Control
    Conference (2013) 3071-3076.
    """

    systems: ClassVar[Systems] = {
        "runs": "rows second-order product",
        "coordinates: runs": "kernel",
    }

    takes_matrices: ClassVar[bool] = False
    upper: ClassVar[bool] = True

    iterations: Count = 100

    def find(self) -> None:
        """Raise MissingProgramError if ECOS is not installed."""
        _installed()

    def solve(
        self,
        matrix: sp.csc_array,
        bounds: FloatArray,
        objective: FloatArray,
        blocks: list[ConeBlock],
    ) -> Solved:
        """Return ECOS's answer."""
        sizes = sizes_of(blocks)
        tolerances = dict.fromkeys(("abstol", "reltol", "feastol"), self.tolerance)
        try:
            solution = _installed().solve(
                np.asarray(objective, dtype=np.float64),
                sp.csc_matrix(matrix),
                np.asarray(bounds, dtype=np.float64),
                {"l": sum(sizes[Orthant]), "q": sizes[SecondOrder]},
                verbose=False,
                max_iters=self.iterations,
                **tolerances,
            )
        except (ValueError, TypeError, ArithmeticError) as error:
            raise NumericalError(f"ecos gives no answer: {error}") from None
        return Solved(
            solution["x"], solution["s"], solution["z"], str(solution["info"]["infostring"])
        )

    @property
    def version(self) -> str:  # type: ignore[override]
        """The installed version of ECOS."""
        return metadata.version("ecos")


def _installed() -> ModuleType:
    """Import and return the ECOS package."""
    try:
        import ecos
    except ModuleNotFoundError:
        remedy = "run pip install perceptron-lab[ecos]"
        raise MissingProgramError("ecos", "is not installed", remedy) from None
    module: ModuleType = ecos
    return module
