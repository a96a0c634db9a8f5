"""The table and the figure of algorithms on cones of a controlled condition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from perceptron_lab.reporting import Evidence, report
from tests.reporting.artificial_runs import Row, make_result, make_row, make_trace, write_folder
from tests.reporting.drawn_lines import across, heights

DELTAS, SIDES = (1.0, 0.01, 0.0001), ("feasible", "infeasible", "ill-posed")
SHARED: dict[str, Any] = {"family": "orthant", "rows": 10}
CONFIG: dict[str, Any] = {
    "experiment": "made",
    "problems": [
        {"dataset": "conditioned-cones", **SHARED}
        | {"grid": {"side": [*SIDES], "delta": [*DELTAS]}}
    ],
    "algorithms": [{"name": "ellipsoid"}],
}
STATUS = {"feasible": "FEASIBLE", "infeasible": "INFEASIBLE", "ill-posed": "MARGIN_BOUNDED"}


def name(side: str, delta: float) -> str:
    return ConditionedCones(**SHARED, side=side, delta=delta).name  # type: ignore[arg-type]


def row(side: str, delta: float, label: str, **changes: Any) -> Row:
    answer = {"status": STATUS[side], "margin_lower": -1e-9, "margin_upper": 3e-9}
    return make_row(name(side, delta), label, **answer | changes)


def evidence(folder: Path) -> Evidence:
    """One label decides all; one runs out of time at the last delta, and in between once."""
    finding = '{"rescalings":[4,3]}'
    rows = [row(s, d, "fast", finding=finding, seconds=0.5) for s in SIDES for d in DELTAS]
    for side in SIDES:
        for delta in DELTAS:
            late = delta < 0.01 or (side, delta) == ("infeasible", 0.01)
            changes = {"status": "TIME_LIMIT", "proved": False} if late else {}
            rows.append(row(side, delta, "slow", seconds=2.0 + delta, **changes))
    trace = make_trace([0, 8], [0.0, 0.1])
    trace.phase[-1] = "perceptron 6"
    results = {row["cell"]: make_result(trace) for row in rows if row["label"] == "slow"}
    return write_folder(folder, rows, results, config=CONFIG)


def test_the_table_shows_the_smallest_condition_that_is_decided(tmp_path: Path) -> None:
    table = report.table_frame("rescaling", evidence(tmp_path)).set_index(["side", "label"])
    assert table["problems"].tolist() == [3] * 6
    assert set(table["family"]) == {"orthant"}
    assert table.index.get_level_values("side").unique().tolist() == [*SIDES]
    fast, slow = table.xs("fast", level="label"), table.xs("slow", level="label")
    assert fast["decided"].tolist() == [3, 3, 3]
    assert fast["down to"].tolist() == [1e-4, 1e-4, 1e-4]
    assert fast["rescalings"].tolist() == [7, 7, 7]
    assert fast["seconds"].tolist() == [0.5, 0.5, 0.5]
    assert slow["decided"].tolist() == [2, 1, 2]
    assert slow["down to"].tolist() == [0.01, 1.0, 0.01]
    assert slow["rescalings"].tolist() == [5, 5, 5]
    assert fast["width"].isna().tolist() == [True, True, False]
    assert fast.loc["ill-posed", "width"] == pytest.approx(4e-9)


def test_an_answer_that_contradicts_the_truth_decides_nothing(tmp_path: Path) -> None:
    """Weights that bound the margin are no answer where there is a point; a bracket may lack."""
    bounded = row("feasible", 1.0, "bounded", status="MARGIN_BOUNDED")
    lacking = row("ill-posed", 1.0, "bounded", margin_upper=None, status="TIME_LIMIT", proved=False)
    folder = write_folder(tmp_path, [bounded, lacking], config=CONFIG)
    table = report.table_frame("rescaling", folder)
    assert table["decided"].tolist() == [0, 0]
    assert table[["down to", "seconds", "rescalings", "width"]].isna().all(axis=None)


def test_a_panel_has_a_line_per_label_and_crosses(tmp_path: Path) -> None:
    figure = report.figure("rescaling", evidence(tmp_path))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [f"orthant, {side}" for side in SIDES]
    lines = {str(line.get_label()): line for line in figure.axes[1].get_lines()}
    assert across(lines["fast proved"]) == pytest.approx([1, 100, 10_000])
    assert heights(lines["fast proved"]) == [0.5, 0.5, 0.5]
    assert across(lines["slow proved"]) == [1]
    assert across(lines["slow not proved"]) == pytest.approx([100, 10_000])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["fast", "slow", "not proved"]


def test_other_problems_have_no_controlled_condition(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [make_row("torus-3x3", "EA")])
    for make in (report.table, report.figure):
        with pytest.raises(DataError, match="no problem has a known condition delta"):
            make("rescaling", folder)
