"""The n-th write of a download fails, for n = 1, 2, ... until none is left: old or new, whole."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.download import fetching as download
from perceptron_lab.datasets.download import transfer
from perceptron_lab.datasets.download.fetching import FileState, fetch, verify
from perceptron_lab.datasets.download.registered_files import COLLECTIONS, Collection, DataFile
from tests.datasets.local_home import Answer, LocalHome
from tests.repetitions import repeated
from tests.robustness.mutations import outcome

CONTENTS = {f"{name}.sgm": f"<REUTERS {name}>".encode() * 1500 for name in ("one", "two", "three")}
OLD = b"an earlier file"


class Fault:
    """Let the n-th of all calls of some functions fail, and count the calls."""

    def __init__(self, number: int, code: int) -> None:
        self.left, self.calls, self._code = number, 0, code

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.calls += 1
            self.left -= 1
            if self.left == 0:
                raise OSError(self._code, os.strerror(self._code))
            return function(*arguments, **options)

        return call


class FailingFile(io.FileIO):
    """A file whose writes count."""

    fault: Fault | None = None

    def write(self, data: Any, /) -> int:
        fault = type(self).fault
        if fault is None:
            return super().write(data)
        return int(fault.wrapped(super().write)(data))


def failing_open(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
    """Open as ``open`` does; what is written counts."""
    if "b" in mode and set(mode) & set("wx+a"):
        make = FailingFile if FailingFile.fault is None else FailingFile.fault.wrapped(FailingFile)
        raw = make(file, mode.replace("b", ""), opener=options.get("opener"))
        return io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
    return _open(file, mode, *arguments, **options)


_open = io.open


@pytest.fixture
def home() -> Iterator[LocalHome]:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in CONTENTS.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    bodies = {f"/{name}": content for name, content in CONTENTS.items()}
    bodies["/small.tar.gz"] = packed.getvalue()
    server = LocalHome(lambda path: Answer(200, bodies[path]))
    yield server
    server.close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLAB_DATA_DIR", str(tmp_path / "cache"))
    for variable in ("PLAB_DATA_MIRROR", "PLAB_OFFLINE", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(download, "_unreachable", {})
    monkeypatch.setattr(transfer, "TIMEOUT", (2.0, 2.0))
    return tmp_path / "cache" / "small"


def register(monkeypatch: pytest.MonkeyPatch, home: LocalHome, form: str) -> None:
    """Let three files be at home one by one, or in an archive."""
    files = {
        name.removesuffix(".sgm"): DataFile(
            name,
            hashlib.sha256(content).hexdigest(),
            (home.url(name),) if form == "files" else (),
        )
        for name, content in CONTENTS.items()
    }
    archives = (home.url("small.tar.gz"),) if form == "archive" else ()
    collection = Collection("small", "a test", "nowhere", "none", "nobody", files, archives)
    monkeypatch.setitem(COLLECTIONS, "small", lambda: collection)


def injected(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    """Count what changes a disk: folders, files, writes, renames."""
    monkeypatch.setattr(FailingFile, "fault", fault)
    for module in ("io", "builtins"):
        monkeypatch.setattr(f"{module}.open", failing_open)
    monkeypatch.setattr(tempfile._io, "open", failing_open)
    for name in ("mkdir", "replace", "rename", "fsync"):
        monkeypatch.setattr(os, name, fault.wrapped(getattr(os, name)))


@pytest.mark.parametrize("code", repeated([errno.ENOSPC, errno.EIO, errno.EDQUOT], kept=1))
@pytest.mark.parametrize("before", ["nothing", "damaged"])
@pytest.mark.parametrize("form", ["files", "archive"])
def test_a_download_whose_nth_write_fails(
    home: LocalHome,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    before: str,
    code: int,
) -> None:
    register(monkeypatch, home, form)
    failures = 0
    for number in range(1, 200):
        shutil.rmtree(cache.parent, ignore_errors=True)
        if before == "damaged":
            cache.mkdir(parents=True)
            (cache / "two.sgm").write_bytes(OLD)
        fault = Fault(number, code)
        with monkeypatch.context() as during:
            injected(during, fault)
            path, message = outcome(DataError, fetch, "small", "two")
        if message:
            failures += 1
            assert "cannot be written" in message
            assert "PLAB_DATA_DIR" in message
            assert os.strerror(code) in message
        _check_cache(cache, before)
        if path is not None and fault.left > 0:
            break
        assert path is None or path.read_bytes() == CONTENTS["two.sgm"]
    assert fault.left > 0, "no clean pass"
    assert failures >= 5
    assert cache.joinpath("two.sgm").read_bytes() == CONTENTS["two.sgm"]


def _check_cache(cache: Path, before: str) -> None:
    """Every file in the cache is the one of before, or a whole one; nothing lies about."""
    contents = {path.name: path.read_bytes() for path in cache.rglob("*") if path.is_file()}
    assert set(contents) <= set(CONTENTS)
    for name, content in contents.items():
        allowed = [CONTENTS[name], OLD] if before == "damaged" else [CONTENTS[name]]
        assert content in allowed
    states = dict(verify("small"))
    assert all(
        states[name.removesuffix(".sgm")] is FileState.PRESENT
        for name, content in contents.items()
        if content != OLD
    )


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_file_whose_nth_write_fails_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    path, failures = tmp_path / "kept.npz", 0
    for number in range(1, 50):
        path.write_bytes(OLD)
        fault = Fault(number, code)
        with monkeypatch.context() as during:
            injected(during, fault)
            with suppress(OSError):
                replace_file(path, b"new" * 5000)
        content = path.read_bytes()
        assert [path.name for path in tmp_path.iterdir()] == ["kept.npz"]
        if fault.left > 0:
            assert content == b"new" * 5000
            break
        assert content in (OLD, b"new" * 5000)  # the folder is synchronised after the name
        failures += 1
    assert fault.left > 0, "no clean pass"
    assert failures >= 3


@pytest.mark.parametrize("number", range(1, 5))
def test_the_files_size_limit_ends_in_a_data_error(
    home: LocalHome, cache: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The system's own limit (ulimit -f), as a full disk would, cuts a write in two."""
    import resource
    import signal

    register(monkeypatch, home, "files")
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (number * 4096 - 1, limits[1]))
    try:
        with pytest.raises(DataError, match="cannot be written"):
            fetch("small", "two")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, former)
    assert [path for path in cache.rglob("*") if path.is_file()] == []
    assert fetch("small", "two").read_bytes() == CONTENTS["two.sgm"]
