"""The rows of runs.csv, as text and as a frame."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.core.visible_text import visible
from perceptron_lab.experiments.configuration.rows import (
    COLUMNS,
    as_json,
    blank,
    doubles,
    frame_of,
    parameter_columns,
    reals,
    rendered,
    typed,
)


def row(**changes: Any) -> dict[str, Any]:
    return {"cell": "1234567890123456", "problem": "p", "seed": 0, "proved": True} | changes


def parsed(text: str) -> pd.DataFrame:
    """Return the frame of a runs.csv that is read from a file."""
    return typed(pd.read_csv(io.StringIO(text), dtype=object, keep_default_na=False))


ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=5)
ANY_NUMBER = st.none() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False)
VALUES = {
    "label": ANY_TEXT,
    "message": ANY_TEXT,
    "updates": st.none() | st.integers(0, 2**53),
    "margin_lower": ANY_NUMBER,
    "seconds": ANY_NUMBER,
    "goal_reached": st.none() | st.booleans(),
    "problem.rows": st.none() | st.booleans() | ANY_NUMBER | ANY_TEXT,
    "oracle.lanczos": st.none() | st.integers(0, 100),
    "measure.error": ANY_NUMBER,
}


@given(
    st.lists(
        st.fixed_dictionaries({}, optional=VALUES).map(lambda columns: row(**columns)), min_size=1
    )
)
def test_a_frame_of_rows_is_that_of_the_file(rows: list[dict[str, Any]]) -> None:
    """Bit for bit, without the file."""
    direct, read = typed(frame_of(rows)), parsed(rendered(rows))
    pd.testing.assert_frame_equal(direct, read, check_exact=True)


def test_texts_and_absent_values_survive_a_round_trip() -> None:
    changes = {"cell": "12e4567890123456", "problem": "NA", "label": "null", "updates": None}
    frame = parsed(rendered([row(**changes)]))
    assert list(frame.loc[0, ["cell", "problem", "label", "message"]]) == [
        "12e4567890123456",
        "NA",
        "null",
        "",
    ]
    assert frame["updates"].isna().all()


def test_truth_values_and_line_breaks() -> None:
    text = rendered([row(message='a, "b"\nc'), row(proved=False)])
    assert text.splitlines()[0] == ",".join(COLUMNS)
    assert ",true," in text
    assert ",false," in text
    assert parsed(text)["message"].tolist() == ['a, "b"\nc', ""]


def test_goal_reached_agrees_with_the_verified_values() -> None:
    """It is missing in rows of learners, and in those that were written before it was kept."""
    expected = [row(goal="margin_ratio=0.99", goal_reached=reached) for reached in (True, False)]
    frame = parsed(rendered([*expected, row()]))
    names = list(COLUMNS)
    assert tuple(names[names.index("proved") :][:3]) == ("proved", "goal", "goal_reached")
    assert frame["goal"].tolist() == ["margin_ratio=0.99", "margin_ratio=0.99", ""]
    assert frame["goal_reached"].dtype == "boolean"
    assert frame["goal_reached"].tolist() == [True, False, pd.NA]


def test_measures_follow_in_their_order() -> None:
    text = rendered([row(**{"measure.b": 1.5}), row(**{"measure.a": 2})])
    assert text.splitlines()[0] == ",".join([*COLUMNS, "measure.a", "measure.b"])
    assert parsed(text)["measure.b"].tolist()[0] == 1.5


def test_answers_of_oracles_are_counts_between_parameters_and_measures() -> None:
    """Rows that were written before they were counted have none."""
    counted = {"oracle.sparse-ldl": 3, "oracle.lanczos": 41}
    text = rendered([row(**{"measure.a": 2, "problem.b": 1}), row(**counted)])
    further = ["problem.b", "oracle.lanczos", "oracle.sparse-ldl", "measure.a"]
    assert text.splitlines()[0] == ",".join([*COLUMNS, *further])
    frame = parsed(text)
    assert frame["oracle.lanczos"].dtype == "Int64"
    assert frame["oracle.sparse-ldl"].tolist() == [pd.NA, 3]


def test_parameters_stand_before_measures_and_nested_ones_are_json() -> None:
    parameters = parameter_columns(
        {"scale": 0.5, "family": "reflected"}, {"tau": {"b": 1, "a": []}}
    )
    text = rendered([row(**{"measure.a": 2}), row(**parameters)])
    further = ["problem.family", "problem.scale", "algorithm.tau", "measure.a"]
    assert text.splitlines()[0] == ",".join([*COLUMNS, *further])
    assert parsed(text)["algorithm.tau"].tolist() == ["", '{"a":[],"b":1}']


@pytest.mark.parametrize(
    ("values", "dtype", "read"),
    [
        ([1, 2**40, None], "Int64", [1, 2**40, pd.NA]),
        ([0.1 + 0.2, 3, None], "float64", [0.1 + 0.2, 3.0, math.nan]),
        ([True, None, False], "boolean", [True, pd.NA, False]),
        (["auto", 3, None], "object", ["auto", "3", ""]),
        ([None, None, None], "object", ["", "", ""]),
    ],
)
def test_a_parameter_has_the_type_of_all_its_values(
    values: list[Any], dtype: str, read: list[Any]
) -> None:
    text = rendered([row(**{"algorithm.p": value}) for value in values])
    column = parsed(text)["algorithm.p"]
    assert column.dtype == dtype or dtype == "object"
    assert list(map(repr, column.tolist())) == list(map(repr, read))


@given(st.floats(allow_nan=False))
def test_numbers_are_written_in_full(number: float) -> None:
    (number_read,) = parsed(rendered([row(seconds=number)]))["seconds"]
    assert math.copysign(1.0, number_read) == math.copysign(1.0, number)
    assert number_read == number


@given(st.sampled_from("=+-@\t"), st.text(max_size=9), st.sampled_from(["message", "problem"]))
def test_no_text_is_a_formula_of_a_spreadsheet(first: str, rest: str, column: str) -> None:
    (records,) = csv.DictReader(io.StringIO(rendered([row(**{column: first + rest})]), newline=""))
    assert records[column][0] == "'"
    assert records[column][1] == first


@given(st.text())
def test_any_text_comes_back_visible_but_for_its_carriage_returns(message: str) -> None:
    (records,) = csv.DictReader(io.StringIO(rendered([row(message=message)]), newline=""))
    expected = visible(message.replace("\r\n", "\n").replace("\r", "\n"))
    assert records["message"].removeprefix("'") == expected.removeprefix("'")


def test_numbers_below_zero_stay_numbers() -> None:
    assert parsed(rendered([row(margin_lower=-0.5)]))["margin_lower"].tolist() == [-0.5]


@pytest.mark.parametrize("value", ["a-b", "1=1", "'=1", ""])
def test_other_text_is_as_it_was(value: str) -> None:
    assert parsed(rendered([row(message=value)]))["message"].tolist() == [value]


def test_scalars_of_numpy_are_values_of_json_and_arrays_are_not() -> None:
    assert as_json({"b": np.float64(0.1), "a": np.int64(2), "c": np.True_}) == (
        '{"a":2,"b":0.1,"c":true}'
    )
    with pytest.raises(TypeError, match="ndarray is not a value of JSON"):
        as_json(np.zeros(2))


def test_text_becomes_the_nearest_double() -> None:
    """pandas 2 misses every third number by a unit in the last place."""
    rng = np.random.default_rng(0)
    numbers = (rng.random(1000) * 10.0 ** rng.integers(-300, 300, 1000)).tolist()
    assert reals(pd.Series([repr(number) for number in numbers])).tolist() == numbers
    assert reals(pd.Series(["", "0.1"])).isna().tolist() == [True, False]
    assert reals(pd.Series(["1_000", "x"]), invalid="coerce").isna().all()
    with pytest.raises(ValueError, match="x"):
        reals(pd.Series(["x"]))


def test_absent_values_are_blank_and_not_nan() -> None:
    values = np.array(["", None, float("nan"), pd.NA, pd.NaT, " ", "0", 0, False], dtype=object)
    assert blank(values).tolist() == [True] * 5 + [False] * 4
    assert np.isnan(doubles(values[:5])).all()
    assert doubles(values[6:]).tolist() == [0.0, 0.0, 0.0]
