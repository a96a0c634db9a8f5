"""The store: what goes in comes out, every digit, in the order of the plan."""

from __future__ import annotations

import json
import lzma
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.core.goals import Budget, MarginRatio
from perceptron_lab.core.results import Status, Trace
from perceptron_lab.core.run_options import TraceOptions
from perceptron_lab.experiments.configuration.rows import rendered
from perceptron_lab.experiments.provenance.environment import resolved
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.certificate_files import path_of, read_certificate
from perceptron_lab.experiments.storage.reader import Reader, read_config_of
from perceptron_lab.experiments.storage.store import Store, set_aside
from perceptron_lab.experiments.storage.stored import Planned, Stored, stored_of
from tests.experiments.artificial_stores import (
    CONFIG,
    CORE,
    LIMITS,
    MACHINE,
    add,
    fill,
    make_failure,
    make_outcome,
    make_planned,
    make_result,
)
from tests.experiments.conftest import Configure
from tests.repetitions import examples


def stored_in(folder: Path, number: int = 0) -> Stored:
    cell = make_planned(number).cell
    with Reader.open(folder) as reader:
        return reader.stored_of([cell])[cell]


def same_trace(trace: Trace | None, other: Trace) -> bool:
    assert trace is not None
    return repr(trace) == repr(other)  # NaN and arrays have no useful equality


def test_rows_are_in_the_order_of_the_plan(tmp_path: Path) -> None:
    planned = [make_planned(number) for number in range(3)]
    with Store.open(tmp_path) as store:
        store.begin(CONFIG, Path(), MACHINE, planned)
        for number in (2, 0, 1):
            added = add(store, planned[number])
            assert added["problem"] == f"p{number}"
        assert [row["problem"] for row in store.rows()] == ["p0", "p1", "p2"]
        assert store.rows()[1] == add(store, planned[1])
    with Reader.open(tmp_path) as reader:
        assert [row["problem"] for row in reader.rows()] == ["p0", "p1", "p2"]
        assert reader.plan() == planned


EARLIER_RUN = """CREATE TABLE run (
  cell TEXT PRIMARY KEY NOT NULL, status TEXT NOT NULL, row TEXT NOT NULL, core TEXT NOT NULL,
  budget TEXT NOT NULL, recorded TEXT NOT NULL, limits TEXT NOT NULL, stopped TEXT NOT NULL,
  environment TEXT NOT NULL, started TEXT NOT NULL, ended TEXT NOT NULL, attempts INTEGER NOT NULL,
  stderr TEXT NOT NULL, peak_memory INTEGER, settings TEXT NOT NULL, sha256 TEXT NOT NULL,
  bound TEXT, certificate TEXT, trace_sha256 TEXT, checksum TEXT NOT NULL, trace BLOB
)"""
"""As the first stores of this schema have it."""


def test_tables_that_were_declared_in_other_lines_are_the_same_tables(tmp_path: Path) -> None:
    rows = fill(tmp_path, [0])
    with closing(sqlite3.connect(tmp_path / schema.NAME)) as connection, connection:
        for name in ("run", "earlier"):
            connection.execute(f"CREATE TABLE other AS SELECT * FROM {name}")
            connection.execute(f"DROP TABLE {name}")
            connection.execute(EARLIER_RUN.replace("TABLE run", f"TABLE {name}"))
            connection.execute(f"INSERT INTO {name} SELECT * FROM other")
            connection.execute("DROP TABLE other")
    with Reader.open(tmp_path) as reader:
        assert reader.rows() == rows
    with Store.open(tmp_path) as store:
        assert store.rows() == rows


def pack(folder: Path) -> Path:
    """Compress a store as published ones are."""
    packed = folder / schema.PACKED
    packed.write_bytes(lzma.compress((folder / schema.NAME).read_bytes()))
    (folder / schema.NAME).unlink()
    return packed


def test_a_packed_store_is_read_as_it_is_and_unpacked_by_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    rows = fill(folder, range(3))
    content = (folder / schema.NAME).read_bytes()
    packed = pack(folder)
    files = sorted(path.name for path in folder.iterdir())
    with Reader.open(folder) as reader:
        assert reader.rows() == rows
        assert reader.trace(make_planned(1).cell) is not None
        (planned, *_) = reader.plan()
    assert sorted(path.name for path in folder.iterdir()) == files
    assert schema.folders_below(tmp_path) == [folder]
    with Store.open(folder) as store:
        assert store.rows() == rows
        assert not packed.exists()
        add(store, planned)
    assert len((folder / schema.NAME).read_bytes()) == len(content)


def test_a_packed_store_that_is_damaged_is_named_and_can_be_set_aside(tmp_path: Path) -> None:
    fill(tmp_path, [0])
    packed = pack(tmp_path)
    packed.write_bytes(packed.read_bytes()[:-9])
    for opened in (Reader.open, Store.open):
        with pytest.raises(DataError, match=r"runs\.sqlite\.xz: damaged .*--fresh"):
            opened(tmp_path)
    shifted = set_aside(tmp_path)
    assert shifted is not None
    assert re.fullmatch(r"runs-.*\.sqlite\.xz", shifted.name)
    assert shifted.is_file()
    assert not packed.exists()


def test_rows_that_were_written_before_parameters_were_columns_have_them(tmp_path: Path) -> None:
    selected = {"instances": ["torus-3x3"], "question": "recession"}
    planned = make_planned(0)
    settings = {**planned.settings, "dataset_parameters": selected, "parameters": {"depth": [0.5]}}
    planned = replace(planned, settings=settings)
    with Store.open(tmp_path) as store:
        store.begin(CONFIG, Path(), MACHINE, [planned])
        row = add(store, planned)
        assert row["problem.question"] == "recession"
        assert row["algorithm.depth"] == "[0.5]"
        assert "problem.instances" not in row
        assert store.rows() == [row]


def test_rows_of_cells_that_are_planned_no_more_wait_to_be_planned_again(tmp_path: Path) -> None:
    fill(tmp_path, [0, 1, 2])
    renamed = [make_planned(2, title="new", label="other"), make_planned(0)]
    with Store.open(tmp_path) as store:
        store.begin(CONFIG, Path(), MACHINE, renamed)
        rows = store.rows()
        assert [(row["problem"], row["label"]) for row in rows] == [("new", "other"), ("p0", "EA")]
        store.begin(CONFIG, Path(), MACHINE, [make_planned(1)])
        assert [row["problem"] for row in store.rows()] == ["p1"]


def test_a_stored_row_knows_how_it_came_about(tmp_path: Path) -> None:
    planned = make_planned(
        0, budget=Budget(10**30, 0.1), recorded=TraceOptions(record_at=[3, 1], trace_measures=True)
    )
    outcome = make_outcome(stderr="tail \udc80 ü", attempts=2, peak_memory=2**40)
    with Store.open(tmp_path) as store:
        store.begin(CONFIG, Path(), MACHINE, [planned])
        store.running(planned.cell)
        started = store.reader.running()[planned.cell]
        row = add(store, planned, outcome, **{"measure.loss": np.float64(0.1)})
        assert store.reader.running() == {}
    stored_rows = stored_in(tmp_path)
    assert (stored_rows.status, stored_rows.core, stored_rows.limits, stored_rows.limit) == (
        "FEASIBLE",
        CORE,
        LIMITS,
        "",
    )
    assert (stored_rows.budget, stored_rows.recorded) == (planned.budget, planned.recorded)
    assert (stored_rows.attempts, stored_rows.peak_memory, stored_rows.environment) == (
        2,
        2**40,
        "machine",
    )
    assert stored_rows.stderr == r"tail \udc80 ü"
    assert (stored_rows.settings, stored_rows.sha256, stored_rows.fault) == (
        planned.settings,
        planned.sha256,
        "",
    )
    assert started == stored_rows.started <= stored_rows.ended
    assert (row["measure.loss"], row["core"]) == (0.1, "c0dec0de")


def test_traces_bounds_and_certificates_come_back(tmp_path: Path) -> None:
    fill(tmp_path, [0])
    result = make_result()
    with Reader.open(tmp_path) as reader:
        cell = make_planned(0).cell
        assert same_trace(reader.trace(cell), result.trace)
        assert reader.bound(cell) == result.bound
        assert reader.trace("0") is None
        assert reader.bound("0") is None
        assert reader.stored_of(["0"]) == {}
    certificate = read_certificate(path_of(tmp_path, cell))
    np.testing.assert_array_equal(certificate.point, result.point)
    assert certificate.base == str(Path.cwd())


def test_a_killed_cell_keeps_its_partial_trace_only(tmp_path: Path) -> None:
    partial = make_result().trace
    with Store.open(tmp_path) as store:
        store.begin(CONFIG, Path(), MACHINE, [make_planned(0)])
        add(store, make_planned(0), make_failure(Status.KILLED, partial=partial, limit="seconds"))
    with Reader.open(tmp_path) as reader:
        assert same_trace(reader.trace(make_planned(0).cell), partial)
        assert reader.bound(make_planned(0).cell) is None
    assert (stored_in(tmp_path).limit, stored_in(tmp_path).certificate) == ("seconds", None)
    assert list((tmp_path / "certificates").iterdir()) == []


ROWS = st.lists(st.tuples(st.floats(allow_nan=False), st.integers(), st.text()), min_size=5)


@given(ROWS)
@settings(
    max_examples=examples(20, few=3),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_values_keep_every_digit(tmp_path: Path, rows: list[tuple[float, int, str]]) -> None:
    values: list[dict[str, Any]] = [
        {"margin_lower": real, "updates": count, "message": text, "bound": None}
        for real, count, text in rows
    ]
    planned = [make_planned(number) for number in range(len(values))]
    with Store.open(tmp_path) as store:
        store.begin(CONFIG, Path(), MACHINE, planned)
        for planned_cell, given_values in zip(planned, values, strict=True):
            add(store, planned_cell, **given_values)
        stored_rows = store.rows()
    assert [{name: row[name] for name in values[0]} for row in stored_rows] == values


def earlier_in(folder: Path) -> list[Stored]:
    with closing(schema.open_to_read(folder)) as connection:
        return [stored_of(values) for values in connection.execute("SELECT * FROM earlier")]


def test_a_failure_is_shown_and_the_earlier_result_is_kept(tmp_path: Path) -> None:
    fill(tmp_path, [0])
    cell, planned = make_planned(0).cell, make_planned(0)
    good = stored_in(tmp_path)
    unverified = make_result(5, status=Status.UNVERIFIED, proved=False)
    for outcome in (make_failure(), make_outcome(unverified), make_failure(Status.ERROR)):
        with Store.open(tmp_path) as store:
            add(store, planned, outcome)
            assert [row["status"] for row in store.rows()] == [outcome.status]
    assert earlier_in(tmp_path) == [good]
    with Reader.open(tmp_path) as reader:
        assert reader.stored_of([cell])[cell] == replace(stored_in(tmp_path), fault="")
    earlier = path_of(tmp_path, cell).with_suffix(".earlier.npz")
    assert read_certificate(earlier).status is Status.FEASIBLE
    with Store.open(tmp_path) as store:
        add(store, planned, make_outcome(make_result(4)))
    assert earlier_in(tmp_path) == []
    assert not earlier.exists()


def test_exports_are_functions_of_the_store(tmp_path: Path) -> None:
    rows = fill(tmp_path, [0, 1])
    names = ("runs.csv", "config.json", "environment.json")
    before = {name: (tmp_path / name).read_bytes() for name in names}
    assert before["runs.csv"].decode() == rendered(rows)
    for name in names:
        (tmp_path / name).unlink()
    with Store.open(tmp_path) as store:
        later = MACHINE | {"time": "2021-01-01T00:00:00+00:00"}
        store.begin(CONFIG, Path(), later, [make_planned(0), make_planned(1)])
        store.export()
    assert {name: (tmp_path / name).read_bytes() for name in names} == before


def test_environments_are_those_that_rows_refer_to(tmp_path: Path) -> None:
    fill(tmp_path, [0, 1])
    remote = {"id": "remote", "cpu": "another"}
    with Store.open(tmp_path) as store:
        store.begin(CONFIG, Path(), {"id": "idle"}, [make_planned(0), make_planned(1)])
        outcome = make_outcome(environment=remote)
        add(store, make_planned(1), outcome, environment="remote")
        store.export()
    written = json.loads((tmp_path / "environment.json").read_text())
    assert written == {"machine": MACHINE, "remote": remote}


def test_the_configuration_comes_back(configure: Configure, tmp_path: Path) -> None:
    config = configure(goal={"margin_ratio": 0.5})
    with Store.open(tmp_path) as store:
        store.begin(config, tmp_path / "configs", MACHINE, [])
    assert read_config_of(tmp_path) == config
    assert read_config_of(tmp_path).goal == MarginRatio(0.5)
    with Reader.open(tmp_path) as reader:
        assert resolved(reader.about("base"), tmp_path) == tmp_path / "configs"


def test_readers_and_the_writer_never_wait_for_one_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "_PATIENCE", 0.0)
    fill(tmp_path, [0])
    planned = [make_planned(0), make_planned(1)]
    with Reader.open(tmp_path) as early:
        before = early.rows()
        with Store.open(tmp_path) as store, Reader.open(tmp_path) as late:
            store.begin(CONFIG, Path(), MACHINE, planned)
            assert early.rows() == late.rows() == before
            add(store, planned[1])
            assert [row["problem"] for row in early.rows()] == ["p0", "p1"]
            assert late.rows() == early.rows()
        assert len(early.rows()) == 2
        with Store.open(tmp_path) as store:
            assert len(store.rows()) == 2
    fill(tmp_path, [0])
    assert not list(tmp_path.glob("runs.sqlite-*"))


def test_a_reader_sees_one_moment_of_plan_and_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, [0])
    with Store.open(tmp_path) as store, Reader.open(tmp_path) as reader:
        plan = Reader.plan

        def planned_in_between(self: Reader) -> list[Planned]:
            store.begin(CONFIG, Path(), MACHINE, [make_planned(1)])
            return plan(self)

        monkeypatch.setattr(Reader, "plan", planned_in_between)
        assert [row["problem"] for row in reader.rows()] == ["p0"]
        assert reader.rows() == []


def test_a_closed_store_is_one_file_that_needs_no_room_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = fill(tmp_path, [0])
    files = {"runs.sqlite", ".lock", "runs.csv", "config.json", "environment.json", "certificates"}
    assert {path.name for path in tmp_path.iterdir()} == files
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    tmp_path.chmod(0o500)
    try:
        with Reader.open(tmp_path) as reader:
            assert reader.rows() == rows
    finally:
        tmp_path.chmod(0o700)
    assert {path.name for path in tmp_path.iterdir()} == files


def test_a_store_that_is_set_aside_is_unchanged(tmp_path: Path) -> None:
    assert set_aside(tmp_path / "absent") is None
    rows = fill(tmp_path, [0, 1])
    shifted = set_aside(tmp_path)
    assert shifted is not None
    assert shifted.name.startswith("runs-20")
    with pytest.raises(DataError, match="no results there"):
        Reader.open(tmp_path)
    fill(tmp_path, [2])
    again = set_aside(tmp_path)
    assert again not in (None, shifted)
    stem = shifted.stem.removeprefix("runs-")
    (tmp_path / "other").mkdir()
    shifted.rename(tmp_path / "other" / schema.NAME)
    (tmp_path / f"certificates-{stem}").rename(tmp_path / "other" / "certificates")
    with Reader.open(tmp_path / "other") as reader:
        assert reader.rows() == rows
        stored = reader.stored_of(row["cell"] for row in rows)
        assert [value.fault for value in stored.values()] == [""] * len(rows)


def test_a_store_that_cannot_be_renamed_stays_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = fill(tmp_path, [0])
    rename = Path.rename

    def refusing(path: Path, target: Path) -> Path:
        if path.name == schema.NAME:
            raise PermissionError(1, "Operation not permitted")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refusing)
    with pytest.raises(ConfigError, match=r"cannot be written there \(Operation not permitted"):
        set_aside(tmp_path)
    with Reader.open(tmp_path) as reader:
        assert reader.rows() == rows
        assert reader.stored_of([rows[0]["cell"]])[rows[0]["cell"]].fault == ""


@pytest.mark.parametrize("second", [Store.open, set_aside])
def test_there_is_one_writer(tmp_path: Path, second: Callable[[Path], object]) -> None:
    with Store.open(tmp_path) as store:
        with pytest.raises(ConfigError, match="another plab run is writing there"):
            second(tmp_path)
        store.begin(CONFIG, Path(), MACHINE, [])
    Store.open(tmp_path).close()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"results cannot be written there .* --output"):
        Store.open(tmp_path / "file" / "experiment")


def test_a_store_that_was_never_begun_has_no_results(tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    with Reader.open(tmp_path) as reader:
        assert reader.rows() == []
        with pytest.raises(DataError, match="no results there yet"):
            reader.config()
    (tmp_path / schema.NAME).write_bytes(b"")
    with pytest.raises(DataError, match="no results there yet"):
        Reader.open(tmp_path)
    fill(tmp_path, [0])


def test_figures_of_columns_are_kept(configure: Configure, tmp_path: Path) -> None:
    curves = {"curves": {"x": "dimension", "y": "updates", "by": "label"}}
    with Store.open(tmp_path) as store:
        store.begin(configure(report={"figures": [curves]}), tmp_path, MACHINE, [])
    (figure,) = read_config_of(tmp_path).report.figures
    assert not isinstance(figure, str)
    assert figure.curves.y == "updates"


def test_a_table_that_is_registered_no_more_is_left_out_with_a_warning(
    configure: Configure, tmp_path: Path, user_registrations: None
) -> None:
    for kind in ("table", "figure"):
        registry.register(kind, "mine", "my_module:mine")
    report = {"tables": ["table_6_1", "mine"], "figures": ["mine"]}
    with Store.open(tmp_path) as store:
        store.begin(configure(report=report), tmp_path, MACHINE, [])
    assert read_config_of(tmp_path).report.tables == ["table_6_1", "mine"]
    registry.unregister("table", "mine")
    with pytest.warns(UserWarning, match=r"runs\.sqlite: the table 'mine' .* registered no more"):
        report_read = read_config_of(tmp_path).report
    assert (report_read.tables, report_read.figures) == (["table_6_1"], ["mine"])


def test_a_configuration_of_another_version_is_named(tmp_path: Path) -> None:
    fill(tmp_path, [0])
    with Store.open(tmp_path) as store:
        store._insert_values("about", "config", json.dumps({"experiment": "made", "problem": []}))
    with pytest.raises(ConfigError, match=r"the configuration in .*runs\.sqlite"):
        read_config_of(tmp_path)


def test_the_schema_is_the_documented_one(tmp_path: Path) -> None:
    fill(tmp_path, [0])
    assert schema.__doc__ is not None
    with closing(sqlite3.connect(tmp_path / schema.NAME)) as connection, connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION,)
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master").fetchall()
        ]
        for table in (name for name in tables if not name.startswith("sqlite_")):
            assert f"``{table}`` --" in schema.__doc__
            for column in connection.execute(f"PRAGMA table_info({table})").fetchall():
                assert column[1] in schema.__doc__, (table, column[1])
    connection.close()
