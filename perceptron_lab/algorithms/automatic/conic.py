"""The part of ``auto`` for cones other than rows: a sequence of algorithms."""

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
    """The state of the algorithm that is used on a conic system."""

    rng: np.random.Generator
    inner: State
    algorithm: AnyAlgorithm
    epsilon: float
    first: int
    done: int = 0
    # The system's when a point was claimed: where it stays the same, the point was proved.
    tolerance: float | None = None
    # The final bound of a method, while another one tries to decide; the system's tolerance when it
    # was claimed: where that has grown, it was not proved
    waiting: Claim | None = None
    told: float | None = None

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
        algorithm: AnyAlgorithm = InteriorPoint(epsilon=epsilon) if newton else last(epsilon)
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
        """Let another algorithm continue, from its own start."""
        updates, before = self.inner.updates, self.notes[0].removesuffix(self.phase)
        spent = f"{counted(updates, 'update')} of {self.phase}, then " if updates else ""
        self.done += updates
        self.notes = [f"{before}{spent}{name}"]
        self.algorithm, self.phase = algorithm, name
        self.inner = algorithm.start(system, self.rng)

    def advance(self, system: ConicSystem, most: int) -> Claim | None:
        """Continue with the algorithm whose turn it is."""
        widening = self.algorithm is WIDEST_OF_CONES
        if not widening and self.tolerance == system.tolerance:
            self.hand_over(system, WIDEST_OF_CONES, "smoothed-von-neumann")
            return None
        if self.phase == "von-neumann":
            left = self.first - self.inner.updates
            most = min(most, left)  # whatever is asked for at a time
            if left <= 0:
                self._begin_newton(system)
                return None
        elif self.phase == "interior-point" and self.inner.ending:
            self._begin_ellipsoid(system)
            return None
        try:
            _, claim = advance(self.algorithm, system, self.inner, min(most, FIRST_UPDATES))
        except NumericalError:
            if self.phase in ("ellipsoid", "von-neumann"):
                raise
            return self._go_on(system, None)
        self.updates = self.iterations = self.done + self.inner.updates
        self.point, self.weights = self.inner.point, self.inner.weights
        if isinstance(claim, FeasiblePoint):
            self.tolerance = system.tolerance
        elif claim is not None and self.inner.ending:
            return self._go_on(system, claim)
        elif self.phase == "projection-rescaling" and isinstance(claim, MarginBelow):
            return self._hold(system, claim)
        return None if widening else claim

    def _hold(self, system: ConicSystem, claim: MarginBelow) -> Claim | None:
        """Keep a bound for the end, and claim of its weights for now that they have A w = 0."""
        from perceptron_lab.algorithms.interior_point.path_in_balls import PathInBalls, within_reach

        if within_reach(system):
            self.waiting = MarginBelow(claim.weights, max(claim.bound, self.epsilon))
            self.hand_over(system, PathInBalls(), "path-in-balls")
            return MarginBelow(claim.weights, 0.0)
        return claim

    def _go_on(self, system: ConicSystem, claim: Claim | None) -> Claim | None:
        """Let the next algorithm try what one has left undecided, with this claim at most."""
        from perceptron_lab.algorithms.interior_point.path_in_balls import PathInBalls, within_reach

        newton, in_balls = self.phase == "interior-point", self.phase == "path-in-balls"
        if newton:
            self.waiting = claim
        if newton and affordable(system) and iteration_operations(system) <= LIGHT:
            self.hand_over(system, ProjectionRescaling(), "projection-rescaling")
            return None
        projecting = newton or self.phase == "projection-rescaling"
        if projecting and within_reach(system):
            self.hand_over(system, PathInBalls(), "path-in-balls")
            return None
        if in_balls:
            self.waiting = self.waiting or self._bounded(system)
        if projecting or in_balls:
            claim = self.waiting if self.told in (None, system.tolerance) else None
            self.told = system.tolerance
        if claim is None:
            self._begin_ellipsoid(system)
        return claim

    def _bounded(self, system: ConicSystem) -> Claim | None:
        """Return the bound of the path's last weights, unless it is above epsilon."""
        weights = self.inner.weights
        if weights is None or system.upper(weights) > system.worth(self.epsilon):
            return None
        return claim_bound(system, weights, self.epsilon)

    def _begin_newton(self, system: ConicSystem) -> None:
        if affordable(system):
            self.hand_over(system, InteriorPoint(epsilon=self.epsilon), "interior-point")
        else:
            self._begin_ellipsoid(system)

    def _begin_ellipsoid(self, system: ConicSystem) -> None:
        self.hand_over(system, last(self.epsilon), "ellipsoid")


def last(epsilon: float) -> Ellipsoid:
    """Return the method for what nothing else is for, where a margin below epsilon is none."""
    return Ellipsoid(margin=min(epsilon, 0.5))
