"""The perceptron with margin, by compiled sweeps (`TsampoukaShaweTaylor`, section 2.1)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perceptron_lab.algorithms.base import (
    NO_MARGIN,
    Algorithm,
    S,
    State,
    Step,
    Systems,
    cut_or_claim,
    finite,
    lengthened,
    no_point_exists,
)
from perceptron_lab.algorithms.sweeping import Sweeping, SweptState
from perceptron_lab.cones.operators.gram import Coordinates
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.numerics.compiled.margin_sweeps import margin_sweep
from perceptron_lab.systems import ConicSystem, Cut


class LimitedScores(Algorithm[S]):
    """A perceptron that requires scores above a limit b, with its guarantees.

    Attributes
    ----------
    rate, negative
        eta, and the limit of the negative class, if it has its own.
    """

    rate: float = 1.0
    negative: float | None = None

    @property
    @abstractmethod
    def limit(self) -> float | None:
        """The limit b; None stands for eta R^2."""

    def limit_for(self, longest: float) -> float:
        """Return b for rows of norms up to R."""
        return self.rate * longest * longest if self.limit is None else self.limit

    def largest_limit(self, longest: float) -> float:
        """Return the largest limit over the rows, for which all bounds are stated."""
        return max(self.limit_for(longest), self.negative or 0.0)

    def bound(self, facts: Facts) -> Bound:
        """Return t_N = R^2 / gamma_d^2 + 2 b / (eta gamma_d^2), with f_t = 1."""
        longest, margin = facts.atom_norm, facts.margin
        if longest is None or margin is None or margin <= 0.0:
            return Bound(None, self.guarantee.source, NO_MARGIN)
        # (2.11) with f_t = 1: R^2 from the updates, 2 b / eta from scores up to b
        ratio = longest / margin
        more = 2.0 * self.largest_limit(longest) / self.rate / margin / margin
        return finite(ratio * ratio + more, self.guarantee.source)

    def bound_from(self, facts: Facts, length: float) -> Bound:
        """Return the bound plus 2 norm(a) / (eta gamma_d) for a start a."""
        return lengthened(self.bound(facts), length / self.rate, facts.margin)

    def guaranteed_margin(self, facts: Facts) -> float | None:
        """Return beta_min (2.21) of a run from zero; None where no margin is known.

        It is gamma_d / (2 + eta R^2 / b), with b the least limit and in 2 the largest.
        """
        longest, margin = facts.atom_norm, facts.margin
        if longest is None or margin is None or margin <= 0.0:
            return None
        b = self.limit_for(longest)
        # The guarantee counts on the least limit, the number of updates on the largest
        least = b if self.negative is None else min(b, self.negative)
        return margin * least / (self.rate * longest * longest + 2.0 * self.largest_limit(longest))


@dataclass(kw_only=True)
class LimitedState(SweptState):
    """The required scores b_k of the rows, shape ``(m,)``."""

    limits: FloatArray


@parameter_record
class PerceptronWithMargin(LimitedScores[LimitedState], Sweeping[LimitedState]):
    """The perceptron with margin: a <- a + eta y_k whenever y_k'a <= b, the rows in cyclic order.

    Find a with y_k'a > b for all rows y_k, and so a positive margin. With R the largest norm of a
    row and gamma_d the margin of the rows as the system sees them, from a = 0 at most

        t_N = R^2 / gamma_d^2 + 2 b / (eta gamma_d^2)                            (2.11), f_t = 1

    updates are made, and from another a at most 2 norm(a) / (eta gamma_d) more. Of the course only
    b / eta matters. Since norm(a) <= (eta R^2 + 2 b) / gamma_d in the end ((2.20), as printed for
    f_t = 1 alone: in general it is f_max / f_min (eta f_max R^2 + 2 b) / gamma_d), the margin
    b / norm(a) that is reached is at least

        beta_min = gamma_d / (2 + eta R^2 / b),                                           (2.21)

    half of the largest one for b much larger than eta R^2; the default b = eta R^2 promises a third
    of it within 3 R^2 / gamma_d^2 updates. From update

        t_c = (R^2 - gamma_d^2) / (2 gamma_d^2) + b / (eta gamma_d^2)                     (2.18)

    on, each update turns a towards the direction of the largest margin.

    Uneven margins (Li et al.): the rows of the negative class have a separate limit, and all
    bounds hold with the larger one. With equal margins this is the perceptron with margin. Where
    the larger limit is b_max, class +-'s margin in the end is at least
    b_+- gamma_d / (eta R^2 + 2 b_max).

    The numbers of updates by the rows are weights w, a = eta A w: norm(A w) / <e, w> bounds the
    margin from above. On other cones, and on sparse rows, ``tau-perceptron`` asks an oracle.

    Parameters
    ----------
    b
        The score that is to be exceeded, > 0; None (default) stands for eta R^2.
    rate
        The learning rate eta > 0 (default 1).
    negative
        The same for rows whose last entry is negative: for the negative class, where a constant
        feature > 0 was appended to the examples; > 0; None (default) stands for b.

    References
    ----------
    `TsampoukaShaweTaylor`, section 2.1; Li, Zaragoza, Herbrich, Shawe-Taylor and Kandola (2002),
    The perceptron algorithm with uneven margins.
    """

    systems: ClassVar[Systems] = {"theorem": "rows", "coordinates: theorem": "kernel"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "R^2 / gamma_d^2 + 2 b / (eta gamma_d^2)",
        "(2.11)",
        "TsampoukaShaweTaylor",
        note="from a = 0; b is the larger limit, gamma_d the directional margin",
    )
    compiled_sweep: ClassVar = (margin_sweep,)
    for_sparse: ClassVar[str] = "take tau-perceptron with the cyclic oracle for sparse ones"

    b: Positive | None = None
    rate: Positive = 1.0
    negative: Positive | None = None

    def start(self, system: ConicSystem, rng: np.random.Generator) -> LimitedState:
        """Return the state at a = 0, with a copy of the rows."""
        rows = self.swept(system)
        limits = np.full(len(rows), self.limit_for(system.atom_norm()))
        if self.negative is not None:
            if isinstance(system.operator, Coordinates):
                raise InputError(
                    "the rows of a kernel have no constant feature that tells the classes; "
                    "leave negative out"
                )
            # The last coordinate is the signed constant feature: its sign is the class
            limits[rows[:, -1] < 0.0] = self.negative
        zero = np.zeros(rows.shape[1])
        return LimitedState(zero, weights=np.zeros(len(rows)), rows=rows, limits=limits)

    def sweep(self, state: LimitedState, most: int, checks: int) -> tuple[int, int]:
        """Add the rows with y'a <= b."""
        updates, examined, state.row, state.quiet = margin_sweep(
            *state.arrays, state.limits, self.rate, state.row, most, state.quiet, checks
        )
        return updates, examined

    def add(self, state: LimitedState, cut: Cut) -> None:
        """Add eta times the normal of a cut."""
        state.point += self.rate * cut.normal
        state.weigh(cut.atom, cut.atom.values)

    @property
    def limit(self) -> float | None:
        """The limit b."""
        return self.b

    def critical_time(self, facts: Facts) -> float | None:
        """Return t_c (2.18), from which on each update turns a towards the best direction.

        It is (R^2 / gamma_d^2 - 1) / 2 + b / (eta gamma_d^2).
        """
        longest, margin = facts.atom_norm, facts.margin
        if longest is None or margin is None or margin <= 0.0:
            return None
        ratio = longest / margin
        size = self.largest_limit(longest)
        return (ratio * ratio - 1.0) / 2.0 + size / self.rate / margin / margin


@dataclass(kw_only=True)
class TauState(State):
    """The required score tau of all cuts."""

    tau: float


@parameter_record
class TauPerceptron(LimitedScores[TauState]):
    """The tau-perceptron: while a cut y with y'a <= tau exists, a <- a + eta y.

    A*a - tau e strictly inside the cone is asked for, so that the answer lies deeper inside than a
    perceptron's. The cuts are those of the system, with R their largest norm and gamma_d its
    margin: from a = 0 at most R^2 / gamma_d^2 + 2 tau / (eta gamma_d^2) updates are made ((2.11) of
    `TsampoukaShaweTaylor`), and the margin reached is at least gamma_d / (2 + eta R^2 / tau)
    (2.21), a third of the largest one with the default. From another a at most
    2 norm(a) / (eta gamma_d) more updates are made.

    The algorithm of Li et al. has a tau for each of two classes. Cuts of a cone have no classes,
    and with equal margins it is the perceptron with margin; ``perceptron-with-margin`` has uneven
    ones, for dense rows.

    The multiples of the cuts in a are weights w: norm(A w) / <e, w> bounds the margin from above.

    Parameters
    ----------
    tau
        > 0; None (default) stands for eta R^2.
    rate
        The learning rate eta > 0 (default 1); only tau / eta matters.

    References
    ----------
    `Kharechko2009`, section 6.7; `TsampoukaShaweTaylor`, section 2.1; Li, Zaragoza, Herbrich,
    Shawe-Taylor and Kandola (2002), The perceptron algorithm with uneven margins.
    """

    systems: ClassVar[Systems] = {"theorem": "rows kernel second-order semidefinite product"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "R^2 / gamma_d^2 + 2 tau / (eta gamma_d^2)",
        "(2.11)",
        "TsampoukaShaweTaylor",
        note="from a = 0; gamma_d is the directional margin",
    )

    tau: Positive | None = None
    rate: Positive = 1.0

    def start(self, system: ConicSystem, rng: np.random.Generator) -> TauState:
        """Return the state at a = 0."""
        tau = self.limit_for(system.atom_norm())
        return TauState(np.zeros(system.dimension), weights=np.zeros(system.cone.size), tau=tau)

    def step(self, system: ConicSystem, state: TauState, most: int) -> Step[TauState]:
        """Make up to ``most`` updates; claim a when no cut is left."""
        for _ in range(most):
            # Where tau is passed, the system's tolerance may still ask for more.
            cut = system.cut(state.point, -state.tau)
            cut_or_end = cut_or_claim(system, state.point) if cut is None else cut
            if not isinstance(cut_or_end, Cut):
                return state, cut_or_end
            if cut_or_end.norm == 0.0:
                return state, no_point_exists(system, cut_or_end)
            state.point += self.rate * cut_or_end.normal
            state.weigh(cut_or_end.atom, cut_or_end.atom.values)
            state.updates += 1
        return state, None

    @property
    def limit(self) -> float | None:
        """The limit tau."""
        return self.tau
