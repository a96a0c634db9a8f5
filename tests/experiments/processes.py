"""Jobs of toys for tests of processes, and what there is of processes and files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from perceptron_lab.experiments.cells.cell_run import Job, Outcome
from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.cells.server_handle import ForkServer
from perceptron_lab.experiments.cells.supervisor import supervise
from perceptron_lab.experiments.configuration.config import ExperimentConfig, ProcessLimits
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.configuration.plan import Cell, plan
from perceptron_lab.experiments.configuration.yaml_source import Source
from tests.experiments import toys
from tests.experiments.conftest import Configure

LIMITS = ProcessLimits(grace=0.3, memory=300_000_000)
"""Little time, and little memory."""


def faulty(how: str, after: int = 0, **settings: Any) -> dict[str, Any]:
    """Return an algorithm's entry."""
    label = f"{how} {after}"
    parameters = {"how": how, "after": after, "dimension": settings.pop("dimension", 3)}
    return {"name": "faulty", "label": label, "parameters": parameters} | settings


def configure_toys(**changes: Any) -> ExperimentConfig:
    """Return the toy configuration with some keys replaced, where the toys are registered."""
    return load_experiment(Source("", deepcopy(toys.CONFIG) | changes)).config


def jobs_of(configure: Configure, base: Path = Path(), **changes: Any) -> list[Job]:
    """Return the jobs of the toy configuration on ``eye-3``, with some keys replaced."""
    problems = [{"dataset": "toy", "instances": ["eye-3"]}]
    cells = plan(configure(**({"problems": problems} | changes)))
    return [Job(cell, cell.load(base).sha256, base) for cell in cells]


def outcomes_of(jobs: list[Job], **settings: Any) -> list[Outcome]:
    """Return the outcomes in the order of the jobs, each of which must have one."""
    options: dict[str, Any] = {"workers": 1, "limits": LIMITS, "progress": Progress()} | settings
    pairs = list(supervise(jobs, **options))
    by_position = dict(pairs)
    assert len(pairs) == len(by_position) == len(jobs)
    return [by_position[position] for position in range(len(jobs))]


class Watching(Progress):
    """Calls a function when a cell is started, and keeps what it is told."""

    def __init__(self, on_start: Callable[[], None] = lambda: None) -> None:
        self.on_start = on_start
        self.told: list[tuple[str, int, float]] = []

    def started(self, cell: Cell) -> None:
        self.told.append((cell.variant.label, -1, 0.0))
        self.on_start()

    def advanced(self, cell: Cell, updates: int, margin: float) -> None:
        self.told.append((cell.variant.label, updates, margin))


def children(process: int) -> list[int]:
    """Return the living children of a process, and theirs, and so on."""
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return []
    direct = [child for child in map(int, text.split()) if alive(child)]
    return direct + [descendant for child in direct for descendant in children(child)]


KEPT: list[ForkServer] = []
"""Fork servers that are no concern of the test that runs."""


def forked() -> list[int]:
    """Return the living fork server of this process, followed by its cells."""
    commands = {child: Path(f"/proc/{child}/cmdline") for child in children(os.getpid())}
    servers = {child for child, path in commands.items() if "fork_server" in path.read_text()}
    return [
        child for child in commands if child in servers - {server.process_id for server in KEPT}
    ]


def alive(process: int) -> bool:
    """Return whether there is such a process, which is not a mere zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ended(processes: list[int], seconds: float = 5.0) -> bool:
    """Return whether processes are gone after so many seconds at most."""
    end = time.monotonic() + seconds
    while any(map(alive, processes)) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(alive, processes))


def open_files() -> list[str]:
    """Return what the open file descriptors of this process refer to."""
    links = (Path("/proc/self/fd") / handle for handle in os.listdir("/proc/self/fd"))
    return sorted(os.readlink(link) for link in links if link.is_symlink())
