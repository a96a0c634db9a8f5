"""When a search ends without its width: at a limit, or where estimates fall no more."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from perceptron_lab.core.time_limit import seconds_left

# No progress: less than this factor since so many sweeps
_PROGRESS, _STUCK = 0.8, 600
# Estimates of a relative width below this are all rounding
_ROUNDING = 1e-14

# The part of the seconds that proofs may have at most
_PROOFS = 0.5

Stop = Callable[[], str | None]


@dataclass(frozen=True)
class Limits:
    """When a search ends without its width: the seconds are those of the time limit."""

    seconds: float
    sweeps: int
    stop: Stop | None

    def spent(self, sweeps: int, last: float = 0.0) -> str | None:
        """Return which limit is reached, in words, or None.

        Parameters
        ----------
        sweeps
            The number made.
        last
            Seconds that proofs will take.
        """
        if sweeps >= self.sweeps:
            return f"the budget of {self.sweeps} sweeps is spent"
        left = seconds_left()
        asked = None if self.stop is None else self.stop()  # after the clock, which asks it as well
        if asked is None and left <= min(last, _PROOFS * self.seconds):
            return f"the budget of {self.seconds:g} seconds is spent"
        return asked


@dataclass
class Progress:
    """Whether estimates still fall."""

    since: int = 0
    best: float = math.inf

    def ends(self, estimate: float, sweeps: int) -> bool:
        """Take an estimate; return if they have not fallen for long, or are all rounding."""
        if estimate < _PROGRESS * self.best:
            self.best, self.since = estimate, sweeps
        return estimate <= _ROUNDING or sweeps - self.since >= max(_STUCK, sweeps // 2)
