"""Time against rows and against dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.studies.timing import MOST_PANELS, series_of
from tests.reporting.artificial_runs import NOTHING, Row, make_row

KIND = "reflected-*-0.3, "


def row(dimension: int, rows: int, label: str = "auto", **changes: Any) -> Row:
    shape = {"dimension": dimension, "constraints": rows}
    return scaling_row(
        f"reflected-{dimension}x{rows}-0.3", label, family="reflected", **shape | changes
    )


def scaling_row(problem: str, label: str, *, family: str, **changes: Any) -> Row:
    """Return a row of a problem with the parameters that its dataset had."""
    columns = {"rows": changes["constraints"], "dimension": changes["dimension"], "family": family}
    return make_row(problem, label, **{f"problem.{k}": v for k, v in columns.items()} | changes)


def draw(*rows: Row) -> Figure:
    return report.figure("scaling", Evidence.of_runs(pd.DataFrame(list(rows))))


def lines_of(axes: Axes) -> dict[str, Line2D]:
    lines = {str(line.get_label()): line for line in axes.get_lines()}
    return {name: line for name, line in lines.items() if not name.startswith("_")}


def points(line: Line2D) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]


def test_medians_and_quartiles_stand_over_the_rows() -> None:
    kind = {"problem.difficulty": 0.3}
    (axes,) = draw(
        row(10, 1000, seconds=1.0, **kind),
        row(10, 100, seconds=1.0, **kind),
        row(10, 100, seconds=9.0, seed=1, **kind),
        row(10, 100, seconds=4.0, seed=2, **kind),
    ).axes
    assert points(lines_of(axes)["auto proved"]) == [(100.0, 4.0), (1000.0, 1.0)]
    title = "reflected, dimension 10, difficulty 0.3"
    assert (axes.get_xlabel(), axes.get_title("left")) == ("rows", title)
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [(100.0, 2.5), (100.0, 6.5)] in [points(line) for line in axes.get_lines()]


def test_rows_and_dimension_have_separate_panels() -> None:
    figure = draw(row(100, 5000), row(1000, 5000), row(100, 50000), row(7, 8))
    left, right = figure.axes
    assert (left.get_title("left"), left.get_xlabel()) == (KIND + "dimension 100", "rows")
    assert (right.get_title("left"), right.get_xlabel()) == (KIND + "5000 rows", "dimension")
    assert [x for x, _ in points(lines_of(left)["auto proved"])] == [5000.0, 50000.0]
    assert [x for x, _ in points(lines_of(right)["auto proved"])] == [100.0, 1000.0]


def test_only_problems_of_one_kind_stand_together() -> None:
    (axes,) = draw(
        row(10, 100, seconds=1.0),
        scaling_row(
            "gaussian-10x100",
            "auto",
            family="gaussian",
            dimension=10,
            constraints=100,
            seconds=3.0,
        ),
        make_row("digits-8-9", "auto", dimension=10, constraints=300, seconds=3.0),
        row(10, 1000, seconds=5.0),
        make_row("digits-0-rest", "auto", dimension=10, constraints=900, seconds=3.0),
    ).axes
    assert points(lines_of(axes)["auto proved"]) == [(100.0, 1.0), (1000.0, 5.0)]


def test_unverified_runs_are_crosses_and_missing_numbers_are_at_the_edge() -> None:
    figure = draw(
        row(10, 100, "HiGHS", seconds=3.0),
        row(10, 200, "HiGHS", seconds=60.0, status="TIME_LIMIT", proved=False),
        row(10, 300, "HiGHS", status="ERROR", **NOTHING),
        row(10, 400, "auto"),
    )
    drawn = lines_of(figure.axes[0])
    assert points(drawn["HiGHS proved"]) == [(100.0, 3.0)]
    assert points(drawn["HiGHS not proved"]) == [(200.0, 60.0)]
    assert drawn["HiGHS not proved"].get_marker() == "x"
    assert [x for x, _ in points(drawn["HiGHS not proved, edge"])] == [300.0]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["HiGHS", "auto", "not proved"]


def test_pairs_that_were_not_run_have_no_marker() -> None:
    figure = draw(row(10, 100, "HiGHS"), row(10, 200, "HiGHS"), row(10, 300, "auto"))
    drawn = lines_of(figure.axes[0])
    assert {*drawn} == {"HiGHS proved", "auto proved"}
    assert [x for x, _ in points(drawn["auto proved"])] == [300.0]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["HiGHS", "auto"]


def test_panels_beyond_the_limit_are_dropped_with_a_note() -> None:
    figure = draw(*(row(n, m) for n in range(2, 10) for m in (100, 1000)))
    titles = [axes.get_title("left") for axes in figure.axes]
    assert titles == [f"{KIND}dimension {n}" for n in range(2, 2 + MOST_PANELS)]
    assert figure.get_supxlabel() == "showing the first 6 of 10 panels"


@pytest.mark.slow
def test_panels_that_do_not_fill_a_row_leave_room() -> None:
    figure = draw(*(row(n, m) for n in (2, 3) for m in (100, 1000)))
    assert [axes.get_title("left") for axes in figure.axes] == [
        KIND + "dimension 2",
        KIND + "dimension 3",
        KIND + "100 rows",
        KIND + "1000 rows",
    ]


def test_problems_without_a_sweep_are_refused() -> None:
    with pytest.raises(DataError, match="no two problems differ in their rows alone"):
        draw(row(10, 100), row(20, 200))
    frame = pd.DataFrame([row(10, 100), row(10, 100, "P", **NOTHING | {"status": "ERROR"})])
    with pytest.raises(DataError, match="scaling"):
        series_of(Evidence.of_runs(frame))
