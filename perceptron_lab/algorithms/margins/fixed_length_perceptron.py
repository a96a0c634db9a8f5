"""The perceptron of fixed length for a fixed margin (`TsampoukaShaweTaylor`, section 2.2.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perceptron_lab.algorithms.base import NO_MARGIN, Systems, finite
from perceptron_lab.algorithms.margins.fixed_margin_perceptron import (
    TOO_LARGE,
    Factor,
    MeasuredState,
    factor_range,
    squares_above,
)
from perceptron_lab.algorithms.sweeping import Sweeping
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, Guarantee
from perceptron_lab.numerics.compiled.margin_sweeps import fixed_length_sweep
from perceptron_lab.systems import ConicSystem, Cut


@dataclass(kw_only=True)
class FixedLengthState(MeasuredState):
    """eta, and the scale s of the weights: a = eta s A w."""

    rate: float
    scale: float = 1.0


@parameter_record
class FixedLengthPerceptron(Sweeping[FixedLengthState]):
    """A given margin, norm(a) = beta throughout: a <- a + eta f_t y_k, then stretched to beta.

    Find a unit u with y_k'u > beta for all rows y_k, 0 < beta < gamma_d, the margin of the rows as
    the system sees them. From a_0 = beta y_1 / norm(y_1), in cyclic order, wherever y_k'u <= beta,

        a <- beta b / norm(b),  b = a + eta f_t y_k,                                      (2.49)

    f_t as in ``fixed-margin-perceptron``. With R the largest norm, q = f_max / f_min and
    x = eta f_max R / beta, fewer than

        q / ((gamma_d - beta) / R x - (1 / 2 + beta / R) x^2 - x^3 / 2)                   (2.56)

    updates are made where the denominator is positive. It is nearly least for

        eta_opt = (gamma_d - beta) beta / (f_max R^2 (1 + 2 beta / R)),                   (2.57)

    which gives fewer than

        2 q R^2 / (gamma_d - beta)^2 (1 + 2 beta / R)
          / (1 - (gamma_d - beta) / R (1 + 2 beta / R)^-2).                               (2.58)

    eta_opt takes a lower bound of gamma_d - beta, the parameter ``gap``, instead. Below

        eta_c = 2 (gamma_d - beta) beta / (f_max (R^2 - gamma_d^2))                       (2.51)

    each update turns a towards the direction of the largest margin, from the first one on.

    The multiples of the rows in a are weights w: norm(A w) / <e, w> bounds the margin from above.

    Parameters
    ----------
    beta
        The margin asked for, in the unit of the rows as the system sees them, > 0 (default 0.01).
    gap
        A lower bound of gamma_d - beta, > 0, for eta_opt; None (default) stands for beta: then
        gamma_d >= 2 beta is relied on.
    factor
        ``one`` (default) or ``angle``: f_t.
    rate
        The learning rate eta > 0; None (default) stands for eta_opt.

    References
    ----------
    `TsampoukaShaweTaylor`, (2.49) to (2.58).
    """

    systems: ClassVar[Systems] = {"theorem": "rows", "coordinates: theorem": "kernel"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "q / (x (gamma_d - beta) / R - x^2 (1 / 2 + beta / R) - x^3 / 2)",
        "(2.56)",
        "TsampoukaShaweTaylor",
        note="for x = eta f_max R / beta, q = f_max / f_min and a positive denominator",
    )
    compiled_sweep: ClassVar = (fixed_length_sweep,)
    takes_start: ClassVar[bool] = False

    beta: Positive = 0.01
    gap: Positive | None = None
    factor: Factor = "one"
    rate: Positive | None = None

    def start(self, system: ConicSystem, rng: np.random.Generator) -> FixedLengthState:
        """Return the state at beta y_1 / norm(y_1), with a copy of the rows."""
        rows = self.swept(system)
        squares = squares_above(rows, self.beta)
        shortest, longest = math.sqrt(squares.min()), math.sqrt(squares.max())
        rate, weights = self.learning_rate(shortest, longest), np.zeros(len(rows))
        # a_1 = beta u_1: the run starts on the sphere that (2.49) keeps it on
        weights[0] = self.beta / math.sqrt(squares[0]) / rate
        return FixedLengthState(
            rows[0] * (self.beta / math.sqrt(squares[0])),
            weights=weights,
            rows=rows,
            squares=squares,
            rate=rate,
        )

    def sweep(self, state: FixedLengthState, most: int, checks: int) -> tuple[int, int]:
        """Add the rows with y'u <= beta."""
        parameters = state.rate, self.beta, self.factor == "angle", state.scale
        updates, examined, state.row, state.quiet, state.scale = fixed_length_sweep(
            *state.measured, *parameters, state.row, most, state.quiet, checks
        )
        return updates, examined

    def add(self, state: FixedLengthState, cut: Cut) -> None:
        """Add eta times the normal of a cut."""
        state.point += state.rate * cut.normal
        state.weigh(cut.atom, cut.atom.values / state.scale)
        # (2.49): the point is stretched to the length beta; the scale of the weights follows
        length = float(np.linalg.norm(state.point))
        if length > 0.0:
            state.point *= self.beta / length
            state.scale *= self.beta / length

    def learning_rate(self, shortest: float, longest: float) -> float:
        """Return eta: the given rate, or eta_opt (2.57) for the gap and rows of norms r to R."""
        if self.rate is not None:
            return self.rate
        most = factor_range(self.factor, self.beta, shortest)[1]
        gap = self.beta if self.gap is None else self.gap
        # (2.57), with the gap gamma_d - beta, which is unknown, given or set to beta
        return gap / longest * (self.beta / (longest + 2.0 * self.beta)) / most

    def bound(self, facts: Facts) -> Bound:
        """Return (2.56)."""
        theorem = self.guarantee.source
        longest, shortest, margin = facts.atom_norm, facts.shortest_cut, facts.margin
        if longest is None or shortest is None or margin is None or margin <= 0.0:
            return Bound(None, theorem, NO_MARGIN)
        if self.beta >= margin:
            return Bound(None, theorem, TOO_LARGE)
        least, most = factor_range(self.factor, self.beta, shortest)
        # (2.56) in x = eta f_max R / beta
        x = self.learning_rate(shortest, longest) * most * longest / self.beta
        part = self.beta / longest
        gain = x * ((margin - self.beta) / longest - x * (0.5 + part + 0.5 * x))
        # (2.56) bounds t only if its braces are positive
        if gain <= 0.0:
            return Bound(None, theorem, "eta is too large for the known margin")
        return finite(most / least / gain, theorem)

    def critical_rate(self, facts: Facts) -> float | None:
        """Return eta_c (2.51); None where no margin above beta is known."""
        longest, shortest, margin = facts.atom_norm, facts.shortest_cut, facts.margin
        if longest is None or shortest is None or margin is None or margin <= self.beta:
            return None
        if margin >= longest:  # one direction, which every update leads to
            return math.inf
        most = factor_range(self.factor, self.beta, shortest)[1]
        square = (longest - margin) * (longest + margin)
        return 2.0 * (margin - self.beta) * self.beta / (most * square)
