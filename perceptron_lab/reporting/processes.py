"""Reports and pages of several experiments, made by several processes."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import starmap
from multiprocessing import get_context
from typing import Any, TypeVar

from perceptron_lab.core import registry

Made = TypeVar("Made")


def processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


def in_order(
    make: Callable[..., Made],
    jobs: Sequence[tuple[Any, ...]],
    processes: int,
    sizes: Sequence[float],
) -> Iterator[Made]:
    """Yield ``make(*job)`` of each job in their order; a process is worth its start for two jobs.

    The first error of a job is raised in its place, and jobs that have not begun are given up.

    Parameters
    ----------
    make
        A function of a module, as processes import it; so are jobs and what is made passed on.
    jobs
        Its arguments, those of one job each.
    processes
        How many work at a time. More than one import the main module again, which has to allow for
        it.
    sizes
        Of the jobs. The largest begin first, so that no process is left with one at the end.
    """
    workers = min(processes, len(jobs) // 2)
    if workers < 2 or registry.additions():  # which other processes do not have
        yield from starmap(make, jobs)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin) as pool:
        largest_first = sorted(range(len(jobs)), key=lambda place: -sizes[place])
        begun = {place: pool.submit(make, *jobs[place]) for place in largest_first}
        try:
            for place in range(len(jobs)):
                yield begun.pop(place).result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    """Prepare a process that only makes reports and pages."""
    # Ctrl-C reaches every process: the first one ends the others, once each has written its files
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Figures are many small objects that live as long as they do: a seventh of the time went into
    # looking for cycles among them, and 0.1 GB of memory is what it costs to look less often
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
