"""The summary of any experiment: one line per problem and label, nothing that holds nothing."""

from __future__ import annotations

import pandas as pd

from perceptron_lab.reporting import Evidence, table_frame
from tests.reporting.artificial_runs import NOTHING, MakeRuns, make_row


def test_medians_and_endings_of_every_pair(make_runs: MakeRuns) -> None:
    runs = make_runs(
        make_row("a", "x", updates=10, seconds=1.0, margin_lower=0.25),
        make_row("a", "x", seed=1, updates=30, seconds=3.0, margin_lower=0.75),
        make_row("b", "x", status="ERROR", **NOTHING),
        make_row("b", "y", status="UPDATE_LIMIT", proved=False, updates=7, margin_lower=None),
    )
    frame = table_frame("summary", Evidence.of_runs(runs)).set_index(["problem", "label"])
    assert list(frame.index) == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert frame.loc[("a", "x"), "seeds"] == 2
    assert frame.loc[("a", "x"), ["iterations", "seconds", "margin lower"]].tolist() == [20, 2, 0.5]
    assert frame["status"].tolist() == ["FEASIBLE", "not run", "ERROR", "UPDATE_LIMIT"]
    assert pd.isna(frame.loc[("b", "x"), "seconds"])


def test_measures_of_learners_are_there_and_columns_without_numbers_are_not(
    make_runs: MakeRuns,
) -> None:
    rows = [
        make_row("a", "x", seed=seed, status="FITTED", **NOTHING) | {"measure.error": error}
        for seed, error in enumerate((0.1, 0.3))
    ]
    frame = table_frame("summary", Evidence.of_runs(make_runs(*rows)))
    assert list(frame.columns) == ["problem", "label", "seeds", "status", "measure.error"]
    assert frame["measure.error"].tolist() == [0.2]
