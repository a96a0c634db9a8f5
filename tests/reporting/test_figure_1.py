"""Figure 1: difficulty against seconds and iterations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting import Evidence
from perceptron_lab.reporting.papers.yu.costs import difficulty, figure_1
from tests.reporting.artificial_runs import NOTHING, Row, make_row, write_folder


def row(kappa: str, label: str, **changes: Any) -> Row:
    columns = {"dimension": 100, "constraints": 5000, "problem.difficulty": float(kappa)}
    return make_row(f"kappa {kappa}", label, **columns | changes)


def evidence(*rows: Row) -> Evidence:
    return Evidence.of_runs(pd.DataFrame(list(rows)))


def markers(axes: Axes) -> dict[str, Line2D]:
    lines = {str(line.get_label()): line for line in axes.get_lines()}
    return {name: line for name, line in lines.items() if not name.startswith("_")}


def points(line: Line2D) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]


def test_medians_stand_over_their_difficulty() -> None:
    figure = figure_1(
        evidence(
            row("1", "MP", seconds=2.0, updates=5),
            row("0.1", "MP", seconds=1.0, updates=10),
            row("0.1", "MP", seconds=9.0, updates=30, seed=1),
            row("0.1", "MP", seconds=4.0, updates=20, seed=2),
        )
    )
    left, right = figure.axes
    assert points(markers(left)["MP proved"]) == [(0.1, 4.0), (1.0, 2.0)]
    assert points(markers(right)["MP proved"]) == [(0.1, 20.0), (1.0, 5.0)]
    assert (left.get_ylabel(), right.get_ylabel()) == ("seconds", "iterations")
    assert {axes.get_xscale() for axes in figure.axes} == {"log"}
    bars = [points(line) for line in left.get_lines() if points(line)[0][0] == points(line)[-1][0]]
    assert [(0.1, 2.5), (0.1, 6.5)] in bars


def test_unverified_runs_are_crosses_and_missing_numbers_are_at_the_edge() -> None:
    figure = figure_1(
        evidence(
            row("1", "PCT", seconds=2.0),
            row("0.1", "PCT", seconds=30.0, status="TIME_LIMIT", proved=False),
            row("0.3", "PCT", **NOTHING | {"status": "ERROR"}),
            row("3", "MP"),
        )
    )
    drawn = markers(figure.axes[0])
    assert points(drawn["PCT not proved"]) == [(0.1, 30.0)]
    assert drawn["PCT not proved"].get_marker() == "x"
    assert [x for x, _ in points(drawn["PCT not proved, edge"])] == [0.3, 3.0]
    assert len(points(drawn["MP not proved, edge"])) == 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "PCT",
        "MP",
        "not proved",
    ]


@pytest.mark.parametrize("kappa", [0.3, "0.3", "1e-05", 10])
def test_the_difficulty_is_a_parameter_of_the_dataset(kappa: str | float) -> None:
    rows = [make_row("a", "MP", **{"problem.difficulty": kappa}), make_row("b", "MP")]
    assert difficulty(evidence(*rows), "a") == float(kappa)
    with pytest.raises(DataError, match="'b' has no parameter difficulty"):
        difficulty(evidence(*rows), "b")


def test_rows_stored_without_parameters_have_those_of_their_cell(tmp_path: Path) -> None:
    rows = [make_row(name, "MP", cell=name) for name in ("a", "b")]
    settings = {"a": {"difficulty": 0.3}, "b": {"difficulty": 1.0}}
    folder = write_folder(tmp_path, rows, parameters=settings)
    assert [difficulty(folder, name) for name in ("a", "b")] == [0.3, 1.0]


@pytest.mark.parametrize("problem", ["mcp100", "reflected-100x5000-0.3"])
def test_other_problems_are_refused(problem: str) -> None:
    with pytest.raises(DataError, match=f"'{problem}' has no parameter difficulty"):
        figure_1(evidence(make_row(problem, "MP")))


def test_problems_of_several_shapes_are_refused() -> None:
    rows = [row("1", "MP"), row("2", "MP", dimension=7)]
    with pytest.raises(DataError, match=r"problems of 2 shapes \[\(7, 5000\), \(100, 5000\)\]"):
        figure_1(evidence(*rows))
