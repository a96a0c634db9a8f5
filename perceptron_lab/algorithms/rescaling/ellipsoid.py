"""The ellipsoid method (`Kharechko2009`, section 2.8)."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import scipy
from pydantic import ValidationInfo, field_validator
from scipy.linalg.blas import dsymv, dsyr

from perceptron_lab.algorithms.base import (
    BOUNDED_ON_ALL,
    NO_MARGIN,
    InCoordinates,
    State,
    Step,
    Systems,
    claim_bound,
    cut_or_claim,
)
from perceptron_lab.cones.base import Atom
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Proportion, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.systems import ConicSystem, Cut

MOST_MEMORY = 2**28  # Bytes that the cuts of matrix blocks may take which are kept for the weights


@dataclass(frozen=True)
class Coefficients:
    """The numbers of one step with d = Qa / sqrt(a'Qa).

    The ellipsoid is that of P = s Q.
    ``log_ratio`` is the logarithm of the ellipsoid's volume ratio per step.
    """

    step: float
    shrink: float
    growth: float
    log_ratio: float


def coefficients(dimension: int, variant: Literal["exact", "safe"]) -> Coefficients:
    """Return the coefficients in dimension n.

    ``exact`` is Algorithm 2: P <- n^2/(n^2-1) (P - 2/(n+1) Pa a'P / a'Pa), with volume ratio
    (n/(n+1)) (n^2/(n^2-1))^((n-1)/2) < exp(-1/(2n)). ``safe`` allows for rounding: the factor is
    (2n^2+3)/(2n^2), the ratio (1+3/(2n^2))^(n/2) sqrt((n-1)/(n+1)) <= exp(-1/(5n)), after
    Groetschel, Lovasz and Schrijver (1988); the thesis's footnote 9 has n^2 sqrt 2 for n sqrt 2.
    In dimension 1 both are bisection.
    """
    n = dimension
    if n == 1:
        return Coefficients(0.5, 0.0, 0.25, math.log(0.5))
    # The factor of Q is kept apart as ``growth``: Q itself only shrinks, and cannot overflow
    growth = n * n / (n * n - 1.0) if variant == "exact" else 1.0 + 1.5 / (n * n)
    log_ratio = 0.5 * (n * math.log(growth) + math.log((n - 1.0) / (n + 1.0)))
    return Coefficients(1.0 / (n + 1.0), 2.0 / (n + 1.0), growth, log_ratio)


def deep_coefficients(dimension: int, depth: float) -> Coefficients:
    """Return the coefficients in dimension n for a cut of depth alpha = (a'x - b) / sqrt(a'Pa).

    With tau = (1 + n alpha) / (n + 1) the step is tau, P <- n^2 (1 - alpha^2) / (n^2 - 1)
    (P - 2 tau / (1 + alpha) Paa'P / a'Pa): the smallest ellipsoid around what is left (Bland,
    Goldfarb and Todd 1981). 0 <= alpha < 1; alpha = 0 is Algorithm 2.
    """
    n = dimension
    step = (1.0 + n * depth) / (n + 1.0)
    if n == 1:
        left = 0.5 * (1.0 - depth)
        return Coefficients(step, 0.0, left * left, math.log(left))
    shrink, growth = 2.0 * step / (1.0 + depth), n * n * (1.0 - depth * depth) / (n * n - 1.0)
    log_ratio = 0.5 * (n * math.log(growth) + math.log1p(-shrink))
    return Coefficients(step, shrink, growth, log_ratio)


def log_volume_radius(dimension: int, margin: float) -> float:
    """Return ln r_0(rho), the volume radius of the part of the unit ball that is surely feasible.

    If unit cuts have margin rho at z, every unit y within the angle arcsin rho of z is feasible:
    r_0 = (I_{rho^2}((n-1)/2, 1/2) / 2)^(1/n) with the regularised incomplete beta function. Where
    that underflows, its leading term rho^(n-1) / (a B(a, 1/2)), a = (n-1)/2, bounds it from below.
    0 < rho <= 1; -inf where the margin is below all doubles, and so 0.
    """
    if margin == 0.0:
        return -math.inf
    if dimension == 1:
        return math.log(0.5)
    a = (dimension - 1) / 2
    # The cap of angle arcsin rho, as a part of the sphere
    share = float(scipy.special.betainc(a, 0.5, margin**2)) / 2.0
    if share > 1e-290:
        return math.log(share) / dimension
    leading = 2 * a * math.log(margin) - math.log(2 * a) - float(scipy.special.betaln(a, 0.5))
    return leading / dimension


class Metric:
    """The metric Q of the method, of order ``dimension``, starting at I; updated in place.

    The printed Algorithm 2 multiplies B by I + (1 / lambda - 1) b b', b = B'a / norm(B'a). For
    Q = B B' this is one symmetric rank-one update,

        Q <- Q - (1 - 1 / lambda^2) (Qa)(Qa)' / (a'Qa),

    made on the lower triangle by BLAS (dsymv and dsyr): half the memory traffic.
    """

    def __init__(self, dimension: int) -> None:
        self._lower = np.eye(dimension, order="F")

    def along(self, normal: FloatArray) -> tuple[FloatArray, float]:
        """Return Qa and sqrt(a'Qa) for a cut's normal a."""
        # Only the lower triangle is stored and read
        product = dsymv(1.0, self._lower, normal, lower=1)
        square = float(normal @ product)
        if not 0.0 < square < math.inf:
            raise NumericalError(
                f"a'Qa = {square:g} is not positive: Q is no longer positive definite in double "
                "precision (the round-off safe coefficients last longer)"
            )
        return product, math.sqrt(square)

    def shrink(self, direction: FloatArray, amount: float) -> None:
        """Apply Q <- Q - amount d d', in place; 0 <= amount < 1 / (d'Q^-1 d) keeps Q definite."""
        dsyr(-amount, direction, lower=1, a=self._lower, overwrite_a=1)

    def matrix(self) -> FloatArray:
        """Return Q as a full symmetric array, shape ``(n, n)``."""
        lower = np.tril(self._lower)
        return np.asarray(lower + np.tril(lower, -1).T)


@dataclass(kw_only=True)
class CutsState(State):
    """The recent unit cuts with their atoms, by row."""

    cuts: OrderedDict[tuple[int, int], tuple[Atom, FloatArray]] = field(default_factory=OrderedDict)


@dataclass(kw_only=True)
class EllipsoidState(CutsState):
    """The centre, the metric Q, the scale s of P = s Q, and volume radii.

    ``log_radius`` is that of the ellipsoid, ``smallest_log_radius`` where the method gives up.
    """

    metric: Metric
    smallest_log_radius: float
    scale: float = 1.0
    log_radius: float = 0.0
    collapsed: bool = False


@parameter_record
class Ellipsoid(InCoordinates[EllipsoidState]):
    """The ellipsoid method for a homogeneous system, starting from the unit ball.

    The method keeps an ellipsoid {x + P^(1/2) u: norm(u) <= 1} that contains all feasible points of
    the unit ball. While the centre x violates a constraint, a'x <= 0, it replaces the ellipsoid by
    the smallest one around the half with a'y >= a'x. With d = P a / sqrt(a'P a),

        x <- x + d / (n+1),    P <- n^2/(n^2-1) (P - 2/(n+1) d d'),

    starting at P = I. It makes at most 2 n^2 ln(1/r_0(rho)) updates (5 n^2 ln(1/r_0(rho)) with the
    safe coefficients), where r_0 is the volume radius of :func:`log_volume_radius`. The printed
    bound 2 n^2 ln(1/rho) (Theorem 2.9) is false near rho = 1. The growing scalar factor of P is
    stored apart from the matrix.

    When the volume radius of the ellipsoid falls below r_0(margin), the system's margin must be
    smaller than ``margin``, and the method stops. It then claims weights, the minimum-norm point of
    the hull of the cuts used, since weights can be verified and a volume cannot. It does the same
    before it gives up because the ellipsoid has become flat in double precision.

    A given start is divided by its norm. The first ball then has radius 2, so that it contains the
    unit ball: the log-volume grows by n ln 2, and the bound by 2 n^2 ln 2 updates (5 n^2 ln 2).

    Deep cuts (``cuts: deep``) also remove the part between the violated constraint and the centre:
    a cut has the depth alpha = -a'x / sqrt(a'P a) >= 0 (:func:`deep_coefficients`), and the volumes
    fall at least as fast. The row of an objective, such as level x_0 - c'x > 0, is a cut like any
    other.

    Parameters
    ----------
    variant
        ``exact`` (Algorithm 2, default) or ``safe`` (against rounding).
    margin
        The assumed margin, in the units of the system's own margin, 0 < margin < 1 (default 1e-9):
        smaller margins are treated as infeasible.
    cuts
        ``central``: through the centre (Algorithm 2, default); or ``deep``, with the exact variant.

    References
    ----------
    `Kharechko2009`, Algorithm 2, Theorem 2.9; Groetschel, Lovasz and Schrijver, Geometric
    Algorithms and Combinatorial Optimization, Springer 1988; Bland, Goldfarb and Todd (1981), The
    ellipsoid method: a survey.
    """

    systems: ClassVar[Systems] = BOUNDED_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "2 n^2 ln(1 / r_0)",
        "Theorem 2.9",
        "Kharechko2009",
        note="r_0 is the volume radius; 5 n^2 ln(1 / r_0) for the safe coefficients",
    )

    online: ClassVar[bool] = True

    variant: Literal["exact", "safe"] = "exact"
    margin: Proportion = 1e-9
    cuts: Literal["central", "deep"] = "central"

    @field_validator("cuts")
    @classmethod
    def _exact(cls, cuts: str, info: ValidationInfo) -> str:
        if cuts == "deep" and info.data.get("variant") == "safe":
            raise ValueError("deep cuts have exact coefficients only; leave the variant out")
        return cuts

    def start(self, system: ConicSystem, rng: np.random.Generator) -> EllipsoidState:
        """Return the unit ball."""
        unit_margin = system.facts(self.margin).unit_margin
        assert unit_margin is not None
        return EllipsoidState(
            point=np.zeros(system.dimension),
            metric=Metric(system.dimension),
            smallest_log_radius=log_volume_radius(system.dimension, min(unit_margin, 1.0)),
        )

    def start_at(
        self, system: ConicSystem, rng: np.random.Generator, point: FloatArray
    ) -> EllipsoidState:
        """Return the ball of radius 2 around the point divided by its norm."""
        state = super().start_at(system, rng, point / system.norm(point))
        # Radius 2: P = 4 I, the ball contains the unit ball
        state.scale, state.log_radius = 4.0, math.log(2.0)
        return state

    def step(self, system: ConicSystem, state: EllipsoidState, most: int) -> Step[EllipsoidState]:
        """Make up to ``most`` updates; claim the centre, or weights if the volume is too small."""
        constants = coefficients(system.dimension, self.variant)
        for _ in range(most):
            cut = cut_or_claim(system, state.point)
            if not isinstance(cut, Cut):
                return state, cut
            # The ellipsoid is smaller than the feasible part of a system of this margin
            if state.log_radius < state.smallest_log_radius:
                return state, claim_bound(system, minimum_norm_weights(system, state), self.margin)
            remember(state, cut)
            try:
                product, length = state.metric.along(cut.normal / cut.norm)
            except NumericalError:
                if state.collapsed:
                    raise
                state.collapsed = True  # flat in doubles: the cuts so far may prove as much
                return state, claim_bound(system, minimum_norm_weights(system, state), self.margin)
            if self.cuts == "deep":
                height = -float(cut.normal @ state.point) / cut.norm
                depth = max(0.0, height / (math.sqrt(state.scale) * length))
                if not depth < 1.0:  # no point of the ellipsoid is left
                    state.log_radius = -math.inf
                    continue
                constants = deep_coefficients(system.dimension, depth)
            state.point += constants.step * math.sqrt(state.scale) / length * product
            state.metric.shrink(product, constants.shrink / length**2)
            state.scale *= constants.growth
            state.log_radius += constants.log_ratio / system.dimension
            state.updates += 1
        return state, None

    def bound(self, facts: Facts) -> Bound:
        """Return 2 n^2 ln(1/r_0), or 5 n^2 ln(1/r_0) for the safe coefficients."""
        return self._bound(facts, 0.0)

    def bound_from(self, facts: Facts, length: float) -> Bound:
        """Return 2 n^2 ln(2/r_0), or 5 n^2 ln(2/r_0)."""
        return self._bound(facts, math.log(2.0))

    def _bound(self, facts: Facts, log_radius: float) -> Bound:
        """Return the bound for a first ball with this logarithm of its radius."""
        theorem = f"{self.guarantee.source}, with r_0 for rho"
        if facts.unit_margin is None or facts.unit_margin <= 0.0:
            return Bound(None, theorem, NO_MARGIN)
        n, factor = facts.dimension, 2 if self.variant == "exact" else 5
        radius = log_volume_radius(n, min(facts.unit_margin, 1.0))
        return Bound(factor * n * n * (log_radius - radius), theorem)


def remember(state: CutsState, cut: Cut) -> None:
    """Store a cut for the weights: each row once, of matrix cuts the last 20 n (at least 2000).

    These are fewer where they would take more than ``MOST_MEMORY``.
    """
    span = cut.atom.span
    single = span.stop - span.start == 1
    key = (span.start, -1) if single else (span.start, state.updates)
    state.cuts[key] = (cut.atom, cut.normal / cut.norm)
    # Cuts of large matrix blocks are dense vectors
    few = MOST_MEMORY // (cut.atom.values.nbytes + cut.normal.nbytes)
    if not single and len(state.cuts) > min(max(2000, 20 * len(state.point)), few):
        state.cuts.popitem(last=False)


def minimum_norm_weights(system: ConicSystem, state: CutsState) -> FloatArray:
    """Return the weights of the point of least norm in the hull of the stored unit cuts.

    min over u >= 0 of norm(N'u)^2 + (1 - sum u)^2 is attained at a multiple of it (non-negative
    least squares). The weights refer to atoms, so each is divided by the norm of its cut. Least
    squares may fail where the norms of cuts differ by many powers of ten: a numerical error.
    TimeIsUp, where the time limit does not allow for them: nothing can interrupt them.
    """
    size, count = float(len(state.point)), float(len(state.cuts))
    # nnls is one call that nothing can interrupt
    check_time(2.0 * size**4 + 40.0 * size**2 * count)
    atoms, normals = zip(*state.cuts.values(), strict=True)
    stacked = np.vstack([np.array(normals).T, np.ones(len(atoms))])
    target = np.zeros(len(stacked))
    # The last row asks the weights to sum to 1
    target[-1] = 1.0
    try:
        shares = scipy.optimize.nnls(stacked, target)[0]
    except (RuntimeError, ValueError) as error:
        raise NumericalError(f"no weights of the cuts are found: {error}") from None
    weights = np.zeros(system.cone.size)
    for share, atom in zip(shares, atoms, strict=True):
        if share > 0:
            length = float(np.linalg.norm(system.operator.normal(atom)))
            weights[atom.span] += share / length * atom.values
    return weights
