"""Files that are old or new, never half of either."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core.atomic_files import remove_partial_files, replace_file, replacing


def test_a_replaced_file_leaves_no_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    for content in (b"old", b"new"):
        replace_file(path, content)
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failing_write_leaves_the_earlier_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "runs.csv"
    replace_file(path, b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_bytes_are_on_the_disk_before_the_name_and_the_name_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    replace, fsync = os.replace, os.fsync

    def note_fsync(descriptor: int) -> None:
        steps.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
        fsync(descriptor)

    def note_replace(source: Path, target: Path) -> None:
        steps.append("name")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_replace)
    replace_file(tmp_path / "a", b"content")
    assert steps == ["file", "name", "folder"]


def test_temporary_files_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    code = """
import sys, time
from pathlib import Path
from perceptron_lab.core.atomic_files import replacing
with replacing(Path(sys.argv[1])) as partial:
    partial.write_bytes(b"half")
    print("written", flush=True)
    time.sleep(60)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "a"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    (partial,) = tmp_path.iterdir()
    remove_partial_files(tmp_path)
    assert partial.read_bytes() == b"half"  # its process lives
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert partial.exists()
    remove_partial_files(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_temporary_files_of_this_process_remain(tmp_path: Path) -> None:
    with replacing(tmp_path / "a") as partial:
        partial.write_bytes(b"new")
        remove_partial_files(tmp_path)
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_lock_file_that_was_removed_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process took it for an abandoned one at that moment."""
    lock, removed = fcntl.flock, []

    def late(descriptor: int, kind: int) -> None:
        if not removed:
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()
        lock(descriptor, kind)

    monkeypatch.setattr(fcntl, "flock", late)
    with replacing(tmp_path / "a") as partial:
        assert removed == [partial]
        partial.write_bytes(b"new")
        remove_partial_files(tmp_path)
    assert (tmp_path / "a").read_bytes() == b"new"


def test_files_that_cannot_be_removed_or_locked_remain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".folder.1.partial").mkdir()
    (tmp_path / ".link.1.partial").symlink_to(tmp_path / "elsewhere")
    (tmp_path / ".file.1.partial").touch()

    def unsupported(*arguments: Any) -> None:
        raise OSError(38, "Function not implemented")

    with monkeypatch.context() as without_locks:
        without_locks.setattr(fcntl, "flock", unsupported)
        remove_partial_files(tmp_path)
        assert len(list(tmp_path.iterdir())) == 3
        replace_file(tmp_path / "a", b"new")
    remove_partial_files(tmp_path)
    remove_partial_files(tmp_path / "none")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {".folder.1.partial", ".link.1.partial", "a"}
