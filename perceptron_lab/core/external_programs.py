"""Command-line programs, each in a process group that ends as a whole.

A program on PATH may be a script that starts others. Killing it alone would leave these behind, and
waiting for a pipe that they hold open would never end. So its output goes to files, and its whole
group is killed at its end, at the time limit and at Ctrl-C.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from perceptron_lab.core.errors import MissingProgramError, NumericalError
from perceptron_lab.core.time_limit import time_is_up

_PAUSE: Final = 0.05  # Seconds between two looks at the clock
# One thread, as for all solvers, so that times compare
_ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_RUNNING: list[subprocess.Popen[bytes]] = []


def program_path(command: str, remedy: str) -> str:
    """Return the path of a program, or raise MissingProgramError if it is not on PATH."""
    path = shutil.which(command)
    if path is None:
        raise MissingProgramError(command, "is not on PATH", remedy)
    return path


def run_program(
    command: Sequence[str], folder: Path, seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, and return its exit code and what it printed.

    Parameters
    ----------
    command
        The program and its arguments.
    folder
        Its working folder.
    seconds
        Seconds at most; the time limit of the context ends it as well.

    Raises
    ------
    NumericalError
        If it cannot be started, or does not end in time.
    """
    name, end = Path(command[0]).name, time.monotonic() + seconds
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        ExitStack() as start,
    ):
        start.enter_context(_signals_held_back())
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=os.environ | _ONE_THREAD,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise NumericalError(f"{name} cannot be run: {error.strerror}") from None
        _RUNNING.append(process)
        try:
            start.close()
            while process.poll() is None:
                if time.monotonic() >= end or time_is_up():
                    words = f"{name} has given no answer within {seconds:.3g} s; raise time_limit"
                    raise NumericalError(words)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_PAUSE)
        # Also after Ctrl-C, and after a program that has left others behind
        finally:
            _kill_group(process)
            process.wait()
            _RUNNING.remove(process)
        texts = _text(output), _text(errors)
        return subprocess.CompletedProcess(command, process.returncode, *texts)


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM: raised within Popen, they would leave the program running."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Signals are handled in the main thread
        return
    arrived: list[int] = []
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in former:
        signal.signal(number, lambda number, _: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for signal_number in arrived:
            signal.raise_signal(signal_number)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def end_programs() -> None:
    """Kill all programs that run, before this process ends without its ``finally`` clauses."""
    # Nothing is waited for: a handler of signals may have interrupted the wait above
    for process in _RUNNING:
        _kill_group(process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with all that it has started."""
    # Its group may be empty, and on some systems a group of zombies may not be killed
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
