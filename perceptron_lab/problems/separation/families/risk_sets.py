"""Risk sets: events compared with everybody at risk at their time, by few conditions.

Observation j is at risk at the event times k in [a_j, b_j), counted within its stratum. An event e
at k needs x_e'd >= x_j'd for all others at risk. If an event of k + 1 is at risk at k too, then
what it dominates at k + 1 is dominated at k: so j is compared only at the last k that it is at risk
as no event, and at each k before it of which no event of k + 1 is at risk.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.problems.separation.families.conditions import (
    Conditions,
    Mask,
    differences,
    require_few,
)


@dataclass(frozen=True, eq=False)
class RiskSets:
    """Who is at risk at which event times.

    Parameters
    ----------
    begin, end
        a and b, shape ``(m,)``; the last one, b - 1, is the time of the event for events.
    event
        Whether the observation ends with an event.
    tied_equal
        Whether tied events have equal x'd (Breslow, Efron), or are not compared (exact methods).
    """

    begin: IntArray
    end: IntArray
    event: Mask
    tied_equal: bool

    @classmethod
    def of(
        cls, event: Mask, strata: IntArray, time: FloatArray, start: FloatArray | None, ties: str
    ) -> RiskSets:
        """Return the risk sets of observations that are at risk in (start, time]."""
        ranks = np.unique(np.concatenate([time, time if start is None else start]))
        first = np.zeros(len(time), dtype=np.int64)  # below all ranks
        begins = first if start is None else 1 + np.searchsorted(ranks, start)
        base = strata * (len(ranks) + 1)
        ends = base + 1 + np.searchsorted(ranks, time)
        events = np.unique(ends[event])
        begin = np.searchsorted(events, base + begins, side="right")
        end = np.searchsorted(events, ends, side="right")
        return cls(begin, end, event, ties in ("breslow", "efron"))

    @cached_property
    def last(self) -> IntArray:
        """The last time at risk as no event; before ``begin`` if it is at risk at none."""
        return self.end - 1 - self.event

    def conditions(self, width: int) -> Conditions:
        """Return the conditions, and tied events as equations where these are equal."""
        events = np.flatnonzero(self.event)
        order = events[np.argsort(self.end[events], kind="stable")]
        starts = np.flatnonzero(np.diff(self.end[order], prepend=-1))
        times, compared = self._compared()
        ties = np.setdiff1d(np.arange(len(order)), starts) if self.tied_equal else order[:0]
        numbers = np.diff(np.append(starts, len(order)))
        repeats = np.ones_like(times) if self.tied_equal else numbers[times]
        require_few(int(repeats.sum()), width, "make strata or times finer, or merge equal rows")
        inside = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        first = order[np.repeat(starts[times], repeats) + inside]
        leaders = order[starts[self.end[order[ties]] - 1]]
        return differences(
            np.concatenate([first, order[ties]]),
            np.concatenate([np.repeat(compared, repeats), leaders]),
            np.arange(len(first) + len(ties)) >= len(first),
            len(self.event),
        )

    def _compared(self) -> tuple[IntArray, IntArray]:
        """Return times and the observations that their events are compared with."""
        there = np.flatnonzero(self.begin <= self.last)
        count = int(self.end.max(initial=0))
        linked = np.zeros(count, dtype=bool)
        linked[self.last[there[self.event[there]]]] = True
        longer = there[self.begin[there] < self.last[there]]
        ended = np.bincount(self.last[longer], minlength=count)
        present = np.cumsum(np.bincount(self.begin[longer], minlength=count) - ended) > 0
        times, compared = [self.last[there]], [there]
        for k in np.flatnonzero(present & ~linked).tolist():
            members = longer[(self.begin[longer] <= k) & (k < self.last[longer])]
            times.append(np.full(len(members), k))
            compared.append(members)
        return np.concatenate(times), np.concatenate(compared)

    def separated(self, scores: IntArray) -> Mask:
        """Return which observations have another score than one that they are compared with.

        Parameters
        ----------
        scores
            x_i'd for d inside the cone, or their ranks.
        """
        above = np.full(int(self.end.max(initial=0)), -1)
        np.maximum.at(above, self.end[self.event] - 1, scores[self.event])
        least = self._least(scores)
        separated = np.zeros(len(scores), dtype=bool)
        separated[self.event] = scores[self.event] > least[self.end[self.event] - 1]
        there = np.flatnonzero(self.begin <= self.last)
        intervals = np.stack([self.begin[there], self.last[there] + 1], axis=1).ravel()
        if len(there):
            most = np.maximum.reduceat(np.append(above, -1), intervals)[::2]
            separated[there] |= most > scores[there]
        return separated

    def _least(self, scores: IntArray) -> IntArray:
        """Return the least score at risk, events aside, at each time: minima over intervals.

        An interval is the union of two of length 2^p, and these are halved, level by level.
        """
        there = np.flatnonzero(self.begin <= self.last)
        lengths = self.last[there] + 1 - self.begin[there]
        levels = np.frexp(lengths)[1] - 1
        size, top = int(self.end.max(initial=0)), int(levels.max(initial=0))
        table = np.full((top + 1, size), np.iinfo(np.int64).max)
        for begin in (self.begin[there], self.last[there] + 1 - 2**levels):
            np.minimum.at(table, (levels, begin), scores[there])
        for level in range(top, 0, -1):
            half = 2 ** (level - 1)
            table[level - 1] = np.minimum(table[level - 1], table[level])
            table[level - 1, half:] = np.minimum(table[level - 1, half:], table[level, :-half])
        return np.asarray(table[0])
