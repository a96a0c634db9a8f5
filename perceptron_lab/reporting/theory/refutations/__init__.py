"""Claims of the papers that do not survive exact computation, each with the check that shows it."""

from perceptron_lab.reporting.theory.refutations import complexity, ellipsoids, margins, rescaling
from perceptron_lab.reporting.theory.refutations.claim import CheckResult, Claim

ALL: tuple[Claim, ...] = (
    *rescaling.CLAIMS,
    *complexity.CLAIMS,
    *ellipsoids.CLAIMS,
    *margins.CLAIMS,
)
"""Every claim, by subject, each in the order of its papers."""

__all__ = ["ALL", "CheckResult", "Claim"]
