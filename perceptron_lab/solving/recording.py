"""The trace of a run, recorded within a share of the run's time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from perceptron_lab.algorithms.base import State
from perceptron_lab.core.results import Trace
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.core.time_limit import TimeIsUp, clock_seconds
from perceptron_lab.systems import ConicSystem, CutStatistics

FREE = 1.0  # Seconds that records may take whatever the steps take


@dataclass
class Recorder:
    """Appends states to a trace, and omits records that would cost too much.

    All records but the first and the last may take ``allowance`` seconds, and, beyond ``FREE``
    seconds, no longer than the steps. ``cuts`` has seen the cuts since the last record.
    """

    allowance: float
    options: RunOptions
    cuts: CutStatistics | None = None
    trace: Trace = field(default_factory=Trace)
    seconds: float = 0.0
    _last: float = 0.0

    def affordable(self, steps: float) -> bool:
        """Return whether one more record keeps within its share of the seconds of steps."""
        ahead = self.seconds + self._last
        return ahead <= FREE or ahead <= min(steps, self.allowance)

    def record(self, system: ConicSystem, state: State, seconds: float) -> None:
        """Append a state that was reached after this many seconds of steps."""
        clock, trace = clock_seconds(), self.trace
        trace.updates.append(state.updates)
        trace.iterations.append(state.iterations)
        trace.queries.append(system.counters.queries)
        trace.products.append(system.counters.products)
        trace.seconds.append(seconds)
        trace.phase.append(state.phase)
        trace.margin.append(_or_nan(lambda: system.margin(state.point)))
        weights = state.weights
        trace.upper.append(math.nan if weights is None else _or_nan(lambda: system.upper(weights)))
        measured: dict[str, Any] = {}
        if self.options.observe is not None:
            measured |= self.options.observe(system.operator.compact(state.point))
        if self.cuts is not None:
            measured |= self.cuts.take()
        for name, value in measured.items():
            trace.measures.setdefault(name, []).append(value)
        if self.options.watch is not None:
            self.options.watch(trace)
        self._last = clock_seconds() - clock
        self.seconds += self._last


def _or_nan(figure: Callable[[], float]) -> float:
    """Return a computed number, or NaN if it fails numerically or for lack of time."""
    try:
        return figure()
    except (ArithmeticError, ValueError, np.linalg.LinAlgError, TimeIsUp):
        return math.nan
