"""Single-sample relaxation with margin, modified (`TsampoukaShaweTaylor`, section 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from perceptron_lab.algorithms.base import NO_MARGIN, Systems, finite
from perceptron_lab.algorithms.sweeping import Sweeping, SweptState
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray
from perceptron_lab.numerics.compiled.margin_sweeps import relaxation_sweep
from perceptron_lab.systems import ConicSystem, Cut


@dataclass(kw_only=True)
class MeasuredState(SweptState):
    """The squares of the rows' norms, shape ``(m,)``."""

    squares: FloatArray

    @property
    def measured(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The rows, their squared norms, the point and the weights, for a kernel."""
        rows, point, weights = self.arrays
        return rows, self.squares, point, weights


@parameter_record
class RelaxationWithMargin(Sweeping[MeasuredState]):
    """Relaxation with margin: a moves by eta times the way to y_k'a = b_u whenever y_k'a <= b.

    Find a with y_k'a > b for all rows y_k: in cyclic order, wherever y_k'a <= b,

        a <- a + eta f_t y_k,  f_t = (b_u - y_k'a) / norm(y_k)^2,  b_u > b, 0 < eta < 2.      (2.22)

    f_t is at least (b_u - b) / R^2 (2.23), and unbounded. With r and R the least and the largest
    norm of a row, gamma_d the margin of the rows as the system sees them, from a = 0 at most

        R^4 b_u^2 / (eta (2 - eta) (b_u - b)^2 r^2 gamma_d^2)                                 (2.29)

    updates are made; from another start there is no such bound. The course is proportional to b_u:
    only b / b_u matters. (2.28) at that number of updates bounds norm(a), so that the margin
    b / norm(a) reached is at least

        b (b_u - b) (2 - eta) r^2 gamma_d / (b_u^2 R^2),

    at most half of gamma_d, for b = b_u / 2 and eta near 0. The relaxation with b_u = b
    of Duda, Hart and Stork lets f_t vanish, and has no such bound.

    The sums of f_t by the rows are weights w, a = eta A w: norm(A w) / <e, w> bounds the margin
    from above.

    Parameters
    ----------
    b
        The score that is to be exceeded, > 0 (default 1).
    aim
        b_u > b, the score that eta = 1 leads to (default 2).
    rate
        The learning rate eta, 0 < eta < 2 (default 1).

    References
    ----------
    `TsampoukaShaweTaylor`, (2.22) to (2.29).
    """

    systems: ClassVar[Systems] = {"theorem": "rows", "coordinates: theorem": "kernel"}

    b: Positive = 1.0
    aim: Positive = 2.0
    rate: Annotated[float, Field(gt=0, lt=2)] = 1.0

    @field_validator("aim")
    @classmethod
    def _beyond(cls, aim: float, info: ValidationInfo) -> float:
        if aim <= info.data.get("b", 0.0):
            raise ValueError(f"{aim} is not above b = {info.data['b']}; give a larger one")
        return aim

    def start(self, system: ConicSystem, rng: np.random.Generator) -> MeasuredState:
        """Return the state at a = 0, with a copy of the rows."""
        rows = self.swept(system)
        squares = np.einsum("ij,ij->i", rows, rows)
        zero = np.zeros(rows.shape[1])
        return MeasuredState(zero, weights=np.zeros(len(rows)), rows=rows, squares=squares)

    def sweep(self, state: MeasuredState, most: int, checks: int) -> tuple[int, int]:
        """Move towards the rows with y'a <= b."""
        limits = self.rate, self.b, self.aim
        updates, seen, state.row, state.quiet = relaxation_sweep(
            *state.measured, *limits, state.row, most, state.quiet, checks
        )
        return updates, seen

    def add(self, state: MeasuredState, cut: Cut) -> None:
        """Add eta b_u / norm(y)^2 times the normal of a cut, as from y'a = 0."""
        factor = self.aim / cut.norm**2
        state.point += self.rate * factor * cut.normal
        state.weigh(cut.atom, factor * cut.atom.values)

    def bound(self, facts: Facts) -> Bound:
        """Return R^4 b_u^2 / (eta (2 - eta) (b_u - b)^2 r^2 gamma_d^2)."""
        theorem = "(2.29) of TsampoukaShaweTaylor"
        longest, shortest, margin = facts.atom_norm, facts.shortest_cut, facts.margin
        if longest is None or shortest is None or margin is None or margin <= 0.0:
            return Bound(None, theorem, NO_MARGIN)
        length = self.aim / (self.aim - self.b) * (longest / shortest) * (longest / margin)
        value = length * length / (self.rate * (2.0 - self.rate))
        return finite(value, theorem)

    def guaranteed_margin(self, facts: Facts) -> float | None:
        """Return the margin that a run from zero reaches; None where none is known."""
        longest, shortest, margin = facts.atom_norm, facts.shortest_cut, facts.margin
        if longest is None or shortest is None or margin is None or margin <= 0.0:
            return None
        part = self.b / self.aim * (1.0 - self.b / self.aim) * (2.0 - self.rate)
        return part * (shortest / longest) ** 2 * margin
