"""The table and the figures of mistakes on streams."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Trace
from perceptron_lab.reporting import Evidence, report
from tests.reporting.artificial_runs import Row, make_result, make_row, make_trace, write_folder
from tests.reporting.drawn_lines import heights

Measures = dict[str, float | None]


def row(problem: str, seed: int = 0, label: str = "P", **measures: float | None) -> Row:
    row = make_row(problem, label, seed=seed, status="FITTED", proved=False)
    row |= {"algorithm": "online-perceptron", "parameters": "{}"}
    base: Measures = {"presentations": 60.0, "passes": 3.0, "separated": 0.0, "error": 0.25}
    return row | {f"measure.{name}": value for name, value in (base | measures).items()}


def history(presented: list[float], mistaken: list[float], bound: list[float]) -> Trace:
    arrays = {"presented": presented, "mistaken": mistaken, "hinge_bound": bound}
    return make_trace([0], [math.nan], **{k: [np.array(v)] for k, v in arrays.items()})


def evidence_of(folder: Path, *rows: Row, **named: Any) -> Evidence:
    return write_folder(folder, rows, **named)


def test_the_table_has_both_bounds_and_their_largest_ratio(tmp_path: Path) -> None:
    table = report.table_frame(
        "mistakes",
        evidence_of(
            tmp_path,
            row("a", 0, mistakes=10, hinge_bound_upper=40.0, hinge_bound_lower=39.0),
            row("a", 1, mistakes=30, hinge_bound_upper=50.0, hinge_bound_lower=49.0),
            row("b", 0, mistakes=8, hinge_bound_upper=40.0, novikoff_bound_upper=16.0),
            make_row("a", "other", algorithm="perceptron", parameters="{}"),
        ),
    )
    assert list(table["label"]) == ["P", "P"]
    assert list(table["mistakes"]) == [20, 8]
    assert list(table["hinge-loss bound"]) == [45, 40]
    assert table["hinge-loss bound least"][0] == 44
    assert table["Novikoff's bound"].isna().tolist() == [True, False]
    assert list(table["largest ratio"]) == [30 / 50, 8 / 16]
    assert list(table["error"]) == [25, 25]
    assert list(table["separated"]) == [0, 0]


def test_printed_bounds_are_rounded_up(tmp_path: Path) -> None:
    evidence = evidence_of(tmp_path, row("a", mistakes=1, hinge_bound_upper=1234.1))
    page = report.table("mistakes", evidence).markdown("")
    assert "| 1240 |" in page
    assert "| 1230 |" not in page


def test_a_panel_has_the_mistakes_below_both_bounds(tmp_path: Path) -> None:
    traces = [
        history([1, 2, 4], [1, 1, 2], [2, 3, 5]),
        history([1, 2, 4], [1, 2, 3], [4, 5, 6]),
        history([1, 2], [1, 2], [4, 5]),
    ]
    rows = [row("a", seed, mistakes=3, novikoff_bound_upper=9.0) for seed in range(3)]
    results = {row["cell"]: make_result(trace) for row, trace in zip(rows, traces, strict=True)}
    figure = report.figure("mistakes", evidence_of(tmp_path, *rows, results=results))
    (axes,) = figure.axes
    lines = {str(line.get_label()): line for line in axes.get_lines()}
    assert heights(lines["P mistaken"]) == [1, 2, 2]
    assert heights(lines["P hinge_bound"]) == [4, 5, 5]
    assert heights(lines["P novikoff"]) == [9, 9]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        *("P", "mistakes", "Theorem 2 (hinge loss)", "Theorem 1 (Novikoff)"),
    ]


def test_runs_without_a_history_are_named(tmp_path: Path) -> None:
    single = row("a", mistakes=3)
    results = {single["cell"]: make_result(make_trace([0], [math.nan]))}
    with pytest.raises(DataError, match="has no trace along its stream"):
        report.figure("mistakes", evidence_of(tmp_path, single, results=results))


def steep(k: int, separated: float = 1.0) -> Row:
    result = row(f"w-{k}", mistakes=2 * k * k - 2 * k + 5, separated=separated)
    return result | {"problem.family": "worst-case", "problem.steepness": k}


def test_the_worst_case_lies_on_its_closed_form(tmp_path: Path) -> None:
    figure = report.figure("worst_case", evidence_of(tmp_path, *(steep(k) for k in (8, 1, 64))))
    (axes,) = figure.axes
    lines = {str(line.get_label()): line for line in axes.get_lines()}
    marks = np.asarray(lines["P proved"].get_xydata())
    assert marks.tolist() == [[1, 5], [8, 117], [64, 8069]]
    exact = np.asarray(lines["2 K$^2$ - 2 K + 5"].get_xydata())
    assert exact[0].tolist() == [1, 5]
    assert exact[-1] == pytest.approx([64, 8069])
    novikoff = np.asarray(lines["Theorem 1: 8 K$^2$ + 2"].get_xydata())
    assert novikoff[-1] == pytest.approx([64, 8 * 64**2 + 2])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "8", "64"]


def test_a_stream_that_was_cut_off_has_a_cross(tmp_path: Path) -> None:
    figure = report.figure("worst_case", evidence_of(tmp_path, steep(1), steep(8, separated=0.0)))
    lines = {str(line.get_label()): line for line in figure.axes[0].get_lines()}
    assert heights(lines["P not proved"]) == [117]
    (legend,) = figure.legends
    assert "ended before a pass without mistakes" in [
        text.get_text() for text in legend.get_texts()
    ]
