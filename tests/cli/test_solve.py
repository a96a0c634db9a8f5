"""``plab solve``: every kind of file, its answer, and what is said of broken ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.base import State
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import DataError, NumericalError
from perceptron_lab.core.refusals import STRICT
from perceptron_lab.core.registry import register
from perceptron_lab.core.results import Result
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.datasets.formats.file_contents import FORMATS
from perceptron_lab.experiments.configuration.rows import COLUMNS
from perceptron_lab.systems import ConicSystem
from tests.repetitions import examples

ROWS = np.array([[1.0, 0.5], [0.25, 1.0], [1.0, -0.125]])
OPPOSITE = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
EXAMPLES = np.array([[1.0, 2.0], [2.0, 1.5], [-1.0, -2.0], [-2.0, 0.25]])
LABELS = np.array([1.0, 1.0, -1.0, -1.0])
PERCEPTRON = ["--algorithm", "perceptron"]
SDPA = "1\n1\n2\n1.0\n0 1 1 1 -1.0\n0 1 2 2 -1.0\n1 1 1 1 1.0\n1 1 2 2 1.0\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_text(name: str, rows: Any) -> None:
    separator = "\t" if name.endswith(".tsv") else ","
    lines = (separator.join(map(str, row)) for row in np.asarray(rows).tolist())
    Path(name).write_text("\n".join(lines) + "\n")


def write_rows(name: str, rows: Any) -> None:
    """Write unlabelled rows in the format that the name asks for."""
    kind = Path(name).suffix
    if kind == ".npy":
        np.save(name, rows)
    elif kind == ".npz":
        np.savez(name, anything=rows)
    elif kind == ".parquet":
        pd.DataFrame(rows, columns=[f"x{j}" for j in range(rows.shape[1])]).to_parquet(name)
    else:
        write_text(name, rows)


def write_svmlight(name: str) -> None:
    lines = [
        f"{label:+g} " + " ".join(f"{i + 1}:{value!r}" for i, value in enumerate(row))
        for label, row in zip(LABELS.tolist(), EXAMPLES.tolist(), strict=True)
    ]
    Path(name).write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.npy", "a.npz", "a.parquet", "A.CSV"])
def test_rows_are_a_homogeneous_system(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(name, ROWS)
    assert main(["solve", name, "--save", "answer.npz"]) == 0
    printed = capsys.readouterr().out.splitlines()
    if name.endswith(("sv", "SV")):
        assert printed.pop(0).startswith(f"{name}: read as 3 rows, columns separated by ")
    there = f"{name}: there is a point with all inequalities strict, unit margin "
    assert printed[0].startswith(there)
    assert printed[1].startswith("FEASIBLE (proved): ")
    assert "  3 constraints, dimension 2; auto" in printed
    assert (ROWS @ Result.load("answer.npz").point > 0).all()


def test_sparse_rows_of_scipy_stay_sparse() -> None:
    sp.save_npz("a.npz", sp.csr_array(ROWS))
    data: Any = read_system(Path("a.npz")).operator
    assert sp.issparse(data.data)
    assert main(["solve", "a.npz"]) == 0


@pytest.mark.parametrize("name", ["a.npz", "a.svm", "a.libsvm", "a.csv", "named.csv", "a.npy"])
def test_labelled_examples_are_separated_affinely(name: str) -> None:
    table = np.column_stack([EXAMPLES[:, 0], LABELS, EXAMPLES[:, 1]])
    options = ["--labels", "2"]
    if name == "a.npz":
        np.savez(name, X=EXAMPLES, y=LABELS)
        options = []
    elif name == "a.npy":
        np.save(name, table)
    elif name == "named.csv":
        write_text("t.csv", table)
        Path(name).write_text("first, class ,second\n" + Path("t.csv").read_text())
        options = ["--labels", "class"]
    elif name == "a.csv":
        write_text(name, table)
    else:
        write_svmlight(name)
        options = []
    assert main(["solve", name, *options, "--save", "answer.npz"]) == 0
    point = Result.load("answer.npz").point
    assert point.shape == (3,)
    assert (LABELS * (EXAMPLES @ point[:2] + point[2]) > 0).all()


@pytest.mark.parametrize(
    ("labels", "positive"), [(["b", "a"], "b"), (["9", "10"], "10"), (["1e1", "9"], "1e1")]
)
def test_the_larger_label_is_positive(labels: list[str], positive: str) -> None:
    Path("a.csv").write_text(f"x,y,kind\n1,0,{labels[0]}\n\n0,1,{labels[1]}\n")
    scores = read_system(Path("a.csv"), "last").scores(np.array([1.0, -1.0, 0.0]))
    assert (np.sign(scores) == (1 if labels[0] == positive else -1)).all()


def test_a_byte_order_mark_and_blank_lines_do_no_harm() -> None:
    Path("a.csv").write_bytes(b"\xef\xbb\xbf1, 0.5\r\n\r\n.25 ,1\r\n")
    operator: Any = read_system(Path("a.csv")).operator
    assert operator.data.tolist() == [[1.0, 0.5], [0.25, 1.0]]


def test_the_algorithm_that_auto_selected_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    write_text("a.csv", ROWS)
    words = ["solve", "a.csv", "--algorithm", "auto"]
    assert main(words) == 0
    plain = capsys.readouterr().out
    assert main([*words, "-v", "--save", "answer.npz"]) == 0
    notes = Result.load("answer.npz").certificate["notes"]
    assert notes
    assert not any(note in plain for note in notes)
    assert capsys.readouterr().out.splitlines()[-len(notes) :] == [f"  {note}" for note in notes]


def test_a_semidefinite_program_is_solved(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.dat-s").write_text(SDPA)
    assert main(["solve", "a.dat-s"]) == 0
    assert "FEASIBLE (proved)" in capsys.readouterr().out
    words = ["solve", "a.dat-s", *PERCEPTRON, "--oracle", "eigenvector"]
    assert main([*words, "--oracle", "cyclic"]) == 0
    assert "FEASIBLE (proved)" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["oracle"] == "eigenvector"


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ([], "MARGIN_BOUNDED"),
        (["--budget-updates", "0"], "UPDATE_LIMIT"),
        (["--budget-seconds", "0"], "TIME_LIMIT"),
        (["--goal", "margin_upper=0.5"], "MARGIN_BOUNDED"),
    ],
)
def test_limits_and_bounds_are_results(
    options: list[str], status: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_text("a.csv", OPPOSITE)
    assert main(["solve", "a.csv", "--algorithm", "mirror-prox", *options]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[2].startswith((status, "INFEASIBLE (proved)"))


def test_json_has_the_columns_of_a_table_of_runs(capsys: pytest.CaptureFixture[str]) -> None:
    write_text("a.csv", ROWS)
    arguments = ["solve", "a.csv", "--json", "--seed", "7", *PERCEPTRON]
    assert main([*arguments, "--oracle", "cyclic"]) == 0
    row = json.loads(capsys.readouterr().out)
    columns = [name for name in COLUMNS if name not in ("cell", "environment", "core")]
    beside = ["infeasibility", "conflict", "point", "weights", "labels", "features", "reading"]
    parameters = ["algorithm.initial", "algorithm.normalized"]
    assert list(row) == [*columns, *parameters, *beside, "lines", "certificate"]
    assert (np.array(ROWS) @ row["point"] > 0).all()
    assert (row["labels"], row["features"], row["lines"]) == (None, None, [1, 2, 3])
    assert row["parameters"] == {"initial": "zero", "normalized": True}
    assert (row["algorithm.initial"], row["algorithm.normalized"]) == ("zero", True)
    assert (row["problem"], row["constraints"], row["dimension"]) == ("a.csv", 3, 2)
    assert (row["algorithm"], row["oracle"], row["seed"]) == ("perceptron", "cyclic", 7)
    assert (row["status"], row["proved"]) == ("FEASIBLE", True)
    assert 0 < row["margin_lower"] <= 1
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["oracle"] == "most-violated"
    assert main(["solve", "a.csv", "--json", "--algorithm", "mirror-prox"]) == 0
    assert json.loads(capsys.readouterr().out)["oracle"] == ""


@dataclass(frozen=True, config=STRICT)
class Overflowing(Perceptron):
    """A perceptron whose own quantities leave their range at once."""

    def step(self, system: ConicSystem, state: State, most: int) -> Any:
        raise NumericalError("the step is not finite")


def test_a_failed_run_is_exit_code_1(
    user_registrations: None, capsys: pytest.CaptureFixture[str]
) -> None:
    register("algorithm", "overflowing", Overflowing)
    write_text("a.csv", ROWS)
    assert main(["solve", "a.csv", "--algorithm", "overflowing", "--save", "answer.npz"]) == 1
    assert "NUMERICAL_ERROR, goal decide missed: the step is not finite" in capsys.readouterr().out
    assert Result.load("answer.npz").status == "NUMERICAL_ERROR"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument 'FILE'"),
        (
            ["none.csv"],
            "Error: none.csv: no such file in the current folder (did you mean 'a.csv'?)",
        ),
        (
            ["none"],
            "none: no such file in the current folder; give one that ends with .dat-s, .rud",
        ),
        (["no/none.csv"], "Error: no/none.csv: no such file; there is no folder no"),
        (["."], "/a.doc: nothing is known of such files; allowed are .dat-s: a sem"),
        (["a.doc"], "Error: a.doc: nothing is known of such files; allowed are .dat-s: a sem"),
        (["a.xlsx"], "Error: a.xlsx: a file of Excel is not read; export it from Excel as CSV"),
        (["a.csv", "--algorithm", "auot"], "Error: unknown algorithm 'auot'"),
        (
            ["a.csv", *PERCEPTRON, "--oracle", "cholesky"],
            "an oracle for semidefinite blocks, of which",
        ),
        (["a.csv", "--oracle", "cyclik"], "unknown oracle 'cyclik' (did you mean 'cyclic'?)"),
        (["a.csv", "--algorithm", "mirror-prox", "--oracle", "cyclic"], "asks no oracle; leave"),
        (["a.csv", "--goal", "decde"], "received 'decde'; allowed: decide, budget, margin_upper="),
        (["a.csv", "--goal", "margin_upper=0"], "received 'margin_upper=0'; allowed"),
        (["a.csv", "--goal", "margin_ratio=nan"], "received 'margin_ratio=nan'; allowed"),
        (["a.csv", "--goal", "margin_ratio=x"], "received 'margin_ratio=x'; allowed"),
        (["a.csv", "--budget-seconds", "nan"], "'--budget-seconds': nan; give a finite number"),
        (["a.csv", "--budget-updates", "-1"], "-1 is not in the range x>=0"),
        (["a.csv", "--seed", "-1"], "-1 is not in the range x>=0"),
        (["a.csv", "--labels", "9"], "Error: a.csv: there is no column 9; give 1 to 2, or last"),
        (["a.csv", "--labels", "0"], "Error: a.csv: there is no column 0; give 1 to 2, or last"),
        (["a.csv", "--labels", "kind"], "a.csv: no column is called 'kind'; give a name of the"),
        (["a.csv", "--labels", "last"], "Error: a.csv: labels take 3 values"),
        (
            ["a.dat-s", "--labels", "last"],
            "labels are a column of .csv, .tsv, .txt, .npy and .parquet files",
        ),
        (
            ["a.csv", "--memory", "2GB"],
            "Error: a.csv: a .csv file is read as a whole; leave the me",
        ),
        (["a.npy", "--memory", "big"], "received 'big'; give a size such as 64MB or 2GB"),
        (["a.npy", "--memory", "-1MB"], "received '-1MB'; give a size such as 64MB or 2GB"),
        (["a.npy", "--memory", "999kB"], "received '999kB'; allowed: 1MB or more"),
        (["a.csv", "--save", "none/r.npz"], "Error: none/r.npz: the folder none does not exist"),
        (["a.csv", "--save", "."], "File '.' is a directory"),
    ],
)
def test_a_wrong_command_line_is_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_text("a.csv", ROWS)
    for name in ("a.xlsx", "a.doc"):
        Path(name).touch()
    Path("a.dat-s").write_text(SDPA)
    assert main(["solve", *arguments]) == 2
    printed = capsys.readouterr()
    assert message in " ".join(printed.err.split())
    assert not printed.out


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "the file is empty; give rows of numbers"),
        ("a.csv", " \n,,\n", "the file is empty"),
        ("a.csv", "x,y\n", "only names of columns are in the file"),
        ("a.csv", "x,y\n1,2\n3\n", "line 3 has 1 field, the first has 2; give every row as"),
        (
            "a.csv",
            "1,2\n3,x4\n",
            "line 2, column 2: received 'x4', which is no number, as the other entries of the "
            "column",
        ),
        ("a.csv", "x,y\n1,2\n3,4,5\n", "line 3 has 3 fields, the first has 2; give every row"),
        ("a.csv", "1:2\n3:4\n", "line 2, column '1:2': received '3:4', which is no number"),
        ("a.csv", "1,2\n3,\n", "line 2, column 2: received '', no value; fill it, or leave"),
        ("a.csv", "1,2\n3,nan\n", "line 2, column 2: received 'nan', no value"),
        ("a.csv", "1,2\n3,inf\n", "line 2, column 2: received 'inf'; give finite numbers"),
        ("a.tsv", "1\t1e999\n", "line 1, column 2: received '1e999'; give finite numbers"),
        ("a.csv", "x,y\nNA,2\n", "line 2, column 'x': received 'NA', no value"),
        ("a.csv", "1,2\n0,0\n", "a.csv: line 2 is zero (1 such rows); a zero row"),
        (
            "a.csv",
            b"1,2\n\xff,3\n",
            "line 2: the byte ff, in '1,2\\nÿ,3\\n' by Windows",
        ),
        ("a.npy", "1,2\n", "not a .npy file that can be read"),
        ("a.npy", b"\x93NUMPY", "not a .npy file that can be read"),
        ("a.parquet", "1,2\n", "not a Parquet file that can be read"),
        ("a.parquet", "", "not a Parquet file that can be read"),
        ("a.npz", "1,2\n", "not a .npz file that can be read (File is not a zip file)"),
        ("a.svm", "", "give a non-empty matrix"),
        ("a.svm", "1 1:x\n", "not a .svm file that can be read"),
        ("a.svm", "1 1:2\n1 1:3\n", "labels take 1 value"),
        ("a.libsvm", "1,2\n3,4\n", "not a .libsvm file that can be read"),
        ("a.dat-s", "1\n1\n2\n", "a.dat-s"),
    ],
)
def test_a_broken_file_is_exit_code_2(
    name: str, content: str | bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["solve", name]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"Error: {name}:")
    assert message in printed.err
    assert len(printed.err.splitlines()) <= 2
    assert not printed.out


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": EXAMPLES}, None),
        ({"X": EXAMPLES, "y": LABELS[:3]}, "4 examples, but 3 labels"),
        ({"X": EXAMPLES, "z": LABELS}, "it holds the arrays X, z; give one (the rows), or X and y"),
        ({"a": np.ones(3)}, "rows have shape (3,)"),
        ({"a": np.array([["1", "x"]])}, "rows of type <U1"),
        ({"a": np.array([{}])}, "not a .npz file that can be read"),
        ({"a": np.array([[1.0, np.inf]])}, "row 0 holds NaN or infinity"),
        ({}, "it holds the arrays (none)"),
    ],
)
def test_an_archive_holds_rows_or_examples_and_labels(
    arrays: dict[str, Any], message: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez("a.npz", **arrays)
    assert main(["solve", "a.npz"]) == (0 if message is None else 2)
    assert (message or "") in capsys.readouterr().err


def test_rows_of_numpy_are_mapped_and_not_read() -> None:
    np.save("a.npy", ROWS)
    operator: Any = read_system(Path("a.npy")).operator
    owners = [operator.data]
    while getattr(owners[-1], "base", None) is not None:
        owners.append(owners[-1].base)
    assert any(isinstance(owner, np.memmap) for owner in owners)
    assert main(["solve", "a.npy"]) == 0
    assert (np.load("a.npy") == ROWS).all()


@pytest.mark.parametrize("memory", ["1MB", "1.5 mb", "2GB", "1000000", "1000k"])
@pytest.mark.parametrize("name", ["a.npy", "a.parquet"])
def test_rows_are_read_block_by_block(
    name: str, memory: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(name, ROWS)
    assert main(["solve", name, "--memory", memory, "--save", "answer.npz"]) == 0
    assert "FEASIBLE (proved)" in capsys.readouterr().out
    assert (ROWS @ Result.load("answer.npz").point > 0).all()


def test_labels_of_rows_that_are_read_block_by_block() -> None:
    np.save("a.npy", np.column_stack([EXAMPLES[:, 0], LABELS, EXAMPLES[:, 1]]))
    words = ["solve", "a.npy", "--labels", "2", "--memory", "1MB", "--save", "answer.npz"]
    assert main(words) == 0
    point = Result.load("answer.npz").point
    assert (LABELS * (EXAMPLES @ point[:2] + point[2]) > 0).all()


def test_an_algorithm_that_needs_all_rows_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("a.npy", ROWS)
    assert main(["solve", "a.npy", "--memory", "1MB", "--algorithm", "cyclic-perceptron"]) == 2
    assert "needs all of them at once; choose auto" in capsys.readouterr().err


def test_an_archive_under_a_wrong_name_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("a.npz", ROWS, ROWS)
    Path("a.npz").rename("a.npy")
    assert main(["solve", "a.npy"]) == 2
    assert "it holds several arrays; let its name end with .npz" in capsys.readouterr().err
    np.save("a.npy", ROWS)
    Path("a.npy").rename("a.npz")
    assert main(["solve", "a.npz"]) == 2
    assert "not a .npz file that can be read" in capsys.readouterr().err


def test_labels_of_a_vector_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("a.npy", np.ones(3))
    assert main(["solve", "a.npy", "--labels", "last"]) == 2
    assert "rows have shape (3,); with labels give two columns" in capsys.readouterr().err


@pytest.mark.parametrize("kind", FORMATS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(40))
@given(data=st.data())
def test_damaged_bytes_are_read_or_refused(kind: str, data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / f"a{kind}"
    if kind == ".dat-s":
        path.write_text(SDPA)
    elif kind in (".svm", ".libsvm"):
        write_svmlight(str(path))
    else:
        write_rows(str(path), ROWS)
    full = path.read_bytes()
    start = data.draw(st.integers(0, len(full)))
    stop = data.draw(st.integers(start, min(len(full), start + 4)))
    path.write_bytes(full[:start] + data.draw(st.binary(max_size=4)) + full[stop:])
    try:
        system = read_system(path)
    except DataError as error:
        message = str(error)
    else:
        message = str(path) if np.isfinite(system.scores(np.ones(system.dimension))).all() else ""
    assert message.startswith(str(path))
