"""The map of mistakes over the number forced: a panel a label, and what its cells say."""

from __future__ import annotations

from pathlib import Path

from perceptron_lab.algorithms.resisting.forced import forced
from perceptron_lab.reporting import report
from perceptron_lab.reporting.theory.learning_complexity import least_upper
from tests.reporting.test_resisting_report import DIMENSIONS, MARGINS, evidence, row


def test_each_panel_has_the_ratios_by_dimension_and_margin(tmp_path: Path) -> None:
    cut_off = row(10, 0.001, "early", 700, status="UPDATE_LIMIT", proved=False, bound=None)
    late = row(10, 0.001, "other rows", 20, status="TIME_LIMIT", proved=False)
    figure = report.figure("resisting_map", evidence(tmp_path, cut_off, late))
    panels = {axes.get_title(loc="left"): axes for axes in figure.axes}
    assert list(panels) == ["cuts", "early", "in rounds", "least bound of a theorem"]
    places = [(n, rho) for n in DIMENSIONS for rho in MARGINS]
    written = {
        label: {text.get_position(): text.get_text() for text in axes.texts}
        for label, axes in panels.items()
    }
    assert set(written["cuts"].values()) == {"3"}
    assert set(written["in rounds"].values()) == {"1"}
    assert list(written["early"].values()) == [f">{700 / forced(10, 0.001):.3g}"]
    for n, rho in places:
        place = (DIMENSIONS.index(n), MARGINS.index(rho))
        expected = least_upper(n, rho) / forced(n, rho)
        assert written["least bound of a theorem"][place] == f"{expected:.3g}"
    ticks = panels["cuts"]
    assert [label.get_text() for label in ticks.get_xticklabels()] == ["2", "10"]
    assert [label.get_text() for label in ticks.get_yticklabels()] == ["0.1", "0.01", "0.001"]
