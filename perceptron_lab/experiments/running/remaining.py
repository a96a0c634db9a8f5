"""The time that a run still takes, estimated from cells of the same label that have ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True)
class Remaining:
    """An estimate: cells of one label may take very different times.

    Parameters
    ----------
    seconds
        That the run still takes.
    least
        Whether there are labels without any cell that has ended, whose cells are left out.
    """

    seconds: float
    least: bool

    def __str__(self) -> str:
        return f"{'more than' if self.least else 'about'} {_rounded(self.seconds)} left (estimate)"


def remaining(
    ended: Iterable[tuple[str, float]], due: Iterable[tuple[str, float]], at_a_time: int = 1
) -> Remaining | None:
    """Return an estimate of the time until all cells that are due have ended; None without one.

    Parameters
    ----------
    ended
        The label of each cell that has ended, and the seconds that it took.
    due
        The label of each cell that has not, and the seconds for which it runs already.
    at_a_time
        How many run at a time.
    """
    seconds: dict[str, list[float]] = {}
    for label, one in ended:
        seconds.setdefault(label, []).append(one)
    means = {label: fmean(several) for label, several in seconds.items()}
    waiting = list(due)
    known = [max(0.0, means[label] - begun) for label, begun in waiting if label in means]
    if not known:
        return None
    # The last cell runs alone, however many places there are.
    needed = max(sum(known) / max(at_a_time, 1), *known)
    return Remaining(needed, least=len(known) < len(waiting))


def _rounded(seconds: float) -> str:
    """Return a duration to two digits at most, as no estimate is better."""
    if seconds < 60.0:
        return f"{max(1, round(seconds))} s"
    if seconds < 7200.0:
        return f"{round(seconds / 60.0)} min"
    return f"{round(seconds / 3600.0)} h"
