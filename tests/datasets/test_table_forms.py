"""One table in the forms that programs write it in: the same answer, and a line on the reading."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from perceptron_lab import separation
from perceptron_lab.cli.main import main
from perceptron_lab.datasets.collections.problem_files import read_system
from tests.repetitions import thinned

FRAME = pd.DataFrame(
    {
        "dose": [1, 2, 2, 2, 3, 4],
        "age": [40.5, 38.2, 40.1, 41.7, 39.9, 42.3],
        "y": ["no", "yes", "no", "yes", "yes", "yes"],
    },
    index=[0, 3, 4, 7, 9, 12],
)
NAMED = FRAME.set_axis(["Mazda RX4", "Fiat", "Volvo", "Audi", "Opel", "#9, red"])
VERDICT = ("quasi-complete", {"dose": "+INF", "age": "FINITE", "intercept": "-INF"})


def csv_of(frame: pd.DataFrame = FRAME, **options: Any) -> str:
    return str(frame.to_csv(**{"index": False, **options}))


def as_write_table(frame: pd.DataFrame, separator: str = " ", *, quote: bool = True) -> str:
    """Return a frame as R's write.table writes it: names of columns have one field fewer."""
    mark = '"' if quote else ""
    lines = [separator.join(f"{mark}{name}{mark}" for name in frame.columns)]
    for name, *entries in frame.itertuples():
        texts = [
            f"{mark}{x}{mark}" if isinstance(x, str) else str(x) for x in (str(name), *entries)
        ]
        lines.append(separator.join(texts))
    return "\n".join(lines) + "\n"


def parquet_of(frame: pd.DataFrame) -> bytes:
    target = io.BytesIO()
    frame.to_parquet(target)
    return target.getvalue()


INDEX = "the first column, without a name, names the rows"
R_TABLE = "line 1 has one field fewer, as R's write.table writes it"
PLAIN = csv_of()
MISSING = PLAIN.replace("1,40.5,no\n", "1,.,no\n1,40.5,no\n,1,no\n")
QUOTED = PLAIN.replace("yes", '"yes,\nof course"')
# Name of the file, its content, the lines that rows begin in, words on the reading, options
TABLES: dict[str, tuple[str, Any, list[int], str, list[str]]] = {
    "commas": ("a.csv", PLAIN, [2, 3, 4, 5, 6, 7], "separated by commas; names in line 1", []),
    "semicolons": ("a.csv", csv_of(sep=";"), [2, 3, 4, 5, 6, 7], "by semicolons", []),
    "decimal commas": (
        *("a.csv", csv_of(sep=";", decimal=","), [2, 3, 4, 5, 6, 7]),
        *("commas are read as decimal commas: 40,5 as 40.5", []),
    ),
    "tabs": ("a.tsv", csv_of(sep="\t"), [2, 3, 4, 5, 6, 7], "separated by tabs", []),
    "bars": ("a.csv", csv_of(sep="|"), [2, 3, 4, 5, 6, 7], "separated by |", []),
    "spaces": ("a.txt", csv_of(sep=" "), [2, 3, 4, 5, 6, 7], "separated by spaces", []),
    "sep=": (
        *("a.csv", "sep=;\n" + csv_of(sep=";"), [3, 4, 5, 6, 7, 8]),
        *("by semicolons, as its line sep= says; names in line 2", []),
    ),
    "sep= of a comma": ("a.csv", "\ufeffsep=,\r\n" + PLAIN, [3, 4, 5, 6, 7, 8], "sep= says", []),
    "row index": ("a.csv", csv_of(index=True), [2, 3, 4, 5, 6, 7], f"{INDEX} (0, 3, 4, ...)", []),
    "row names": (
        *("a.csv", csv_of(NAMED, index=True), [2, 3, 4, 5, 6, 7]),
        *(f"{INDEX} (Mazda RX4, Fiat, Volvo, ...): left out", []),
    ),
    "row names, --one-hot": (
        *("a.csv", csv_of(NAMED, index=True), [2, 3, 4, 5, 6, 7], INDEX, ["--one-hot"]),
    ),
    "row index, bars": (*("a.txt", csv_of(index=True, sep="|"), [2, 3, 4, 5, 6, 7], INDEX, []),),
    "write.table": ("a.txt", as_write_table(FRAME), [2, 3, 4, 5, 6, 7], R_TABLE, []),
    "write.table, names": ("a.txt", as_write_table(NAMED), [2, 3, 4, 5, 6, 7], R_TABLE, []),
    "write.table, tabs": (
        *("a.txt", as_write_table(FRAME, "\t", quote=False), [2, 3, 4, 5, 6, 7], R_TABLE, []),
    ),
    "write.table, commas": ("a.csv", as_write_table(NAMED, ","), [2, 3, 4, 5, 6, 7], R_TABLE, []),
    "comments": (
        *("a.csv", "# by hand\n" + PLAIN.replace("2,", "# again\n\n2,", 1), [3, 6, 7, 8, 9, 10]),
        *("2 lines of comments, which begin with #: left out", []),
    ),
    "missing": (
        *("a.csv", MISSING, [3, 5, 6, 7, 8, 9]),
        *("2 of 8 rows lack an entry: left out", ["--drop-missing"]),
    ),
    "a column too many": (
        *("a.csv", csv_of(NAMED, index_label="car", index=True), [2, 3, 4, 5, 6, 7]),
        *("left out as asked: car", ["--drop", "car"]),
    ),
    "chosen columns": (
        *("a.csv", csv_of(NAMED, index_label="car", index=True), [2, 3, 4, 5, 6, 7]),
        *(
            "coordinates dose, age; labels in column 'y'; not used, as asked: car",
            ["--columns", "age,dose"],
        ),
    ),
    "packed": (
        *("a.csv.gz", gzip.compress(PLAIN.encode()), [2, 3, 4, 5, 6, 7], "separated by commas", []),
    ),
    "parquet with a row index": (
        *("a.parquet", parquet_of(FRAME), []),
        *("the row index of the frame is left out: __index_level_0__", []),
    ),
    "parquet with row names": (
        *("a.parquet", parquet_of(NAMED.rename_axis("car")), []),
        *("the row index of the frame is left out: car", []),
    ),
}


@pytest.fixture
def printed_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    monkeypatch.chdir(tmp_path)

    def note_of(*words: str, code: int = 0) -> str:
        assert main(["solve", *words]) == code
        printed = capsys.readouterr()
        return printed.err if code else printed.out

    return note_of


def write(name: str, content: str | bytes) -> None:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("form", TABLES)
def test_the_answer_does_not_depend_on_the_form(form: str, printed_by: Callable[..., str]) -> None:
    name, content, lines, reading, options = TABLES[form]
    write(name, content)
    first, answer, *_ = printed_by(name, "--labels", "y", "--verdict", *options).splitlines()
    assert first.startswith(f"{name}: ")
    assert reading in first
    assert answer.startswith(f"{name}: dose separates 'no' from 'yes' quasi-completely (proved")
    data = json.loads(printed_by(name, "--labels", "y", "--verdict", "--json", *options))
    assert (data["verdict"], data["coefficients"]) == VERDICT
    assert (data["lines"] or []) == lines
    same = json.loads(printed_by(name, "--labels", "y", "--json", *options))
    assert (same["features"], same["lines"]) == (["dose", "age"], lines or None)


def test_a_frame_has_the_same_answer() -> None:
    verdict = separation(FRAME[["dose", "age"]], FRAME["y"])
    assert (verdict.verdict, verdict.coefficients) == VERDICT


@pytest.mark.parametrize("form", thinned(TABLES, step=4))
def test_a_saved_answer_of_any_form_is_proved_again(
    form: str, printed_by: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    name, content, _, _, options = TABLES[form]
    write(name, content)
    for question in ([], ["--verdict"]):
        printed_by(name, "--labels", "y", *options, *question, "--save", "answer.npz")
        assert main(["verify", "answer.npz"]) == 0
        assert main(["certify", "answer.npz", "--into", "proofs"]) == 0
    assert "not in it" not in capsys.readouterr().out.splitlines()[-2]


IDS = "id,dose,age,y\n" + "".join(f"p{i},{line}\n" for i, line in enumerate(PLAIN.splitlines()[1:]))


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (
            IDS,
            [],
            "line 2, column 'id': .*its texts all differ, .* --drop id, .*--columns dose,age",
        ),
        (
            IDS,
            ["--one-hot"],
            "column 'id': its texts all differ, .*--drop id, .*--columns dose,age",
        ),
        (IDS, ["--drop", "ids"], r"no column is called 'ids' \(did you mean 'id'\?\)"),
        (IDS, ["--columns", "dose,agee"], "no column is called 'agee'"),
        (IDS, ["--columns", "dose,"], "a column without a name is asked for"),
        (IDS, ["--drop", "y"], "column 'y' is to be left out and used"),
        (IDS, ["--drop", "1", "--columns", "id,dose"], "column 'id' is to be left out and used"),
        (IDS, ["--drop", "id", "--drop", "2", "--drop", "age"], "no column but that of the labels"),
        (
            csv_of(FRAME.set_axis([0, 1, 2, 0, 1, 2]), index=True),
            [],
            "'0' occurs 2 times.*--drop 1",
        ),
        (as_write_table(FRAME.set_axis([0, 1, 2, 0, 1, 2])), [], "'0' occurs 2 times.*--drop 1"),
        ("# dose age y\n1 2 3\n", [], "the comment '# dose age y' names it; delete its #"),
        ("sep=x\n" + PLAIN, [], "line 1: 'sep=x' states a separator that is none; allowed"),
        (PLAIN.replace("1,40.5,", "1,.,"), [], "line 2, column 'age': received '.', no value"),
        (PLAIN.replace("40.5", "40.5 # hm"), [], "give a comment a line that begins with #"),
        (PLAIN.replace("40.5,no", "40.5,no # hm"), [], "'no # hm' beside 'no'; give a comment"),
        ("dose,y\n0,5,1\n1,5,2\n", [], "line 2 has 3 fields, .* begin line 1 with ,"),
        ("dose,y\n1,0,\n2,1,\n", [], "line 2 has 3 fields, the first has 2; delete the sep"),
    ],
)
def test_ambiguous_tables_are_refused(
    content: str, options: list[str], message: str, printed_by: Callable[..., str]
) -> None:
    write("a.csv", content)
    printed = printed_by("a.csv", "--labels", "y", "--verdict", *options, code=2)
    assert re.search(message, " ".join(printed.split()))


@pytest.mark.parametrize(
    ("end", "program"), [(".xlsx", "Excel"), (".dta", "Stata"), (".sav", "SPSS"), (".arff", "Weka")]
)
def test_files_of_other_programs_are_refused_with_two_ways(
    end: str, program: str, printed_by: Callable[..., str]
) -> None:
    write(f"a{end}", "")
    printed = printed_by(f"a{end}", "--labels", "y", code=2)
    assert f"export it from {program} as CSV (UTF-8) or Parquet, or pass a frame that " in printed


def test_rows_are_named_by_their_lines_in_the_file(printed_by: Callable[..., str]) -> None:
    write("a.csv", MISSING)
    printed = printed_by("a.csv", "--labels", "y", "--verdict", "--drop-missing")
    assert "3 rows overlap (line 6, 7, 8)" not in printed
    assert "3 rows overlap (line 5, 6, 7)" in printed
    write("a.csv", "# rows\n1,2\n\n0,0\n")
    assert "a.csv: line 4 is zero (1 such rows)" in printed_by("a.csv", code=2)


@pytest.mark.parametrize("names", [True, False])
def test_a_column_of_row_numbers_is_used_with_a_note(
    names: bool, printed_by: Callable[..., str]
) -> None:
    frame = FRAME.assign(dose=range(1, 7))
    write("a.csv", csv_of(frame, header=names))
    first = printed_by("a.csv", "--labels", "last", "--verdict").splitlines()[0]
    column, drop = ("'dose'", "dose") if names else ("1", "1")
    note = f"column {column} counts the rows; if it is no coordinate, leave it out: --drop {drop}"
    assert first.endswith(note)
    assert "counts" not in printed_by("a.csv", "--labels", "last", "--verdict", "--drop", drop)


def test_blank_lines_and_comments_between_spaces_count(printed_by: Callable[..., str]) -> None:
    text = as_write_table(NAMED).replace('"Volvo"', '\n  # a comment\n\t"Volvo"')
    write("a.txt", text)
    data = json.loads(printed_by("a.txt", "--labels", "y", "--verdict", "--json"))
    assert (data["lines"], data["verdict"]) == ([2, 3, 6, 7, 8, 9], VERDICT[0])


def test_write_csv2_has_decimal_commas_and_row_names(printed_by: Callable[..., str]) -> None:
    write("a.csv", csv_of(NAMED, index=True, sep=";", decimal=",", quoting=csv.QUOTE_NONNUMERIC))
    first, answer, *_ = printed_by("a.csv", "--labels", "y", "--verdict").splitlines()
    assert "names the rows (Mazda RX4, Fiat, Volvo, ...)" in first
    assert "commas are read as decimal commas: 40,5 as 40.5" in first
    assert "dose separates 'no' from 'yes' quasi-completely" in answer


def test_r_data_with_numbers_as_row_names(printed_by: Callable[..., str]) -> None:
    write("a.csv", csv_of(index=True, index_label="rownames"))
    printed = printed_by("a.csv", "--labels", "y", "--verdict")
    assert "the first column, called rownames, names the rows (0, 3, 4, ...): left out" in printed


@pytest.mark.parametrize("first", [0, 1])
def test_features_of_svmlight_files_have_the_indices_of_the_file(
    first: int, printed_by: Callable[..., str]
) -> None:
    rows = [(-1, 1), (1, 2), (-1, 2), (1, 3)]
    lines = [f"{label} {first}:{x} {first + 1}:{x % 2} # remark\n" for label, x in rows]
    write("a.svm", "# a comment\n" + "\n".join(lines))
    data = json.loads(printed_by("a.svm", "--verdict", "--json"))
    assert data["coefficients"][f"x_{first}"] == "+INF"
    assert list(data["coefficients"]) == [f"x_{first}", f"x_{first + 1}", "intercept"]
    assert data["lines"] == [2, 4, 6, 8]
    assert f"indices count from {first} on" in printed_by("a.svm", "--verdict").splitlines()[0]


def test_python_and_configurations_choose_columns_too(
    printed_by: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    write("a.csv", IDS)
    for options in ({"drop": "id"}, {"drop": ["1"]}, {"columns": "dose,age"}):
        assert read_system(Path("a.csv"), "y", **options).dimension == 3
    problem = "{dataset: files, files: [a.csv], labels: y, %s}"
    for line in ("drop: id", "drop: [id]", "columns: [dose, age]", 'columns: "dose,age"'):
        head = f"experiment: own\nproblems:\n  - {problem % line}\n"
        write("own.yaml", head + "algorithms: [{name: perceptron}]\nbudget: {updates: 5}\n")
        assert main(["check", "own.yaml"]) == 0
    assert main(["run", "own.yaml", "-q"]) == 0
    assert main(["verify", next(map(str, Path("results").glob("own*"))), "-q"]) == 0
    write("own.yaml", head.replace(line, "one_hot: true") + "algorithms: [{name: perceptron}]\n")
    capsys.readouterr()
    assert main(["check", "own.yaml"]) == 2
    assert 'leave it out: drop: id, or name the coordinates: columns: "dose,age"' in " ".join(
        capsys.readouterr().err.split()
    )


def test_a_quoted_field_over_several_lines_counts_its_lines(printed_by: Callable[..., str]) -> None:
    write("a.csv", QUOTED)
    data = json.loads(printed_by("a.csv", "--labels", "y", "--verdict", "--json"))
    assert data["lines"] == [2, 3, 5, 6, 8, 10]
    printed = printed_by("a.csv", "--labels", "y", "--verdict")
    assert "3 rows overlap (line 3, 5, 6)" in printed
    write("a.csv", QUOTED.replace("41.7", "many"))
    assert "line 6, column 'age': received 'many'" in printed_by("a.csv", "--labels", "y", code=2)
