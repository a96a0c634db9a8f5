"""Clusters of dask on this machine, and what their workers have started."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.configuration.plan import Cell
from tests.experiments.processes import alive


def cluster_of(workers: int, **settings: Any) -> Any:
    """Return a cluster on this machine whose dashboards take no port of anybody else's."""
    ports = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
    from distributed import LocalCluster

    return LocalCluster(n_workers=workers, threads_per_worker=1, **ports, **settings)


def started_by(workers: list[int]) -> list[int]:
    """Return the processes that any threads of workers have started: fork servers and cells."""
    direct = [
        int(child)
        for worker in workers
        for path in Path(f"/proc/{worker}/task").glob("*/children")
        for child in path.read_text().split()
    ]
    alive_children = [child for child in direct if alive(child)]
    return alive_children + (started_by(alive_children) if alive_children else [])


class AtCell(Progress):
    """Calls a function when a cell starts that fails in this way, on ``eye-3``, and goes on."""

    def __init__(self, how: str, act: Callable[[], None]) -> None:
        self.how, self.act = how, act

    def started(self, cell: Cell) -> None:
        if (cell.variant.algorithm.record.how, cell.instance.title) == (self.how, "eye-3"):
            self.act()
