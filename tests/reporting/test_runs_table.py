"""Reading and checking the runs: a table that does not mean anything is refused by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.reporting.evidence import REQUIRED, Evidence, checked_runs
from tests.repetitions import examples
from tests.reporting.artificial_runs import rows_of, write_folder


def test_a_written_table_reads_back_as_it_was(runs: pd.DataFrame, tmp_path: Path) -> None:
    write_folder(tmp_path, rows_of(runs))
    expected = checked_runs(runs)
    pd.testing.assert_frame_equal(
        Evidence.of_folder(tmp_path).frame[list(REQUIRED)], expected[list(REQUIRED)]
    )
    assert expected["queries"].tolist() == [313, 173, 209, 167]


def test_nullable_columns_mean_the_same(troubled: pd.DataFrame) -> None:
    nullable = troubled.astype({"dimension": "Int64", "updates": "Int64", "queries": "Int64"})
    pd.testing.assert_frame_equal(checked_runs(nullable), checked_runs(troubled))


def test_the_input_frame_is_not_changed(troubled: pd.DataFrame) -> None:
    before = troubled.copy(deep=True)
    checked_runs(troubled)
    pd.testing.assert_frame_equal(troubled, before)


def test_names_that_look_like_missing_values_stay_names(runs: pd.DataFrame, tmp_path: Path) -> None:
    write_folder(tmp_path, rows_of(runs.assign(label=["NA", "nan", "NA", "nan"])))
    assert Evidence.of_folder(tmp_path).frame["label"].tolist() == ["NA", "nan", "NA", "nan"]


@pytest.mark.parametrize(
    ("given_value", "proved"), [("true", True), ("false", False), (np.True_, True), (None, False)]
)
def test_truth_values_are_read_and_blanks_count_as_unproved(
    runs: pd.DataFrame, given_value: object, proved: bool
) -> None:
    table = runs.assign(proved=pd.Series([given_value] * 4, dtype=object))
    assert checked_runs(table)["proved"].tolist() == [proved] * 4


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("proved", "yes", "true or false"),
        ("status", "FEASIBEL", "UPDATE_LIMIT"),
        ("queries", "many", "a finite number"),
        ("queries", "nan", "a finite number"),
        ("seconds", -1.0, "0 or more"),
        ("margin_lower", "-inf", "a finite number, or nothing"),
        ("updates", "inf", "a finite number"),
        ("updates", None, "since the cell is FEASIBLE"),
        ("label", "", "a non-empty text"),
    ],
)
def test_a_wrong_value_is_named_with_its_row(
    runs: pd.DataFrame, column: str, value: object, message: str
) -> None:
    values = runs[column].astype(object)
    values.iloc[2] = value
    with pytest.raises(DataError, match=f"row 3, column {column}: .*{message}"):
        checked_runs(runs.assign(**{column: values}))


@pytest.mark.parametrize("column", REQUIRED)
def test_a_missing_column_is_named(runs: pd.DataFrame, column: str) -> None:
    with pytest.raises(DataError, match=f"no column {column}; a table of runs has"):
        checked_runs(runs.drop(columns=column))


def test_an_empty_table_is_an_error_that_states_what_to_do(runs: pd.DataFrame) -> None:
    with pytest.raises(DataError, match=r"no rows; run the experiment first"):
        checked_runs(runs.iloc[:0])


def test_two_algorithms_under_one_label_are_refused(runs: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="'mcp100', label 'PRA', seed 0 occurs twice"):
        checked_runs(pd.concat([runs, runs.iloc[:1]]))


def test_missing_results_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no results there; `plab run CONFIG` makes them"):
        Evidence.of_folder(tmp_path)


def test_only_the_store_is_read(runs: pd.DataFrame, tmp_path: Path) -> None:
    write_folder(tmp_path, rows_of(runs))
    (tmp_path / "runs.csv").write_text("problem\nother\n")
    assert Evidence.of_folder(tmp_path).frame["problem"].tolist() == runs["problem"].tolist()


@pytest.mark.slow
@given(cut=st.integers(min_value=0, max_value=70_000))
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_truncated_store_never_gains_or_alters_proofs(
    cut: int, runs: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    write_folder(folder, rows_of(runs.assign(status="UPDATE_LIMIT", proved=False)))
    store = folder / "runs.sqlite"
    store.write_bytes(store.read_bytes()[:cut])
    try:
        frame = Evidence.of_folder(folder).frame
    except (DataError, ConfigError):
        return
    assert not frame["proved"].any()
    assert set(frame["status"]) == {"UPDATE_LIMIT"}
