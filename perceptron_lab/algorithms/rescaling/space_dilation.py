"""The perceptron with Shor's space dilation (`Kharechko2009`, section 2.7)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
import scipy.linalg
from pydantic import Field

from perceptron_lab.algorithms.base import (
    NO_MARGIN,
    RUNS_ON_ALL,
    InCoordinates,
    MistakeDriven,
    State,
    Systems,
)
from perceptron_lab.algorithms.rescaling.ellipsoid import log_volume_radius
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem, Cut


@dataclass(kw_only=True)
class DilationState(State):
    """The point and the inverse map B = D^-1, in Fortran order."""

    inverse: FloatArray


@parameter_record
class SpaceDilation(MistakeDriven[DilationState], InCoordinates[DilationState]):
    """The perceptron in a space that is stretched along every cut.

    With D_0 = I and b = D^-T a / norm(D^-T a) for a cut a'x <= 0,

        x <- x + eta_t D^-1 b,    D <- (I + (lambda - 1) b b') D,

    so that later cuts undo less of what this one has corrected. Only B = D^-1 is kept: it becomes
    B + (1/lambda - 1) (B b) b', one rank-one update in place; lambda near 1 with constant steps is
    the normalised perceptron.

    With steps eta_t = R_t (lambda^2-1) / (2 lambda^2), R_t = q^t, q = (lambda^2+1) / (2 lambda), no
    feasible point y of the unit ball is lost: norm(D (y - x)) <= R_t, since u = D (y - x) has
    b'u >= 0 and norm(u)^2 + (lambda^2-1) (b'u)^2 - 2 lambda^2 eta_t b'u + lambda^2 eta_t^2 is
    largest at b'u = 0 or norm(u), where it is R_{t+1}^2. The volume of these ellipsoids is
    multiplied by q^n / lambda, which is less than 1 for lambda near 1 and least for
    lambda = sqrt((n+1)/(n-1)), q = n / sqrt(n^2-1): the ellipsoid method. Any first step will do.

    Parameters
    ----------
    dilation
        lambda > 1 (default 2).
    step_rule
        ``constant``: eta_t = eta_0. ``inverse-sqrt``: eta_t = eta_0 / sqrt(t + 1). ``geometric``:
        eta_t = eta_0 ratio^t. Default ``constant``.
    first_step
        eta_0 > 0 (default 1).
    ratio
        Ratio of the geometric rule, > 0 (default 1).

    References
    ----------
    `Kharechko2009`, section 2.7; N. Z. Shor, Minimization Methods for Non-Differentiable Functions,
    Springer 1985.
    """

    systems: ClassVar[Systems] = RUNS_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "n ln(1 / r_0) / (ln(lambda) - n ln(q))",
        "section 2.8",
        "Kharechko2009",
        note="for steps that grow by q = (lambda^2 + 1) / (2 lambda); otherwise none",
    )

    dilation: Annotated[float, Field(gt=1)] = 2.0
    step_rule: Literal["constant", "inverse-sqrt", "geometric"] = "constant"
    first_step: Positive = 1.0
    ratio: Positive = 1.0

    def start(self, system: ConicSystem, rng: np.random.Generator) -> DilationState:
        """Return the state at x = 0, D = I."""
        inverse = np.eye(system.dimension, order="F")
        return DilationState(np.zeros(system.dimension), inverse=inverse)

    def step_size(self, update: int) -> float:
        """Return eta_t for t = ``update`` >= 0."""
        if self.step_rule == "inverse-sqrt":
            return self.first_step / float(np.sqrt(update + 1.0))
        if self.step_rule == "geometric":
            return self.first_step * self.ratio**update
        return self.first_step

    def update(self, state: DilationState, cut: Cut) -> None:
        """Step along the dilated cut, and dilate the space along it."""
        # The cut in the dilated space is D^-T a: only the inverse B = D^-1 is stored
        dilated = state.inverse.T @ (cut.normal / cut.norm)
        length = math.sqrt(float(dilated @ dilated))
        if not 0.0 < length < math.inf:
            raise NumericalError(
                f"norm(D^-T a) = {length:g}: the dilated space has collapsed in doubles"
            )
        dilated /= length
        # A step along the dilated cut, mapped back to the original space
        direction = state.inverse @ dilated
        state.point += self.step_size(state.updates) * direction
        # B <- B (I + (1 / lambda - 1) g g') by one rank-one update, in place
        scipy.linalg.blas.dger(
            1.0 / self.dilation - 1.0, direction, dilated, a=state.inverse, overwrite_a=1
        )

    def bound(self, facts: Facts) -> Bound:
        """Return n ln(1 / r0) / (ln lambda - n ln q) where the steps grow by q, else none.

        r0 is the volume radius of the feasible points of the unit ball
        (:func:`~perceptron_lab.algorithms.rescaling.ellipsoid.log_volume_radius`).
        """
        theorem = f"{self.guarantee.source}, for any dilation"
        growth = (self.dilation**2 + 1.0) / (2.0 * self.dilation)
        # The proof needs steps that grow by exactly this factor
        if self.step_rule != "geometric" or not math.isclose(self.ratio, growth, rel_tol=1e-14):
            reason = f"none is known unless steps grow by (lambda^2+1)/(2 lambda) = {growth:.9g}"
            return Bound(None, theorem, reason)
        shrinkage = math.log(self.dilation) - facts.dimension * math.log(growth)
        if shrinkage <= 0.0:
            reason = f"in dimension {facts.dimension} this dilation lets the volume grow"
            return Bound(None, theorem, reason)
        if facts.unit_margin is None or facts.unit_margin <= 0.0:
            return Bound(None, theorem, NO_MARGIN)
        size = -log_volume_radius(facts.dimension, min(facts.unit_margin, 1.0))
        return Bound(facts.dimension * size / shrinkage, theorem)
