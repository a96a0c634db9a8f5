"""One writer at a time, and nothing left behind by one that dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.storage.results_folder import StoreLock, holder

HOLD = """
import sys
from pathlib import Path
from perceptron_lab.experiments.storage.results_folder import StoreLock
with StoreLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process that holds the lock until its input ends."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_without_a_folder_no_lock_is_taken(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_second_writer_is_refused_with_the_process_of_the_first(tmp_path: Path) -> None:
    with another(tmp_path) as process:
        assert holder(tmp_path) == process.pid
        with pytest.raises(ConfigError, match=rf"another plab run .* \(process {process.pid}\)"):
            StoreLock(tmp_path)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0
    assert holder(tmp_path) is None
    with StoreLock(tmp_path):
        assert holder(tmp_path) == os.getpid()


def test_a_killed_process_holds_no_lock(tmp_path: Path) -> None:
    with another(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert holder(tmp_path) is None
        StoreLock(tmp_path).release()


def test_a_second_lock_in_the_same_process_is_refused(tmp_path: Path) -> None:
    with StoreLock(tmp_path):
        for _ in range(2):
            with pytest.raises(ConfigError, match=f"process {os.getpid()}"):
                StoreLock(tmp_path)
            assert holder(tmp_path) == os.getpid()
        command = [sys.executable, "-c", HOLD, str(tmp_path)]
        refused = subprocess.run(command, input="", capture_output=True, text=True, check=False)
        assert f"another plab run is writing there (process {os.getpid()})" in refused.stderr
    assert holder(tmp_path) is None


def test_a_child_neither_holds_the_lock_nor_drops_it(tmp_path: Path) -> None:
    code = f"""
import os, sys
from pathlib import Path
from perceptron_lab.experiments.storage.results_folder import StoreLock, holder
folder = Path({str(tmp_path)!r})
lock = StoreLock(folder)
child = os.fork()
if child == 0:
    lock.release()
    os._exit(0 if holder(folder) == os.getppid() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert holder(folder) == os.getpid()
child = os.fork()
if child == 0:
    os.read(0, 1)  # outlives its parent
    os._exit(0)
print(child, flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    child = int(process.stdout.readline())
    assert process.wait() == 0
    os.kill(child, 0)  # it is still there
    assert holder(tmp_path) is None
    StoreLock(tmp_path).release()
    assert process.stdin is not None
    process.stdin.close()
    process.stdout.close()


def test_a_lock_released_twice_is_released(tmp_path: Path) -> None:
    lock = StoreLock(tmp_path)
    lock.release()
    with StoreLock(tmp_path):
        lock.release()
        assert holder(tmp_path) == os.getpid()
