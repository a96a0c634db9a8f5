"""The real command in a process of its own, and every process that it is the origin of."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from perceptron_lab.experiments.configuration.rows import CLOCKS

MARK = "PLAB_TEST_MARK"
ROOT = Path(__file__).resolve().parents[2]
_COMMAND = (sys.executable, "-m", "perceptron_lab.cli.main")


class Command:
    """``plab`` with some arguments, running; a context manager that leaves no process behind.

    Every process that it starts, directly or not, bears a mark in its environment.
    """

    def __init__(
        self,
        *arguments: str | Path,
        program: tuple[str, ...] = _COMMAND,
        folder: Path | None = None,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self.mark = uuid.uuid4().hex
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [*program, *map(str, arguments)],
            cwd=folder,
            env=os.environ | {MARK: self.mark, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: _begin(prepare),
        )
        self.output = ""
        self._finished = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._kill_all()
        self.finish()

    def _kill_all(self) -> None:
        for process in self.processes():
            kill(process)

    @property
    def process_id(self) -> int:
        """The process of the command itself."""
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether the command has not ended yet."""
        return self._process.poll() is None

    def processes(self) -> list[int]:
        """Return all living processes of the command, itself among them."""
        sought = f"{MARK}={self.mark}".encode()
        pids = []
        for folder in Path("/proc").iterdir():
            try:
                if folder.name.isdigit() and sought in (folder / "environ").read_bytes():
                    pids.append(int(folder.name))
            except OSError:
                continue  # it has ended, or is somebody else's
        return pids

    def servers(self) -> list[int]:
        """Return the fork servers that the command has started itself."""
        return [child for child in _children(self.process_id) if b"fork_server" in _words(child)]

    def cells(self) -> list[int]:
        """Return the processes of cells."""
        return [cell for server in self.servers() for cell in _children(server)]

    def wait_for(self, condition: Callable[[], object], seconds: float = 60.0) -> bool:
        """Wait until a condition holds; return whether it did before the command had ended."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return True
            if not self.runs:
                return False
            time.sleep(0.005)
        raise AssertionError(f"nothing happens within {seconds:g} s")

    def wait_for_end(self, seconds: float) -> bool:
        """Wait for so many seconds; return whether the command has ended meanwhile."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return not self.runs

    def wait_for_line(self, text: str, seconds: float = 120.0) -> bool:
        """Read the output up to a line that contains a text; return whether there is one.

        A command that has not printed it after so many seconds is killed.
        """
        assert self._process.stdout is not None
        watchdog = threading.Timer(seconds, self._kill_all)
        watchdog.start()
        try:
            for line in self._process.stdout:
                self.output += line
                if text in line:
                    return True
            return False
        finally:
            watchdog.cancel()

    def interrupt(self, number: int = signal.SIGINT) -> None:
        """Send a signal to the whole process group, as a terminal does."""
        os.killpg(self.process_id, number)

    def finish(self, seconds: float = 120.0) -> int:
        """Wait for the end of the command and return its exit code."""
        if not self._finished:
            self.output += self._process.communicate(timeout=seconds)[0]
            self._finished = True
        return self._process.returncode

    def orphans(self, seconds: float = 5.0) -> list[int]:
        """Return the processes that are left so many seconds after the end of the command."""
        end = time.monotonic() + seconds
        while (left := self.processes()) and time.monotonic() < end:
            time.sleep(0.02)
        return left


def _begin(prepare: Callable[[], None] | None) -> None:
    """Prepare the process of the command, which may be interrupted even if this one may not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if prepare is not None:
        prepare()


def plab(*arguments: str | Path, folder: Path | None = None) -> tuple[int, str]:
    """Run the command to its end; return the exit code and everything that it has printed."""
    with Command(*arguments, folder=folder) as command:
        return command.finish(), command.output


def kill(process: int) -> bool:
    """Send SIGKILL; return whether the process was there."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def without_clocks(folder: Path) -> list[list[str]]:
    """Return runs.csv, field by field as it is written, without the columns of time."""
    with (folder / "runs.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    columns = [index for index, name in enumerate(header) if name not in CLOCKS]
    return [[row[index] for index in columns] for row in (header, *rows)]


def _children(process: int) -> list[int]:
    try:
        return [
            int(child)
            for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()
        ]
    except OSError:
        return []


def _words(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
