"""Yu's Table 1 measured: iterations beside the bounds of the theorems."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Bound
from perceptron_lab.reporting import report
from perceptron_lab.reporting.papers.yu.rates import bound_ratios as ratios
from perceptron_lab.reporting.papers.yu.rates import rates_figure as figure_of_rates
from tests.reporting.artificial_runs import (
    NOTHING,
    Row,
    make_result,
    make_row,
    make_trace,
    write_folder,
)
from tests.reporting.latex_lines import balanced, body

TRACE = make_trace([0, 1], [-1.0, 1.0])


def test_each_label_is_listed_with_its_bound_and_theorem(tmp_path: Path) -> None:
    rows = [
        make_row("a", "MP", seed=0, cell="0", updates=30, bound=100),
        make_row("a", "MP", seed=1, cell="1", updates=10, bound=20),
        make_row("b", "MP", cell="2", updates=7, bound=None, status="MARGIN_BOUNDED"),
        make_row("b", "PRA", cell="3", updates=7, bound=None, status="UPDATE_LIMIT", proved=False),
    ]  # a label has no line where it was not run
    results = {
        "0": make_result(TRACE, Bound(100.0, "Theorem 3 of K_1")),
        "1": make_result(TRACE, Bound(20.0, "Theorem 3 of K_1")),
        "2": make_result(TRACE, Bound(None, "Theorem 3 of K_1", "no margin is known")),
        "3": make_result(TRACE, Bound(None, "", "no theorem")),
    }
    table = report.table("rates", write_folder(tmp_path, rows, results))
    frame = table.frame.set_index(["problem", "label"])
    first = frame.loc[("a", "MP")]
    assert first[["side", "seeds", "iterations", "bound"]].tolist() == ["feasible", 2, 20, 60]
    assert first["largest ratio"] == 0.5
    assert first["kind"] == "worst case"
    assert frame["mean ratio"].isna().all()
    assert first["theorem"] == "Theorem 3 of K_1"
    assert frame["side"].tolist() == ["feasible", "epsilon", ""]
    assert frame["reason"].tolist() == ["", "no margin is known", "no theorem"]
    assert frame["largest ratio"].isna().tolist() == [False, True, True]
    assert frame["status"].tolist() == ["FEASIBLE", "MARGIN_BOUNDED", "UPDATE_LIMIT"]
    latex = table.latex("T")
    assert balanced(latex)
    theorems = [line[8].replace("\\allowbreak{}", "") for line in body(latex)]
    assert theorems == [
        "Theorem 3 of K\\_1",
        "Theorem 3 of K\\_1: no margin is known",
        "no theorem",
    ]


def test_an_expectation_is_compared_with_the_mean_of_the_runs(tmp_path: Path) -> None:
    """A single run of twice the bound contradicts nothing, and is not shown as if it did."""
    rows = [
        make_row("a", "relaxed", seed=seed, cell=str(seed), updates=updates, bound=100)
        for seed, updates in enumerate([200, 10, 30])
    ]
    bound = Bound(100.0, "Theorem 4.2 of K", kind="expectation")
    results = {str(seed): make_result(TRACE, bound) for seed in range(3)}
    line = report.table("rates", write_folder(tmp_path, rows, results)).frame.iloc[0]
    assert line["kind"] == "expectation"
    assert line["mean ratio"] == pytest.approx(0.8)
    assert pd.isna(line["largest ratio"])


def relaxed_rows(*statuses: str, finding: str = '{"relaxed_margin":0.0}') -> list[Row]:
    """Cells of one label that ended as said, the bounded ones with a finding."""
    return [
        make_row("a", "relaxed", seed=seed, cell=str(seed), updates=10, bound=100)
        | {"status": status, "finding": finding if status == "MARGIN_BOUNDED" else None}
        for seed, status in enumerate(statuses)
    ]


@pytest.mark.parametrize(
    ("rows", "side"),
    [
        (relaxed_rows("MARGIN_BOUNDED", "FEASIBLE"), "relaxed"),
        (relaxed_rows("FEASIBLE", "FEASIBLE"), "feasible"),
        (relaxed_rows("MARGIN_BOUNDED", "INFEASIBLE"), ""),
        (relaxed_rows("MARGIN_BOUNDED", "INFEASIBLE", finding=""), "epsilon"),
        (relaxed_rows("MARGIN_BOUNDED", "FEASIBLE", finding=""), ""),
    ],
)
def test_a_relaxed_answer_is_no_certificate(rows: list[Row], side: str, tmp_path: Path) -> None:
    """It ends a run as MARGIN_BOUNDED too, but says nothing about epsilon."""
    bound = Bound(100.0, "Theorem 4.2 of K", kind="expectation")
    evidence = write_folder(
        tmp_path, rows, {row["cell"]: make_result(TRACE, bound) for row in rows}
    )
    assert report.table("rates", evidence).frame["side"].tolist() == [side]
    values = [ratio[2:] for ratio in ratios(evidence)]
    assert values == ([(side, "expectation", 0.1)] if side else [])


def test_the_figure_has_a_mark_for_each_ratio_above_zero(tmp_path: Path) -> None:
    rows = [
        make_row("a", "MP", cell="0", updates=30, bound=100),
        make_row("b", "MP", cell="1", updates=10, bound=100, status="INFEASIBLE"),
        make_row("a", "EA", cell="2", updates=0, bound=100),
        make_row("b", "EA", cell="3", updates=5, bound=None),
    ]
    results = {row["cell"]: make_result(TRACE, Bound(row["bound"], "T")) for row in rows}
    evidence = write_folder(tmp_path, rows, results)
    (axes,) = figure_of_rates(evidence).axes
    marks = {tuple(np.ravel(line.get_data())) for line in axes.lines if line.get_marker() != "None"}
    assert marks == {(0.3, 0.0), (0.1, 0.0)}
    assert [text.get_text() for text in axes.get_yticklabels()] == ["MP"]
    with pytest.raises(DataError, match="nothing to draw"):
        figure_of_rates(write_folder(tmp_path / "none", rows[2:], results))


@pytest.mark.parametrize(("updates", "ratio"), [(0, 0.0), (3, float("inf"))])
def test_a_bound_of_no_updates(tmp_path: Path, updates: int, ratio: float) -> None:
    row = make_row("a", "EA", cell="0", updates=updates, bound=0.0)
    evidence = write_folder(tmp_path, [row], {"0": make_result(TRACE, Bound(0.0, "T"))})
    assert report.table("rates", evidence).frame["largest ratio"].tolist() == [ratio]


def test_a_cell_without_result_is_a_line_without_theorem(tmp_path: Path) -> None:
    row = make_row("a", "EA", cell="0", **NOTHING | {"status": "CRASHED"})
    frame = report.table("rates", write_folder(tmp_path, [row], {})).frame
    assert frame[["theorem", "side", "status"]].to_numpy().tolist() == [["", "", "CRASHED"]]


def test_a_missing_result_is_named(tmp_path: Path) -> None:
    evidence = write_folder(tmp_path, [make_row("a", "EA", cell="0")], {})
    with pytest.raises(DataError, match="the store has no guarantee of the cell 0"):
        report.table("rates", evidence)
