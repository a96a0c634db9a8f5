"""Tables of a user's own: separators, names, labels, missing entries, texts, packed files."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perceptron_lab import solve
from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.datasets.collections.problem_files import read_problem, read_system
from perceptron_lab.datasets.formats import text_lines
from perceptron_lab.datasets.formats.columns import NAMES_OF_LABELS, Columns
from perceptron_lab.datasets.formats.text_files import STANDARD_INPUT
from perceptron_lab.datasets.formats.text_lines import Lines
from perceptron_lab.datasets.formats.text_tables import read_text
from tests.repetitions import examples

ROWS = [["1.5", "2"], ["-3", "4e-1"], ["0.25", "7"]]
LABELLED = "age,weight,kind\n1,2,no\n3,1,yes\n4,0.5,yes\n"


def table(rows: list[list[str]], separator: str = ",", names: list[str] | None = None) -> str:
    return "\n".join(separator.join(row) for row in ([names] if names else []) + rows) + "\n"


def read(folder: Path, text: str | bytes, name: str = "a.csv", **options: Any) -> Any:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_text(path, path.suffix, Columns(**options))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("names", [None, ["a", "b c"]])
@pytest.mark.parametrize("space", ["", " "])
def test_the_separator_is_detected(
    name: str, separator: str, names: list[str] | None, space: str, tmp_path: Path
) -> None:
    text = table(ROWS, separator + space, names)
    contents = read(tmp_path, text, name)
    np.testing.assert_array_equal(contents.rows.values, np.array(ROWS, float))
    assert contents.features == names


def test_spaces_separate_in_txt(tmp_path: Path) -> None:
    contents = read(tmp_path, "  1   2\n\n3 4  \n", "a.txt")
    np.testing.assert_array_equal(contents.rows.values, [[1.0, 2.0], [3.0, 4.0]])


def test_decimal_commas_are_recognised_where_they_do_not_separate(tmp_path: Path) -> None:
    contents = read(tmp_path, "a;b\n1,5;2\n-0,25;1e3\n")
    np.testing.assert_array_equal(contents.rows.values, [[1.5, 2.0], [-0.25, 1000.0]])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(100))
@given(data=st.data())
def test_numbers_are_the_decimals_printed(tmp_path: Path, data: st.DataObject) -> None:
    """The rows, or their whole multiple, are the decimals exactly; or one rounding is said."""
    number = st.decimals(-1000, 1000, places=3).map(str) | st.integers(-(10**20), 10**20).map(str)
    rows = data.draw(st.lists(st.lists(number, min_size=2, max_size=2), min_size=1, max_size=5))
    contents = read(tmp_path, table(rows, data.draw(st.sampled_from(",;\t")))).rows
    given_numbers = [Fraction(x) for row in rows for x in row]
    values = [Fraction(x) for x in contents.values.ravel().tolist()]
    assert [float(x) for x in given_numbers] == contents.values.ravel().tolist()
    if contents.integers is not None:
        multiple = Fraction(contents.multiple)
        full = [Fraction(x) for x in contents.integers.ravel().tolist()]
        assert full == [multiple * x for x in given_numbers]
    if contents.roundings == 0:
        assert values == given_numbers


@pytest.mark.parametrize("labels", ["kind", "3", "last"])
def test_labels_are_a_column(labels: str, tmp_path: Path) -> None:
    contents = read(tmp_path, LABELLED, labels=labels)
    assert contents.classes.tolist() == ["no", "yes", "yes"]
    assert (contents.features, contents.label) == (["age", "weight"], "kind")


def test_labels_that_are_numbers_are_compared_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("1,2,9\n3,1,10\n")
    problem = read_problem(path, Columns("last"))
    assert problem.labels is not None
    assert (problem.labels.negative, problem.labels.positive) == (9, 10)
    assert isinstance(problem.labels.positive, int)


@pytest.mark.parametrize("name", [*sorted(NAMES_OF_LABELS), "Target", " Y "])
@pytest.mark.parametrize("first", [True, False])
def test_a_column_named_like_labels_is_not_read_as_a_coordinate(
    name: str, first: bool, tmp_path: Path
) -> None:
    names = [name, "b"] if first else ["a", name]
    with pytest.raises(InputError, match=r"looks like labels, by its name; say --labels .* --rows"):
        read(tmp_path, table(ROWS, names=names))
    assert read(tmp_path, table(ROWS, names=names), rows=True).classes is None
    assert read(tmp_path, table(ROWS, names=names), labels="last").classes is not None


def test_a_last_column_of_two_values_is_not_read_as_a_coordinate(tmp_path: Path) -> None:
    text = "a,b\n1,0\n2,1\n3,0\n"
    with pytest.raises(InputError, match=r"column 'b' looks like labels, with two values; say --l"):
        read(tmp_path, text)
    assert read(tmp_path, text, rows=True).features == ["a", "b"]
    assert read(tmp_path, text.replace("a,b\n", "")).features is None  # nobody named it
    assert read(tmp_path, "a,b\n0,1\n1,2\n0,3\n").features == ["a", "b"]


def test_texts_name_both_ways_on(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"line 2, column 'kind': received 'no'.*--labels kind.*--r"
    ):
        read(tmp_path, LABELLED)
    contents = read(tmp_path, LABELLED, rows=True, one_hot=True)
    assert contents.features == ["age", "weight", "kind=no", "kind=yes"]
    assert contents.rows.values[:, 2:].tolist() == [[1, 0], [0, 1], [0, 1]]


def test_a_decimal_comma_between_commas_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"received '21,5', .*; write it with a decimal point"):
        read(tmp_path, 'a,b\n1,"21,5"\n2,3\n')


def test_missing_entries_are_refused_or_left_out(tmp_path: Path) -> None:
    text = "a,b,kind\n1,,no\n2,3,yes\n4,NA,yes\n5,6,\n7,8,no\n"
    with pytest.raises(InputError, match=r"line 2, column 'b': received '', no value; .*--drop-m"):
        read(tmp_path, text, labels="kind")
    contents = read(tmp_path, text, labels="kind", drop_missing=True)
    assert contents.rows.values.tolist() == [[2.0, 3.0], [7.0, 8.0]]
    assert contents.classes.tolist() == ["yes", "no"]
    assert contents.notes == ["3 of 5 rows lack an entry: left out"]
    with pytest.raises(InputError, match=r"every row lacks an entry"):
        read(tmp_path, "a,b\n1,\n,2\n", drop_missing=True)


@pytest.mark.parametrize("start", [0, 1])
def test_the_index_column_written_by_pandas_is_left_out(start: int, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}, index=[start, start + 1])
    frame.to_csv(tmp_path / "a.csv")
    contents = read(tmp_path, (tmp_path / "a.csv").read_text())
    assert contents.features == ["a", "b"]
    assert contents.notes == ["the first column, without a name, counts the rows: left out"]


def test_packed_files_are_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(LABELLED.encode()))
    problem = read_problem(path, Columns("kind"))
    assert problem.features == ("age", "weight")
    path.write_bytes(gzip.compress(LABELLED.encode())[:-9])
    with pytest.raises(DataError, match=r"a\.csv\.gz: it cannot be unpacked .*; compress it again"):
        read_problem(path, Columns("kind"))


def test_compressed_files_are_unpacked_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n" * 10**6))
    monkeypatch.setattr(
        "perceptron_lab.datasets.formats.text_files.allowed_bytes", lambda: 1_000_000
    )
    with pytest.raises(DataError, match=r"unpacked it takes more than 0.000931 GiB"):
        read_system(path)


def test_standard_input_is_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["--labels", "kind"], ["--rows", "--one-hot"]):
        source = io.TextIOWrapper(io.BytesIO(LABELLED.encode()))
        monkeypatch.setattr(sys, "stdin", source)
        assert main(["solve", str(STANDARD_INPUT), *words]) == 0
        assert "proved" in capsys.readouterr().out


def test_quoted_names_and_texts_may_hold_separators(tmp_path: Path) -> None:
    buffer = io.StringIO()
    csv.writer(buffer).writerows([["a, b", "c"], ["1", 'x, "y"'], ["2", "z"]])
    contents = read(tmp_path, buffer.getvalue(), labels="c")
    assert contents.features == ["a, b"]
    assert contents.classes.tolist() == ['x, "y"', "z"]


def divided(text: str) -> Any:
    """Return the separator, and the fields by their lines, or why there are none."""
    try:
        lines = Lines.of(text, ",;\t| ")
        parts = [*lines.fields()]
    except InputError as error:
        return str(error)
    return lines.separator, [(p.lines.tolist(), p.texts.tolist()) for p in parts]


FIELDS = st.lists(st.text('01a.,;|\t "', max_size=4), min_size=1, max_size=3)


@settings(deadline=None, max_examples=examples(300), derandomize=True)
@given(st.lists(FIELDS, max_size=5), st.sampled_from(",; \t|"))
def test_short_texts_are_divided_as_pandas_divides_long_ones(
    rows: list[list[str]], separator: str
) -> None:
    text = table(rows, separator)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "_SHORT", -1)
        long = divided(text)
    assert divided(text) == long


def test_many_rows_are_converted_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_lines, "_CHUNK", 7)
    monkeypatch.setattr(text_lines, "_SHORT", 0)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 3)).round(4), columns=["a", "b", "c"])
    frame["kind"] = np.where(frame["a"] > 0, "up", "down")
    frame["city"] = rng.choice(["x", "y", "z"], 50)
    text = frame.to_csv(index=False)
    contents = read(tmp_path, text, labels="kind", one_hot=True)
    assert contents.features == ["a", "b", "c", "city=y", "city=z"]
    np.testing.assert_array_equal(contents.rows.values[:, :3], frame[["a", "b", "c"]])
    assert contents.classes.tolist() == frame["kind"].tolist()
    path = tmp_path / "a.csv"
    problem = read_problem(path, Columns("kind", one_hot=True))
    assert solve(problem.system).proved


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": "knid"}, "no column is called 'knid' .did you mean 'kind'"),
        ({"labels": "9"}, "there is no column 9; give 1 to 3, or last"),
        ({"labels": "kind", "rows": True}, "labels and rows both"),
    ],
)
def test_labels_that_are_not_there(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, LABELLED, **options)


def test_two_columns_of_the_labels_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"2 columns are called 'b'; rename one"):
        read(tmp_path, "a,b,b\n1,2,3\n", labels="b")
