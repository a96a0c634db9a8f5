"""Cuts at the centre of gravity, and at the analytic centre (`Kharechko2009`, section 5.5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal, TypeVar

import numpy as np
import scipy.optimize
from pydantic import Field

from perceptron_lab.algorithms.base import (
    NO_MARGIN,
    InCoordinates,
    MistakeDriven,
    Step,
    Systems,
    claim_bound,
)
from perceptron_lab.algorithms.rescaling.ellipsoid import (
    CutsState,
    log_volume_radius,
    minimum_norm_weights,
    remember,
)
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.systems import ConicSystem, Cut

LARGEST: Final = 100
"""The most unknowns: the centre is estimated from samples, or computed from all cuts."""
EMPTY: Final = 1e-9
"""The bound of the margin that is claimed of cuts that leave no body in double precision."""
GRUENBAUM: Final = -math.log1p(-math.exp(-1.0))
"""ln(1 / (1 - 1/e)): a cut through the centre of gravity divides a volume by its exponential."""

S = TypeVar("S", bound=CutsState)


@dataclass(kw_only=True)
class SampledState(CutsState):
    """The unit cuts so far, and samples of the body that they leave, shape ``(samples, n)``."""

    rng: np.random.Generator
    samples: FloatArray | None = None


class CutsOfBody(MistakeDriven[S], InCoordinates[S]):
    """A method that goes to a centre of the body that all cuts leave, until there is none."""

    takes_start: ClassVar[bool] = False

    def step(self, system: ConicSystem, state: S, most: int) -> Step[S]:
        """Make up to ``most`` updates; claim the centre, or weights where the cuts leave nothing.

        As of the ellipsoid method, the weights are the point of least norm in the hull of the cuts.
        """
        try:
            return super().step(system, state, most)
        except (NumericalError, np.linalg.LinAlgError):
            return state, claim_bound(system, minimum_norm_weights(system, state), EMPTY)


@parameter_record
class CentralCuts(CutsOfBody[SampledState]):
    """Cut the set of the feasible points of the unit ball at its centre, again and again.

    The body {x: norm(x) <= 1, u_i'x >= 0 for all unit cuts u_i so far} contains the feasible points
    of the ball. While its centre x violates a constraint, the cut joins.

    - ``gravity``: the centre of gravity. A half-space through it contains at most 1 - 1/e of the
      volume (Gruenbaum), so that at most n ln(1/r_0(rho)) / ln(1/(1 - 1/e)) updates are made, with
      the volume radius r_0 of :func:`.log_volume_radius`: O(n ln(1/rho)), case 1 of section 5.5.
      In dimensions 2 and 3 its direction is computed: the sum of the cuts, each times the length of
      the side of the spherical polygon that belongs to it. In higher ones it is the mean of samples
      by hit-and-run steps (Bertsimas and Vempala), with an error of about 1/sqrt(samples) of the
      body's standard deviation, and no bound is stated.
    - ``analytic``: the minimum of -sum ln u_i'x - ln(1 - norm(x)^2), by Newton's method from the
      point of the largest margin. Our addition; no bound is stated.

    Where the cuts leave nothing in double precision, weights are claimed, as by the ellipsoid
    method. Dimensions up to 100; how fast the samples mix is not known.

    Parameters
    ----------
    centre
        ``gravity`` (default) or ``analytic``.
    samples
        Of the body, from dimension 4 on, 10 or more (default 300).
    sweeps
        Hit-and-run steps of each sample after a cut, 1 or more (default 30).

    References
    ----------
    `Kharechko2009`, section 5.5, Theorem 5.9; A. Levin (1965); D. Newman (1965); B. Gruenbaum,
    Pacific Journal of Mathematics 10 (1960); D. Bertsimas and S. Vempala, Solving convex programs
    by random walks, Journal of the ACM 51 (2004).
    """

    systems: ClassVar[Systems] = {
        "theorem": "rows second-order semidefinite",
        "runs": "product",
        "coordinates: theorem": "kernel",
    }
    guarantee: ClassVar[Guarantee] = Guarantee(
        "n ln(1 / r_0) / ln(1 / (1 - 1 / e))",
        "Gruenbaum's theorem, with r_0 for rho",
        note="for the computed centre of gravity, in dimensions 2 and 3; otherwise none",
    )

    centre: Literal["gravity", "analytic"] = "gravity"
    samples: Annotated[int, Field(ge=10, le=100_000)] = 300
    sweeps: Annotated[int, Field(ge=1, le=10_000)] = 30

    def start(self, system: ConicSystem, rng: np.random.Generator) -> SampledState:
        """Return the state at 0, the centre of the ball."""
        n = system.dimension
        if n > LARGEST:
            raise InputError(f"{n} unknowns; central-cuts allows {LARGEST}; choose ellipsoid")
        state = SampledState(np.zeros(n), rng=rng)
        if self.centre == "gravity" and n > 3:
            directions = rng.standard_normal((self.samples, n))
            lengths = rng.random(self.samples) ** (1.0 / n) / np.linalg.norm(directions, axis=1)
            state.samples = directions * lengths[:, None]
        return state

    def update(self, state: SampledState, cut: Cut) -> None:
        """Add a cut, and go to the centre of what it leaves."""
        remember(state, cut)
        cuts = np.array([normal for _, normal in state.cuts.values()])
        check_time(1e3 * cuts.size + 10.0 * self.samples * self.sweeps * cuts.size)
        if self.centre == "analytic":
            state.point = analytic_centre(cuts)
        elif state.samples is None:
            state.point = direction_of_gravity(cuts)
        else:
            state.samples = resampled(state.samples, cuts, self.sweeps, state.rng)
            state.point = state.samples.mean(axis=0)

    def bound(self, facts: Facts) -> Bound:
        """Return n ln(1/r_0) / ln(1/(1 - 1/e)), where the centre of gravity is computed."""
        theorem = self.guarantee.source
        if self.centre == "analytic":
            return Bound(None, "", "no bound is stated for cuts at the analytic centre")
        if facts.unit_margin is None or facts.unit_margin <= 0.0:
            return Bound(None, theorem, NO_MARGIN)
        n = facts.dimension
        if n > 3:
            return Bound(None, theorem, "the centre of gravity is estimated from samples")
        radius = log_volume_radius(n, min(facts.unit_margin, 1.0))
        return Bound(-n * radius / GRUENBAUM, theorem)


def direction_of_gravity(cuts: FloatArray) -> FloatArray:
    """Return the direction of the centre of gravity of {x: u_i'x >= 0}, in dimensions up to 3.

    By the divergence theorem the integral of x over the part of the sphere is a multiple of the sum
    of the u_i, each times the measure of the part of the sphere where u_i'x = 0: in dimension 2 the
    number of its points (0, 1 or 2), in dimension 3 the length of an arc.
    """
    units = np.unique(cuts, axis=0)
    measure = {1: _full_measure, 2: _points, 3: _arc}[units.shape[1]]
    total = sum(measure(unit, np.delete(units, i, axis=0)) * unit for i, unit in enumerate(units))
    length = float(np.linalg.norm(total))
    if not length > 0.0:
        raise NumericalError("the cuts leave no part of the sphere in double precision")
    return np.asarray(total / length)


def _full_measure(unit: FloatArray, remaining: FloatArray) -> float:
    return 1.0


def _points(unit: FloatArray, remaining: FloatArray) -> float:
    """Return how many of the two directions orthogonal to a unit vector satisfy the other cuts."""
    side = np.array([-unit[1], unit[0]])
    return float(sum((sign * (remaining @ side) >= 0.0).all() for sign in (1.0, -1.0)))


def _arc(unit: FloatArray, remaining: FloatArray) -> float:
    """Return the length of the arc orthogonal to a unit vector that the remaining ones allow."""
    first = np.cross(unit, np.eye(3)[np.abs(unit).argmin()])
    first /= np.linalg.norm(first)
    angles = np.arctan2(remaining @ np.cross(unit, first), remaining @ first)
    if not len(angles):
        return 2.0 * math.pi
    turned = np.mod(angles - angles[0] + math.pi, 2.0 * math.pi) - math.pi
    return max(0.0, math.pi - float(turned.max() - turned.min()))


def widest_point(cuts: FloatArray) -> FloatArray:
    """Return the point of norm 1/2 of the largest margin, by non-negative least squares.

    Raises
    ------
    NumericalError
        If it violates a cut.
    """
    stacked = np.vstack([cuts.T, np.ones(len(cuts))])
    target = np.append(np.zeros(cuts.shape[1]), 1.0)
    point = cuts.T @ scipy.optimize.nnls(stacked, target, maxiter=100 * len(cuts))[0]
    length = float(np.linalg.norm(point))
    if not length > 0.0 or not (cuts @ point > 0.0).all():
        raise NumericalError("no point satisfies all cuts in double precision")
    return np.asarray(point * (0.5 / length))


def analytic_centre(cuts: FloatArray) -> FloatArray:
    """Return the minimum of -sum ln u_i'x - ln(1 - norm(x)^2).

    Newton's method from half the point of the largest margin; a step is halved until it stays in
    the body and lowers the function.
    """
    point = widest_point(cuts)
    for _ in range(100):
        scores, rest = cuts @ point, 1.0 - float(point @ point)
        slope = 2.0 * point / rest - (cuts / scores[:, None]).sum(axis=0)
        step = -np.linalg.solve(_barrier_hessian(cuts, point), slope)
        decrement = -float(step @ slope)
        size = 1.0 / (1.0 + math.sqrt(max(decrement, 0.0)))  # stays in the body: self-concordance
        point = point + (size if decrement > 0.0625 else 1.0) * step
        if not decrement > 1e-16:
            break
    return point


def _barrier_hessian(cuts: FloatArray, point: FloatArray) -> FloatArray:
    """Return the Hessian of -sum ln u_i'x - ln(1 - norm(x)^2)."""
    scores, rest = cuts @ point, 1.0 - float(point @ point)
    ball = 2.0 / rest * np.eye(len(point)) + np.outer(point, point) * 4.0 / rest**2
    return np.asarray((cuts / scores[:, None] ** 2).T @ cuts + ball)


def resampled(
    samples: FloatArray, cuts: FloatArray, sweeps: int, rng: np.random.Generator
) -> FloatArray:
    """Return samples of {x: norm(x) <= 1, u_i'x >= 0} by hit-and-run from those that remain.

    Directions are normal with the covariance of the samples, so that thin bodies mix as balls do.
    Where too few remain, ten times as many steps begin at the analytic centre, with directions by
    the inverse of the Hessian there.
    """
    inside = samples[(samples @ cuts.T > 0.0).all(axis=1)]
    if len(inside) > samples.shape[1]:
        points = inside[rng.integers(len(inside), size=len(samples))]
        return walked(points, inside - inside.mean(axis=0), cuts, sweeps, rng)
    centre = analytic_centre(cuts)
    spread = np.linalg.cholesky(np.linalg.inv(_barrier_hessian(cuts, centre))).T
    return walked(np.tile(centre, (len(samples), 1)), spread, cuts, 10 * sweeps, rng)


def walked(
    points: FloatArray, spread: FloatArray, cuts: FloatArray, sweeps: int, rng: np.random.Generator
) -> FloatArray:
    """Return points after so many hit-and-run steps; directions are combinations of ``spread``."""
    first = points[0]
    for _ in range(sweeps):
        mixed = rng.standard_normal((len(points), len(spread))) @ spread
        mixed += 1e-3 * np.linalg.norm(spread) * rng.standard_normal(points.shape)
        directions = mixed / np.linalg.norm(mixed, axis=1)[:, None]
        along = np.einsum("ij,ij->i", points, directions)
        root = np.sqrt(along**2 + 1.0 - np.einsum("ij,ij->i", points, points))
        scores, slopes = points @ cuts.T, directions @ cuts.T
        with np.errstate(divide="ignore"):
            crossings = -scores / slopes
        low = np.where(slopes > 0.0, crossings, -np.inf).max(axis=1)
        high = np.where(slopes < 0.0, crossings, np.inf).min(axis=1)
        low, high = np.maximum(low, -along - root), np.minimum(high, root - along)
        points = points + (low + (high - low) * rng.random(len(points)))[:, None] * directions
        within = np.min(points @ cuts.T, axis=1) > 0.0
        points = np.where(within[:, None], points, first)
    return points
