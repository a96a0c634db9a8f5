"""Rows in .npy and Parquet files, read block by block."""

from __future__ import annotations

import os
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.cones.operators.row_source import LEAST_MEMORY, LabelledRows, RowSource
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.datasets.formats.row_files import NumpyRows, ParquetRows
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from tests.families import infeasible, planted
from tests.repetitions import repeated

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = planted(8, 700, 1e-2, np.random.default_rng(4))[0]


def write(path: Path, rows: Any, group: int = 100) -> Path:
    """Write rows as .npy, or as Parquet with some rows in each row group."""
    if path.suffix == ".npy":
        np.save(path, rows)
    else:
        columns = {f"x{j}": column for j, column in enumerate(np.asarray(rows).T)}
        parquet.write_table(arrow.table(columns), path, row_group_size=group)
    return path


def source(path: Path, memory: int = LEAST_MEMORY) -> RowSource:
    return (NumpyRows if path.suffix == ".npy" else ParquetRows)(path, memory)


@pytest.fixture(params=[".npy", ".parquet"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"rows{request.param}"


@pytest.mark.parametrize("precision", [np.float32, np.float64, np.int16, np.int64, np.float16])
@pytest.mark.parametrize(
    ("count", "width"), repeated([(700, 8), (1, 1), (3, 5), (30, 3000)], kept=2)
)
def test_the_rows_are_those_of_the_file(path: Path, count: int, width: int, precision: Any) -> None:
    rng = np.random.default_rng(width)
    rows = (100 * rng.standard_normal((count, width))).astype(precision)
    blocks_of_file = source(write(path, rows, 7))
    assert blocks_of_file.shape == (count, width)
    single = precision in (np.float32, *((np.int16, np.float16) if path.suffix != ".npy" else ()))
    assert blocks_of_file.dtype == (np.float32 if single else np.float64)
    spans, blocks = zip(*blocks_of_file.blocks(), strict=True)
    assert [at.start for at in spans] == [0, *(at.stop for at in spans[:-1])]
    assert max(len(block) for block in blocks) <= blocks_of_file.step
    assert np.array_equal(np.vstack(blocks), rows)
    assert {block.dtype for block in blocks} == {blocks_of_file.dtype}
    indices = rng.integers(0, count, 20)
    assert np.array_equal(blocks_of_file[indices], rows[indices])
    assert blocks_of_file[indices[:0]].shape == (0, width)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("algorithm", ["auto", "primal-dual", "minimum-norm-point"])
def test_the_answer_is_that_of_the_rows_in_memory(
    path: Path, algorithm: str, precision: Any
) -> None:
    rows = ROWS.astype(precision)
    system = read_system(write(path, rows), memory=LEAST_MEMORY)
    first, second = solve(system, algorithm, seed=1), solve(rows, algorithm, seed=1)
    assert first.status is second.status is Status.FEASIBLE
    assert first.updates == second.updates
    assert first.point == pytest.approx(second.point, rel=1e-6, abs=1e-9)
    assert (rows.astype(float) @ first.point > 0).all()


def test_infeasible_rows_of_a_file_are_proved_infeasible(path: Path) -> None:
    rows = infeasible(4, 60, np.random.default_rng(1))
    assert solve(source(write(path, rows))).status is Status.INFEASIBLE


@pytest.mark.parametrize("column", ["1", "3", "last"])
def test_labels_are_a_column(path: Path, column: str) -> None:
    rng = np.random.default_rng(3)
    examples = rng.standard_normal((200, 3))
    labels = np.where(examples @ [1.0, -2.0, 0.5] > 0.2, 7.0, 3.0)
    index = 3 if column == "last" else int(column) - 1
    write(path, np.insert(examples, index, labels, axis=1))
    system = read_system(path, column, memory=LEAST_MEMORY)
    expected = ConicSystem.from_labelled(examples, labels)
    point = rng.standard_normal(4)
    assert system.operator.scores(point) == pytest.approx(expected.operator.scores(point))
    assert solve(system).status is Status.FEASIBLE


def test_labels_of_parquet_have_a_name_and_may_be_words(tmp_path: Path) -> None:
    table = {"a": [1.0, -1.0], "kind": ["yes", "no"], "b": [2.0, -3.0]}
    parquet.write_table(arrow.table(table), tmp_path / "a.parquet")
    system = read_system(tmp_path / "a.parquet", "kind")
    assert system.origin is not None
    assert system.origin.operator.scores(np.array([1.0, 0.0, 0.0])).tolist() == [1.0, 1.0]
    with pytest.raises(DataError, match=r"no column is called 'kinds' .did you mean 'kind'"):
        read_system(tmp_path / "a.parquet", "kinds")
    with pytest.raises(DataError, match=r"a\.parquet: column 'kind' holds string; give numbers"):
        read_system(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1.0, 2.0], "z": [1.0, None]}, r"column 'z' has no value in row 1; fill it"),
        ({"x": [1, None]}, r"column 'x' has no value in row 1"),
        ({"x": ["1", "2"]}, "column 'x' holds string; give numbers"),
        ({"x": [[1.0], [2.0]]}, "column 'x' holds list<"),
        ({"x": [{"y": 1.0}]}, "column 'x' holds struct<"),
        ({"x": [True, False]}, "column 'x' holds bool"),
        ({"x": np.zeros(0)}, "it holds no rows of numbers"),
        ({}, "it holds no rows of numbers"),
        ({"x": [1.0, np.nan]}, "row 1 holds NaN or infinity"),
        ({"x": [1.0, 0.0]}, "row 1 is zero"),
    ],
)
def test_columns_that_are_no_rows_are_refused(
    columns: dict[str, Any], message: str, tmp_path: Path
) -> None:
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=message) as caught:
        read_system(tmp_path / "a.parquet")
    assert str(caught.value).startswith(f"{tmp_path / 'a.parquet'}: ")


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    table = arrow.table([arrow.array([1.0]), arrow.array([2.0])], names=["x", "x"])
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(DataError, match="column 'x' occurs more than once; rename one"):
        read_system(tmp_path / "a.parquet")


def test_missing_values_are_found_in_every_row_group(tmp_path: Path) -> None:
    numbers = [1.0] * 57
    numbers[43] = None  # type: ignore[call-overload]
    parquet.write_table(arrow.table({"x": numbers}), tmp_path / "a.parquet", row_group_size=10)
    with pytest.raises(DataError, match="column 'x' has no value in row 43"):
        ConicSystem.from_rows(ParquetRows(tmp_path / "a.parquet"))


def test_without_pyarrow_the_error_states_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "a.parquet", ROWS)
    for module in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    assert main(["solve", str(tmp_path / "a.parquet")]) == 2
    message = capsys.readouterr().err
    assert "takes pyarrow, which is not installed; run `pip install" in message
    assert "perceptron-lab[arrow]" in message


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.asfortranarray(ROWS), "stored column by column; save np.ascontiguousarray"),
        (np.ones(3), "something else than a matrix of real numbers"),
        (np.array([["a"]]), "something else than a matrix of real numbers"),
        (np.ones((2, 2), complex), "something else than a matrix of real numbers"),
        (np.array([[{}]]), "not a .npy file that can be read"),
    ],
)
def test_arrays_that_are_no_rows_are_refused(rows: Any, message: str, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", rows)
    with pytest.raises(DataError, match=message) as caught:
        read_system(tmp_path / "a.npy", memory=LEAST_MEMORY)
    assert str(caught.value).startswith(f"{tmp_path / 'a.npy'}: ")


def test_numbers_of_the_other_byte_order_are_read(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", ROWS.astype(">f4"))
    rows = NumpyRows(tmp_path / "a.npy")
    assert rows.dtype == np.float32
    assert np.array_equal(rows[np.arange(5)], ROWS[:5].astype("f4"))


def test_a_file_that_becomes_shorter_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.npy", np.vstack([ROWS] * 12))
    rows = NumpyRows(path, LEAST_MEMORY)
    blocks = rows.blocks()
    assert len(next(blocks)[1]) < len(rows.norms)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(DataError, match="it became shorter while it was read"):
        list(blocks)


def test_a_file_that_changes_between_passes_is_refused(path: Path) -> None:
    rows = source(write(path, ROWS))
    list(rows.blocks())
    write(path, ROWS[::-1])
    os.utime(path, ns=(0, 0))  # the clock of files may not have moved on
    with pytest.raises(DataError, match="it changed while it was in use; run again"):
        list(rows.blocks())
    with pytest.raises(DataError, match="it changed while it was in use; run again"):
        rows[np.array([699])]
    path.unlink()
    with pytest.raises(DataError, match=r"cannot be read \(No such file"):
        list(rows.blocks())


def test_only_rows_of_files_that_are_streamed_have_a_memory(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2\n")
    with pytest.raises(DataError, match=r"a \.csv file is read as a whole; leave the memory out"):
        read_system(tmp_path / "a.csv", memory=LEAST_MEMORY)


@pytest.mark.parametrize("suffix", [".npy", ".parquet"])
def test_signed_rows_are_the_examples_times_their_signs(suffix: str, tmp_path: Path) -> None:
    """In two batches of two blocks each, which end where no row group does."""
    rng = np.random.default_rng(1)
    signs, indices = rng.choice([-1.0, 1.0], 9_500), rng.integers(0, 9_500, 30)
    for precision, constant in product([np.float32, np.float64, np.int64], [None, 1.0, 0.1]):
        rows = rng.integers(-99, 99, (len(signs), 64)).astype(precision)
        examples = source(write(tmp_path / f"rows{suffix}", rows, 5_000), 13_000_000)
        affine = constant is not None
        labelled = LabelledRows(examples, signs, affine=affine, augment=constant or 1.0)
        single = precision == np.float32 and constant != 0.1
        spans, blocks = zip(*labelled.blocks(), strict=True)
        assert [at.start for at in spans] == [0, *(at.stop for at in spans[:-1])]
        assert max(map(len, blocks)) == examples.step < 5_000
        assert {block.dtype for block in blocks} == {np.dtype(np.float32 if single else np.float64)}
        columns = [rows.astype(np.float64), np.full((len(rows), int(affine)), constant or 0.0)]
        expected = np.hstack(columns) * signs[:, None]
        assert np.array_equal(np.vstack(blocks), expected)
        assert np.array_equal(labelled[indices], expected[indices])


def test_signed_rows_of_a_file_that_changes_are_refused(path: Path) -> None:
    """Whether it changed before they are read, or while they are."""
    labelled = LabelledRows(source(write(path, ROWS)), np.ones(len(ROWS)), affine=True)
    reading = labelled.blocks()
    next(reading)
    os.utime(path, ns=(0, 0))
    with pytest.raises(DataError, match="it changed while it was in use; run again"):
        list(reading)
    with pytest.raises(DataError, match="it changed while it was in use; run again"):
        next(labelled.blocks())
