"""When a search ends without its width: at a limit, or where estimates fall no more."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

# No progress: less than this factor since so many sweeps
_PROGRESS, _STUCK = 0.8, 600
# Estimates of a relative width below this are all rounding
_ROUNDING = 1e-14

Stop = Callable[[], str | None]


@dataclass(frozen=True)
class Limits:
    """When a search ends without its width."""

    seconds: float
    sweeps: int
    stop: Stop | None

    def spent(self, seconds: float, sweeps: int) -> str | None:
        """Return which limit is reached, in words, or None."""
        if sweeps >= self.sweeps:
            return f"the budget of {self.sweeps} sweeps is spent"
        if seconds >= self.seconds:
            return f"the budget of {self.seconds:g} seconds is spent"
        return None if self.stop is None else self.stop()


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
