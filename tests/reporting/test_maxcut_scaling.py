"""Table and figure of seconds, memory and proved width against the vertices of graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.studies.maxcut_scaling import scaled
from tests.reporting.artificial_runs import Row, make_row, write_folder

GRAPHS = ["random-100-250", "random-200-500", "planar-100-294", "planar-100-500", "torus-10x10"]
CONFIG: dict[str, Any] = {
    "experiment": "made",
    "problems": [{"dataset": "maxcut", "instances": GRAPHS}],
    "algorithms": [{"name": "low-rank"}],
}


def row(problem: str, **changes: Any) -> Row:
    columns = {
        "algorithm": "low-rank",
        "parameters": '{"width": 1e-06}',
        "seconds": 2.0,
        "proof_seconds": 0.5,
        "optimum_lower": 50.0,
        "optimum_upper": 50.00004,
        "optimum_width": 8e-7,
        "measure.cut": 45.0,
        "measure.cut_ratio": 0.8999,
    }
    return make_row(problem, "low-rank", **columns | changes)


def evidence(folder: Path) -> Evidence:
    rows = [row(name) for name in GRAPHS]
    rows[1] |= {"seconds": 20.0, "optimum_width": 3e-5}
    rows[4] |= {"optimum_lower": None, "optimum_width": None, "measure.cut_ratio": None}
    return write_folder(folder, rows, config=CONFIG)


def test_graphs_are_grouped_by_family_and_weights(tmp_path: Path) -> None:
    lines = scaled(evidence(tmp_path))
    assert [line.kind for line in lines] == [
        "random",
        "random",
        "planar",
        "planar union",
        "2-D torus ±1",
    ]
    assert [line.reached for line in lines] == [True, False, True, True, False]
    assert lines[0].seconds == 2.5
    assert lines[0].memory is None


def test_the_table_has_sizes_widths_and_cuts(tmp_path: Path) -> None:
    table = report.table("maxcut_scaling", evidence(tmp_path)).frame
    assert table["vertices"].tolist() == [100, 200, 100, 100, 100]
    assert table["edges"].tolist() == [250, 500, 294, 500, 200]
    assert table["width"].tolist()[:2] == [8e-7, 3e-5]
    assert table["cut ratio"].tolist()[:1] == [0.8999]
    assert table["width"].isna().tolist() == [False, False, False, False, True]


def test_a_line_joins_graphs_of_a_kind_and_crosses_missed_their_goal(tmp_path: Path) -> None:
    figure = report.figure("maxcut_scaling", evidence(tmp_path))
    seconds, _, widths = figure.axes

    def marked(axes: Axes, marker: str) -> list[list[float]]:
        lines = [line for line in axes.get_lines() if line.get_marker() == marker]
        return [np.asarray(point).tolist() for line in lines for point in line.get_xydata()]

    assert marked(seconds, "o") == [[100.0, 2.5]]
    assert marked(seconds, "x") == [[200.0, 20.5], [100.0, 2.5]]
    assert marked(widths, "x") == [[200.0, 3e-5]]
    joined = [np.asarray(line.get_xdata()).tolist() for line in seconds.get_lines()]
    assert [100.0, 200.0] in joined
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["random", "planar", "planar union", "2-D torus ±1", "goal not proved"]


def test_other_problems_are_refused(tmp_path: Path) -> None:
    config = CONFIG | {"problems": [{"dataset": "sdplib", "instances": ["mcp100"]}]}
    folder = write_folder(tmp_path, [row("mcp100")], config=config)
    with pytest.raises(DataError, match="mcp100 is not a generated graph"):
        report.table("maxcut_scaling", folder)
