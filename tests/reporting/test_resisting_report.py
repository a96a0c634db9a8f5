"""The table and the figure of mistakes against the resisting oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from perceptron_lab.algorithms.resisting.forced import cuts, forced, margin_of
from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting import Evidence, report
from tests.reporting.artificial_runs import NOTHING, Row, make_row, write_folder
from tests.reporting.drawn_lines import heights

DIMENSIONS, MARGINS = (2, 10), (0.1, 0.01, 0.001)
CONFIG: dict[str, Any] = {
    "experiment": "made",
    "problems": [
        {"dataset": "resisting", "grid": {"dimension": [*DIMENSIONS], "margin": [*MARGINS]}}
    ],
    "algorithms": [{"name": "ellipsoid"}],
}


def row(dimension: int, margin: float, label: str, mistakes: int, **changes: Any) -> Row:
    row = make_row(f"resisting-{dimension}-{margin!r}", label, **changes)
    measures = {
        "mistakes": float(mistakes),
        "rounds": float(mistakes if label in ("rows", "other rows") else 0),
        "forced": float(forced(dimension, margin)),
        "final_margin": margin_of(cuts(dimension, margin)),
    }
    return row | {f"measure.{name}": value for name, value in measures.items()}


def evidence(folder: Path, *more: Row) -> Evidence:
    rows = [
        value
        for n in DIMENSIONS
        for rho in MARGINS
        for value in (
            row(n, rho, "cuts", 3 * forced(n, rho), bound=1 / rho**2),
            row(n, rho, "rows", forced(n, rho), bound=None),
        )
    ]
    return write_folder(folder, [*rows, *more], config=CONFIG)


def test_the_table_has_mistakes_and_the_number_forced(tmp_path: Path) -> None:
    cut_off = row(10, 0.001, "other rows", 20, status="TIME_LIMIT", proved=False)
    refused = make_row("resisting-2-0.1", "refused", **NOTHING | {"status": "SKIPPED"})
    table = report.table_frame("resisting", evidence(tmp_path, cut_off, refused))
    assert len(table) == 2 * 3 * 2 + 1
    first = table.iloc[0]
    assert first[["dimension", "margin", "forced", "mistakes"]].tolist() == [2, 0.1, 4, 12]
    assert first["least ratio"] == 3
    assert (first["asks for"], first["bound"]) == ("cuts", pytest.approx(100))
    assert (table["final margin"] >= table["margin"]).all()
    rows = table[table["label"] == "rows"]
    assert (rows["mistakes"] == rows["forced"]).all()
    assert set(rows["asks for"]) == {"rows"}
    last = table[table["label"] == "other rows"].iloc[0]
    assert (last["mistakes"], last["status"]) == (20, "TIME_LIMIT")
    assert pd.isna(last["least ratio"])


def test_a_panel_has_the_lower_bound_as_a_line(tmp_path: Path) -> None:
    cut_off = row(10, 0.001, "early", 7, status="UPDATE_LIMIT", proved=False, bound=None)
    figure = report.figure("resisting", evidence(tmp_path, cut_off))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["dimension 2", "dimension 10"]
    for axes, n in zip(figure.axes, DIMENSIONS, strict=True):
        lines = {str(line.get_label()): line for line in axes.get_lines()}
        least = np.asarray(lines["lower bound of every algorithm"].get_xydata())
        assert least[:, 1].tolist() == [forced(n, 1 / x) for x in least[:, 0]]
        assert heights(lines["in rounds"]) == [forced(n, rho) for rho in MARGINS]
        assert heights(lines["cuts proved"]) == [3 * forced(n, rho) for rho in MARGINS]
        assert heights(lines["cuts bound"]) == pytest.approx([1e2, 1e4, 1e6])
        assert axes.get_ylim()[1] < 1e4  # bounds leave the panel
    assert heights(lines["early not proved"]) == [7]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        *("cuts", "early", "lower bound of every algorithm", "upper bound of its theorem"),
        *("1 algorithm run in rounds", "ended by the budget"),
    ]


def test_other_problems_do_not_resist(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [make_row("torus-3x3", "EA")])
    for make in (report.table, report.figure):
        with pytest.raises(DataError, match="no problem has a resisting oracle"):
            make("resisting", folder)
