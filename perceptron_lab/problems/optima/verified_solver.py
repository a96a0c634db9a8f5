"""Rigorous bounds of an optimum from the answer of an external solver."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from perceptron_lab.algorithms.external.direct import InfeasibilityClaim
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.refusals import Proportion, parameter_record
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.core.time_limit import (
    TimeIsUp,
    clock_seconds,
    last_proofs,
    seconds_left,
    time_is_up,
    time_limit,
)
from perceptron_lab.problems.optima.bound_verification import DUAL, FACE, FACE_BLOCK, VECTORS
from perceptron_lab.problems.optima.external_solver import (
    FRACTIONS,
    INFEASIBLE,
    Approximation,
    BlockProgram,
    ExternalSolver,
    Solver,
    errors_of,
    inner_point,
    inner_weights,
)
from perceptron_lab.problems.optima.faces import (
    Face,
    Reduction,
    exposed_face,
    face_of_null_space,
    lifted,
    restricted,
)
from perceptron_lab.problems.optima.lower_bounds import DualProblem, corrected_in_metric
from perceptron_lab.problems.optima.maxcut.bounds import proved_lower, proved_upper
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram
from perceptron_lab.problems.optima.optimiser import Optimiser
from perceptron_lab.problems.optima.search import Search
from perceptron_lab.problems.optima.upper_bounds import feasible_between, prove_upper, refutation_by
from perceptron_lab.systems import ConicSystem

_SMALL = f"{FRACTIONS[-1]:g} of the mean eigenvalue of the answer"
_NO_POINT = (
    "no upper bound: x could not be repaired, as no x with F(x) >= s I was found for s down to "
    f"{_SMALL}: the program may have no interior"
)
_NO_WEIGHTS = (
    "no lower bound: X could not be repaired, as no feasible X >= s I was found for s down to "
    f"{_SMALL}: the dual problem may have no interior"
)
_NOT_MOVED = "no upper bound: no point between x and an interior point could be proved feasible"
_NO_TIME_ABOVE = "no upper bound: the time limit ended its proof"
_NO_TIME_BELOW = "no lower bound: the time limit ended its proof"
# The least time limit of a solver, in seconds, and the share of the remaining time that it has at
# most, so that time is left to verify its answer
_LEAST_SECONDS, _SHARE = 0.2, 0.7
# Floors of the pivots, relative to the diagonal; and the pivot below which a factor is cut off
_FLOORS = (0.0, 1e-9, 1e-6, 1e-3)
_NEGLIGIBLE = 1e-9
# Values of the variable that lifts points from a face, as multiples of the largest other one
_LIFTS = tuple(10.0**k for k in range(1, 9))
_DEPENDENT = "no lower bound: the matrices F_i could not be proved linearly independent"


@parameter_record
class VerifiedSolver(Optimiser):
    """CSDP, SDPA, DSDP, Clarabel or SCS, with proved bounds of the optimum from their answer.

    An external solver minimises the program, and answers with x and with a dual X,
    both of them a little infeasible. Repaired, they bound the optimum: x is moved towards a point
    with F(x) positive definite just so far that it is proved to be feasible itself; X is corrected
    to the exact equations and moved towards a dual interior point (:class:`.DualProblem`). Interior
    points come from known directions, or from the same solver on a perturbed program
    (:func:`.inner_point`, :func:`.inner_weights`). Without a primal or a dual interior point this
    repair fails, and the message says which is missing. Where an equation <vv', X> = 0 leaves X no
    interior, the bound is proved exactly on the face
    (:mod:`~perceptron_lab.problems.optima.faces`).
    Programs of MAXCUT's form above order 3000 have the bounds of ``low-rank``, of a factor of X.

    ``seconds`` is the time until the solver's answer, ``proof_seconds`` the time of the proofs. The
    columns ``measure.claimed_...`` contain the six DIMACS errors of the answer and its objective.

    Parameters
    ----------
    solver
        ``csdp`` (default), ``sdpa``, ``dsdp5``: programs on PATH; ``clarabel``, ``scs``: libraries.
    tolerance
        Between 0 and 1; None (default): the solver's own.
    faces
        Whether programs are reduced to a face (default true).

    References
    ----------
    C. Jansson, D. Chaykin, C. Keil, Rigorous error bounds for the optimal value in semidefinite
    programming, SIAM Journal on Numerical Analysis 46 (2007) 180-200.
    """

    uses_oracle: ClassVar[bool] = False

    solver: Solver = "csdp"
    tolerance: Proportion | None = None
    faces: bool = True

    def minimise(self, search: Search) -> str:
        """Run the solver once, and prove both bounds from its answer."""
        solver = ExternalSolver(self.solver, self.tolerance)
        solver.require_installed()
        ended = search.exhausted_limit()
        if ended is not None:
            return ended
        run = _Run(search, solver)
        face = exposed_face(search.system) if self.faces else None
        message = None if face is None else run.prove_on(face)
        if message is not None and search.upper is not None and search.lower is not None:
            return message
        try:
            answer = run.first_answer(search.system)
        except TimeIsUp:
            search.unproved = Status.TIME_LIMIT
            return f"{self.solver} has given no answer within the time limit"
        except InfeasibilityClaim as error:
            search.figures = {INFEASIBLE: 1.0}
            search.unproved = Status.UNVERIFIED
            run.refute(run.program_of(search.system))
            return str(error)
        except NumericalError as error:
            search.unproved = Status.NUMERICAL_ERROR
            return str(error)
        program = run.program_of(search.system)
        search.figures = errors_of(program, answer)
        if answer.infeasible:
            search.figures[INFEASIBLE] = 1.0
        if search.dual is None and run.prove_large(program, answer):
            return answer.solver_note
        run.prove_upper(program, answer)
        if search.upper is None:
            run.refute(program)
        search.record("upper bound")
        if time_is_up():
            search.without_lower = _NO_TIME_BELOW
        elif face is None and not run.prove_lower(program, answer) and self.faces:
            face = run.central_face(program)
            if face is not None:
                run.prove_on(face)
        if search.upper is None:
            search.unproved = Status.UNVERIFIED
        return answer.solver_note


def semidefinite_factor(matrix: FloatArray) -> FloatArray:
    """Return V, shape ``(n, k)``, with VV' near X: a truncated pivoted Cholesky factor."""
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(matrix, lower=1, tol=_NEGLIGIBLE)
    factor_in_order = np.zeros((len(matrix), rank))
    factor_in_order[pivots - 1] = np.tril(factor)[:, :rank]
    return factor_in_order


@dataclass
class _Run:
    """One run of a solver, and the proofs of its answer."""

    search: Search
    solver: ExternalSolver

    def program_of(self, system: ConicSystem) -> BlockProgram:
        """Return a program in the form that the solver reads."""
        return BlockProgram.of(system.completed() if self.solver.takes_full_matrices else system)

    def first_answer(self, system: ConicSystem) -> Approximation:
        """Return the answer for a program; its time counts as the solver's."""
        clock = clock_seconds()
        try:
            return self.ask(self.program_of(system))
        finally:
            self.search.seconds += clock_seconds() - clock
            self.search.updates += 1

    def ask(self, program: BlockProgram) -> Approximation:
        """Return the solver's answer for a program, within its share of the remaining time."""
        left = _SHARE * seconds_left()
        with time_limit(left) if left > _LEAST_SECONDS else last_proofs():
            return self.solver.solve(program, max(left, _LEAST_SECONDS))

    def prove_upper(self, program: BlockProgram, answer: Approximation) -> None:
        """Prove the upper bound of x, moved towards an interior point if x is infeasible."""
        clock, search = clock_seconds(), self.search
        try:
            with last_proofs():
                self._take_upper(program, answer)
        except TimeIsUp:
            search.without_upper = _NO_TIME_ABOVE
        search.proof_seconds += clock_seconds() - clock

    def _take_upper(self, program: BlockProgram, answer: Approximation) -> None:
        search = self.search
        point = np.concatenate([[1.0], answer.point])
        bound = prove_upper(search.system, point)
        feasible = None if bound is None else (point, bound)
        if feasible is None:
            inner = inner_point(search.system, program, answer, self.ask)
            feasible = None if inner is None else feasible_between(search.system, point, inner)
            search.without_upper = _NO_POINT if inner is None else _NOT_MOVED
        if feasible is not None:
            search.update_upper(*feasible)

    def refute(self, program: BlockProgram) -> None:
        """Try to prove that no x is strictly feasible.

        The multiplier X of min t, F(x) + t I psd, has <F_i, X> = 0, tr X = 1 and <F_0, X> = t,
        which is not negative then.
        """
        clock = clock_seconds()
        with suppress(NumericalError, TimeIsUp):
            weights = program.weights(self.ask(program.relaxed()).multipliers)
            with last_proofs():
                self.search.infeasible = refutation_by(self.search.system, weights)
        self.search.proof_seconds += clock_seconds() - clock

    def prove_lower(self, program: BlockProgram, answer: Approximation) -> bool:
        """Prove the lower bound of X, corrected to feasibility; return whether that succeeded."""
        clock, dual, repaired = clock_seconds(), self.search.dual, None
        try:
            if dual is not None:
                with last_proofs():
                    repaired = self._repaired(dual, program, answer)
        except TimeIsUp:
            self.search.without_lower = _NO_TIME_BELOW
        if repaired is not None:
            self.search.update_lower({DUAL: repaired[0]}, repaired[1])
        self.search.proof_seconds += clock_seconds() - clock
        return repaired is not None

    def prove_large(self, program: BlockProgram, answer: Approximation) -> bool:
        """Prove both bounds for a program of MAXCUT's form; return False for other programs.

        ``low-rank`` computes the bounds, from x and from V with VV' near X.
        """
        maxcut, search = MaxCutProgram.of_system(self.search.system), self.search
        if maxcut is None or len(program.blocks) != 1:
            return False
        clock = clock_seconds()
        bounds = [proved_upper(maxcut, answer.point, floor=floor) for floor in _FLOORS]
        upper, x = min(bounds, key=itemgetter(0))
        (part, _), *_ = program.matrices
        vertices = part.rows[sp.csc_array(program.rows).indices]
        vectors = semidefinite_factor(answer.multipliers[0])[vertices]
        lower = proved_lower(maxcut, vectors)
        if math.isfinite(upper):
            search.update_upper(np.concatenate([[1.0], x]), upper)
        if math.isfinite(lower):
            search.update_lower({VECTORS: vectors}, lower)
        search.proof_seconds += clock_seconds() - clock
        return True

    def central_face(self, program: BlockProgram) -> Face | None:
        """Return the face of a central X, from the program without F_0, or None."""
        if self.search.dual is None:
            return None
        clock, face = clock_seconds(), None
        try:
            central = self.ask(replace(program, constant=np.zeros_like(program.constant)))
        except (NumericalError, TimeIsUp):
            return None
        for (_, span), matrix in zip(program.matrices, central.multipliers, strict=False):
            number = [at for _, at in program.blocks].index(span)
            face = face or face_of_null_space(number, matrix)
        self.search.proof_seconds += clock_seconds() - clock
        return face

    def prove_on(self, face: Face) -> str | None:
        """Prove both bounds from the solver's answer on a face; return the solver's note, or None.

        Where an equation exposes the face, points are lifted from it. Other faces are known to a
        few digits only, and give lower bounds alone.
        """
        search, clock = self.search, clock_seconds()
        before, note = search.seconds, None
        try:
            reduction = restricted(search.system, face)
            where = {FACE: face.basis, FACE_BLOCK: np.array([float(face.block)])}
            dual = DualProblem.of(reduction.system)
            if not len(reduction.variables):  # the equations on the face leave no unknowns
                search.update_lower({DUAL: np.zeros(dual.size), **where}, 0.0)
                return None
            answer = self.first_answer(reduction.system)
            note, program = answer.solver_note, self.program_of(reduction.system)
            repaired = self._repaired(dual, program, answer)
            if repaired is not None:
                search.update_lower({DUAL: repaired[0], **where}, repaired[1])
            if face.variable is not None:
                search.figures = errors_of(program, answer)
                self._lift(face, reduction, answer)
        except TimeIsUp:
            search.without_lower = _NO_TIME_BELOW
        except (InputError, NumericalError) as error:
            search.without_lower = (
                f"no lower bound: X has no interior, and its face could not be used: {error}"
            )
        search.proof_seconds += clock_seconds() - clock - (search.seconds - before)
        return note

    def _lift(self, face: Face, reduction: Reduction, answer: Approximation) -> None:
        """Prove the upper bound of x, lifted from the face that an equation exposes.

        The point is moved towards an interior point. The least bound over several s is stored.
        """
        system, program = reduction.system, self.program_of(reduction.system)
        inner = inner_point(system, program, answer, self.ask)
        if inner is None or face.variable is None:
            return
        full_system, lifted_points = self.search.system, []
        size = max(1.0, float(np.abs(answer.point).max(initial=0.0)))
        # A larger s brings the bound nearer to the optimum, and costs digits of F(x); the best one
        # depends on the program, so several are tried.
        for power in _LIFTS:
            point, inside = (
                lifted(full_system, face, reduction, x, power * size)
                for x in (answer.point, inner[0][1:])
            )
            shifted = feasible_between(full_system, point, (inside, inner[1]))
            if shifted is not None:
                lifted_points.append(shifted)
        if lifted_points:
            self.search.update_upper(*min(lifted_points, key=itemgetter(1)))

    def _repaired(
        self, dual: DualProblem, program: BlockProgram, answer: Approximation
    ) -> tuple[FloatArray, float] | None:
        """Return weights that prove a lower bound, and the bound; None if that fails."""
        full = program if self.solver.takes_full_matrices else BlockProgram.of(dual.system)
        if not dual.objective.any():
            return np.zeros(dual.size), 0.0
        if dual.least <= 0.0:
            self.search.without_lower = _DEPENDENT
            return None
        weights = full.weights(answer.multipliers)
        inner = inner_weights(dual, full, answer, self.ask)
        corrected = corrected_in_metric(dual, weights) if dual.diagonal is None else None
        candidates = [
            dual.repaired(candidate, inner)
            for candidate in (weights, corrected)
            if candidate is not None
        ]
        # The metric of X keeps small eigenvalues positive, the Frobenius norm is cheaper and may do
        # better: the larger bound counts.
        best = max(
            (candidate for candidate in candidates if candidate is not None),
            key=itemgetter(1),
            default=None,
        )
        if best is None:
            self.search.without_lower = _NO_WEIGHTS
        return best
