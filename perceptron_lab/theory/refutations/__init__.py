"""Claims of the papers that do not survive exact computation, each with the check that shows it."""

from perceptron_lab.theory.refutations import complexity, ellipsoids, rescaling
from perceptron_lab.theory.refutations.claim import Claim, Finding

ALL: tuple[Claim, ...] = (*rescaling.CLAIMS, *complexity.CLAIMS, *ellipsoids.CLAIMS)
"""Every claim, by subject, in the order of the papers."""

__all__ = ["ALL", "Claim", "Finding"]
