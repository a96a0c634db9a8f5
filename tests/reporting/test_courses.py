"""The figures of courses: a pair of panels per problem, a line per label, nothing hidden."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, Trace
from perceptron_lab.reporting import Evidence
from perceptron_lab.reporting.printing.curves import Curve
from perceptron_lab.reporting.studies.convergence import MOST_PROBLEMS, Quantity
from perceptron_lab.reporting.studies.convergence import draw_histories as draw_courses
from tests.repetitions import repeated
from tests.reporting.artificial_runs import NOTHING, make_result, make_row, make_trace, write_folder
from tests.reporting.drawn_lines import across, heights

TRACE = make_trace([0, 1, 2, 4], [math.nan, 5.0, 3.0, 4.0])


def values(trace: Trace) -> FloatArray:
    return np.array(trace.margin)


def plain(axes: Axes, curves: Sequence[Curve]) -> None:
    """Show 0 to 10, whatever the curves."""
    axes.set_ylim(0.0, 10.0)


QUANTITY = Quantity("height", values, plain)


def evidence(folder: Path, problems: int = 1, *, failed: bool = False) -> Evidence:
    rows, results = [], {}
    for problem in map(str, range(problems)):
        for label in ("MP", "VN"):
            cell = f"{problem}{label}"
            rows.append(make_row(problem, label, cell=cell))
            results[cell] = make_result(TRACE)
    if failed:
        rows.append(make_row("0", "EA", cell="EA", **NOTHING | {"status": "ERROR"}))
        rows[1] |= {"status": "TIME_LIMIT", "proved": False}
    return write_folder(folder, rows, results)


def single_run(folder: Path, trace: Trace) -> Evidence:
    return write_folder(folder, [make_row("a", "L", cell="c")], {"c": make_result(trace)})


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def texts(axes: Axes) -> str:
    return " ".join(text.get_text() for text in axes.texts)


def test_the_panels_hold_the_quantity_over_queries_and_over_seconds(tmp_path: Path) -> None:
    figure = draw_courses(evidence(tmp_path), QUANTITY)
    left, right = figure.axes
    assert (left.get_title(loc="left"), left.get_ylabel()) == ("0", "height")
    assert left.get_xlabel() == "oracle queries or iterations"
    assert right.get_xlabel() == "seconds, proofs excluded"
    for axes, indices in ((left, [2.0, 4.0, 8.0]), (right, [0.1, 0.2, 0.4])):
        line, end = axes.get_lines()[:2]
        assert across(line) == pytest.approx(indices)
        assert heights(line) == [5.0, 3.0, 4.0]
        assert across(end) == pytest.approx(indices[-1:])
        assert heights(end) == [4.0]
        assert axes.get_xscale() == "log"
    assert legend(figure) == ["MP", "VN"]
    assert not texts(left)


def test_the_axes_are_scaled_for_the_curves_before_these_are_drawn(tmp_path: Path) -> None:
    recorded: list[tuple[int, list[float]]] = []

    def scale(axes: Axes, curves: Sequence[Curve]) -> None:
        recorded.append((len(axes.get_lines()), [curve.median[-1] for curve in curves]))

    draw_courses(evidence(tmp_path), Quantity("height", values, scale))
    assert recorded == [(0, [4.0] * 4)] * 2


def test_runs_without_history_or_proof_are_named(tmp_path: Path) -> None:
    figure = draw_courses(evidence(tmp_path, failed=True), QUANTITY)
    assert texts(figure.axes[0]) == "no trace: EA: ERROR"
    assert legend(figure) == ["MP", "VN", "EA", "not proved"]
    ends = [line.get_marker() for line in figure.axes[0].get_lines()[1::2]]
    assert ends == ["o", "x"]


def test_runs_without_the_quantity_are_named(tmp_path: Path) -> None:
    rows = [make_row("a", "MP", cell="0"), make_row("a", "EA", cell="1")]
    nothing = make_trace([0, 1], [math.nan, math.nan])
    folder = write_folder(tmp_path, rows, {"0": make_result(TRACE), "1": make_result(nothing)})
    figure = draw_courses(folder, QUANTITY)
    assert texts(figure.axes[0]) == "no height: EA"
    assert len(figure.axes[0].get_lines()) == 2


@pytest.mark.parametrize(("last", "height"), [(-7.0, 0.0), (12.0, 10.0)])
def test_an_end_beyond_the_axis_is_at_its_edge(tmp_path: Path, last: float, height: float) -> None:
    figure = draw_courses(
        single_run(tmp_path, make_trace([0, 1, 2], [math.nan, 4.0, last])), QUANTITY
    )
    line, end = figure.axes[0].get_lines()
    assert heights(line)[-1] == last
    assert heights(end) == [height]


def test_a_level_is_a_line_in_both_panels_and_in_the_legend(tmp_path: Path) -> None:
    quantity = Quantity("height", values, plain, level=6.0, level_name="the level")
    figure = draw_courses(evidence(tmp_path, failed=True), quantity)
    for axes in figure.axes:
        assert heights(axes.get_lines()[0]) == [6.0, 6.0]
    assert legend(figure) == ["MP", "VN", "EA", "the level", "not proved"]


@pytest.mark.slow
def test_more_problems_than_fit_are_counted(tmp_path: Path) -> None:
    figure = draw_courses(evidence(tmp_path, MOST_PROBLEMS + 2), QUANTITY)
    assert len(figure.axes) == 2 * MOST_PROBLEMS
    assert (
        figure.get_supxlabel()
        == f"showing the first {MOST_PROBLEMS} of {MOST_PROBLEMS + 2} problems"
    )


@pytest.mark.slow
@pytest.mark.parametrize("problems", [1, 2, MOST_PROBLEMS])
def test_as_many_runs_as_fit_are_drawn_on_one_page(tmp_path: Path, problems: int) -> None:
    figure = draw_courses(evidence(tmp_path, problems), QUANTITY)
    assert figure.get_supxlabel() == ""
    assert len(figure.axes) == 2 * problems
    assert figure.get_figheight() <= 12.0


def test_a_run_without_updates_is_not_drawn(tmp_path: Path) -> None:
    figure = draw_courses(single_run(tmp_path, make_trace([0], [-math.inf])), QUANTITY)
    assert not figure.axes[0].get_lines()


def test_a_missing_result_is_an_error(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [make_row("a", "L", cell="c")], {})
    with pytest.raises(DataError, match="the store has no trace of the cell c"):
        draw_courses(folder, QUANTITY)


@pytest.mark.slow
@pytest.mark.parametrize(("problems", "lines"), repeated([(4, 4), (3, 3), (7, 6)], kept=1))
def test_more_than_three_problems_are_arranged_in_rows_of_three(
    tmp_path: Path, problems: int, lines: int
) -> None:
    figure = draw_courses(evidence(tmp_path, problems), QUANTITY)
    figure.draw_without_rendering()
    tops = {round(axes.get_position().y1, 3) for axes in figure.axes}
    assert len(tops) == lines
    assert figure.get_figheight() < 9.5
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    twice = 1 if problems <= 3 else 2
    assert sorted(title for title in titles if title) == sorted(
        twice * [str(number) for number in range(problems)]
    )
    for pair in zip(figure.axes[::2], figure.axes[1::2], strict=True):
        if problems <= 3:
            assert pair[0].get_ylim() == pair[1].get_ylim()
