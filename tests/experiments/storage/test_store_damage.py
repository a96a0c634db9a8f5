"""Stores that are damaged, or of others: an error that says what to do, and never a wrong row."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.certificate_files import path_of
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.store import Store, set_aside
from tests.experiments.artificial_stores import (
    CONFIG,
    MACHINE,
    add,
    error_text_of,
    fill,
    make_planned,
)
from tests.repetitions import examples

CELLS = range(3)


@dataclass(frozen=True)
class Whole:
    """A store that is not damaged; failing examples need not print it."""

    content: bytes = field(repr=False)
    rows: list[Row] = field(repr=False)


@pytest.fixture(scope="module")
def sound_store(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    rows = fill(folder, CELLS)
    return Whole((folder / schema.NAME).read_bytes(), rows)


def execute(folder: Path, *statements: str) -> None:
    connection = sqlite3.connect(folder / schema.NAME)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def continued(folder: Path) -> list[Row]:
    """Do as the next run does, and return the rows."""
    with Store.open(folder) as store:
        planned = [make_planned(number) for number in CELLS]
        store.begin(CONFIG, Path(), MACHINE, planned)
        stored = store.reader.stored_of(planned_cell.cell for planned_cell in planned)
        for planned_cell in planned:
            if planned_cell.cell not in stored or stored[planned_cell.cell].fault:
                add(store, planned_cell)
        return store.rows()


def read_all(folder: Path, rows: list[Row]) -> None:
    with Reader.open(folder) as reader:
        rows_read = reader.rows()
        # A row may be missing; none is altered.
        assert rows_read == [row for row in rows if row in rows_read]
        for row in rows_read:
            reader.trace(row["cell"])
            reader.bound(row["cell"])
        reader.config()
        reader.environments()


def rows_after_damage(folder: Path, rows: list[Row]) -> list[Row]:
    """Read a damaged store, which gives rows as they were or an error; return those it leads to."""
    message = error_text_of(lambda: read_all(folder, rows))
    assert not message or "runs.sqlite" in message or "no results there" in message
    rows_read: list[Row] = []
    message = error_text_of(lambda: rows_read.extend(continued(folder)))
    if message:
        assert "--fresh" in message
        assert set_aside(folder) is not None
        rows_read = continued(folder)
    return rows_read


PLACES = st.integers(0, 4095) | st.integers(0, 2**30)
"""The first page holds what tables there are; the rest is less particular."""


@given(flips=st.lists(st.tuples(PLACES, st.integers(0, 7)), min_size=1, max_size=20))
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_flipped_bits_never_make_another_row(
    flips: list[tuple[int, int]], sound_store: Whole, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = bytearray(sound_store.content)
    for position, bit in flips:
        content[position % len(content)] ^= 1 << bit
    folder = tmp_path_factory.mktemp("flipped")
    (folder / schema.NAME).write_bytes(content)
    assert rows_after_damage(folder, sound_store.rows) == sound_store.rows


@given(cut=st.integers(0, 70_000))
@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_truncated_store_never_makes_another_row(
    cut: int, sound_store: Whole, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    (folder / schema.NAME).write_bytes(sound_store.content[:cut])
    assert rows_after_damage(folder, sound_store.rows) == sound_store.rows


@pytest.mark.parametrize("content", [b"cell,problem\n" * 99, b"SQLite format 3\0" * 99])
def test_files_that_are_no_database_are_kept_and_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / schema.NAME).write_bytes(content)
    for opened in (Store.open, Reader.open):
        with pytest.raises(DataError, match=r"runs\.sqlite: damaged \(.*--fresh"):
            opened(tmp_path)
    assert (tmp_path / schema.NAME).read_bytes() == content
    shifted = set_aside(tmp_path)
    assert shifted is not None
    assert shifted.read_bytes() == content


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("PRAGMA user_version = 2", "a store of schema 2, this plab reads and writes schema 1"),
        ("PRAGMA application_id = 7", r"not a store of plab \(application_id 0x7\)"),
    ],
)
def test_stores_of_other_programs_are_refused_and_unchanged(
    tmp_path: Path, statement: str, message: str
) -> None:
    fill(tmp_path, CELLS)
    execute(tmp_path, statement)
    before = (tmp_path / schema.NAME).read_bytes()
    for opened in (Store.open, Reader.open):
        with pytest.raises(ConfigError, match=rf"{message}.*--fresh"):
            opened(tmp_path)
    assert (tmp_path / schema.NAME).read_bytes() == before
    assert set_aside(tmp_path) is not None
    assert len(fill(tmp_path, CELLS)) == len(CELLS)


@pytest.mark.parametrize(
    "change",
    [
        "row = replace(row, '0.30000000000000004', '0.3')",
        "status = 'INFEASIBLE'",
        "core = 'f'",
        "row = '{'",
        "row = x'ff'",
        "bound = NULL",
        "trace_sha256 = NULL",
        "checksum = ''",
    ],
)
def test_a_row_that_was_changed_is_named_and_computed_again(tmp_path: Path, change: str) -> None:
    rows = fill(tmp_path, CELLS)
    cell = make_planned(1).cell
    execute(tmp_path, f"UPDATE run SET {change} WHERE cell = '{cell}'")
    with Reader.open(tmp_path) as reader:
        with pytest.raises(DataError, match=rf"the cell p1, EA \({cell}\): .*`plab run`"):
            reader.rows()
        assert reader.stored_of([cell])[cell].fault.startswith("its stored row is damaged")
    with Store.open(tmp_path) as store:
        assert store.rows() == [rows[0], rows[2]]
    assert continued(tmp_path) == rows


@pytest.mark.parametrize("value", ["x''", "NULL", "x'504b0304'", "zeroblob(999)"])
def test_a_trace_that_was_changed_is_named_and_computed_again(tmp_path: Path, value: str) -> None:
    rows = fill(tmp_path, CELLS)
    cell = make_planned(1).cell
    execute(tmp_path, f"UPDATE run SET trace = {value} WHERE cell = '{cell}'")
    with Reader.open(tmp_path) as reader:
        assert reader.rows() == rows
        with pytest.raises(DataError, match=f"the trace of the cell {cell}: damaged"):
            reader.trace(cell)
        assert reader.stored_of([cell])[cell].fault == "its trace is damaged"
    continued(tmp_path)
    with Reader.open(tmp_path) as reader:
        assert reader.trace(cell) is not None


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, r"its certificate cannot be read (No such file or directory)"),
        (b"", "its certificate is not the one that was written"),
    ],
)
def test_a_replaced_certificate_is_detected(
    tmp_path: Path, content: bytes | None, fault: str
) -> None:
    rows = fill(tmp_path, CELLS)
    path = path_of(tmp_path, make_planned(1).cell)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with Reader.open(tmp_path) as reader:
        assert reader.rows() == rows
        stored = reader.stored_of(row["cell"] for row in rows)
        faults = [stored[row["cell"]].fault for row in rows]
    assert faults == ["", fault, ""]
    continued(tmp_path)
    with Reader.open(tmp_path) as reader:
        assert reader.stored_of([rows[1]["cell"]])[rows[1]["cell"]].fault == ""


@pytest.mark.parametrize("table", ["about", "plan", "environment", "problem"])
def test_other_tables_are_sealed_too(tmp_path: Path, table: str) -> None:
    fill(tmp_path, CELLS)
    column = {"about": "value", "plan": "title", "environment": "description"}.get(table, "sha256")
    execute(tmp_path, f"UPDATE {table} SET {column} = {column} || ' '")
    readings = {
        "about": Reader.config,
        "plan": Reader.rows,
        "environment": Reader.environments,
        "problem": Reader.problems,
    }
    with (
        Reader.open(tmp_path) as reader,
        pytest.raises(DataError, match=f"a row of {table} does not fit its checksum"),
    ):
        readings[table](reader)


def test_a_missing_table_is_an_error_and_no_crash(tmp_path: Path) -> None:
    fill(tmp_path, CELLS)
    execute(tmp_path, "DROP TABLE run")
    with pytest.raises(DataError, match=r"damaged \(its tables are not those of this schema"):
        Reader.open(tmp_path)
