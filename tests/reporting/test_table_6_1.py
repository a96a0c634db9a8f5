"""Table 6.1 as numbers: medians, the thesis's numbers beside them, and what is not proved."""

from __future__ import annotations

import pandas as pd
import pytest

from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.reporting import Evidence, table_frame
from perceptron_lab.reporting.papers.thesis.table_6_1.table import thesis_table
from tests.reporting.artificial_runs import MakeRuns, make_row


def table(runs: pd.DataFrame) -> pd.DataFrame:
    return table_frame("table_6_1", Evidence.of_runs(runs)).set_index("problem")


def test_columns_and_rows_in_order_of_first_appearance(runs: pd.DataFrame) -> None:
    frame = table_frame("table_6_1", Evidence.of_runs(runs.iloc[::-1]))
    per_label = [
        "updates",
        "queries",
        "seconds",
        "thesis queries",
        "thesis seconds",
        "deviation percent",
        "status",
    ]
    ours = [f"{label} {name}" for label in ("EA", "PRA") for name in per_label]
    assert list(frame.columns) == ["problem", "m", "n", *ours, "proved"]
    assert frame["problem"].tolist() == ["mcp124-1", "mcp100"]


def test_equal_runs_deviate_by_nothing_and_m_and_n_are_those_before_homogenisation(
    runs: pd.DataFrame,
) -> None:
    frame = table(runs)
    assert frame["m"].tolist() == [100, 124]
    assert frame["n"].tolist() == [199, 199]
    assert frame["PRA updates"].tolist() == [312, 208]
    assert frame["PRA queries"].tolist() == frame["PRA thesis queries"].tolist() == [313, 209]
    assert frame["EA queries"].tolist() == frame["EA thesis queries"].tolist() == [173, 167]
    assert frame["EA thesis seconds"].tolist() == [0.5, 0.9]
    assert (frame[["PRA deviation percent", "EA deviation percent"]] == 0).to_numpy().all()
    assert frame["proved"].all()
    assert (frame[["PRA status", "EA status"]] == "").to_numpy().all()


def test_one_changed_number_changes_its_deviation_alone(runs: pd.DataFrame) -> None:
    runs.loc[2, "queries"] = 190
    frame = table(runs)
    assert frame.loc["mcp124-1", "PRA deviation percent"] == pytest.approx(-100 * 19 / 209)
    assert frame.loc["mcp124-1", "EA deviation percent"] == 0
    assert frame.loc["mcp100", "PRA deviation percent"] == 0


def test_a_table_with_no_thesis_row_has_no_thesis_columns(make_runs: MakeRuns) -> None:
    frame = table(make_runs(make_row("other", "PRA"), make_row("other", "EA")))
    assert not [name for name in frame.columns if "thesis" in name or "deviation" in name]


def test_only_the_thesis_labels_on_the_thesis_problems_have_its_numbers(
    make_runs: MakeRuns,
) -> None:
    labels = ("PRA", "PRA cholesky")
    frame = table(
        make_runs(*(make_row(name, label) for name in ("mcp100", "other") for label in labels))
    )
    assert [name for name in frame.columns if "thesis" in name] == [
        "PRA thesis queries",
        "PRA thesis seconds",
    ]
    assert frame["PRA thesis queries"].isna().tolist() == [False, True]


def test_runs_without_a_verified_feasible_point_show_their_status(troubled: pd.DataFrame) -> None:
    frame = table(troubled)
    assert frame["PRA status"].tolist() == ["", "ERROR", ""]
    assert frame["EA status"].tolist() == ["UPDATE_LIMIT", "FEASIBLE (unproved)", "not run"]
    assert not frame["proved"].any()
    assert frame["EA deviation percent"].isna().all()
    assert frame.loc["mcp124-1", ["PRA queries", "PRA seconds"]].isna().all()
    assert frame.loc["mcp124-1", ["m", "n"]].tolist() == [124, 199]


@pytest.mark.parametrize(
    ("status", "proved", "message"),
    [
        ("INFEASIBLE", True, "INFEASIBLE"),
        ("INFEASIBLE", False, "INFEASIBLE (unproved)"),
        ("UNVERIFIED", False, "UNVERIFIED"),
        ("TIME_LIMIT", True, "TIME_LIMIT"),
        ("SKIPPED", False, "SKIPPED"),
    ],
)
def test_only_a_proved_feasible_cell_counts_as_proved(
    make_runs: MakeRuns, status: str, proved: bool, message: str
) -> None:
    frame = table(make_runs(make_row("mcp100", "PRA", status=status, proved=proved)))
    assert frame.loc["mcp100", "PRA status"] == message
    assert not frame.loc["mcp100", "proved"]


def test_several_seeds_give_medians_and_their_number(make_runs: MakeRuns) -> None:
    seeds = [make_row("mcp100", "PRA", seed=s, queries=q) for s, q in enumerate((300, 320, 400))]
    frame = table(make_runs(*seeds, make_row("mcp100", "EA")))
    assert (frame["PRA seeds"].item(), frame["EA seeds"].item()) == (3, 1)
    assert frame["PRA queries"].item() == 320
    assert frame.loc["mcp100", "PRA deviation percent"] == pytest.approx(100 * 7 / 313)
    even = table(make_runs(*seeds[:2]))
    assert even.loc["mcp100", "PRA queries"] == 310


def test_a_median_between_two_counts_is_kept_exactly(make_runs: MakeRuns) -> None:
    seeds = [make_row("mcp100", "PRA", seed=s, queries=q) for s, q in enumerate((300, 301))]
    assert table(make_runs(*seeds)).loc["mcp100", "PRA queries"] == 300.5


def test_one_unproved_seed_among_several_is_counted(make_runs: MakeRuns) -> None:
    seeds = [make_row("mcp100", "PRA", seed=s) for s in range(2)]
    limit = make_row("mcp100", "PRA", seed=2, status="TIME_LIMIT", proved=False)
    frame = table(make_runs(*seeds, limit))
    assert frame.loc["mcp100", "PRA status"] == "TIME_LIMIT (1 of 3)"
    assert not frame.loc["mcp100", "proved"]
    assert frame["PRA deviation percent"].isna().all()


def test_one_problem_with_two_dimensions_is_refused(make_runs: MakeRuns) -> None:
    rows = [make_row("mcp100", "PRA"), make_row("mcp100", "EA", dimension=102)]
    with pytest.raises(DataError, match=r"'mcp100' has several dimensions \(101, 102\)"):
        table(make_runs(*rows))


def test_labels_that_would_share_a_column_are_refused(make_runs: MakeRuns) -> None:
    rows = [make_row("mcp100", "PRA"), make_row("mcp100", "PRA thesis")]
    with pytest.raises(DataError, match="called 'PRA thesis queries'; rename"):
        table(make_runs(*rows))


def test_an_unknown_table_is_refused_with_the_closest_name(runs: pd.DataFrame) -> None:
    with pytest.raises(ConfigError, match=r"'table_6_2' \(did you mean 'table_6_1'\?\)"):
        table_frame("table_6_2", Evidence.of_runs(runs))


def test_the_thesis_table_is_complete() -> None:
    thesis = thesis_table()
    assert len(thesis) == 28
    assert thesis["maxG11", "EA"].seconds == 570.4
    # The thesis's own finding: the ellipsoid method asks less often and takes no less time.
    problems = {problem for problem, _ in thesis}
    assert all(thesis[p, "EA"].queries < thesis[p, "PRA"].queries for p in problems)
    assert all(thesis[p, "EA"].seconds >= thesis[p, "PRA"].seconds for p in problems)
