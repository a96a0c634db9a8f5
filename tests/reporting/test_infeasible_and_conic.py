"""The tables of costs and proved brackets: nothing left out, nothing claimed without proof."""

from __future__ import annotations

import pandas as pd
import pytest

from perceptron_lab.core import registry
from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.printing.typesetting import lower_bound, upper_bound
from tests.reporting.artificial_runs import NOTHING, Row, make_row
from tests.reporting.latex_lines import balanced, body

BOUNDED = {"status": "MARGIN_BOUNDED", "margin_lower": -0.2}


def evidence(*rows: Row) -> Evidence:
    return Evidence.of_runs(pd.DataFrame(list(rows)))


def test_infeasible_has_medians_and_the_largest_proved_bound() -> None:
    rows = [
        make_row(
            "a", "MP", seed=i, updates=u, products=4.0 * u, seconds=s, margin_upper=m, **BOUNDED
        )
        for i, (u, s, m) in enumerate([(10, 1.0, 1e-3), (30, 3.0, 9e-4), (20, 9.0, 8e-4)])
    ]
    frame = report.table("infeasible", evidence(*rows)).frame
    assert frame.to_dict("records") == [
        {
            "problem": "a",
            "dimension": 101,
            "rows": 200,
            "label": "MP",
            "seeds": 3,
            "iterations": 20,
            "products": 80,
            "seconds": 3,
            "margin upper": 1e-3,
            "status": "MARGIN_BOUNDED",
        }
    ]


def test_a_missing_bound_of_one_seed_is_a_missing_bound() -> None:
    rows = [
        make_row("a", "MP", seed=0, **BOUNDED),
        make_row("a", "MP", seed=1, status="TIME_LIMIT", proved=False, margin_upper=None),
    ]
    frame = report.table("infeasible", evidence(*rows)).frame
    assert frame["margin upper"].isna().all()
    assert frame["status"].tolist() == ["MARGIN_BOUNDED (1 of 2), TIME_LIMIT (1 of 2)"]


def test_conic_has_queries_iterations_and_the_bracket() -> None:
    rows = [
        make_row("a", "MP", queries=7, updates=9, margin_lower=-0.5, margin_upper=0.5),
        make_row("a", "EA", queries=8, updates=7, margin_upper=None),
        make_row("b", "EA", dimension=None, constraints=None, **NOTHING | {"status": "ERROR"}),
    ]
    frame = report.table("conic", evidence(*rows)).frame.set_index(["problem", "label"])
    assert frame.loc[("a", "MP"), ["queries", "iterations"]].tolist() == [7, 9]
    assert frame["margin lower"].tolist()[:2] == [-0.5, 1e-4]
    assert frame["margin upper"].isna().tolist() == [False, True, True, True]
    assert frame["status"].tolist() == ["FEASIBLE", "FEASIBLE", "not run", "ERROR"]
    assert frame["rank"].isna().tolist() == [False, False, True, True]


@pytest.mark.parametrize("name", ["infeasible", "conic"])
def test_only_proved_answers_are_bold(name: str) -> None:
    rows = [
        make_row("a_1", "MP", seconds=2.0),
        make_row("a_1", "EA", seconds=3.0, status="INFEASIBLE"),
        make_row("a_1", "VN", seconds=1.0, proved=False),
    ]
    latex = report.table(name, evidence(*rows)).latex("50% of it")
    assert balanced(latex)
    cells = {line[3]: line for line in body(latex)}
    assert "\\textbf{2.00}" in cells["MP"]
    assert "3.00" in cells["EA"]
    assert "1.00" in cells["VN"]
    assert cells["VN"][-1] == "FEASIBLE (unproved)"
    assert body(latex)[0][0] == "a\\_1"


@pytest.mark.parametrize("name", ["infeasible", "conic", "table_2"])
def test_a_problem_of_two_shapes_is_refused(name: str) -> None:
    rows = [make_row("a", "MP"), make_row("a", "EA", dimension=7)]
    with pytest.raises(DataError, match="'a' has several shapes"):
        report.table(name, evidence(*rows))


@pytest.mark.parametrize("name", registry.names("table"))
def test_no_runs_are_an_error(runs: pd.DataFrame, name: str) -> None:
    with pytest.raises(DataError, match="no rows"):
        report.table(name, Evidence.of_runs(runs.iloc[:0]))


def test_printed_bounds_are_proved_as_well() -> None:
    """The lower one is rounded down, the upper one up."""
    assert lower_bound(0.0123999) == "0.0123"
    assert lower_bound(-0.0123001) == "-0.0124"
    assert upper_bound(0.0123001) == "0.0124"
    assert upper_bound(1.2301e-9) == r"$1.24\cdot10^{-9}$"
    assert (lower_bound(None), upper_bound(0.0)) == ("--", "0")
    runs = evidence(make_row("a", "x", margin_lower=0.0123999, margin_upper=0.0456001))
    assert "& 0.0123 & 0.0457 &" in report.table("conic", runs).latex("")
    assert "& 0.0457 &" in report.table("infeasible", runs).latex("")


@pytest.mark.parametrize("name", ["infeasible", "conic", "table_2"])
def test_the_stopping_rule_of_mirror_prox_is_stated(name: str) -> None:
    rows = [
        make_row("a", "MP", algorithm="mirror-prox"),
        make_row("a", "VN", algorithm="von-neumann"),
    ]
    words = "a saddle-point gap ≤ epsilon"
    assert words in report.table(name, evidence(*rows)).markdown("Title")
    assert words not in report.table(name, evidence(*rows[1:])).markdown("Title")
