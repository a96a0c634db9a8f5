"""The events of a run, for progress bars and logs, and an estimate of the time that is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from perceptron_lab.experiments.configuration.plan import Cell


class Progress:
    """Receives the events of a run and does nothing; a subclass overrides those that it needs.

    It is entered before the cells are run, and left when they have ended.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def planned(self, total: int, kept: int, stale: int) -> None:
        """Report that the run has ``total`` cells, ``kept`` of which have a row already.

        ``stale`` of these rows were made by another code version.
        """

    def replacing(self, reasons: Sequence[str]) -> None:
        """Report that rows do not serve, one reason each: their cells are run again."""

    def queued(self, cells: Sequence[Cell]) -> None:
        """Report the cells that will be run, in this order."""

    def idle(self, reason: str) -> None:
        """Report that no cell can run as long as this is so."""

    def started(self, cell: Cell) -> None:
        """Report that a cell is loaded and compiled, and its clock runs."""

    def compiling(self, count: int) -> None:
        """Report how many kernels the process of a cell compiles."""
        # Here, since `plab status` imports this module and compiles nothing
        from perceptron_lab.numerics.compiled.kernel import logged_compilation

        with logged_compilation(count):
            pass

    def advanced(self, cell: Cell, updates: int, margin: float) -> None:
        """Record the updates of a running cell and the computed margin of its point."""

    def finished(self, done: int, total: int, row: dict[str, object]) -> None:
        """Report that the row of a cell is stored; ``done`` of ``total`` rows are there now."""

    def ended(self, failed: Sequence[dict[str, object]]) -> None:
        """Report the end of the run, before its report is made, and the rows of failed cells."""


@dataclass(frozen=True)
class Remaining:
    """An estimate of the remaining time; cells of one label may take very different times.

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
    for label, duration in ended:
        seconds.setdefault(label, []).append(duration)
    means = {label: fmean(several) for label, several in seconds.items()}
    waiting = list(due)
    estimates = [max(0.0, means[label] - begun) for label, begun in waiting if label in means]
    if not estimates:
        return None
    # The last cell runs alone, however many places there are.
    needed = max(sum(estimates) / max(at_a_time, 1), *estimates)
    return Remaining(needed, least=len(estimates) < len(waiting))


def _rounded(seconds: float) -> str:
    """Return a duration to two digits at most, as no estimate is better."""
    if seconds < 60.0:
        return f"{max(1, round(seconds))} s"
    if seconds < 7200.0:
        return f"{round(seconds / 60.0)} min"
    return f"{round(seconds / 3600.0)} h"
