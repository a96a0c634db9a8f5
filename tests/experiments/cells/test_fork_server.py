"""The fork server: nothing that it has forked outlives whoever started it."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from perceptron_lab.core.errors import PlabError
from perceptron_lab.experiments.cells.messages import REFUSED, ServerReport
from perceptron_lab.experiments.cells.server_handle import ForkServer
from tests.experiments.cells.conftest import ABSENT
from tests.experiments.conftest import Configure
from tests.experiments.processes import (
    alive,
    children,
    ended,
    faulty,
    jobs_of,
    open_files,
    outcomes_of,
)
from tests.repetitions import repeated

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("bare_servers"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
]

SPINNING = """
    import signal
    import sys
    from pathlib import Path
    from perceptron_lab.core import registry
    from perceptron_lab.experiments.configuration.loader import load_experiment
    from perceptron_lab.experiments.configuration.plan import plan
    from perceptron_lab.experiments.cells import server_handle
    from perceptron_lab.experiments.cells.cell_run import Job
    from perceptron_lab.experiments.cells.supervisor import supervise
    from perceptron_lab.experiments.configuration.config import ProcessLimits
    from perceptron_lab.experiments.cells.progress import Progress
    from perceptron_lab.experiments.configuration.yaml_source import Source
    from tests.experiments import toys

    server_handle.CORE = ()  # as with the fixture `bare_servers`

    class Telling(Progress):
        def started(self, cell):
            sys.stdout.write("started\\n")
            sys.stdout.flush()

    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
    registry.register("dataset", "toy", toys.Toy)
    registry.register("algorithm", "faulty", toys.Faulty)
    algorithms = [
        {"name": "faulty", "label": how, "parameters": {"how": how}}
        for how in ("spin-with-child", "spin-deaf")
    ]
    changes = {"algorithms": algorithms, "problems": [{"dataset": "toy", "instances": ["eye-3"]}]}
    cells = plan(load_experiment(Source("", toys.CONFIG | changes)).config)
    jobs = [Job(cell, cell.load(Path()).sha256, Path()) for cell in cells]
    for _ in supervise(jobs, workers=2, limits=ProcessLimits(), progress=Telling()):
        pass
"""

OWN_CLASSES = """
    import multiprocessing
    from pathlib import Path
    import numpy as np
    from pydantic.dataclasses import dataclass
    from perceptron_lab.core import registry
    from perceptron_lab.core.registry import register
    from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
    from perceptron_lab.experiments.configuration.config import ProcessLimits
    from perceptron_lab.experiments.configuration.loader import load_experiment
    from perceptron_lab.experiments.configuration.plan import plan
    from perceptron_lab.experiments.cells.progress import Progress
    from perceptron_lab.experiments.cells import server_handle
    from perceptron_lab.experiments.cells.cell_run import Job
    from perceptron_lab.experiments.cells.supervisor import supervise
    from perceptron_lab.experiments.configuration.yaml_source import Source
    from perceptron_lab.core.refusals import STRICT
    from nearby import GREETING

    server_handle.CORE = ()

    FACTOR = 2.0

    @dataclass(frozen=True, config=STRICT)
    class Doubling(Perceptron):
        factor: float = 1.0

        def start(self, system, rng):
            state = super().start(system, rng)
            known = registry.load("algorithm", "doubling") is type(self)
            state.notes = [f"{GREETING} {FACTOR * self.factor}", Path.cwd().name, known]
            return state

    register("algorithm", "doubling", Doubling)
    config = load_experiment(Source("", {
        "experiment": "own",
        "problems": [
            {"dataset": "margin-sets", "family": "exact", "dimension": 4, "rows": 20, "margin": 0.1}
        ],
        "algorithms": [{"name": "doubling", "parameters": {"factor": 3.0}}],
    })).config

    def run():
        cells = plan(config)
        jobs = [Job(cell, cell.load(Path()).sha256, Path()) for cell in cells]
        given = dict(workers=1, limits=ProcessLimits(), progress=Progress())
        for _, outcome in supervise(jobs, **given):
            notes = outcome.result.certificate["notes"] if outcome.result else outcome.stderr
            print(outcome.status, outcome.message, notes, flush=True)

"""
DIRECTLY = "run()"
IN_A_DAEMON = """
    daemon = multiprocessing.get_context("fork").Process(target=run, daemon=True)
    daemon.start()
    daemon.join()
"""

ROOT = Path(__file__).parents[3]


def until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


class Refusing(ForkServer):
    """A server that cannot fork, and needs no process to say so."""

    def __init__(self, parent_end: socket.socket) -> None:
        super().__init__()
        self._parent_end = parent_end

    @property
    def channel(self) -> socket.socket:
        return self._parent_end

    def hear(self) -> tuple[list[ServerReport], str]:
        self.channel.recv(1)
        return [ServerReport(REFUSED, self._numbers, errno.EAGAIN, 0)], ""


def script(text: str, folder: Path) -> list[str]:
    path = folder / "script.py"
    path.write_text(textwrap.dedent(text))
    return [sys.executable, str(path)]


@contextmanager
def running(text: str, folder: Path) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """Run a script in a folder, and kill it at the end; yield its process and its output."""
    process = subprocess.Popen(
        script(text, folder),
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            yield process, process.stdout
        finally:
            process.kill()


@pytest.fixture
def spinning(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A script with two cells that never end, one of which has a child of its own."""
    with running(SPINNING, tmp_path) as (process, output):
        assert [output.readline() for _ in range(2)] == ["started\n"] * 2
        assert until(lambda: len(children(process.pid)) == 4)
        yield process


@pytest.mark.parametrize("by", repeated([signal.SIGKILL, signal.SIGTERM], kept=1))
def test_nothing_outlives_a_parent_that_is_killed(
    spinning: subprocess.Popen[str], by: signal.Signals
) -> None:
    processes = children(spinning.pid)
    spinning.send_signal(by)
    assert ended(processes)


def test_a_server_that_loads_does_not_outlive_its_parent(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\nopen('loading', 'w')\ntime.sleep(600)\n")
    text = """
        import time
        from perceptron_lab.experiments.cells.server_handle import ForkServer
        server = ForkServer(["slow"])
        server.start()
        print(server.process_id, flush=True)
        time.sleep(600)
    """
    with running(text, tmp_path) as (process, output):
        server = int(output.readline())
        assert until((tmp_path / "loading").exists)
        process.kill()
        assert ended([server])


@pytest.mark.long  # as of a parent that is killed
def test_nothing_outlives_a_server_that_is_killed(spinning: subprocess.Popen[str]) -> None:
    processes = children(spinning.pid)
    os.kill(processes[0], signal.SIGKILL)
    assert ended(processes)
    assert spinning.wait(10) == 0  # with two outcomes


def test_cells_end_one_by_one_and_interrupts_of_the_terminal_reach_the_parent_only(
    spinning: subprocess.Popen[str],
) -> None:
    processes = server, *rest = children(spinning.pid)
    assert {os.getsid(process) for process in processes} == {server}
    assert os.getsid(spinning.pid) != server
    for process in processes[:2]:
        os.kill(process, signal.SIGINT)  # even if it did
    assert not ended(processes[:2], 0.3)
    (leader,) = (process for process in rest if children(process))
    (child,) = children(leader)
    os.kill(leader, signal.SIGKILL)
    assert ended([leader, child])
    (survivor,) = set(rest) - {leader, child}
    assert alive(server)
    assert alive(survivor)
    spinning.send_signal(signal.SIGINT)
    assert ended(processes)


@pytest.mark.parametrize(
    "end",
    repeated([pytest.param(DIRECTLY, id="run"), pytest.param(IN_A_DAEMON, id="daemon")], kept=1),
)
def test_classes_of_a_script_work_without_a_guard(tmp_path: Path, end: str) -> None:
    (tmp_path / "nearby.py").write_text("GREETING = 'hello'\n")
    completed = subprocess.run(
        script(textwrap.dedent(OWN_CLASSES) + textwrap.dedent(end), tmp_path),
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    line = f"FEASIBLE the point is proved strictly feasible ['hello 6.0', '{tmp_path.name}', True]"
    assert completed.stdout.splitlines() == [line]
    assert completed.stderr == ""


def test_a_server_that_cannot_start_is_an_error(
    configure: Configure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    jobs = jobs_of(configure, algorithms=[faulty("not")])
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such interpreter >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    before = open_files()
    with pytest.raises(PlabError, match=r"cannot be started \(exit code 3; no such interpreter\)"):
        outcomes_of(jobs)
    broken.write_text("#!/bin/sh\nkill -9 $$\n")
    with pytest.raises(PlabError, match="exit code -9; it says nothing"):
        outcomes_of(jobs)
    broken.unlink()
    with pytest.raises(PlabError, match=r"cannot be started \(.*No such file"):
        outcomes_of(jobs)
    assert open_files() == before


@pytest.mark.long  # test_supervisor.py kills a server that is ready
def test_a_server_killed_before_it_is_ready_costs_no_cell(
    configure: Configure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    twice = tmp_path / "python"
    text = f"""#!/bin/sh
        test -e {tmp_path}/second || {{ touch {tmp_path}/second; kill -9 $$; }}
        exec {sys.executable} "$@"
    """
    twice.write_text(textwrap.dedent(text))
    twice.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(twice))
    (outcome,) = outcomes_of(jobs_of(configure, algorithms=[faulty("not")]))
    assert (outcome.status.value, outcome.attempts) == ("FEASIBLE", 1)
    assert (tmp_path / "second").exists()


def test_a_server_that_loads_is_ended_at_once() -> None:
    """The second time, closing it does nothing."""
    server = ForkServer()
    server.start()
    assert server.process_id is not None
    process = server.process_id
    for _ in range(2):
        server.close()
        assert server.process_id is None
    assert not alive(process)


def test_modules_that_cannot_be_imported_are_left_to_the_cells(
    configure: Configure, server: ForkServer
) -> None:
    assert server.has_loaded([ABSENT])
    jobs = jobs_of(configure, algorithms=[faulty("not")])
    assert outcomes_of(jobs, server=server)[0].status.value == "FEASIBLE"


def test_a_process_that_cannot_be_forked_is_reported(configure: Configure) -> None:
    jobs = jobs_of(configure, algorithms=[faulty("not")])
    parent_end, server_end = socket.socketpair()
    with parent_end, server_end:
        server_end.send(b"a report")
        (outcome,) = outcomes_of(jobs, server=Refusing(parent_end))
    assert outcome.status.value == "ERROR"
    assert "Resource temporarily unavailable" in outcome.message
