"""Performance profiles: the numbers, the table and the figure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.lines import Line2D

from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.studies.timing import RESOLUTION, profiles
from tests.reporting.artificial_runs import NOTHING, Row, make_row
from tests.reporting.drawn_lines import across, heights
from tests.reporting.latex_lines import balanced, body

UNPROVED = [
    {"status": "TIME_LIMIT", "proved": False},
    {"status": "UNVERIFIED", "proved": False},
    {"status": "FEASIBLE", "proved": False},
    {"status": "CRASHED", **NOTHING},
    {"status": "SKIPPED", **NOTHING},
]


def evidence(*rows: Row) -> Evidence:
    return Evidence.of_runs(pd.DataFrame(list(rows)))


def ratios(*rows: Row) -> dict[str, list[float]]:
    return {profile.label: profile.ratios.tolist() for profile in profiles(evidence(*rows).frame)}


def drawn(*rows: Row) -> dict[str, Line2D]:
    (axes,) = report.figure("profile", evidence(*rows)).axes
    return {str(line.get_label()): line for line in axes.get_lines()}


THREE = [
    make_row("a", "auto", seconds=1.0),
    make_row("a", "HiGHS", seconds=4.0),
    make_row("a", "auto", seconds=2.0, seed=1),
    make_row("a", "HiGHS", seconds=1.0, seed=1),
    make_row("b", "auto", seconds=0.5, status="INFEASIBLE"),
    make_row("b", "HiGHS", seconds=50.0, status="MARGIN_BOUNDED"),
]


def test_each_instance_is_measured_by_its_fastest_label() -> None:
    assert ratios(*THREE) == {"auto": [1.0, 2.0, 1.0], "HiGHS": [4.0, 1.0, 100.0]}
    auto, highs = profiles(evidence(*THREE).frame)
    assert [auto.share(factor) for factor in (1, 1.9, 2)] == pytest.approx([2 / 3, 2 / 3, 1])
    assert [highs.share(factor) for factor in (1, 4, 99, 100)] == pytest.approx(
        [1 / 3, 2 / 3, 2 / 3, 1]
    )


@pytest.mark.parametrize("ending", UNPROVED, ids=lambda ending: str(ending["status"]))
def test_unverified_runs_never_count_as_solved(ending: Row) -> None:
    fast = make_row("a", "fast", **({"seconds": 1e-3} | ending))
    assert ratios(fast, make_row("a", "slow", seconds=9.0)) == {"fast": [np.inf], "slow": [1.0]}


def test_a_bound_is_no_answer_where_another_label_has_decided() -> None:
    bounded = {"status": "MARGIN_BOUNDED", "seconds": 1.0}
    rows = [
        make_row("a", "P", **bounded),
        make_row("a", "Q", seconds=2.0),
        make_row("a", "P", seed=1, **bounded),
        make_row("a", "Q", seed=1, seconds=2.0, proved=False),
        make_row("b", "P", **bounded),
        make_row("b", "Q", seconds=2.0, status="INFEASIBLE"),
    ]
    assert ratios(*rows) == {"P": [np.inf, 1.0, 1.0], "Q": [1.0, np.inf, 2.0]}


def test_an_instance_without_solver_counts_for_all() -> None:
    rows = [make_row("a", label, status="TIME_LIMIT", proved=False) for label in ("P", "Q")]
    frame = report.table("profile", evidence(*rows, make_row("b", "P"), make_row("b", "Q"))).frame
    assert frame["instances"].tolist() == [2, 2]
    assert frame["within 100"].tolist() == frame["solved"].tolist() == [0.5, 0.5]


def test_a_pair_that_was_not_run_does_not_count() -> None:
    rows = [make_row("a", "P"), make_row("b", "P"), make_row("b", "Q", seconds=1.0)]
    assert ratios(*rows) == {"P": [1.0, 1.0], "Q": [2.0]}
    frame = report.table("profile", evidence(*rows)).frame
    assert frame["instances"].tolist() == [2, 1]
    assert frame["solved"].tolist() == [1.0, 1.0]
    (axes,) = report.figure("profile", evidence(*rows)).axes
    assert axes.get_ylabel().startswith("share of 1 to 2 instances")


def test_times_below_the_resolution_are_equal() -> None:
    rows = [make_row("a", "P", seconds=0.0), make_row("a", "Q", seconds=RESOLUTION)]
    assert ratios(*rows) == {"P": [1.0], "Q": [1.0]}


def test_the_table_shows_shares_and_endings() -> None:
    late = [make_row("c", name, status="TIME_LIMIT", proved=False) for name in ("auto", "HiGHS")]
    table = report.table("profile", evidence(*THREE, *late))
    frame = table.frame.set_index("label")
    shares = ["within 1", "within 2", "within 10", "within 100", "solved"]
    assert frame.loc["auto", shares].tolist() == [0.5, 0.75, 0.75, 0.75, 0.75]
    assert frame.loc["HiGHS", shares].tolist() == [0.25, 0.25, 0.5, 0.75, 0.75]
    assert frame["instances"].tolist() == [4, 4]
    assert "TIME_LIMIT (1 of 4)" in frame.loc["HiGHS", "status"]
    latex = table.latex("T")
    assert balanced(latex)
    assert [line[0] for line in body(latex)] == ["auto", "HiGHS"]


def test_the_curves_start_at_the_wins_and_end_at_the_solved_share() -> None:
    lines = drawn(*THREE)
    assert list(lines) == ["auto", "HiGHS"]
    assert across(lines["auto"])[:2] == [1.0, 2.0]
    assert heights(lines["auto"]) == pytest.approx([2 / 3, 1.0, 1.0])
    assert across(lines["HiGHS"])[:3] == [1.0, 4.0, 100.0]
    assert heights(lines["HiGHS"]) == pytest.approx([1 / 3, 2 / 3, 1.0, 1.0])
    assert across(lines["auto"])[-1] == across(lines["HiGHS"])[-1] > 100.0


def test_a_label_that_solves_nothing_lies_on_the_axis() -> None:
    rows = [make_row("a", "P"), make_row("a", "Q", status="ERROR", **NOTHING | {})]
    assert set(heights(drawn(*rows)["Q"])) == {0.0}
    only = [make_row("a", "P", status="TIME_LIMIT", proved=False)]
    assert set(heights(drawn(*only)["P"])) == {0.0}


@given(
    st.lists(
        st.tuples(st.floats(0, 1e3), st.floats(0, 1e3), st.booleans(), st.booleans()),
        min_size=1,
        max_size=12,
    )
)
def test_profiles_are_distributions(cells: list[tuple[float, float, bool, bool]]) -> None:
    rows = [
        make_row("a", label, seed=seed, seconds=seconds, proved=proved)
        for seed, (p, q, first, second) in enumerate(cells)
        for label, seconds, proved in (("P", p, first), ("Q", q, second))
    ]
    profile = profiles(evidence(*rows).frame)
    answered = np.mean([first or second for _, _, first, second in cells])
    # On every instance that someone solves, someone is the fastest.
    assert sum(curve.share(1.0) for curve in profile) >= answered - 1e-12
    for curve, solved in zip(profile, np.mean([cell[2:] for cell in cells], axis=0), strict=True):
        assert (curve.ratios >= 1.0).all()
        assert curve.share(1.0) <= curve.share(3.0) <= curve.solved == pytest.approx(solved)
