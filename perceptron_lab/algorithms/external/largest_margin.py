"""The largest margin as a cone program for external solvers, and the errors of an answer.

    maximise t over y and t such that A*y - t e lies in K and norm(y) <= 1.

The ball is a second-order cone: (y, 1) lies in it. With the multipliers w of the first condition
and q = (u, r) of the ball, the dual program is

    minimise r over w in K* and q in the second-order cone such that A w + u = 0 and <e, w> = 1,

so that norm(A w) <= r. It has a solution whether the system has one or not: t is the margin, or 0.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.base import AnyAlgorithm
from perceptron_lab.algorithms.external.base import (
    Rows,
    SingleAnswerSolver,
    SingleAnswerState,
    rows_of,
    supported,
)
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core import registry
from perceptron_lab.core.claims import UNPROVED, Claim, FeasiblePoint
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import Positive, Proportion, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.sparse_arrays import largest_entry
from perceptron_lab.systems import ConicSystem

# Figures of an answer, as runs.csv has them
ERRORS = tuple(f"{UNPROVED}dimacs_{number}" for number in range(1, 7))
SIZE = f"{UNPROVED}size"
# Eigenvalues of weights of mass 1 that are above -DUAL are 0 or more but for rounding
DUAL = 1e-14


@dataclass(frozen=True)
class MarginAnswer:
    """A solver's primal solution (y, t), its slack Z, and its dual solution (w, q).

    Parameters
    ----------
    point, top
        y, shape ``(dimension,)``, and t.
    slack, ball
        Z = (A*y - t e, (y, 1)) as the solver has it: flat scores, and shape ``(dimension + 1,)``.
    weights, pull
        w, flat, off-diagonals doubled; and q, shape ``(dimension + 1,)``.
    """

    point: FloatArray
    top: float
    slack: FloatArray
    ball: FloatArray
    weights: FloatArray
    pull: FloatArray


class LargestMargin:
    """The largest-margin program of a system, with data divided by their largest entry."""

    def __init__(self, system: ConicSystem) -> None:
        rows = rows_of(system)
        self.size = largest_entry(rows) or 1.0
        # Divided, which does not move the solution
        self.data: Rows
        if isinstance(rows, np.ndarray):
            self.data = rows / self.size
        else:
            self.data = sp.csr_array(rows / self.size)
        self.cone = system.cone

    def slack_of(self, point: FloatArray, top: float) -> FloatArray:
        """Return A*y - t e."""
        return np.asarray(self.data @ point - top * self.cone.identity)

    def conditions(self) -> tuple[sp.csr_array, FloatArray]:
        """Return M and k such that M (y, t) + k are the scores A*y - t e, then (y, 1)."""
        count = self.data.shape[1]
        parts: list[Any] = [sp.csr_array(self.data), -self.cone.identity[:, None]]
        ball = sp.eye_array(count + 1, count + 1, format="csr")
        ball.data[-1] = 0.0
        constant = np.zeros(self.cone.size + count + 1)
        constant[-1] = 1.0
        return sp.csr_array(sp.vstack([sp.csr_array(sp.hstack(parts)), ball])), constant

    def answer_from(
        self, variables: FloatArray, slack: FloatArray, multipliers: FloatArray
    ) -> MarginAnswer:
        """Return an answer of a solver: (y, t), Z and the multipliers, entry by entry."""
        size = self.cone.size
        return MarginAnswer(
            point=variables[:-1].copy(),
            top=float(variables[-1]),
            slack=slack[:size],
            ball=slack[size:],
            weights=multipliers[:size],
            pull=multipliers[size:],
        )

    def repaired(self, weights: FloatArray) -> FloatArray:
        """Set negative weights of rows to 0; the certificates move matrix weights into the cone."""
        repaired = weights.copy()
        for part, span in self.cone.blocks:
            if isinstance(part, Orthant):
                np.maximum(repaired[span], 0.0, out=repaired[span])
        return repaired

    def answer_of(self, point: FloatArray, weights: FloatArray | None) -> MarginAnswer:
        """Return the answer that a point and weights of any length represent after scaling.

        y of norm 1 with the largest t for which A*y - t e lies in K, or y = 0 if that is negative;
        weights w of the base, e / r where there are none in the dual cone, and of the ball the
        least that A w asks for.
        """
        length = float(np.linalg.norm(point))
        point = point / length if length > 0.0 else point
        top = float(self.cone.lowest(np.asarray(self.data @ point)))
        # y = 0 with t = 0 is always feasible, and better than a negative t
        if not top > 0.0:
            point, top = np.zeros(len(point)), 0.0
        # Weights are compared on the base Delta(K), where they have mass 1
        mass = 0.0 if weights is None else float(self.cone.identity @ weights)
        distribution = barycentre(self.cone)
        if weights is not None and mass > 0.0 and self._is_dual(weights / mass):
            distribution = weights / mass
        image = np.asarray(self.data.T @ distribution)
        return MarginAnswer(
            point=point,
            top=top,
            slack=self.slack_of(point, top),
            ball=np.append(point, 1.0),
            weights=distribution,
            pull=np.append(-image, np.linalg.norm(image)),
        )

    def _is_dual(self, weights: FloatArray) -> bool:
        """Return whether weights of mass 1 lie in the dual cone, up to rounding."""
        return self.cone.lowest(weights / self.cone.multiplicity) >= -DUAL

    def better(self, first: MarginAnswer, other: MarginAnswer) -> MarginAnswer:
        """Combine two answers: the point of larger t, and the weights of smaller r."""
        best = first if first.top >= other.top else other
        least = first if first.pull[-1] <= other.pull[-1] else other
        return replace(best, weights=least.weights, pull=least.pull)

    def figures(self, answer: MarginAnswer) -> dict[str, float]:
        """Return the six DIMACS errors of an answer and the size of the data, by column name.

        The program is DIMACS's dual, max b'z such that Z = C - A'z, and (w, q) its X. Here b and C
        have one entry 1 each and no other, so that 1 + norm(b) = 1 + norm(C) = 2.

        References
        ----------
        H. D. Mittelmann, An independent benchmarking of SDP and SOCP solvers, Mathematical
        Programming 95 (2003) 407-430.
        """
        cone, lengths = self.cone, np.sqrt(self.cone.multiplicity)
        equations = self.data.T @ answer.weights + answer.pull[:-1]
        total = float(cone.identity @ answer.weights)
        differences = lengths * (answer.slack - self.slack_of(answer.point, answer.top))
        apart = answer.ball - np.append(answer.point, 1.0)
        lowest = min(cone.lowest(answer.weights / cone.multiplicity), _lowest(answer.pull))
        inside = min(cone.lowest(answer.slack), _lowest(answer.ball))
        bound = float(answer.pull[-1])
        values = 1.0 + abs(bound) + abs(answer.top)
        errors = (
            float(np.hypot(np.linalg.norm(equations), total - 1.0)) / 2.0,
            max(0.0, -lowest) / 2.0,
            float(np.hypot(np.linalg.norm(differences), np.linalg.norm(apart))) / 2.0,
            max(0.0, -inside) / 2.0,
            (bound - answer.top) / values,
            float(answer.weights @ answer.slack + answer.pull @ answer.ball) / values,
        )
        return dict(zip(ERRORS, errors, strict=True)) | {SIZE: self.size}


def _lowest(element: FloatArray) -> float:
    """Return the lowest eigenvalue of (u, r) in the second-order cone: r - norm(u)."""
    return float(element[-1] - np.linalg.norm(element[:-1]))


def refuse_blocks(algorithm: AnyAlgorithm, system: ConicSystem, *, matrices: bool = True) -> None:
    """Raise InputError for blocks that the solver does not support."""
    kinds = (Orthant, SecondOrder, Semidefinite)[: 2 + matrices]
    for part, _ in system.cone.blocks:
        if type(part) not in kinds:
            accepted = "rows, second-order and matrix" if matrices else "rows and second-order"
            raise InputError(
                f"{registry.name_of('algorithm', algorithm)} takes {accepted} blocks, not "
                f"{type(part).__name__}; choose another algorithm"
            )


class Reply(NamedTuple):
    """An answer with the solver's name, version and reported status."""

    answer: MarginAnswer
    remark: str
    status: str = ""


@parameter_record
class LargestMarginSolver(SingleAnswerSolver):
    """A solver of the largest-margin program; its answer is reported with its errors.

    Parameters
    ----------
    epsilon
        The bound of the margin that weights are claimed to prove, > 0 (default 1e-6).
    """

    needs_all_entries: ClassVar[bool] = True
    takes_matrices: ClassVar[bool] = True

    epsilon: Positive = 1e-6
    tolerance: Proportion = 1e-8

    def start(self, system: ConicSystem, rng: np.random.Generator) -> SingleAnswerState:
        """Return the state at 0, before the solver is called."""
        refuse_blocks(self, system, matrices=self.takes_matrices)
        self.find()
        return SingleAnswerState(np.zeros(system.dimension))

    def find(self) -> None:
        """Raise an ``InputError`` if the solver is not installed."""

    def ask(self, system: ConicSystem, state: SingleAnswerState) -> Claim:
        """Call the solver until an answer supports a claim; otherwise claim its last point."""
        program = LargestMargin(system)
        for reply in self.replies(program):
            state.point, state.weights = reply.answer.point, program.repaired(reply.answer.weights)
            state.figures, state.remark = program.figures(reply.answer), reply.remark
            if reply.status:
                state.ending = f"{type(self).__name__} has answered, and calls it {reply.status}"
            claim = supported(system, state, self.epsilon)
            if claim is not None:
                return claim
        return FeasiblePoint(state.point.copy())

    @abstractmethod
    def replies(self, program: LargestMargin) -> Iterator[Reply]:
        """Yield the solver's replies, each with a tighter tolerance than the one before."""
