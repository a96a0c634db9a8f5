"""Command-line programs end with all that they have started, at limits and at Ctrl-C."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core import external_programs
from perceptron_lab.core.errors import MissingProgramError, NumericalError
from perceptron_lab.core.external_programs import program_path, run_program
from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from tests.experiments.processes import ended

# A solver that is a script: its grandchild holds the output open, and nobody waits for it
SCRIPT = "#!/bin/sh\n(sleep 600 & echo $! > grandchild; wait) &\n{}\n"
FOREVER, AT_ONCE = "wait", "while [ ! -s grandchild ]; do sleep 0.01; done; echo answer; exit 3"


@pytest.fixture(autouse=True)
def interrupts_arrive() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also where the suite runs in the background of a shell."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def script(folder: Path, end: str) -> str:
    path = folder / "solver"
    path.write_text(SCRIPT.format(end))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def started(folder: Path) -> bool:
    file = folder / "grandchild"
    return file.exists() and file.read_text().endswith("\n")


def nothing_left(folder: Path) -> bool:
    return ended([int((folder / "grandchild").read_text())])


@contextmanager
def once_started(folder: Path, action: object) -> Iterator[None]:
    """Do something once the grandchild is there."""
    thread = threading.Thread(target=_when_started, args=(folder, action))
    thread.start()
    yield
    thread.join()


def _when_started(folder: Path, action: object) -> None:
    while not started(folder):
        threading.Event().wait(0.01)
    assert callable(action)
    action()


def test_a_program_leaves_nothing_behind_when_it_ends(tmp_path: Path) -> None:
    ran = run_program([script(tmp_path, AT_ONCE)], tmp_path, 60.0)
    assert (ran.returncode, ran.stdout) == (3, "answer\n")
    assert nothing_left(tmp_path)


def test_limits_end_a_program_with_its_descendants(tmp_path: Path) -> None:
    stopped = threading.Event()
    command = [script(tmp_path, FOREVER)]
    with (
        once_started(tmp_path, stopped.set),
        time_limit(600.0, stopped.is_set),
        pytest.raises(NumericalError, match=r"^solver has given no answer within 60 s; raise"),
    ):
        run_program(command, tmp_path, 60.0)
    assert nothing_left(tmp_path)
    with pytest.raises(NumericalError, match="within 0 s"):
        run_program(command, tmp_path, 0.0)


def interrupt() -> None:
    """Interrupt this process once it waits for the program, which may be ready before that."""
    while not external_programs._RUNNING:
        threading.Event().wait(0.01)
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_ends_a_program_with_its_descendants(tmp_path: Path) -> None:
    with (
        once_started(tmp_path, interrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        run_program([script(tmp_path, FOREVER)], tmp_path, 60.0)
    assert nothing_left(tmp_path)


def test_an_interrupt_while_a_program_starts_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    popen = subprocess.Popen

    def started_and_interrupted(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        process = popen(*words, **options)
        while not started(tmp_path):
            threading.Event().wait(0.01)
        signal.raise_signal(signal.SIGINT)
        return process

    monkeypatch.setattr(subprocess, "Popen", started_and_interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_program([script(tmp_path, FOREVER)], tmp_path, 60.0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert nothing_left(tmp_path)


def test_a_worker_that_is_killed_takes_its_program_with_it(tmp_path: Path) -> None:
    stopped = threading.Event()
    with (
        once_started(tmp_path, stopped.set),
        time_limit(600.0, stopped.is_set),
        pytest.raises(TimeIsUp),
    ):
        killable(run_program, [script(tmp_path, FOREVER)], tmp_path, 60.0)
    assert nothing_left(tmp_path)


def test_programs_that_cannot_be_run_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "solver").touch()
    with pytest.raises(NumericalError, match=r"^solver cannot be run: Permission denied"):
        run_program([str(tmp_path / "solver")], tmp_path, 1.0)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingProgramError, match=r"^solver is not on PATH; install it"):
        program_path("solver", "install it")
