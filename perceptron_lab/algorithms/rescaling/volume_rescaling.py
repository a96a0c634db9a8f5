"""Phases of updates between stretches of the space, each of which enlarges the feasible cone."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from perceptron_lab.algorithms.base import (
    NO_MARGIN,
    OWN_START,
    InCoordinates,
    Step,
    cut_or_claim,
    lengthened,
)
from perceptron_lab.algorithms.rescaling.ellipsoid import log_volume_radius
from perceptron_lab.algorithms.rescaling.rescaled_perceptron import StretchedState
from perceptron_lab.core.claims import Claim, FeasiblePoint
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import Bound, FloatArray
from perceptron_lab.systems import ConicSystem, Cut


def least_growth(dimension: int) -> float:
    """Return ln(2 (1 + 1/(2n))^(-n/2)) >= ln 1.5576, the least growth of a stretch."""
    return math.log(2.0) - 0.5 * dimension * math.log1p(0.5 / dimension)


def volume_room(dimension: int, margin: float) -> float:
    """Return n ln(1/r0(rho)) - ln 2, the most that ln Vol(F and the unit ball) can grow.

    It is at least r0^n of the ball's (:func:`.log_volume_radius`) at first, where unit cuts have
    the margin rho = ``margin``, 0 < rho <= 1, and never more than half of the ball's.
    """
    return max(0.0, -dimension * log_volume_radius(dimension, margin) - math.log(2.0))


class Stretch(NamedTuple):
    """A positive definite map M with norm(M y) <= norm(y) for all y of the feasible cone.

    Parameters
    ----------
    inverse
        M^-1, shape ``(n, n)``.
    growth
        ln det M: the volume of the cone within the unit ball grows by det M or more.
    """

    inverse: FloatArray
    growth: float


class Phase(ABC):
    """The unit cuts u_1, .., u_k of one phase; each u_i has <u_i, y> >= 0 on the feasible cone F.

    Parameters
    ----------
    point
        The point of the oracle's next question, shape ``(n,)``; changed in place.
    size
        The number of the weights.
    """

    def __init__(self, point: FloatArray, size: int) -> None:
        self.point = point
        self.total = np.zeros(len(point))  # u_1 + .. + u_k
        self.count = 0
        self.weights = np.zeros(size)

    def begin_at(self, unit: FloatArray) -> None:
        """Start the phase at a unit point before the first cut."""
        self.point[:] = unit

    def take(self, cut: Cut) -> None:
        """Add a unit cut to the sums, and its atom over the cut's norm to the weights."""
        self.weights[cut.atom.span] += cut.atom.values / cut.norm
        unit = cut.normal / cut.norm
        self.count += 1
        self.total += unit
        self.add(unit)

    @abstractmethod
    def add(self, unit: FloatArray) -> None:
        """Move the point for a unit cut."""

    @abstractmethod
    def stretch(self) -> Stretch | None:
        """Return a stretch whose growth is proved to be ``least_growth`` or more, or None."""


@dataclass(kw_only=True)
class VolumeState(StretchedState):
    """The current phase in the rescaled space, and the first phase in the original one.

    The rescaled cuts are H a, H the product of all M^-1: norm(H a) >= <a, y> for every feasible y
    of norm 1. ``weights`` are the best of those phases that are over, or those of the first one,
    and ``upper`` the bound of the margin that they give; ``growth`` is the logarithm of the
    volume's proved growth.
    """

    inner: Phase
    first: Phase
    growth: float = 0.0
    upper: float = math.inf

    @property
    def exhausted(self) -> bool:
        """Whether no further stretch is possible, so that the first phase continues."""
        return self.rescalings > 0 and self.inner is self.first

    def keep_first(self, system: ConicSystem) -> None:
        """Use the weights of the first phase as soon as they give the least bound."""
        weights = self.first.weights
        if system.norm(self.first.total) < self.upper * float(weights @ system.cone.identity):
            self.weights = weights

    def keep_weights(self, system: ConicSystem) -> None:
        """Use the weights of the finished phase if they give a smaller bound."""
        weights = self.inner.weights
        weights = weights if self.operator is None else self.operator.weights_to_base(weights)
        upper = system.norm(system.combine(weights)) / float(weights @ system.cone.identity)
        if upper < self.upper:
            self.weights, self.upper = weights.copy(), upper


class VolumeRescaling(InCoordinates[VolumeState]):
    """Additive updates, and a stretch of the space whenever the cuts prove the cone to be flat.

    The feasible cone F = {y : <a, y> > 0 for all cuts a} is mapped by a positive definite M: cuts
    become M^-1 a / norm(M^-1 a), and any separation oracle for F is one for M F. The volume of F
    within the unit ball, at least r0(rho)^n of the ball's at first, grows by a constant factor with
    each stretch, and is never more than a half: hence O(n ln(1/rho)) stretches. The points that are
    asked about belong to M F; they are mapped back, and so are the weights.

    Once the volume has grown by more than a margin of ``margin`` allows, no stretch will help: the
    first phase continues, on the data as given, to find weights that bound the margin.

    A given start x, divided by its norm, is where the first phase begins: a stretch is proved by
    the cuts alone, whatever the point is. Perceptron updates keep norm(x + v) <= sqrt(1 + k) then,
    v = u_1 + .. + u_k, so that norm(v) <= 1 + sqrt(1 + k); this is k / c or less from
    k = c^2 + 2 c on, c^2 the limit of a phase from 0.
    """

    online: ClassVar[bool] = True
    margin: float = 1e-12

    @abstractmethod
    def phase(self, dimension: int, size: int) -> Phase:
        """Return a phase before its first cut."""

    @abstractmethod
    def limit(self, dimension: int) -> int:
        """Return a bound of the cuts of one phase that starts at 0."""

    @abstractmethod
    def started_limit(self, dimension: int) -> int | None:
        """Return the bound of the first phase from a given start, or None if unknown."""

    @abstractmethod
    def unrescaled(self, facts: Facts) -> Bound | None:
        """Return the bound of the first phase if the margin excludes further phases."""

    def start(self, system: ConicSystem, rng: np.random.Generator) -> VolumeState:
        """Return the state before the first phase, H = I."""
        first = self.phase(system.dimension, system.cone.size)
        return VolumeState(
            first.point, weights=first.weights, inner=first, first=first, phase="phase 1"
        )

    def start_at(
        self, system: ConicSystem, rng: np.random.Generator, point: FloatArray
    ) -> VolumeState:
        """Return the state before a first phase from the point divided by its norm."""
        state = self.start(system, rng)
        state.first.begin_at(point / system.norm(point))
        return state

    def step(self, system: ConicSystem, state: VolumeState, most: int) -> Step[VolumeState]:
        """Make up to ``most`` updates of the phase under way; stretch the space at its end."""
        # The oracle of F, seen through the map, is an oracle of M F
        view = system if state.operator is None else system.with_operator(state.operator)
        claim: Claim | None = None
        for _ in range(most):
            cut = cut_or_claim(view, state.inner.point)
            if not isinstance(cut, Cut):
                claim = cut
                break
            state.inner.take(cut)
            state.updates += 1
            # Once the volume has no room, only the weights of the first phase can still improve
            stretch = None if state.exhausted else state.inner.stretch()
            if stretch is not None:
                self._enter_next(system, state, stretch)
                break
        state.point = state.to_base(state.inner.point)
        if state.exhausted:
            state.keep_first(system)
        if isinstance(claim, FeasiblePoint):
            claim = FeasiblePoint(state.point.copy())
        return state, claim

    def _enter_next(self, system: ConicSystem, state: VolumeState, stretch: Stretch) -> None:
        state.keep_weights(system)
        # A larger growth would contradict a margin of ``margin``: the volume never exceeds a half
        if state.growth + stretch.growth <= self._room(system):
            state.rescaled(system).transform(stretch.inverse)  # H <- M^-1 H, the cuts M^-1 a
            state.growth += stretch.growth
            state.inner = self.phase(system.dimension, system.cone.size)
            state.phase = f"phase {state.rescalings + 1}"
            return
        state.operator, state.inner = None, state.first
        state.phase = "phase 1, continued"
        state.notes.append(
            f"after {state.rescalings} rescalings no margin of {self.margin:g} or more is left: "
            "updates continue without one"
        )

    def _room(self, system: ConicSystem) -> float:
        """Return the largest growth of the volume that the margin allows."""
        unit_margin = system.facts(self.margin).unit_margin
        assert unit_margin is not None
        return volume_room(system.dimension, min(unit_margin, 1.0)) * (1.0 + 1e-12)

    def bound(self, facts: Facts) -> Bound:
        """Return (K + 1) ``limit``, K the largest number of stretches that the volume allows."""
        if facts.unit_margin is None or facts.unit_margin <= 0.0:
            return Bound(None, self.guarantee.source, NO_MARGIN)
        first = self.unrescaled(facts)
        if first is not None:
            return first
        if facts.margin is not None and facts.margin < self.margin:
            reason = f"the margin is below {self.margin:g}, the least one that is assumed"
            return Bound(None, self.guarantee.source, reason)
        # K stretches multiply the volume by at least exp(K g), and it has room for exp(room)
        room = volume_room(facts.dimension, min(facts.unit_margin, 1.0))
        stretches = math.floor(room / least_growth(facts.dimension) * (1.0 + 1e-12))
        return Bound((stretches + 1.0) * self.limit(facts.dimension), self.guarantee.source)

    def bound_from(self, facts: Facts, length: float) -> Bound:
        """Return the bound for a longer first phase; 2 / rho more updates if it is the only one."""
        bound, limit = self.bound(facts), self.started_limit(facts.dimension)
        if bound.value is None:
            return bound
        if limit is None:
            return Bound(None, self.guarantee.source, OWN_START)
        if self.unrescaled(facts) is not None:
            return lengthened(bound, 1.0, facts.unit_margin)
        more = limit - self.limit(facts.dimension)
        return Bound(bound.value + more, f"{bound.theorem}, from a given start")
