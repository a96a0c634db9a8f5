"""A flag that ends a computation at its n-th question, so that tests need no clock."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class StopAt:
    """A ``stop`` that says why to end from its n-th question on, and counts them.

    Parameters
    ----------
    questions
        n; infinity only counts.
    """

    questions: float = math.inf
    asked: int = 0

    def __call__(self) -> str | None:
        self.asked += 1
        return "stopped" if self.asked >= self.questions else None
