"""The smoothed perceptron with the seminorm of the Gram matrix: nearest points of the hull."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perceptron_lab.algorithms.base import NO_MARGIN, NO_NORM, InCoordinates, Systems
from perceptron_lab.algorithms.nearest_point.active_set import lowest
from perceptron_lab.algorithms.smoothing.smoothed_perceptron import SmoothedAlgorithm, SmoothedState
from perceptron_lab.algorithms.sweeping import rows_operator
from perceptron_lab.cones.base import Oracles
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core import registry
from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.numerics.compiled.minimum_norm import minimum_norm_point
from perceptron_lab.systems import ConicSystem

# Sum of the gaps of all inner problems, divided by mu, as a part of the diameter D at most
ALLOWED = 0.125
INNER_GAPS = f"{UNPROVED}inner_gaps"
TURNS = 10  # Rows that may enter in one round of an inner problem, as a multiple of its rows


@dataclass
class GramProx:
    """d(p) = norm(A (p - q))^2 / 2 around q = e / n: half the square of norm(p - q)_G, G = A*A.

    Parameters
    ----------
    image
        A q.
    diameter
        D = max over the simplex of d, attained at a row.
    rows, shares
        The rows that carry A p of the last inner problem, and their weights.
    gaps
        Sum over the inner problems so far of their gaps, divided by mu.
    """

    image: FloatArray
    diameter: float
    rows: IntArray
    shares: FloatArray
    gaps: float = 0.0

    def centre(self, system: ConicSystem) -> FloatArray:
        """Return q."""
        return barycentre(system.cone)

    def constant(self, system: ConicSystem) -> float:
        """Return 1: norm(A p) is the seminorm itself."""
        return 1.0

    def nearest(self, system: ConicSystem, state: SmoothedState) -> tuple[FloatArray, float]:
        """Return p whose A p is nearest to A q - y / mu in the hull, and the lowest score of y."""
        target = self.image - state.point / state.smoothing
        # sum_k mu_k = 4, so that all gaps together are within the part allowed
        allowed = ALLOWED * self.diameter * state.smoothing / 4.0
        length, gap, improved = math.inf, math.inf, True
        while improved and gap > allowed:
            before, (length, scores) = length, self._project(system, target)
            level = float(self.shares @ scores[self.rows])
            gap = level - float(scores.min())
            improved = length < before and self._add(scores, level, system.dimension)
        self.gaps += max(gap, 0.0)
        state.figures[INNER_GAPS] = self.gaps / (self.diameter or 1.0)
        weights = np.zeros(system.cone.size)
        weights[self.rows] = self.shares
        return weights, system.lowest(state.scores)

    def _project(self, system: ConicSystem, target: FloatArray) -> tuple[float, FloatArray]:
        """Move to the nearest point A p of the rows' hull; return norm(x) and A*x, x = A p - c."""
        check_time()
        shifted = np.asarray(system.matrix.rows(self.rows) - target)
        size = float(np.linalg.norm(shifted, axis=1).max()) or 1.0
        few = np.ascontiguousarray(shifted / size)
        point, shares, _ = minimum_norm_point(few, TURNS * len(few), self.shares)
        carrying = shares > 0.0
        self.rows, self.shares = self.rows[carrying], shares[carrying]
        point *= size
        return float(np.linalg.norm(point)), system.scores(point)

    def _add(self, scores: FloatArray, level: float, most: int) -> bool:
        """Add rows of least score below the level; return whether there are new ones."""
        below = scores < level
        below[self.rows] = False
        coming = lowest(np.flatnonzero(below), scores, most)
        self.rows = np.append(self.rows, coming)
        self.shares = np.append(self.shares, np.zeros(len(coming)))
        return bool(len(coming))


@parameter_record
class GramSmoothedPerceptron(InCoordinates[SmoothedState], SmoothedAlgorithm):
    """The smoothed perceptron with d(p) = norm(p - q)_G^2 / 2: 3 sqrt(D) / rho iterations.

    The iteration is that of :mod:`.smoothed_perceptron` with the seminorm norm(p)_G = norm(A p) of
    the Gram matrix G and q = e / n. d has modulus 1 in it, lambda = 1, and

        p_mu(y) = argmin over the simplex of <p, A*y> + mu norm(A (p - q))^2 / 2,

    a quadratic program: A p_mu(y) is the point of the hull of the rows nearest to A q - y / mu. It
    is solved by Wolfe's algorithm on a growing working set of rows, which begins with those that
    carried the last answer; a pricing of all rows is one product. It ends where the gap
    g = max over r in the simplex of <p - r, A*x>, x = A p - (A q - y / mu), is at most
    D mu_k / 32: then g mu is the error of the inner problem, and all errors together move the bound
    by a factor of 9/8. With D = max_i norm(a_i - A q)^2 / 2 <= 2 L^2,

        L(y_k) <= (9/8) mu_k D - rho^2 / 2,   mu_k = 4 / ((k + 1) (k + 2)),

    so that y_k separates after at most 3 sqrt(D) / rho iterations; no number of rows occurs. That
    bounds the inner problems, not the work: at y = mu A q the inner problem is that of the margin
    itself (minimum-norm-point). Proofs: docs/notes/open-questions.md.

    Rounding errors of the inner problems exceed the allowed gap for margins of about 1e-4 and less;
    ``figures`` hold the sum of the gaps divided by D, ``claimed_inner_gaps``: where that exceeds
    1/8, the bound does not apply.

    Parameters
    ----------
    epsilon
        > 0 (default 1e-6).

    References
    ----------
    `RamdasPena2014`, section 7, which names the seminorm, and appendix A.
    """

    systems: ClassVar[Systems] = {"theorem": "rows", "coordinates: theorem": "kernel"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "3 sqrt(D) / rho",
        "Appendix A",
        "RamdasPena2014",
        note="for D = max_i norm(a_i - A q)^2 / 2 <= 2 L^2; an iteration is a quadratic program",
    )

    epsilon: Positive = 1e-6

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return Wolfe's algorithm, which projects on the hull of few rows."""
        return (minimum_norm_point,)

    def prox(self, system: ConicSystem) -> GramProx:
        """Return the seminorm's prox-function; an InputError for other systems than rows."""
        operator = rows_operator(system, registry.name_of("algorithm", self))
        image = system.combine(barycentre(system.cone))
        products = system.scores(image)
        squares = operator.row_norms() ** 2 - 2.0 * products + image @ image
        first = np.array([int(products.argmin())])
        return GramProx(image, float(squares.max()) / 2.0, first, np.ones(1))

    def bound(self, facts: Facts) -> Bound:
        """Return 3 sqrt(D) / rho, with sqrt(2 D) <= L + norm(A q)."""
        return self._bound(facts, facts.margin, NO_MARGIN)

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return 3 sqrt(D) / epsilon: y_k separates, or norm(A p_k)^2 <= (9/4) mu_k D."""
        return self._bound(facts, epsilon, NO_NORM)

    def _bound(self, facts: Facts, accuracy: float | None, reason: str) -> Bound:
        if accuracy is None or accuracy <= 0.0 or facts.atom_norm is None:
            return Bound(None, self.guarantee.source, reason)
        assert facts.start_norm is not None
        root = (facts.atom_norm + facts.start_norm) / math.sqrt(2.0)
        return Bound(3.0 * root / accuracy, self.guarantee.source)
