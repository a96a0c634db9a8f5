"""Columns of texts and truth values in tables, their reference levels, and the positive class."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import verify
from perceptron_lab.cli.main import main
from perceptron_lab.cli.verdict_answers import verdict_answer
from perceptron_lab.core.errors import DataError, InputError, PlabError
from perceptron_lab.datasets.collections.files import Files
from perceptron_lab.datasets.collections.problem_files import read_problem, read_system
from perceptron_lab.datasets.formats.columns import Columns, ConfiguredColumns
from perceptron_lab.datasets.formats.file_contents import read_contents
from perceptron_lab.experiments.configuration.components import Component

PATIENTS = (
    "drug,age,ill\n"
    + "".join(f"zero,{age},{age % 2}\n" for age in (21, 32, 43, 54, 25))
    + "high,31,1\nhigh,45,1\nlow,33,1\nlow,36,0\nlow,35,0\nlow,28,1\n"
)


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    path.write_text(PATIENTS)
    return path


def verdict_of(path: Path, **columns: Any) -> dict[str, Any]:
    return verdict_answer(path, Columns("ill", one_hot=True, **columns)).as_json()


def test_the_first_level_is_the_reference(patients: Path) -> None:
    """Of three dummies and an intercept nothing is aliased; the diverging one is named."""
    answer = verdict_of(patients)
    assert answer["coefficients"] == {
        "drug=low": "-INF",
        "drug=zero": "-INF",
        "age": "FINITE",
        "intercept": "+INF",
    }
    assert answer["reference_levels"] == {"drug": "high"}
    assert answer["unidentified"] == []
    assert answer["notes"] == ["reference levels, without a column: drug=high"]


def test_another_level_is_the_reference(patients: Path) -> None:
    answer = verdict_of(patients, reference=["drug=zero"])
    assert answer["coefficients"] == {
        "drug=high": "+INF",
        "drug=low": "FINITE",
        "age": "FINITE",
        "intercept": "FINITE",
    }
    message = str(verdict_answer(patients, Columns("ill", one_hot=True, reference=("drug=zero",))))
    assert "modelled: log-odds of 1 against 0\n" in message
    assert "reference levels, without a column: drug=zero" in message


def test_systems_have_a_reference_level(patients: Path) -> None:
    problem = read_problem(patients, Columns("ill", one_hot=True))
    assert problem.features == ("drug=low", "drug=zero", "age")
    other = read_system(patients, "ill", one_hot=True, reference={"drug": "zero"}, positive=0)
    signs = -np.array([1, 0, 1, 0, 1, 1, 1, 1, 0, 0, 1]) * 2.0 + 1
    high = [0.0] * 5 + [1.0] * 2 + [0.0] * 4
    rows = other.operator.rows(np.arange(11))
    np.testing.assert_array_equal(np.sign(rows[:, -1]), signs)
    np.testing.assert_array_equal(rows[:, 0] != 0, high)


def test_without_an_intercept_the_first_column_of_texts_keeps_its_levels(tmp_path: Path) -> None:
    """As in R and patsy: rows of numbers have no intercept that levels could add up to."""
    path = tmp_path / "rows.csv"
    path.write_text("kind,place,size\na,x,3\nb,y,4\na,y,5\n")
    names = read_contents(path, Columns(rows=True, one_hot=True)).features
    assert names == ["kind=a", "kind=b", "place=y", "size"]
    listed = Columns(rows=True, one_hot=True, reference=("kind=b",))
    assert read_contents(path, listed).features == ["kind=a", "place=y", "size"]


def test_levels_are_those_of_the_rows_in_use(tmp_path: Path) -> None:
    """The level of a row that is left out would be a reference that nothing is compared with."""
    path = tmp_path / "a.csv"
    path.write_text("kind,size,ill\na,,1\nb,1,0\nc,2,1\nb,2,1\nc,1,0\n")
    contents = read_contents(path, Columns("ill", drop_missing=True, one_hot=True))
    assert contents.reference_levels == {"kind": "b"}
    assert contents.features == ["kind=c", "size"]
    path.write_text("kind,size,ill\nb,1,0\nb,2,1\n")
    contents = read_contents(path, Columns("ill", one_hot=True))
    assert contents.features == ["size"]
    assert "column 'kind' holds one text in every row: left out" in contents.notes


def test_marks_in_names_and_levels(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a=b,ill\nx,0\nc=d,1\nx,1\n")
    contents = read_contents(path, Columns("ill", one_hot=True, reference=("a=b=x",)))
    assert contents.features == ["a=b=c=d"]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("durg=low", "no column of texts is called 'durg' (did you mean 'drug'?); the levels are "),
        ("age=21", "no column of texts is called 'age'; the levels are drug: high, low, zero"),
        ("drug=hihg", "column 'drug' has no level 'hihg' (did you mean 'high'?); the levels are "),
        ("drug", "reference 'drug': give COLUMN=LEVEL; the levels are drug: high, low, zero"),
    ],
)
def test_an_unknown_reference_is_refused_with_the_list(
    reference: str, message: str, patients: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--labels", "ill", "--one-hot", "--reference", reference]
    assert main(["solve", str(patients), *words]) == 2
    assert message in capsys.readouterr().err


def test_a_reference_needs_levels(patients: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(patients), "--labels", "ill", "--reference", "drug=low"]) == 2
    assert "--reference drug=low without --one-hot, which" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"reference: .drug=low. without one_hot: true"):
        ConfiguredColumns("ill", reference=("drug=low",))


@pytest.mark.parametrize("words", [("True", "False"), ("TRUE", "FALSE"), (" true", "false")])
@pytest.mark.parametrize("one_hot", [False, True])
def test_truth_values_are_numbers(words: tuple[str, str], one_hot: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    values = [0, 0, 1, 0, 1]
    lines = [
        f"{words[1 - value]},{age},{age % 2}\n" for value, age in zip(values, range(5), strict=True)
    ]
    path.write_text("smoke,age,ill\n" + "".join(lines))
    contents = read_contents(path, Columns("ill", one_hot=one_hot))
    assert contents.features == ["smoke", "age"]
    assert contents.rows.values[:, 0].tolist() == values
    assert contents.notes == ["True and False are read as 1 and 0: column 'smoke'"]


def test_a_text_among_truth_values_is_a_missing_value(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("smoke,ill\nTrue,0\nmaybe,1\nFalse,1\nTrue,1\n")
    with pytest.raises(DataError, match=r"column 'smoke': received 'True', which is no number"):
        read_problem(path, Columns("ill"))
    names = read_contents(path, Columns("ill", one_hot=True)).features
    assert names == ["smoke=True", "smoke=maybe"]
    path.write_text("smoke,ill\nTrue,0\nNA,1\nFalse,1\n")
    contents = read_contents(path, Columns("ill", drop_missing=True))
    assert contents.rows.values.tolist() == [[1.0], [0.0]]


def test_one_class_of_several_is_positive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("size,kind\n1,a\n2,a\n3,b\n4,b\n5,c\n6,c\n")
    words = ["solve", str(path), "--labels", "kind", "--positive"]
    assert main([*words, "a", "--verdict", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["classes"], data["modelled"]) == (["not a", "a"], "log-odds of 'a'")
    assert (data["verdict"], data["coefficients"]["size"]) == ("complete", "-INF")
    assert main([*words, "b", "--verdict"]) == 0
    assert "modelled: log-odds of 'b' against 'not b'" in capsys.readouterr().out
    assert main([*words, "a", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["labels"] == {"name": "kind", "negative": "not a", "positive": "a"}
    assert data["point"][0] < 0
    assert main([*words, "a", "--ellipsoid"]) == 0
    assert "ellipsoid with 'a' inside" in capsys.readouterr().out
    assert main([*words, "d"]) == 2
    assert "--positive d: no label is 'd'; the labels are a, b, c" in capsys.readouterr().err
    assert main(words[:-1]) == 2
    assert "give two classes, such as y == 'a', one class against the rest (on the command" in (
        capsys.readouterr().err
    )
    assert main(["solve", str(path), "--labels", "size", "--one-hot", "--positive", "3"]) == 0
    assert "3 against 'not 3'" in capsys.readouterr().out


def test_a_positive_class_needs_labels(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("1,2\n3,4\n")
    with pytest.raises(PlabError, match=r"--positive 1 chooses a class, and there are no labels"):
        read_problem(path, Columns(positive="1"))
    graph = tmp_path / "a.rud"
    graph.write_text("2 1\n1 2 1\n")
    with pytest.raises(DataError, match=r"--positive 1 chooses a class of labels; a .rud file"):
        read_problem(graph, Columns(positive="1"))


def test_a_configuration_chooses_both(patients: Path, tmp_path: Path) -> None:
    record = Files(
        ["patients.csv"], labels="ill", one_hot=True, reference=["drug=zero"], positive=0
    )
    problem = record.load("patients", seed=0, base=tmp_path)
    first = problem.system.operator.rows(np.array([0]))[0]  # age 21, ill
    assert first[-1] < 0
    split = Files(["patients.csv"], "ill", one_hot=True, positive="0", test_fraction=0.4)
    (task,) = split.load("patients", seed=0, base=tmp_path).tasks
    assert sorted([*task.labels, *task.test_labels]).count(1.0) == 4


def test_cells_without_levels_keep_their_ids(patients: Path) -> None:
    """What is hashed is what earlier versions hashed."""
    plain = Component("dataset", "files", Files(["patients.csv"], "ill")).parameters
    assert not {"reference", "positive"} & plain.keys()
    selected = Files(["patients.csv"], "ill", one_hot=True, reference=["drug=low"], positive="0")
    parameters = Component("dataset", "files", selected).parameters
    assert (parameters["reference"], parameters["positive"]) == (["drug=low"], "0")


@pytest.mark.parametrize("words", [["--verdict"], []])
def test_saved_answers_are_verified_with_reference_levels(words: list[str], patients: Path) -> None:
    saved = patients.with_name("answer.npz")
    encoding = ["--one-hot", "--reference", "drug=zero", "--positive", "0"]
    command = ["solve", str(patients), "--labels", "ill", *encoding, *words]
    assert main([*command, "--save", str(saved)]) == 0
    (cell,) = verify(saved).cells
    assert not cell.verdict.failed, cell.message
