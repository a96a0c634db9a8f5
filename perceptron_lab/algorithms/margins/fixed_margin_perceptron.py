"""Relaxation with margin, and the perceptron for a fixed directional margin.

`TsampoukaShaweTaylor`, sections 2.1 (single-sample relaxation with margin, modified) and 2.2.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from perceptron_lab.algorithms.base import NO_MARGIN, Systems, finite
from perceptron_lab.algorithms.sweeping import Sweeping, SweptState
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.numerics.compiled.margin_sweeps import fixed_margin_sweep, relaxation_sweep
from perceptron_lab.systems import ConicSystem, Cut

TOO_LARGE = "beta is not below the known margin"
# ``one``: f_t = 1; ``angle``: f_t = 1 - beta u_t'y_k / norm(y_k)^2
Factor = Literal["one", "angle"]


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
    guarantee: ClassVar[Guarantee] = Guarantee(
        "R^4 b_u^2 / (eta (2 - eta) (b_u - b)^2 r^2 gamma_d^2)",
        "(2.29)",
        "TsampoukaShaweTaylor",
        note="from a = 0; r and R are the least and the largest norm of a row",
    )
    compiled_sweep: ClassVar = (relaxation_sweep,)

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
        updates, examined, state.row, state.quiet = relaxation_sweep(
            *state.measured, *limits, state.row, most, state.quiet, checks
        )
        return updates, examined

    def add(self, state: MeasuredState, cut: Cut) -> None:
        """Add eta b_u / norm(y)^2 times the normal of a cut, as from y'a = 0."""
        # (2.22) with a_t'y_k = 0
        factor = self.aim / cut.norm**2
        state.point += self.rate * factor * cut.normal
        state.weigh(cut.atom, factor * cut.atom.values)

    def bound(self, facts: Facts) -> Bound:
        """Return R^4 b_u^2 / (eta (2 - eta) (b_u - b)^2 r^2 gamma_d^2)."""
        theorem = self.guarantee.source
        longest, shortest, margin = facts.atom_norm, facts.shortest_cut, facts.margin
        if longest is None or shortest is None or margin is None or margin <= 0.0:
            return Bound(None, theorem, NO_MARGIN)
        # Grouped into ratios, since R^4 alone may overflow
        length = self.aim / (self.aim - self.b) * (longest / shortest) * (longest / margin)
        value = length * length / (self.rate * (2.0 - self.rate))
        return finite(value, theorem)

    def guaranteed_margin(self, facts: Facts) -> float | None:
        """Return the margin that a run from zero reaches; None where none is known."""
        longest, shortest, margin = facts.atom_norm, facts.shortest_cut, facts.margin
        if longest is None or shortest is None or margin is None or margin <= 0.0:
            return None
        # The margin b / norm(a_t), with norm(a_t) from (2.28) and t from (2.29)
        part = self.b / self.aim * (1.0 - self.b / self.aim) * (2.0 - self.rate)
        return part * (shortest / longest) ** 2 * margin


def factor_range(factor: Factor, beta: float, shortest: float) -> tuple[float, float]:
    """Return f_min and f_max over u_t'y_k <= beta and rows of norm r = ``shortest`` or more.

    Since -norm(y_k) <= u_t'y_k <= beta, they are 1 - beta^2 / r^2 and 1 + beta / r; f_min > 0 for
    beta < r, and gamma_d <= r.
    """
    if factor == "one":
        return 1.0, 1.0
    # (2.32) for -norm(y_k) <= u_t'y_k <= beta, the least and largest values
    part = beta / shortest
    return (1.0 - part) * (1.0 + part), 1.0 + part


def squares_above(rows: FloatArray, beta: float) -> FloatArray:
    """Return norm(y_k)^2, shape ``(m,)``; refuse rows that are too short for the margin.

    Raises
    ------
    InputError
        If a row is no longer than beta: no point has more than its norm as a score.
    """
    squares = np.einsum("ij,ij->i", rows, rows)
    shortest = int(squares.argmin())
    length = float(np.sqrt(squares[shortest]))
    if length <= beta:
        raise InputError(
            f"beta={beta}, but row {shortest} has the norm {length:.3g}, which no margin exceeds; "
            "give a smaller beta"
        )
    return np.asarray(squares)


@parameter_record
class FixedMarginPerceptron(Sweeping[MeasuredState]):
    """A given margin beta: a <- a + eta f_t y_k whenever y_k'u <= beta, u = a / norm(a).

    Find a unit u with y_k'u > beta for all rows y_k, 0 < beta < gamma_d, the margin of the rows as
    the system sees them; unlike y_k'a <= b, the condition does not weaken as a grows. Rows are
    looked at in cyclic order, from a = 0, where every row is misclassified. f_t is 1, or

        f_t = 1 - beta u'y_k / norm(y_k)^2                               (2.32), f_t = 1 at a = 0,

    which lies between 1 - beta^2 / r^2 and 1 + beta / r for rows of norms r to R. With
    q = f_max / f_min, and if gamma_d > q beta, the updates t satisfy

        (t - 1) / (3 + 2 ln(t - 1)) <= (q R / gamma_d)^2 / (4 (1 - q beta / gamma_d));      (2.45)

    ``bound`` is the largest t of (2.43), of which this and (2.48) are looser forms. It does not
    depend on eta, nor does the course but for its scale (bit by bit where eta is a power of two).
    Where gamma_d > beta alone, or from another start than 0, the updates are finite, without a
    bound. From update

        t_c = q (R^2 - gamma_d^2) / (2 gamma_d (gamma_d - beta))                             (2.35)

    on, each update turns a towards the direction of the largest margin.

    With beta >= gamma_d it runs until its budget is spent; its best point is still proved. The sums
    of f_t by the rows are weights w, a = eta A w: norm(A w) / <e, w> bounds the margin from above.

    Parameters
    ----------
    beta
        The margin asked for, in the unit of the rows as the system sees them, > 0 (default 0.01).
    factor
        ``one`` (default) or ``angle``: f_t.
    rate
        The learning rate eta > 0 (default 1).

    References
    ----------
    `TsampoukaShaweTaylor`, (2.30) to (2.48).
    """

    systems: ClassVar[Systems] = {"theorem": "rows", "coordinates: theorem": "kernel"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "(t - 1) / (3 + 2 ln(t - 1)) <= (q R / gamma_d)^2 / (4 (1 - q beta / gamma_d))",
        "(2.43)",
        "TsampoukaShaweTaylor",
        note="for t updates, q = f_max / f_min and gamma_d > q beta; this is (2.45), a looser form",
    )
    compiled_sweep: ClassVar = (fixed_margin_sweep,)

    beta: Positive = 0.01
    factor: Factor = "one"
    rate: Positive = 1.0

    def start(self, system: ConicSystem, rng: np.random.Generator) -> MeasuredState:
        """Return the state at a = 0, with a copy of the rows."""
        rows = self.swept(system)
        squares = squares_above(rows, self.beta)
        zero = np.zeros(rows.shape[1])
        return MeasuredState(zero, weights=np.zeros(len(rows)), rows=rows, squares=squares)

    def sweep(self, state: MeasuredState, most: int, checks: int) -> tuple[int, int]:
        """Add the rows with y'a <= beta norm(a)."""
        parameters = self.rate, self.beta, self.factor == "angle"
        updates, examined, state.row, state.quiet = fixed_margin_sweep(
            *state.measured, *parameters, state.row, most, state.quiet, checks
        )
        return updates, examined

    def add(self, state: MeasuredState, cut: Cut) -> None:
        """Add eta times the normal of a cut."""
        state.point += self.rate * cut.normal
        state.weigh(cut.atom, cut.atom.values)

    def bound(self, facts: Facts) -> Bound:
        """Return the largest number of updates of (2.43)."""
        theorem = self.guarantee.source
        longest, shortest, margin = facts.atom_norm, facts.shortest_cut, facts.margin
        if longest is None or shortest is None or margin is None or margin <= 0.0:
            return Bound(None, theorem, NO_MARGIN)
        if self.beta >= margin:
            return Bound(None, theorem, TOO_LARGE)
        least, most = factor_range(self.factor, self.beta, shortest)
        value = free_length_bound(margin, self.beta, longest, least, most)
        if value is None:
            return Bound(None, theorem, "f_min gamma_d is not above f_max beta")
        return finite(value, theorem)

    def critical_time(self, facts: Facts) -> float | None:
        """Return t_c (2.35); None where no margin above beta is known."""
        longest, shortest, margin = facts.atom_norm, facts.shortest_cut, facts.margin
        if longest is None or shortest is None or margin is None or margin <= self.beta:
            return None
        least, most = factor_range(self.factor, self.beta, shortest)
        ratio = longest / margin
        return most / least * (ratio * ratio - 1.0) / (2.0 * (1.0 - self.beta / margin))


def free_length_bound(
    margin: float, beta: float, longest: float, least: float, most: float
) -> float | None:
    """Return the largest t that (2.7) and (2.42) allow, or None if they allow every t.

    A run from a = 0 has, for every N with t > N >= 1 and q = f_max / f_min,

        gamma_d t <= q {R N + beta (t - N) + q R^2 / (2 gamma_d) (ln((t - 1) / N) + 1 / N)},

    which is (2.43). The right-hand side grows like q beta t, so that t is bounded if
    gamma_d > q beta. Here N is 1, as in (2.45), and the N_opt of (2.46) and N_opt - 1, as in
    (2.48), whichever gives the least: both are looser.

    Parameters
    ----------
    margin, beta
        gamma_d, or a lower bound of it, and the margin asked for.
    longest
        R, or more.
    least, most
        f_min > 0 and f_max.

    References
    ----------
    `TsampoukaShaweTaylor`, (2.36) to (2.48).
    """
    ratio = most / least
    # The coefficient of t in (2.43): without growth the inequality bounds no t
    gain = margin - ratio * beta
    if gain <= 0.0:
        return None
    # (2.46) before rounding; the integers on both sides are tried, and N = 1 as in (2.45)
    optimal = ratio * longest / (2.0 * margin * (1.0 - beta / longest))
    if not math.isfinite(optimal * longest / margin):
        return math.inf
    candidates = {1, max(1, math.floor(optimal)), math.floor(optimal) + 1}
    return min(_largest(n, gain, margin, beta, longest, ratio) for n in candidates)


def _largest(
    n: int, gain: float, margin: float, beta: float, longest: float, ratio: float
) -> float:
    """Return the largest t <= N that the inequality allows, or N if it allows no larger one."""
    logarithm = ratio * ratio * longest * longest / (2.0 * margin)
    loss = ratio * (longest - beta) * n + logarithm * (1.0 / n - math.log(n))

    def excess(t: float) -> float:
        return gain * t - loss - logarithm * math.log(t - 1.0)

    # convex: where it falls no more, it has one zero at most
    low = max(n + 1.0, 1.0 + logarithm / gain)
    if excess(low) > 0.0:
        return float(n)
    high = 2.0 * low
    while excess(high) <= 0.0:
        low, high = high, 2.0 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if excess(middle) <= 0.0 else (low, middle)
    return high
