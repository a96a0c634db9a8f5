"""Cells below the thesis's Table 8.1, and choices that point to a fault: on made-up runs."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from perceptron_lab.reporting import report
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.thesis.table_8_1.comparisons import compared_labels
from tests.reporting.test_precisions import learnt

BY_TEST = json.dumps({"choice": "test-precision"})
T_IS_0 = {"status": "INFEASIBLE", "proved": True}


def evidence(*rows: dict[str, Any]) -> Evidence:
    return Evidence.of_runs(pd.DataFrame(list(rows)))


def causes(*rows: dict[str, Any]) -> dict[tuple[str, str], str]:
    frame = report.table("below_thesis", evidence(*rows)).frame
    return dict(
        zip(zip(frame["category"], frame["label"], strict=True), frame["cause"], strict=True)
    )


def test_cells_more_than_three_points_below_are_listed_with_both_numbers() -> None:
    rows = [
        learnt("interest", "svm", 0.70),  # the thesis has 77.1
        learnt("trade", "svm", 0.78),  # 80.3
        learnt("trade", "soft", 0.20),  # no column of the thesis
        learnt("trade", "svm k200", 0.20, parameters='{"components": 200}'),
        learnt("wine-0-rest", "svm", 0.20),
        learnt("corn", "svm", None, status="ERROR"),
    ]
    table = report.table("below_thesis", evidence(*rows))
    (line,) = table.frame.to_dict("records")
    assert (line["category"], line["label"]) == ("interest", "svm")
    assert line["thesis"] == 77.1
    assert line["ours"] == pytest.approx(70.0)
    assert line["difference"] == pytest.approx(-7.1)
    assert line["cause"] == "cause not established"
    assert "cause not established" in table.latex("Title")


def test_without_such_cells_the_table_is_empty() -> None:
    table = report.table("below_thesis", evidence(learnt("earn", "svm", 0.99)))
    assert table.frame.empty
    for text in table.texts("Title").values():
        assert text


@pytest.mark.parametrize(
    ("best", "cause"),
    [
        (0.75, "best C by test precision closes 5.0 of 7.1 points"),
        (
            0.72,
            "best C by test precision closes 2.0 of 7.1 points; cause of the rest not established",
        ),
    ],
)
def test_the_gain_of_the_best_c_is_listed_as_a_cause(best: float, cause: str) -> None:
    rows = [
        learnt("interest", "svm", 0.70),
        learnt("interest", "svm best C", best, parameters=BY_TEST),
    ]
    assert causes(*rows) == {("interest", "svm"): cause}
    frame = report.table("below_thesis", evidence(*rows)).frame
    assert frame["best C closes"].tolist() == pytest.approx([100.0 * best - 70.0])


def test_the_best_c_is_compared_on_the_pivots_that_both_have() -> None:
    rows = [
        learnt("trade", "svm", 0.70, seed=0),
        learnt("trade", "svm", 0.76, seed=1),  # mean 73, the thesis has 80.3
        learnt("trade", "svm best C", 0.71, seed=0, parameters=BY_TEST),
    ]
    assert causes(*rows) == {
        ("trade", "svm"): "best C by test precision closes 1.0 of 7.3 points; first pivots give "
        "70.0 to 76.0; cause of the rest not established"
    }


def test_first_pivots_that_reach_the_thesis_are_a_cause() -> None:
    rows = [learnt("trade", "svm", 0.70, seed=0), learnt("trade", "svm", 0.81, seed=1)]
    assert causes(*rows) == {
        ("trade", "svm"): "first pivots give 70.0 to 81.0, the thesis's among them"
    }


def test_where_no_ellipsoid_separates_the_solver_ranks() -> None:
    central = '{"solver": "central-path"}'
    rows = [
        learnt("ship", "hard a", 0.60, parameters=central, **T_IS_0),
        learnt("ship", "hard b", 0.40, **T_IS_0),
        learnt("ship", "hard b", 0.90, seed=1, **T_IS_0),  # another pivot
        learnt("corn", "hard a", 0.60, parameters=central, status="FEASIBLE", proved=True),
        learnt("corn", "hard b", 0.90, **T_IS_0),
        learnt("corn", "hard b", 0.90, seed=1, **T_IS_0),
    ]
    assert causes(*rows) == {
        ("ship", "hard a"): "no ellipsoid separates (t = 0): the limit of the central path ranks; "
        "other solvers with the same first pivot reach 40.0",
        (
            "ship",
            "hard b",
        ): "no ellipsoid separates (t = 0): the solver's last iterate ranks; first "
        "pivots give 40.0 to 90.0, the thesis's among them; other solvers with the same first "
        "pivot reach 60.0",
        ("corn", "hard a"): "cause not established",
    }


def test_a_machine_tuned_on_the_test_documents_is_a_bound_and_no_rival() -> None:
    rows = [
        learnt("interest", "soft", 0.70),
        learnt("interest", "svm", 0.70),
        learnt("interest", "svm best C", 0.71, parameters=BY_TEST),
    ]
    runs = evidence(*rows)
    assert compared_labels(runs) == [("soft", "svm"), ("svm best C", "svm")]
    assert list(report.table("below_thesis", runs).frame["label"]) == ["svm"]
    words = "an upper bound of what the choice of C can explain"
    assert words in report.table("table_8_1", runs).markdown("Title")
    assert words not in report.table("table_8_1", evidence(*rows[:2])).markdown("Title")


def tuned(problem: str, label: str, penalty: float, edge: bool, candidates: int = 7) -> Any:
    figures = {"penalty": penalty, "on_edge": float(edge), "candidates": float(candidates)}
    return learnt(problem, label, 0.5, **{f"measure.{name}": v for name, v in figures.items()})


@pytest.mark.parametrize("name", ["table_8_1", "rare_categories"])
def test_choices_at_an_edge_and_a_candidate_that_always_wins_are_noted(name: str) -> None:
    categories = ("earn", "acq", "corn")
    same = [tuned(category, "svm", 0.01, True) for category in categories]
    note = report.table(name, evidence(*same)).markdown("Title")
    assert "Tuned parameters at the edge of their grid: svm 3 of 3." in note
    assert (
        "One candidate wins in every cell, which suggests an error: svm (0.01 in 3 of 3)." in note
    )
    rows_inside = [*same[:2], tuned("corn", "svm", 10.0, False)]
    note = report.table(name, evidence(*rows_inside)).markdown("Title")
    assert "Tuned parameters at the edge of their grid: svm 2 of 3." in note
    assert "sign of a fault" not in note
    # Too few categories, or a single candidate: no sign of anything
    for rows in (
        same[:2],
        [tuned(category, "svm", 1.0, False, candidates=1) for category in categories],
    ):
        assert "sign of a fault" not in report.table(name, evidence(*rows)).markdown("Title")
    untuned = [learnt(category, "hard", 0.5) for category in categories]
    assert "edge of their grid" not in report.table(name, evidence(*untuned)).markdown("Title")
