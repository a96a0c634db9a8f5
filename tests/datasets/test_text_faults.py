"""Tables as spreadsheets, other systems and hands write them: read with a note, or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import InputError
from tests.datasets.test_text_tables import read

DECIMAL_COMMAS = ["commas are read as decimal commas: 0,5 as 0.5"]
EMPTY = ["without a name and without an entry, left out: column 3"]
LETTER = "if the line names the columns, let each name begin with a letter"


@pytest.mark.parametrize("names", ["", "a;b\n"])
def test_commas_that_leave_decimal_commas_are_no_separators(names: str, tmp_path: Path) -> None:
    """Each line has one comma, or two: a separator as good as the semicolon."""
    for text, rows in (
        ("0,5;1\n1,5;2\n", [[0.5, 1.0], [1.5, 2.0]]),
        ("0,5;1,2\n1,5;2\n", [[0.5, 1.2], [1.5, 2.0]]),
        ("1;0,5\n2;1,5\n", [[1.0, 0.5], [2.0, 1.5]]),
    ):
        contents = read(tmp_path, names + text)
        assert contents.rows.values.tolist() == rows
        assert contents.notes[0].startswith("commas are read as decimal commas: ")


def test_notes_are_printed_in_addition_to_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("0,5;1\n1,5;2\n")
    assert main(["solve", str(tmp_path / "a.csv"), "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["status"] == "FEASIBLE"
    assert printed.err == f"note: {DECIMAL_COMMAS[0]}\n"


def test_labels_behind_decimal_commas_are_labels(tmp_path: Path) -> None:
    contents = read(tmp_path, "0,5;no\n1,5;yes\n", labels="last")
    assert contents.rows.values.tolist() == [[0.5], [1.5]]
    assert contents.classes.tolist() == ["no", "yes"]
    contents = read(tmp_path, "0,5;9,0\n1,5;10,0\n", labels="last")
    assert contents.classes.tolist() == [9.0, 10.0]


def test_spaces_leave_decimal_commas_too(tmp_path: Path) -> None:
    contents = read(tmp_path, "0,5 1\n1,5 2\n", "a.txt")
    assert (contents.rows.values.tolist(), contents.notes) == (
        [[0.5, 1.0], [1.5, 2.0]],
        DECIMAL_COMMAS,
    )


@pytest.mark.parametrize("line_end", ["\r", "\r\n", "\r\r\n"])
def test_lines_end_as_on_any_system(line_end: str, tmp_path: Path) -> None:
    text = "a,b\n1,2\n3,5\n".replace("\n", line_end)
    assert read(tmp_path, text).rows.values.tolist() == [[1.0, 2.0], [3.0, 5.0]]
    with pytest.raises(InputError, match=r"line 3, column 'b': received 'x'"):
        read(tmp_path, text.replace("5", "x"))
    assert len(read(tmp_path, "1,2\r3,4\r\n5,6\n7,8").rows.values) == 4


def test_blank_lines_are_counted_and_left_out(tmp_path: Path) -> None:
    text = "\n \na,b\n\n1,2\n\n3,5\n\n"
    assert read(tmp_path, text).rows.values.tolist() == [[1.0, 2.0], [3.0, 5.0]]
    with pytest.raises(InputError, match=r"line 7, column 'b': received 'x'"):
        read(tmp_path, text.replace("5", "x"))
    with pytest.raises(InputError, match=r"line 7 has 3 fields, the first has 2"):
        read(tmp_path, text.replace("5", "5,6"))
    with pytest.raises(InputError, match=r"line 7 has 1 field, the first has 2"):
        read(tmp_path, text.replace(",5", ""))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_determines_the_encoding(encoding: str, tmp_path: Path) -> None:
    contents = read(tmp_path, "größe,b\n1,2\n".encode(encoding))
    assert contents.features == ["größe", "b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,k\n1,schön\n".encode("latin-1"), r"line 2: the byte f6, in '.*schön.*CSV UTF-8"),
        ("a,b\n1,2\n".encode("utf-16-le"), "line 1 holds a NUL character"),
        (
            "a,b\n".encode("utf-16")[:-1],
            "it begins as UTF-16 but does not continue as such; save it as",
        ),
        (b"PK\x03\x04\x14", "it is a workbook or an archive, and no text; save its sheet"),
        ('a,b\n1,2\n3,"5\n', "line 3 opens a quotation mark that nothing closes"),
    ],
)
def test_files_that_are_not_utf_8_are_refused(content: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, content)


@pytest.mark.parametrize("text", ["a,b,\n1,2,\n3,5,\n", "1,2,\n3,5,\n", "a,b,\n1,2\n3,5\n"])
def test_a_separator_at_the_end_of_lines_makes_no_column(text: str, tmp_path: Path) -> None:
    for options in ({}, {"drop_missing": True}):
        contents = read(tmp_path, text, **options)
        assert (contents.rows.values.tolist(), contents.notes) == ([[1.0, 2.0], [3.0, 5.0]], EMPTY)
    assert read(tmp_path, text, labels="last").classes.tolist() == [2.0, 5.0]


def test_a_column_that_begins_with_missing_values_is_a_column(tmp_path: Path) -> None:
    text = "1,2,\n" * 30 + "3,4,5\n"
    with pytest.raises(InputError, match="line 1, column 3: received '', no value"):
        read(tmp_path, text)
    assert read(tmp_path, text, drop_missing=True).rows.values.tolist() == [[3.0, 4.0, 5.0]]


@pytest.mark.parametrize("line", ["0,1,2", "2019,2020", "1,2,3"])
def test_numbers_that_count_on_may_be_names(line: str, tmp_path: Path) -> None:
    contents = read(tmp_path, f"{line}\n{line[::-1]}\n")
    assert contents.notes == [f"line 1 is read as a row, {', '.join(line.split(','))}; {LETTER}"]
    assert len(contents.rows.values) == 2


def test_a_frame_without_names_that_pandas_wrote(tmp_path: Path) -> None:
    contents = read(tmp_path, ",0,1\n0,5,6\n1,7,9\n")
    assert (contents.features, contents.rows.values.tolist()) == (
        ["0", "1"],
        [[5.0, 6.0], [7.0, 9.0]],
    )


def test_a_column_without_a_name_has_its_number(tmp_path: Path) -> None:
    assert read(tmp_path, "x,,z\n1,2,3\n3,5,4\n").features == ["x", "2", "z"]
    with pytest.raises(InputError, match=r"line 2, column 2: received 'q'"):
        read(tmp_path, "x,,z\n1,q,3\n3,5,4\n")


def test_python_literals_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    assert read(tmp_path, "1_1,1_2\n3,4\n").features == ["1_1", "1_2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,x,z\n1,2,3\n", r"columns 1 and 2 are called 'x'; rename all but one"),
        ('a,b\n"1,000",2\n', r"write 1000 if the comma stands between thousands, 1\.000 if before"),
        ('a,b\n"1,000,000",2\n', r"column 'a': .* write 1000000, with nothing between thousands"),
        ('a,b\n"-1,000.5",2\n', r"write -1000\.5, with nothing between thousands"),
        ("a;b\n1.234,5;2\n", r"write 1234\.5, with nothing between thousands"),
        ("a,b\n1_000,2\n", r"line 2, column 'a': .* write 1000, with nothing between thousands"),
        ("a,b\n1 000,2\n", r"write 1000, with nothing between thousands"),
        ("a,b\n1_0,2\n", r"received '1_0', which is no number; write 10$"),
        ("a;b\n1,234;2\n", r"line 2, column 'a': received '1,234', whose comma may be before dec"),
        ("a;b\n0,5;1.234\n", r"column 'b': received '1\.234', whose point may be before decimals"),
        ("a;b\n\u22121;2\n", r"write the minus sign as -"),
        ("a,b\n50%,2\n", r"write the number alone"),
        (
            "a,b\n-,2\n3,4\n",
            r"received '-', which is no number, as the other entries of the column are",
        ),
        ("a:b\n1:2\n", r"separate all columns by commas, all by semicolons, or all by tabs"),
        ("a,2020\n1,2\n", rf"line 1, column 1: received 'a', which is no number; {LETTER}"),
        ("a,b\n#N/A,2\n", r"received '#N/A', no value; fill it, or leave such rows out: --drop-m"),
        ("a,b,c\n1,2,3\n4,5\n", r"line 3 has 2 fields, the first has 3; give every row as many"),
        ("a,b\n1,2,\n", r"line 2 has 3 fields, the first has 2; delete the separator at its end"),
        ("a\n0,5\n", r"line 2 has 2 fields, the first has 1; .* and a decimal comma as a point"),
        ("Title\na,b\n1,2\n", r"line 2 has 2 .*, and nothing but the names of columns above them"),
        ("a b,c d\nx,y\n", r"say --labels 'a b' if the column holds the labels"),
    ],
)
def test_errors_state_how_to_fix_the_file(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


def test_a_name_among_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"no other row has the label 'kind', .*; {LETTER}"):
        read(tmp_path, "0,1,kind\n1,2,x\n3,5,y\n", labels="last")


def test_the_other_lines_decide_between_points_and_commas(tmp_path: Path) -> None:
    contents = read(tmp_path, "a;b\n1,234;2\n0,5;1.5\n")
    assert (contents.rows.values.tolist(), contents.notes) == (
        [[1.234, 2.0], [0.5, 1.5]],
        DECIMAL_COMMAS,
    )
