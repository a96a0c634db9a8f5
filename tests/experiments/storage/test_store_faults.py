"""Whatever goes wrong while a store is written to, what was stored before is there."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core.errors import StoreError
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.storage.certificate_files import path_of, read_certificate
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.store import Store
from tests.experiments.artificial_stores import (
    CONFIG,
    MACHINE,
    add,
    error_text_of,
    fill,
    make_planned,
    run_again,
)
from tests.repetitions import repeated

pytestmark = pytest.mark.slow

BEGUN = (0, 1)


class Faults:
    """Let the n-th write of a process fail, whether SQLite's or the system's."""

    def __init__(self, patch: pytest.MonkeyPatch, location: int, after: bool) -> None:
        self.left, self.after, self.hit = location, after, ""
        for name in ("fsync", "replace"):
            patch.setattr(os, name, self._failing(name, getattr(os, name)))
        patch.setattr(sqlite3, "connect", self._connecting(sqlite3.connect))

    def _failing(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any) -> Any:
            full = OSError(errno.ENOSPC, "No space left on device")
            return self.performed(name, lambda: function(*values), full)

        return call

    def _connecting(self, connect: Callable[..., sqlite3.Connection]) -> Callable[..., Any]:
        faults = self

        class Connection(sqlite3.Connection):
            def execute(self, query: str, *values: Any) -> sqlite3.Cursor:
                run_query = super().execute
                if query.startswith(("SELECT", "PRAGMA", "ROLLBACK", "SAVEPOINT", "RELEASE")):
                    return run_query(query, *values)
                full = sqlite3.OperationalError("database or disk is full")
                full.sqlite_errorcode = sqlite3.SQLITE_FULL
                word = query.partition(" ")[0]
                performed: sqlite3.Cursor = faults.performed(
                    word, lambda: run_query(query, *values), full
                )
                return performed

        return lambda *values, **named: connect(*values, factory=Connection, **named)

    def performed(self, name: str, function: Callable[[], Any], error: Exception) -> Any:
        self.left -= 1
        if self.left == 0:
            self.hit = name
            if self.after and name not in ("COMMIT", "replace"):
                function()
            raise error
        return function()


def check(folder: Path, before: list[Row], begun: Sequence[int] = BEGUN) -> list[Row]:
    """Check that nothing is half written and no earlier row lost; return the rows."""
    with Reader.open(folder) as reader:
        rows = reader.rows()
        by_problem = {row["problem"]: row for row in rows}
        assert by_problem.get("p0", before[0]) == before[0]
        for number in begun:
            row = by_problem[f"p{number}"]
            assert row["updates"] in (3, 400)
            trace = reader.trace(row["cell"])
            assert reader.stored_of([row["cell"]])[row["cell"]].fault == ""
            assert trace is not None
            assert trace.updates[-1] == row["updates"]
            assert read_certificate(path_of(folder, row["cell"])).status is Status.FEASIBLE
    left = [path.name for path in folder.rglob("*") if path.name.endswith(".partial")]
    assert left == []
    return rows


@pytest.mark.parametrize(
    "begun", repeated([pytest.param(True, id="again"), pytest.param(False, id="first")], kept=1)
)
@pytest.mark.parametrize("after", [False, True], ids=["undone", "done"])
def test_any_write_may_fail(tmp_path: Path, after: bool, begun: bool) -> None:
    """The n-th write fails, for n = 1, 2, ... until a run needs fewer than n."""
    before = fill(tmp_path / "before", BEGUN)
    hits: list[str] = []
    for number in count(1):
        folder = tmp_path / str(number)
        if begun:
            shutil.copytree(tmp_path / "before", folder)
        with pytest.MonkeyPatch.context() as patch:
            faults = Faults(patch, number, after)
            message = error_text_of(partial(run_again, folder))
        if not faults.hit:
            assert message == ""
            break
        hits.append(faults.hit)
        assert message.startswith(("StoreError", "ConfigError"))
        assert "cannot be written" in message
        assert "disk is full" in message or "No space left" in message
        if begun:
            check(folder, before)
        run_again(folder)
        numbers = (0, 1, 2) if begun else (1, 2)
        assert [row["updates"] for row in check(folder, before, numbers)][-2:] == [400, 3]
    assert {"BEGIN", "INSERT", "DELETE", "COMMIT", "fsync", "replace"} <= set(hits)
    assert len(hits) > 30


def test_the_error_states_the_file_the_cause_and_what_is_saved(tmp_path: Path) -> None:
    fill(tmp_path, BEGUN)
    with Store.open(tmp_path) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: os.write(-1, b""))
        cell = make_planned(0).cell
        message = (
            rf"{tmp_path}: the row of p0, EA \(cell {cell}\) cannot be written \(Bad file descr.*"
            r"; the 2 cells that were finished before are safe there; .* run the same command to "
            r"resume"
        )
        with pytest.raises(StoreError, match=message):
            add(store, make_planned(0))
        (tmp_path / "runs.csv").unlink()
        with pytest.raises(StoreError, match=r"runs\.csv, config\.json and environment\.json can"):
            store.export()
        assert not (tmp_path / "runs.csv").exists()
    with Store.open(tmp_path) as store:
        store.export()
    assert (tmp_path / "runs.csv").exists()


def test_a_table_on_a_full_device_is_an_error(tmp_path: Path) -> None:
    fill(tmp_path, BEGUN)
    (tmp_path / "runs.csv").unlink()
    with Store.open(tmp_path) as store, pytest.MonkeyPatch.context() as patch:
        opened = Path.open

        def to_the_full_device(path: Path, *mode: Any) -> Any:
            full = path.name.endswith(".partial")
            return opened(Path("/dev/full") if full else path, *mode)

        patch.setattr(Path, "open", to_the_full_device)
        with pytest.raises(StoreError, match=r"No space left on device.*the 2 cells"):
            store.export()
    assert len(check(tmp_path, fill(tmp_path, BEGUN))) == 2


def run_store_script(*words: object) -> list[str]:
    """Run ``artificial_stores`` as a process of its own; return the lines that it prints."""
    command = [sys.executable, "-m", "tests.experiments.artificial_stores", *map(str, words)]
    root = Path(__file__).parents[3]
    completed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout.splitlines()


def test_full_disks_of_any_size_keep_the_stored_rows(tmp_path: Path) -> None:
    sizes = [*range(0, 100_000, 8192), 10**9]
    before = fill(tmp_path / "before", BEGUN)
    for size in sizes:
        shutil.copytree(tmp_path / "before", tmp_path / str(size))
    messages = dict(line.split("\t") for line in run_store_script("full", tmp_path, *sizes))
    assert [int(size) for size in messages] == sizes
    for size in sizes:
        answer = messages[str(size)]
        assert not answer or answer.startswith(("StoreError", "ConfigError"))
        assert not answer or "cannot be written" in answer
        check(tmp_path / str(size), before)
    assert messages["0"] != ""
    assert messages[str(10**9)] == ""


@pytest.mark.parametrize("kills", repeated([4, 200], kept=1))
def test_a_killed_writer_loses_no_row(tmp_path: Path, kills: int) -> None:
    counts = [int(line) for line in run_store_script("kill", tmp_path, kills, 5)]
    assert len(counts) == kills
    before = fill(tmp_path / "whole", BEGUN)
    stored = []
    for number, added in enumerate(counts):
        folder = tmp_path / str(number)
        with Reader.open(folder) as reader:
            rows = reader.rows()
        assert [row["problem"] for row in rows] == [f"p{index}" for index in range(len(rows))]
        assert added <= len(rows) <= added + 1
        stored.append(len(rows))
        with Store.open(folder) as store:
            assert store.rows() == rows
            check(folder, before, range(len(rows)))
            store.begin(CONFIG, Path(), MACHINE, [make_planned(n) for n in range(len(rows) + 2)])
            add(store, make_planned(len(rows)))
            add(store, make_planned(len(rows) + 1))
            store.export()
        assert len((folder / "runs.csv").read_text().splitlines()) == len(rows) + 3
    assert max(stored) > 0
