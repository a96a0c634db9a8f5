"""The figure of Table 6.1: every number is a marker, and every marker says what it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.thesis.table_6_1.table import table_6_1_figure as draw
from perceptron_lab.reporting.printing.figure_files import render
from perceptron_lab.reporting.printing.looks import MOST_COLOURED
from tests.reporting.artificial_runs import MakeRuns, make_row


def table_6_1(runs: pd.DataFrame) -> Figure:
    return draw(Evidence.of_runs(runs))


def lines(axes: Axes) -> dict[str, Line2D]:
    return {str(line.get_label()): line for line in axes.get_lines()}


def heights(line: Line2D) -> list[float]:
    return [float(y) for y in np.asarray(line.get_ydata())]


def test_two_panels_hold_every_number_once(runs: pd.DataFrame) -> None:
    upper, lower = table_6_1(runs).axes
    names = {"PRA proved", "PRA thesis", "EA proved", "EA thesis"}
    assert set(lines(upper)) == set(lines(lower)) == names
    assert heights(lines(upper)["PRA proved"]) == [313, 209]
    assert heights(lines(upper)["EA thesis"]) == [173, 167]
    assert heights(lines(lower)["EA proved"]) == [0.5, 0.5]
    assert heights(lines(lower)["PRA thesis"]) == [0.4, 0.4]
    assert upper.get_yscale() == lower.get_yscale() == "log"
    assert [text.get_text() for text in lower.get_xticklabels()] == ["mcp100", "mcp124-1"]


def test_the_thesis_is_hollow_in_the_colour_and_shape_of_ours(runs: pd.DataFrame) -> None:
    for axes in table_6_1(runs).axes:
        drawn = lines(axes)
        for label in ("PRA", "EA"):
            ours, thesis = drawn[f"{label} proved"], drawn[f"{label} thesis"]
            assert (ours.get_fillstyle(), thesis.get_fillstyle()) == ("full", "none")
            assert ours.get_color() == thesis.get_color()
            assert ours.get_marker() == thesis.get_marker()
        assert drawn["PRA proved"].get_color() != drawn["EA proved"].get_color()


def test_unverified_runs_are_crosses(troubled: pd.DataFrame) -> None:
    figure = table_6_1(troubled)
    upper = lines(figure.axes[0])
    assert heights(upper["PRA proved"]) == [313, 50]
    assert "EA proved" not in upper
    assert heights(upper["EA not proved"]) == [10, 167]
    assert len(heights(upper["PRA not proved, edge"])) == 1
    assert len(heights(upper["EA not proved, edge"])) == 1
    assert {line.get_marker() for name, line in upper.items() if "not proved" in name} == {"x"}
    assert "not proved" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_legend_names_labels_and_thesis_only_where_they_are(make_runs: MakeRuns) -> None:
    figure = table_6_1(make_runs(make_row("other", "PRA"), make_row("other", "mine")))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["PRA", "mine"]


def test_a_time_of_zero_is_shown_at_the_edge(make_runs: MakeRuns) -> None:
    lower = lines(table_6_1(make_runs(make_row("other", "PRA", seconds=0.0))).axes[1])
    assert list(lower) == ["PRA proved, edge"]


def test_six_labels_are_in_colour_and_eight_more_in_grey(make_runs: MakeRuns) -> None:
    figure = table_6_1(make_runs(*(make_row("a", f"L{i}") for i in range(14))))
    looks = {(to_hex(line.get_color()), line.get_marker()) for line in figure.axes[0].get_lines()}
    assert len(looks) == 14
    assert len({colour for colour, _ in looks}) == MOST_COLOURED + 1


@pytest.mark.long  # test_convergence.py has the same of curves
def test_the_same_runs_give_the_same_bytes(runs: pd.DataFrame) -> None:
    first = render(draw, Evidence.of_runs(runs), "A title")
    with rc_context({"font.size": 20, "lines.markersize": 30, "savefig.facecolor": "red"}):
        second = render(draw, Evidence.of_runs(runs), "A title")
    assert first == second
    assert first["png"].startswith(b"\x89PNG")
    assert first["pdf"].startswith(b"%PDF")
    assert not any(b"Date" in content for content in first.values())
    runs.loc[0, "queries"] = 999
    other = render(draw, Evidence.of_runs(runs), "A title")
    assert all(other[kind] != content for kind, content in first.items())


@pytest.mark.slow
def test_drawing_leaves_no_global_state(runs: pd.DataFrame) -> None:
    with rc_context():
        from matplotlib import rcParams

        before = dict(rcParams)
        render(draw, Evidence.of_runs(runs), "t")
        assert dict(rcParams) == before
