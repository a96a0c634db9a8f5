"""Figure 7.4 and its table: error rates against the factor of the coordinates."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.papers.thesis.figure_7_4 import rescaled_errors
from tests.reporting.artificial_runs import NOTHING, Row, make_row
from tests.reporting.drawn_lines import across, heights


def row(kind: str, exponent: int, label: str, error: float | None, **changes: Any) -> Row:
    data = {"rescaled": kind, "exponent": exponent, "repetitions": 25}
    columns = {f"problem.{name}": value for name, value in data.items()} | {"measure.error": error}
    return make_row(f"{kind}, {exponent}", label, **columns | changes)


def evidence(*rows: Row) -> Evidence:
    return Evidence.of_runs(pd.DataFrame(list(rows)))


def lines(axes: Axes) -> dict[str, Line2D]:
    return {str(line.get_label()): line for line in axes.get_lines()}


BOTH = [
    row("all", 1, "E", 0.02),
    row("all", -6, "E", 0.01),
    row("all", -6, "E", 0.03, seed=1),
    row("one", -6, "E", 0.02),
    row("all", 1, "SVM", 0.25, **{"measure.converged": 0.4}),
    row("all", -6, "SVM", 0.5, **{"measure.converged": 1.0}),
    row("all", -6, "SVM", 0.4, seed=1, **{"measure.converged": 0.5}),
    row("one", -6, "SVM", 0.125, **{"measure.converged": 1.0}),
]


def test_mean_errors_stand_over_their_exponents() -> None:
    figure = report.figure("figure_7_4", evidence(*BOTH))
    every, single, below, _ = figure.axes
    assert (every.get_title(), single.get_title()) == (
        "all coordinates rescaled",
        "one coordinate rescaled",
    )
    drawn = lines(every)
    assert across(drawn["E"]) == [-6.0, 1.0]
    assert heights(drawn["E"]) == pytest.approx([2.0, 2.0])
    assert heights(drawn["SVM"]) == pytest.approx([45.0, 25.0])
    assert heights(lines(single)["SVM"]) == pytest.approx([12.5])
    assert below.get_xlabel() == "exponent of the rescaling coefficient"
    assert every.get_ylabel() == "error rate, percent"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["E", "SVM"]


def test_runs_without_convergence_are_drawn_in_a_lower_panel() -> None:
    figure = report.figure("figure_7_4", evidence(*BOTH))
    below = lines(figure.axes[2])
    assert set(below) == {"SVM"}
    assert heights(below["SVM"]) == pytest.approx([25.0, 60.0])
    assert figure.axes[2].get_ylabel() == "not converged, %"


def test_the_first_label_lies_above_the_others() -> None:
    drawn = lines(report.figure("figure_7_4", evidence(*BOTH)).axes[0])
    assert drawn["E"].get_zorder() > drawn["SVM"].get_zorder()


@pytest.mark.slow
def test_without_convergence_there_is_one_row_of_panels() -> None:
    figure = report.figure("figure_7_4", evidence(row("all", 0, "E", 0.1), row("one", 0, "E", 0.2)))
    assert len(figure.axes) == 2
    (only,) = report.figure("figure_7_4", evidence(row("one", 0, "E", 0.2))).axes
    assert only.get_title() == "one coordinate rescaled"


def test_the_table_holds_the_numbers() -> None:
    frame = report.table("table_figure_7_4", evidence(*BOTH)).frame
    assert list(frame["rescaled"]) == ["all"] * 4 + ["one"] * 2
    assert list(frame["exponent"]) == [-6, -6, 1, 1, -6, -6]
    first = frame[(frame["label"] == "SVM") & (frame["exponent"] == -6)].iloc[0]
    assert first["repetitions"] == 50
    assert first["error"] == pytest.approx(45.0)
    # The standard deviation of 50 and 40 is 5 sqrt 2, that of their mean 5.
    assert first["standard error"] == pytest.approx(5.0)
    assert first["not converged"] == pytest.approx(25.0)
    ellipsoid = frame[frame["label"] == "E"]
    assert ellipsoid["not converged"].isna().all()


def test_seeds_without_a_result_are_counted_and_left_out() -> None:
    broken = row("all", 0, "E", None, seed=1, **NOTHING | {"status": "ERROR"})
    (line,) = rescaled_errors(evidence(row("all", 0, "E", 0.1), broken))
    assert (line.errors, line.incomplete, line.repetitions) == ((0.1,), 1, 25)
    assert line.spread is None


def test_numbers_may_be_texts_as_in_the_file() -> None:
    (line,) = rescaled_errors(
        evidence(row("all", 0, "E", None) | {"measure.error": "0.25", "measure.converged": ""})
    )
    assert (line.mean, line.unconverged) == (0.25, None)


@pytest.mark.parametrize("name", ["figure_7_4", "table_figure_7_4"])
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([make_row("mcp100", "E")], "no error rates"),
        ([row("all", 0, "E", None)], "no error rates"),
        (
            [make_row("mcp100", "E") | {"measure.error": 0.5}],
            "'mcp100' lacks the parameters rescaled, exponent",
        ),
        ([row("all", 0, "E", 0.5) | {"measure.error": "much"}], "column measure.error: .*numbers"),
    ],
)
def test_other_runs_are_refused(name: str, rows: list[Row], message: str) -> None:
    make = report.table if name.startswith("table") else report.figure
    with pytest.raises(DataError, match=message):
        make(name, evidence(*rows))
