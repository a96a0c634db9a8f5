"""What a verdict models: its positive class, the intercept, the names of tables and designs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from perceptron_lab import separation, solve, verify
from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.core.saved_answers.kinds import VERDICT, VERDICT_1
from perceptron_lab.problems.separation.verdict import SeparationVerdict
from perceptron_lab.systems import ConicSystem
from tests.core.saved_answers.edits import read, write

DOSES = np.array([[0], [1], [1], [2]])
OUTCOMES = ["control", "case", "control", "case"]
LATER, EARLIER = pd.Timestamp(2020, 1, 2), pd.Timestamp(2020, 1, 1)
RISING = {"x_1": "+INF", "intercept": "-INF"}
FALLING = {"x_1": "-INF", "intercept": "+INF"}


def ordered(values: list[Any], categories: list[Any], *, is_ordered: bool = True) -> pd.Series[Any]:
    return pd.Series(pd.Categorical(values, categories=categories, ordered=is_ordered))


@pytest.mark.parametrize(
    ("labels", "positive", "coefficients"),
    [
        (OUTCOMES, "control", FALLING),
        (ordered(OUTCOMES, ["control", "case"]), "case", RISING),
        (ordered(OUTCOMES, ["control", "unseen", "case"]), "case", RISING),
        (ordered(OUTCOMES, ["control", "case"]).to_frame(), "case", RISING),
        (pd.Categorical(OUTCOMES, categories=["control", "case"], ordered=True), "case", RISING),
        (ordered(OUTCOMES, ["control", "case"], is_ordered=False), "control", FALLING),
        (ordered([10, 9, 10, 9], [10, 9]), 9, RISING),
        ([False, True, False, True], True, RISING),
        ([1.0, 2.0, 1.0, 2.0], 2, RISING),
    ],
)
def test_the_later_class_is_modelled(labels: Any, positive: Any, coefficients: Any) -> None:
    verdict = separation(DOSES, labels)
    assert verdict.coefficients == coefficients
    assert verdict.classes[1] == positive
    assert f"modelled: log-odds of {positive!r} against {verdict.classes[0]!r}" in str(verdict)
    record = verdict.as_json()
    assert record["modelled"] == f"log-odds of {positive!r}"
    assert record["positive"] == positive


def test_categories_that_are_dates_keep_their_order() -> None:
    labels = ordered([LATER, EARLIER, LATER, EARLIER], [LATER, EARLIER])
    assert separation(DOSES, labels).coefficients == RISING


def test_systems_keep_the_order_of_categories() -> None:
    points = [
        solve(ConicSystem.from_labelled(DOSES[[0, 3]], ordered(OUTCOMES[:2], categories))).point
        for categories in (["control", "case"], ["case", "control"])
    ]
    assert points[0][0] > 0 > points[1][0]


def test_an_enum_of_another_library_keeps_its_order() -> None:
    """As polars has it: ``dtype.categories`` is a series."""

    class Enum:
        categories = np.array(["control", "case"])

    class Series:
        dtype = Enum()

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            return np.array(OUTCOMES, dtype=object)

    assert separation(DOSES, Series()).coefficients == RISING  # type: ignore[arg-type]


def test_the_positive_class_is_chosen() -> None:
    assert separation(DOSES, OUTCOMES, positive="case").coefficients == RISING
    assert separation(DOSES, [0, 1, 0, 1], positive=0).coefficients == FALLING
    several = separation([[0], [1], [2], [3]], ["a", "b", "c", "d"], positive="d")
    assert (several.classes, several.verdict) == (("not d", "d"), "complete")
    for positive, message in (
        ("cse", "no label is 'cse' (did you mean 'case'?)"),
        (1, "no label is 1;"),
    ):
        with pytest.raises(InputError) as refused:
            separation(DOSES, OUTCOMES, positive=positive)
        assert message in str(refused.value)
        assert "the labels are 'case', 'control'" in str(refused.value)


def test_an_undecided_verdict_names_the_modelled_class() -> None:
    verdict = separation(DOSES, OUTCOMES, max_seconds=0.0)
    assert verdict.verdict == "undecided"
    assert "log-odds of 'control'" in str(verdict)
    assert verdict.as_json()["intercept"] == "intercept"


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, "a", 0, "a"], dtype=object),
        [0, "a", 0, "a"],
        pd.Series([True, "a", True, "a"]),
        [b"a", "a", b"a", "a"],
    ],
)
@pytest.mark.parametrize("ask", [separation, solve])
def test_texts_among_other_labels_are_refused(labels: Any, ask: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match="give texts or numbers, not both"):
        ask(DOSES, labels) if ask is separation else ask((DOSES, labels))


def test_labels_without_an_order_are_refused() -> None:
    with pytest.raises(InputError, match="labels are of types without an order"):
        separation(DOSES, np.array([0, b"a", 0, b"a"], dtype=object))
    with pytest.raises(InputError, match=r"label 1 is missing \(1 are None, NaN or NA\)"):
        separation(DOSES, ["a", np.nan, "b", "b"])


def test_the_intercept_alone() -> None:
    for nothing in (np.zeros((4, 0)), pd.DataFrame(index=range(4)), np.ones((4, 1))):
        verdict = separation(nothing, [0, 1, 0, 1])
        assert (verdict.verdict, verdict.coefficients) == ("overlap", {"intercept": "FINITE"})
    with pytest.raises(InputError, match=r"rows have shape \(4, 0\)"):
        separation(np.zeros((4, 0)), [0, 1, 0, 1], affine=False)


@pytest.mark.parametrize("constant", [1.0, -3, 0.1])
def test_constant_columns_are_the_intercept(constant: float) -> None:
    frame = pd.DataFrame({"const": constant, "dose": [0, 1, 1, 2], "site": 7})
    verdict = separation(frame, [0, 1, 0, 1])
    assert verdict.coefficients == {"dose": "+INF", "intercept": "-INF"}
    assert (verdict.constant_columns, verdict.unidentified) == (("const", "site"), ())
    assert "the intercept stands for const and site (constant)" in str(verdict)
    assert verdict.as_json()["constant_columns"] == ["const", "site"]
    sparse = separation(sp.csr_array(frame.to_numpy(float)), [0, 1, 0, 1])
    assert sparse.constant_columns == ("x_1", "x_3")
    named = separation(frame.rename(columns={"const": "intercept"}), [0, 1, 0, 1])
    assert named.coefficients == verdict.coefficients


def test_columns_that_are_not_constant_stay() -> None:
    """Zeros are none, equal doubles may be different numbers, and affine=False adds none."""
    approximate = [2**60 + offset for offset in (0, 1, 0, 1)]
    frame = pd.DataFrame({"zero": 0, "near": approximate, "dose": [0.5, 1, 1, 2]})
    assert separation(frame, [0, 1, 0, 1]).constant_columns == ()
    without = separation(pd.DataFrame({"const": 1, "dose": [0, 1, 1, 2]}), OUTCOMES, affine=False)
    assert list(without.coefficients) == ["const", "dose"]
    assert (without.intercept, without.constant_columns) == (None, ())


class Table:
    """A table as polars has it: columns by name, and no numpy array of the whole."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns = columns
        self.shape = (4, len(columns))

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __getitem__(self, name: str) -> Any:
        return np.array(self._columns[name])

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        raise AssertionError("columns are read one by one")


def test_column_names_of_frames_are_used() -> None:
    columns = {"dose": [0, 1, 1, 2], "age": [0.5, 0.5, 1, 1]}
    assert list(separation(Table(columns), OUTCOMES).coefficients) == ["dose", "age", "intercept"]  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"column 'kind' holds 'a' \(str\)"):
        separation(Table({"kind": ["a", "b", "a", "b"]}), OUTCOMES)  # type: ignore[arg-type]


def test_integers_of_a_table_are_exact() -> None:
    """Beside fractions numpy would make doubles of them, and the gap of 1 would be lost."""
    columns = {"count": [2**60, 2**60 + 1, 2**60, 2**60 + 1], "age": [0.5, 0.5, 0.5, 0.25]}
    verdict = separation(Table(columns), [0, 1, 0, 1])  # type: ignore[arg-type]
    assert verdict.verdict == "complete"


def test_column_names_of_arrow_tables_are_used() -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"dose": [0, 1, 1, 2]})
    for form in (table, table.to_batches()[0]):
        assert list(separation(form, OUTCOMES).coefficients) == ["dose", "intercept"]
    twice = arrow.table([arrow.array([0, 1, 1, 2])] * 2, names=["a", "a"])
    with pytest.raises(InputError, match="2 columns have the name 'a'"):
        separation(twice, OUTCOMES)
    with pytest.raises(InputError, match="column 'a' has no value in row 1"):
        separation(arrow.table({"a": [0, None, 1, 2]}), OUTCOMES)


def test_column_names_of_polars_frames_are_used() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"dose": [0, 1, 1, 2]})
    labels = polars.Series(OUTCOMES, dtype=polars.Enum(["control", "case"]))
    assert separation(frame, labels).coefficients == {"dose": "+INF", "intercept": "-INF"}


@pytest.mark.parametrize("attribute", ["design_info", "model_spec"])
def test_column_names_of_design_matrices_are_used(attribute: str) -> None:
    """As patsy and formulaic have them: an array with a record of its columns."""

    class Design(np.ndarray[Any, Any]):
        pass

    design = np.column_stack([np.ones(4), DOSES]).view(Design)
    setattr(design, attribute, SimpleNamespace(column_names=["Intercept", "dose"]))
    verdict = separation(design, [0, 1, 0, 1])
    assert verdict.coefficients == {"dose": "+INF", "intercept": "-INF"}
    assert verdict.constant_columns == ("Intercept",)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A verdict with everything that changes what its coefficients mean, beside its data."""
    path = tmp_path / "verdict.npz"
    (tmp_path / "a.csv").write_text(
        "const,drug,dose,kind\n1,x,0,a\n1,y,1,b\n1,x,1,a\n1,y,2,b\n1,x,2,c\n1,x,1,b\n"
    )
    words = ["--labels", "kind", "--positive", "b", "--one-hot", "--verdict"]
    assert main(["solve", str(tmp_path / "a.csv"), *words, "--save", str(path)]) == 0
    return path


def outcome(path: Path, record: dict[str, Any]) -> str:
    edited = path.with_name("edited.npz")
    write(edited, record)
    (cell,) = verify(edited).cells
    return f"{cell.verdict.value} {cell.message}"


def test_options_that_change_the_model_are_verified(saved: Path) -> None:
    tree = read(saved)
    assert tree["format"] == 2
    assert (tree["intercept"], tree["constant_columns"]) == ("intercept", ["const"])
    assert tree["reference_levels"] == {"drug": "x"}
    assert tree["classes"] == ["not b", "b"]
    assert outcome(saved, tree).startswith("PROVED")
    edits = {
        "intercept": (None, "dose"),
        "constant_columns": ([], ["dose"]),
        "reference_levels": ({}, {"drug": "y"}),
        "classes": (["b", "not b"], ["a", "b"]),
        "names": (["drug=y", "intercept", "dose"], ["drug=x", "dose", "intercept"]),
    }
    for name, values in edits.items():
        for value in values:
            field = "" if name == "intercept" and value is None else f"{name}: "  # other rows
            assert outcome(saved, tree | {name: value}).startswith(f"NOT PROVED {field}"), value
        rest = {key: value for key, value in tree.items() if key != name}
        assert outcome(saved, rest).startswith("DAMAGED"), name
    columns = tree["source"]["columns"]
    for name in ("positive", "one_hot"):
        less = {key: value for key, value in columns.items() if key != name}
        answer = outcome(saved, tree | {"source": tree["source"] | {"columns": less}})
        assert not answer.startswith("PROVED"), name
    other = tree["source"] | {"columns": columns | {"reference": ["drug=y"]}}
    assert not outcome(saved, tree | {"source": other}).startswith("PROVED")


def test_files_of_format_1_are_read(saved: Path) -> None:
    """They are proved on data with their constant columns; those of texts had all levels."""
    tree = read(saved)
    added = {field.path for field in VERDICT} - {field.path for field in VERDICT_1}
    old = {name: value for name, value in tree.items() if name not in added} | {"format": 1}
    assert "written before --one-hot had reference levels" in outcome(saved, old)
    (saved.parent / "a.csv").write_text("dose,kind\n0,a\n1,b\n1,a\n2,b\n")
    words = ["--labels", "kind", "--verdict", "--save", str(saved)]
    assert main(["solve", str(saved.parent / "a.csv"), *words]) == 0
    tree = read(saved)
    old = {name: value for name, value in tree.items() if name not in added} | {"format": 1}
    assert outcome(saved, old).startswith("PROVED")
    edited = saved.with_name("edited.npz")
    again = SeparationVerdict.load(edited, [[0], [1], [1], [2]], ["a", "b", "a", "b"])
    assert again.coefficients == {"dose": "+INF", "intercept": "-INF"}
    assert outcome(saved, old | {"intercept": "dose"}).startswith("DAMAGED")


def test_a_verdict_from_python_survives_a_round_trip(tmp_path: Path) -> None:
    frame = pd.DataFrame({"const": 1.0, "dose": [0, 1, 1, 2]})
    labels = ordered(["a", "b", "a", "c"], ["c", "a", "b"])
    verdict = separation(frame, labels, positive="c")
    verdict.save(tmp_path / "verdict.npz")
    again = SeparationVerdict.load(tmp_path / "verdict.npz", frame, labels)
    assert json.dumps(again.as_json()) == json.dumps(verdict.as_json())
    assert again.not_verified == ("method",)
    with pytest.raises(DataError, match=r"classes: .* is claimed"):
        SeparationVerdict.load(tmp_path / "verdict.npz", frame, ["x", "x", "x", "z"])


def test_a_verdict_without_constant_columns_is_certified(saved: Path, tmp_path: Path) -> None:
    assert main(["certify", str(saved), "--into", str(tmp_path / "certified")]) == 0
