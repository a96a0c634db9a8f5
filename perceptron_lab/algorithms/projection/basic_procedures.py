"""Basic procedures: from weights z in Delta(K), find an element of a subspace M inside K.

Otherwise make P_M z small: it tends to 0 if no such point exists, and also until one is found. With
q_t = norm(P_M z_t)^2 after t steps and M without a point inside K found so far:

    perceptron      z_{t+1} = z_t + (c_t - z_t) / (t + 2)            q_t <= 1 / (t + 1)
    von Neumann     the nearest of z_t + a (c_t - z_t), 0 <= a <= 1  q_t <= 1 / (t + r)
    away steps      the same, or the nearest of z_t + a (z_t - b_t)  q_t <= 2 / (t + r + 1)
    smoothed        the excessive gap technique                      q_t < 4 / (t + 1)^2

from z_0 = e / r (smoothed: the projection of z_0 - P_M z_0 / 2 onto Delta(K)). c_t is the
idempotent of the lowest eigenvalue of P_M z_t, so that <c_t, P_M z_t> <= 0 until P_M z_t lies
inside K; b_t that of the greatest <b, P_M z_t> in a frame of z_t with weight. Proofs: norm(P_M c)
<= 1 for all idempotents, as norm(c) = 1.

* Perceptron: (t + 1)^2 q_t grows by 2 (t + 1) <P z, c> + norm(P c)^2 <= 1 a step; q_0 <= 1 / r.
* Von Neumann: the nearest point has q' <= q / (1 + q), so that 1 / q grows by 1.
* Away steps: b_t is chosen where <b, P z> - q > q - <c, P z> >= q. Then norm(P (z - b))^2 <=
  1 - q - 2 (<b, P z> - q) <= 1, and a step that is not cut short has q' <= q - q^2: 1 / q grows by
  1 again. A step cut short lowers the rank of z by one, a step towards c raises it by one at most:
  (t - r + 1) / 2 or more of t steps are not cut short, and no step lets q grow.
* Smoothed: as Lemma 8 of `RamdasPena2014` with A = P_M, lambda = 1 and norm(p - e / r)^2 / 2 <=
  (1 - 1 / r) / 2 on Delta(K): while y_t is not inside, q_t <= mu_t (1 - 1 / r).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from perceptron_lab.cones.jordan import JordanAlgebra
from perceptron_lab.cones.spectral import onto_simplex
from perceptron_lab.core.results import FloatArray

Projection = Callable[[FloatArray], FloatArray]

# An element is inside K if its lowest eigenvalue is above this part of the greatest, at first
INSIDE = 1e-12
# Eigenvalues below this part of the greatest are 0: there is no direction to step away from
SUPPORT = 1e-12


class BasicProcedure(ABC):
    """The state and the step of one basic procedure on one subspace.

    Attributes
    ----------
    weights, image
        z_t and P_M z_t, shape ``(size,)``.
    steps
        t.
    inside
        The part of the greatest eigenvalue above which the lowest one counts as positive.
    """

    def __init__(self, algebra: JordanAlgebra, projection: Projection) -> None:
        self.algebra, self.projection = algebra, projection
        self.weights = algebra.identity / algebra.rank
        self.image = projection(self.weights)
        self.steps, self.inside = 0, INSIDE

    @staticmethod
    @abstractmethod
    def limit(rank: int, accuracy: float) -> int:
        """Return a number of steps that suffices for norm(P_M z) <= ``accuracy`` or a solution."""

    @abstractmethod
    def step(self) -> FloatArray | None:
        """Make one step with one projection; return the previous element of M if it is inside K."""

    def passes(self, lowest: float, element: FloatArray) -> bool:
        """Return whether an element with this lowest eigenvalue is inside K."""
        return lowest > 0.0 and lowest > self.inside * float(np.abs(element).max())

    def renew(self) -> None:
        """Recompute the projection of the weights, which removes accumulated rounding errors."""
        self.image = self.projection(self.weights)


class PerceptronProcedure(BasicProcedure):
    """The perceptron: z is the average of e / r and idempotents, all of equal weight."""

    @staticmethod
    def limit(rank: int, accuracy: float) -> int:
        """Return 1 / accuracy^2."""
        return math.ceil(accuracy**-2)

    def step(self) -> FloatArray | None:
        """Average one more idempotent; return P z, if it was inside K."""
        # The test uses the projection before the step: one spectrum serves both
        image = self.image
        lowest, idempotent = self.algebra.deepest(image)
        self.steps += 1
        self.towards(idempotent)
        return image if self.passes(lowest, image) else None

    def towards(self, idempotent: FloatArray) -> None:
        """Let z <- z + (c - z) / (t + 1), where t counts the steps including this one."""
        self._move(idempotent - self.weights, self.projection(idempotent), 1.0 / (self.steps + 1.0))

    def _move(self, direction: FloatArray, image: FloatArray, length: float) -> None:
        self.weights = self.weights + length * direction
        self.image = self.image + length * (image - self.image)


class VonNeumannProcedure(PerceptronProcedure):
    """Von Neumann's algorithm: z moves to the nearest point of the segment to the idempotent."""

    def towards(self, idempotent: FloatArray) -> None:
        """Let z be the point of [z, c] of least norm(P z)."""
        image = self.projection(idempotent)
        towards = image - self.image
        square = float(towards @ towards)
        # Exact line search on the segment; both images are known
        length = -float(self.image @ towards) / square if square > 0.0 else 0.0
        self._move(idempotent - self.weights, image, min(max(length, 0.0), 1.0))


class AwaySteps(VonNeumannProcedure):
    """Von Neumann's algorithm with away steps, along an idempotent of a frame of z."""

    @staticmethod
    def limit(rank: int, accuracy: float) -> int:
        """Return 2 / accuracy^2."""
        return math.ceil(2.0 * accuracy**-2)

    def step(self) -> FloatArray | None:
        """Step towards c or away from b, by the larger decrease; return P z if it is inside K."""
        image = self.image
        lowest, idempotent = self.algebra.deepest(image)
        self.steps += 1
        values, frame = self.algebra.spectrum(self.weights)
        heights = self.algebra.traces(frame, image)
        # Only idempotents that z contains can be stepped away from
        heights = np.where(values > SUPPORT * values.max(), heights, -np.inf)
        worst = int(heights.argmax())
        square = float(image @ image)
        # The larger of the two first-order decreases of norm(P z)^2 / 2
        if heights[worst] - square > square - lowest and values[worst] < 1.0 - SUPPORT:
            indicator = np.zeros(len(values))
            indicator[worst] = 1.0
            self._away(self.algebra.assemble(indicator, frame), float(values[worst]))
        else:
            self.towards(idempotent)
        return image if self.passes(lowest, image) else None

    def _away(self, idempotent: FloatArray, share: float) -> None:
        """Move z away from b to the point of least norm(P z) in Delta(K)."""
        image = self.projection(idempotent)
        away = self.image - image
        # At the longest step the idempotent's share of z is 0
        square, longest = float(away @ away), share / (1.0 - share)
        length = -float(self.image @ away) / square if square > 0.0 else longest
        length = min(max(length, 0.0), longest)
        self._move(idempotent - self.weights, image, -length)


class SmoothedProcedure(BasicProcedure):
    """The excessive gap technique, with the prox-function norm(p - e / r)^2 / 2.

    ``point`` is y_t, ``smoothing`` mu_t, ``nearest`` P p_{mu_t}(y_t); z_t are its averages p_t.
    """

    def __init__(self, algebra: JordanAlgebra, projection: Projection) -> None:
        super().__init__(algebra, projection)
        self.point, self.smoothing = self.image, 2.0
        self.weights, self.lowest = self._maximiser()
        self.image = self.nearest = projection(self.weights)

    @staticmethod
    def limit(rank: int, accuracy: float) -> int:
        """Return 2 / accuracy + 1: y_t may be inside after the last step."""
        return math.ceil(2.0 / accuracy) + 1

    def _maximiser(self) -> tuple[FloatArray, float]:
        """Return the projection of e / r - y / mu onto Delta(K), and the lowest eigenvalue of y."""
        values, frame = self.algebra.spectrum(self.point)
        # The Euclidean prox: the projection acts on the eigenvalues alone
        return self.algebra.assemble(onto_simplex(-values / self.smoothing), frame), values.min()

    def step(self) -> FloatArray | None:
        """Go from t to t + 1; return y_t, if it was inside K."""
        solution = self.point if self.passes(self.lowest, self.point) else None
        # The excessive gap technique, as in Algorithm 4 of RamdasPena2014
        theta = 2.0 / (self.steps + 3.0)
        self.point = (1.0 - theta) * (self.point + theta * self.image) + theta**2 * self.nearest
        self.smoothing *= 1.0 - theta
        nearest, self.lowest = self._maximiser()
        self.nearest = self.projection(nearest)
        self.weights = (1.0 - theta) * self.weights + theta * nearest
        self.image = (1.0 - theta) * self.image + theta * self.nearest
        self.steps += 1
        return solution
