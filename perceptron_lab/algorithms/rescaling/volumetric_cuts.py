"""Cuts at the volumetric centre (`Kharechko2009`, section 5.5), and a bound of their number.

For the polytope P = {x: s_i = a_i'x + b_i >= 0 for all i} let

    V(x) = (ln det H) / 2,  H = sum a_i a_i' / s_i^2,  sigma_i = a_i'H^-1 a_i / s_i^2,

so that sum sigma_i = n, and let x be the minimum of V, where sum sigma_i a_i / s_i = 0. The
constants below are ours, in the order of Vaidya's theorem. With Q = sum sigma_i a_i a_i' / s_i^2
at x, Q <= V'' (Vaidya), and sigma_i >= epsilon for all i:

1. vol(P) <= (n / epsilon)^n exp(-V(x)) vol(unit ball). For y in P let q_i = s_i(y) / s_i(x) >= 0.
   Then sum sigma_i q_i = n, so that (y - x)'H(y - x) = sum (q_i - 1)^2, which is convex in q, is
   largest at a corner: at most (n / sigma_i - 1)^2 + m - 1 <= (n / epsilon)^2.
2. V(x + d) - V(x) >= sqrt(epsilon) G(z) for z = min(1, epsilon^(-1/4) sqrt(d'Qd)), where

       G(z) = integral from 0 to z of (z - w) (1 - w)^2 / (1 + w)^4 dw.

   a_i'Q^-1 a_i / s_i^2 is at most 1 / sigma_i and sigma_i / epsilon, and so 1 / sqrt(epsilon):
   slacks change by the factors 1 - w to 1 + w at most where z = w, H by (1 - w)^-2, sigma_i and
   Q by (1 - w)^2 / (1 + w)^2 and (1 - w)^2 / (1 + w)^4 at least. Integrate twice; V is convex.
3. A constraint a'y + b >= 0 that x does not satisfy strictly raises the minimum of V by at least

       min over z of sqrt(epsilon) G(z) + ln(1 + sqrt(epsilon) (1 - z)^2 / z^2) / 2.

   The new V at y = x + d is V(y) + ln(1 + a'H(y)^-1 a / s^2) / 2 with 0 < s <= a'd, and
   (a'd)^2 <= a'H(y)^-1 a d'H(y)d by Cauchy, d'H(y)d <= d'Qd / (epsilon (1 - z)^2).
4. Leaving out the constraint j of least sigma = sigma_j < 1 lowers it by at most

       -ln(1 - sigma) / 2 + sqrt(sigma) max over z of (g z / sigma^(1/4) - G(z)),

   g = (sigma + sigma / (1 - sigma)) / sqrt(1 - sigma), for sigma <= epsilon: V at x falls by the
   first term, all others sigma_i grow, by sigma_ij^2 / (1 - sigma) with
   sigma_ij = a_i'H^-1 a_j / (s_i s_j). The gradient is sigma a_j / s_j less the sum of these
   a_i / s_i, and g bounds its norm, as sum sigma_ij^2 = sigma and sigma_ij^2 <= sigma_i sigma.
   By 2 for what is left V grows in all directions: it is bounded.

With epsilon = 0.01 these are 0.01294 and 0.00527; what the constants are rounded by allows for the
error of the computed centre.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
import scipy

from perceptron_lab.algorithms.base import BOUNDED_ON_ALL, NO_MARGIN, Systems
from perceptron_lab.algorithms.rescaling.central_cuts import LARGEST, CutsOfBody, widest_point
from perceptron_lab.algorithms.rescaling.ellipsoid import CutsState, log_volume_radius, remember
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.systems import ConicSystem, Cut

LEAST: Final = 0.01
"""epsilon: a constraint whose sigma is smaller is left out."""
RISE: Final = 0.0129
"""A cut at the centre raises the minimum of V by at least this."""
FALL: Final = 0.0053
"""Leaving out a constraint lowers it by at most this."""
_STEPS = 200  # of Newton's method for one centre
_EXACT = 1e-10  # The squared Newton decrement of a centre


@dataclass(kw_only=True)
class PolytopeState(CutsState):
    """The constraints a_i'x + b_i >= 0, shapes ``(m, n)`` and ``(m,)``, and the minimum of V."""

    normals: FloatArray
    offsets: FloatArray
    barrier: float


@parameter_record
class VolumetricCuts(CutsOfBody[PolytopeState]):
    """Cut the set of the feasible points of a box at its volumetric centre, again and again.

    The polytope is the box -1 <= x_j <= 1 at first. While its centre violates a constraint, this is
    added; constraints with sigma_i < 0.01 are left out, that of the least first, so that at most
    100 n + 1 are kept. Its volume is at most (100 n)^n exp(-V) times that of the unit ball, each
    cut raises the minimum of V by at least 0.0129, and leaving out a constraint lowers it by at
    most 0.0053. Therefore at most

        n (ln(100 n / r_0(rho)) - ln(2) / 2 + 0.0053) / (0.0129 - 0.0053) = O(n ln(n / rho))

    updates are made, with the volume radius r_0 of :func:`.log_volume_radius`. The order is that of
    Vaidya's theorem; the constants are ours, with a proof in this module. Cuts pass through 0, so
    that they are as deep as they can be; the centre is computed by Newton's method, with orthogonal
    factors in the place of H, from the point of the largest margin.

    Where the cuts leave nothing in double precision, weights are claimed, as by the ellipsoid
    method. Dimensions up to 100.

    References
    ----------
    `Kharechko2009`, section 5.5; P. Vaidya, A new algorithm for minimizing convex functions over
    convex sets, Mathematical Programming 73 (1996).
    """

    systems: ClassVar[Systems] = BOUNDED_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "n (ln(100 n / r_0) - ln(2) / 2 + 0.0053) / 0.0076",
        "ours, in the order of Vaidya's: each cut raises the volumetric barrier",
    )

    def start(self, system: ConicSystem, rng: np.random.Generator) -> PolytopeState:
        """Return the state at 0, the centre of the box, where H = 2 I."""
        n = system.dimension
        if n > LARGEST:
            raise InputError(f"{n} unknowns; volumetric-cuts allows {LARGEST}; choose ellipsoid")
        normals, offsets = np.vstack([np.eye(n), -np.eye(n)]), np.ones(2 * n)
        barrier = 0.5 * n * math.log(2.0)
        return PolytopeState(np.zeros(n), normals=normals, offsets=offsets, barrier=barrier)

    def update(self, state: PolytopeState, cut: Cut) -> None:
        """Add a cut, go to the centre of what it leaves, and leave out what matters little."""
        remember(state, cut)
        normals = np.vstack([state.normals, cut.normal / cut.norm])
        offsets = np.append(state.offsets, 0.0)
        check_time(200.0 * len(normals) * normals.size)
        point = widest_point(normals[offsets == 0.0])
        point, scores, barrier = volumetric_centre(normals, offsets, point)
        while scores.min() < LEAST:
            remaining = np.arange(len(scores)) != scores.argmin()
            normals, offsets = normals[remaining], offsets[remaining]
            point, scores, barrier = volumetric_centre(normals, offsets, point)
        state.normals, state.offsets = normals, offsets
        state.point, state.barrier = point, barrier

    def bound(self, facts: Facts) -> Bound:
        """Return n (ln(n / (epsilon r_0)) - ln(2) / 2 + 0.0053) / (0.0129 - 0.0053)."""
        theorem = self.guarantee.source
        if facts.unit_margin is None or facts.unit_margin <= 0.0:
            return Bound(None, theorem, NO_MARGIN)
        n = facts.dimension
        radius = log_volume_radius(n, min(facts.unit_margin, 1.0))
        most = math.log(n / LEAST) - radius - 0.5 * math.log(2.0) + FALL
        return Bound(n * most / (RISE - FALL), theorem)


def volumetric_centre(
    normals: FloatArray, offsets: FloatArray, point: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return the minimum of V from a point inside, all sigma_i there, and V.

    Newton's method in the coordinates of an orthonormal basis U of the columns of a_i / s_i: there
    the gradient is -U'sigma, the Hessian U'(3 diag(sigma) - 2 (UU')^2) U with entrywise squares.

    Raises
    ------
    NumericalError
        If rounding prevents that.
    """
    for _ in range(_STEPS):
        check_time()
        slacks = normals @ point + offsets
        if not (slacks > 0.0).all():
            break
        basis, triangle = np.linalg.qr(normals / slacks[:, None])
        scores, barrier = np.einsum("ij,ij->i", basis, basis), _log_determinant(triangle)
        squares = (basis @ basis.T) ** 2
        hessian = basis.T @ (3.0 * scores[:, None] * basis - 2.0 * squares @ basis)
        slope = scores @ basis
        step = np.linalg.solve(hessian, slope)
        decrement = float(step @ slope)
        if decrement <= _EXACT:
            return point, scores, barrier
        rates = basis @ step
        size = min(1.0, 0.9 / max(1e-300, -float(rates.min())))
        # Decrements near rounding errors show nothing about the size of the step
        while size > 1e-12 and decrement > 1e-6:
            stretched = normals / (slacks * (1.0 + size * rates))[:, None]
            lowered = barrier - _log_determinant(np.linalg.qr(stretched)[1])
            if lowered >= 0.1 * size * decrement:
                break
            size /= 2.0
        point = point + size * scipy.linalg.solve_triangular(triangle, step)
    raise NumericalError("the volumetric centre is lost in double precision")


def _log_determinant(triangle: FloatArray) -> float:
    """Return the logarithm of the modulus of the determinant of a triangular matrix."""
    return float(np.log(np.abs(np.diag(triangle))).sum())
