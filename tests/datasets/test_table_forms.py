"""One table in the forms that programs write it in: the same answer, and a line on the reading."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from perceptron_lab import separation
from perceptron_lab.cli.main import main

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
        *("coordinates dose, age; labels y", ["--columns", "age,dose"]),
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
def said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    monkeypatch.chdir(tmp_path)

    def told(*words: str, code: int = 0) -> str:
        assert main(["solve", *words]) == code
        printed = capsys.readouterr()
        return printed.err if code else printed.out

    return told


def write(name: str, content: str | bytes) -> None:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("form", TABLES)
def test_the_answer_does_not_depend_on_the_form(form: str, said: Callable[..., str]) -> None:
    name, content, lines, reading, options = TABLES[form]
    write(name, content)
    first, answer, *_ = said(name, "--labels", "y", "--verdict", *options).splitlines()
    assert first.startswith(f"{name}: ")
    assert reading in first
    assert answer.startswith(f"{name}: dose separates 'no' from 'yes' quasi-completely (proved")
    found = json.loads(said(name, "--labels", "y", "--verdict", "--json", *options))
    assert (found["verdict"], found["coefficients"]) == VERDICT
    assert (found["lines"] or []) == lines
    same = json.loads(said(name, "--labels", "y", "--json", *options))
    assert (same["features"], same["lines"]) == (["dose", "age"], lines or None)


def test_a_frame_has_the_same_answer() -> None:
    found = separation(FRAME[["dose", "age"]], FRAME["y"])
    assert (found.verdict, found.coefficients) == VERDICT


@pytest.mark.parametrize("form", TABLES)
def test_a_saved_answer_of_any_form_is_proved_again(
    form: str, said: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    name, content, _, _, options = TABLES[form]
    write(name, content)
    for question in ([], ["--verdict"]):
        said(name, "--labels", "y", *options, *question, "--save", "answer.npz")
        assert main(["verify", "answer.npz"]) == 0
        assert main(["certify", "answer.npz", "--output", "proofs"]) == 0
    assert "not in it" not in capsys.readouterr().out.splitlines()[-2]


def test_a_quoted_field_over_several_lines_counts_its_lines(said: Callable[..., str]) -> None:
    write("a.csv", QUOTED)
    found = json.loads(said("a.csv", "--labels", "y", "--verdict", "--json"))
    assert found["lines"] == [2, 3, 5, 6, 8, 10]
    printed = said("a.csv", "--labels", "y", "--verdict")
    assert "3 rows overlap (line 3, 5, 6)" in printed
    write("a.csv", QUOTED.replace("41.7", "many"))
    assert "line 6, column 'age': received 'many'" in said("a.csv", "--labels", "y", code=2)
