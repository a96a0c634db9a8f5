"""The methods of ``auto`` for cones other than rows: a fixed sequence of algorithms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perceptron_lab.algorithms.advance import advance
from perceptron_lab.algorithms.base import AnyAlgorithm, State, claim_bound
from perceptron_lab.algorithms.interior_point.interior_point import (
    InteriorPoint,
    affordable,
    iteration_operations,
    query_operations,
)
from perceptron_lab.algorithms.nearest_point.most_violated import VonNeumann
from perceptron_lab.algorithms.projection.projection_rescaling import ProjectionRescaling
from perceptron_lab.algorithms.rescaling.ellipsoid import Ellipsoid
from perceptron_lab.algorithms.smoothing.smoothed_von_neumann import SmoothedVonNeumann
from perceptron_lab.core.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.core.errors import NumericalError, counted
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems import ConicSystem

# For the largest margin: bracket and error fall like 1 / k
WIDEST_OF_CONES = SmoothedVonNeumann()
# Updates of the von Neumann algorithm before another one takes over, at most and at least
FIRST_UPDATES, FEWEST = 30, 2
# Where double precision ends the interior-point method's path undecided, projection and rescaling
# continues in systems of so many operations per iteration at most: it may take a hundred times that
LIGHT = 3e7
# They take this part of an iteration of the interior-point method
PART = 0.5


@dataclass(kw_only=True)
class DelegatedState(State):
    """The state of the nested algorithm that is currently running on a conic system."""

    rng: np.random.Generator
    inner: State
    algorithm: AnyAlgorithm
    epsilon: float
    first: int
    earlier_updates: int = 0
    # The system's when a point was claimed: where it stays the same, the point was proved.
    tolerance: float | None = None
    # The final bound of a method, while another one tries to decide; the system's tolerance when it
    # was claimed: where that has grown, it was not proved
    pending_bound: Claim | None = None
    bound_tolerance: float | None = None

    @classmethod
    def of(cls, system: ConicSystem, rng: np.random.Generator, epsilon: float) -> DelegatedState:
        """Return the state at the start of the von Neumann algorithm."""
        algorithm = VonNeumann(epsilon=epsilon)
        inner, first = algorithm.start(system, rng), FIRST_UPDATES
        if affordable(system):
            ratio = iteration_operations(system) / query_operations(system)
            first = round(min(max(PART * ratio, min(FEWEST, FIRST_UPDATES)), FIRST_UPDATES))
        return cls(
            inner.point,
            weights=inner.weights,
            phase="von-neumann",
            notes=["von-neumann"],
            rng=rng,
            inner=inner,
            algorithm=algorithm,
            epsilon=epsilon,
            first=first,
        )

    @classmethod
    def at(
        cls, system: ConicSystem, rng: np.random.Generator, epsilon: float, point: FloatArray
    ) -> DelegatedState:
        """Return the state of the interior-point or the ellipsoid method, started at a point."""
        newton = affordable(system)
        algorithm: AnyAlgorithm = InteriorPoint(epsilon=epsilon) if newton else last_resort(epsilon)
        name = "interior-point" if newton else "ellipsoid"
        inner = algorithm.start_at(system, rng, point)
        return cls(
            inner.point,
            weights=inner.weights,
            phase=name,
            notes=[f"from a given start: {name}"],
            rng=rng,
            inner=inner,
            algorithm=algorithm,
            epsilon=epsilon,
            first=0,
        )

    def hand_over(self, system: ConicSystem, algorithm: AnyAlgorithm, name: str) -> None:
        """Start another algorithm from its own first point, after the updates made so far."""
        updates, before = self.inner.updates, self.notes[0].removesuffix(self.phase)
        spent = f"{counted(updates, 'update')} of {self.phase}, then " if updates else ""
        self.earlier_updates += updates
        self.notes = [f"{before}{spent}{name}"]
        self.algorithm, self.phase = algorithm, name
        self.inner = algorithm.start(system, self.rng)

    def advance(self, system: ConicSystem, most: int) -> Claim | None:
        """Step the current algorithm, or replace it by the next one when its part is over."""
        widening = self.algorithm is WIDEST_OF_CONES
        if not widening and self.tolerance == system.tolerance:
            self.hand_over(system, WIDEST_OF_CONES, "smoothed-von-neumann")
            return None
        if self.phase == "von-neumann":
            left = self.first - self.inner.updates
            most = min(most, left)  # whatever is asked for at a time
            if left <= 0:
                self._start_interior_point(system)
                return None
        elif self.phase == "interior-point" and self.inner.ending:
            self._start_ellipsoid(system)
            return None
        try:
            _, claim = advance(self.algorithm, system, self.inner, min(most, FIRST_UPDATES))
        except NumericalError:
            if self.phase in ("ellipsoid", "von-neumann"):
                raise
            return self._try_next_method(system, None)
        self.updates = self.iterations = self.earlier_updates + self.inner.updates
        self.point, self.weights = self.inner.point, self.inner.weights
        if isinstance(claim, FeasiblePoint):
            self.tolerance = system.tolerance
        elif isinstance(claim, MarginBelow) and self.phase == "von-neumann":
            return self._exact_or_next(system, claim)
        elif claim is not None and self.inner.ending:
            return self._try_next_method(system, claim)
        elif self.phase == "projection-rescaling" and isinstance(claim, MarginBelow):
            return self._defer_bound(system, claim)
        return None if widening else claim

    def _exact_or_next(self, system: ConicSystem, claim: MarginBelow) -> Claim:
        """Claim that A w = 0 where any answer will do; if that is not proved, the next method runs.

        Of data with small entries every margin is below epsilon, also of feasible systems.
        """
        if not (system.deciding and affordable(system)):
            return claim
        self.first = 0
        return MarginBelow(claim.weights, 0.0)

    def _defer_bound(self, system: ConicSystem, claim: MarginBelow) -> Claim | None:
        """Defer a bound to the end of the run, and claim its weights to have A w = 0 first."""
        from perceptron_lab.algorithms.interior_point.path_in_balls import PathInBalls, within_reach

        if within_reach(system):
            self.pending_bound = MarginBelow(claim.weights, max(claim.bound, self.epsilon))
            self.hand_over(system, PathInBalls(), "path-in-balls")
            return MarginBelow(claim.weights, 0.0)
        return claim

    def _try_next_method(self, system: ConicSystem, claim: Claim | None) -> Claim | None:
        """Start the next method on an undecided system, or claim the best bound so far."""
        from perceptron_lab.algorithms.interior_point.path_in_balls import PathInBalls, within_reach

        newton, in_balls = self.phase == "interior-point", self.phase == "path-in-balls"
        if newton:
            self.pending_bound = claim
        if newton and affordable(system) and iteration_operations(system) <= LIGHT:
            self.hand_over(system, ProjectionRescaling(), "projection-rescaling")
            return None
        projecting = newton or self.phase == "projection-rescaling"
        if projecting and within_reach(system):
            self.hand_over(system, PathInBalls(), "path-in-balls")
            return None
        if in_balls:
            self.pending_bound = self.pending_bound or self._path_bound(system)
        if projecting or in_balls:
            claim = self.pending_bound if self.bound_tolerance in (None, system.tolerance) else None
            self.bound_tolerance = system.tolerance
        if claim is None:
            self._start_ellipsoid(system)
        return claim

    def _path_bound(self, system: ConicSystem) -> Claim | None:
        """Return the bound by the last weights of the path, or None if it exceeds epsilon."""
        weights = self.inner.weights
        if weights is None or system.upper(weights) > system.worth(self.epsilon):
            return None
        return claim_bound(system, weights, self.epsilon)

    def _start_interior_point(self, system: ConicSystem) -> None:
        """Start the interior-point method, or the ellipsoid method if that costs too much."""
        if affordable(system):
            self.hand_over(system, InteriorPoint(epsilon=self.epsilon), "interior-point")
        else:
            self._start_ellipsoid(system)

    def _start_ellipsoid(self, system: ConicSystem) -> None:
        """Start the ellipsoid method."""
        self.hand_over(system, last_resort(self.epsilon), "ellipsoid")


def last_resort(epsilon: float) -> Ellipsoid:
    """Return the ellipsoid method that treats margins below epsilon as infeasible."""
    return Ellipsoid(margin=min(epsilon, 0.5))
