"""The laws of queries against 1 / rho: fits of made-up counts, the table and the figure."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.papers.thesis.margin_dependence import Logarithm, Power, residual_of
from tests.reporting.artificial_runs import Row, make_row, write_folder
from tests.reporting.drawn_lines import across, heights

MARGINS = (0.1, 0.01, 0.001, 1e-5)
CONFIG: dict[str, Any] = {
    "experiment": "made",
    "problems": [
        {"dataset": "margin-sets", "family": "exact", "dimension": 4, "rows": 20}
        | {"grid": {"margin": [*MARGINS]}},
        {"dataset": "conic-sets", "family": "second-order", "dimension": 4}
        | {"grid": {"margin": [*MARGINS]}},
    ],
    "algorithms": [{"name": "perceptron"}, {"name": "ellipsoid"}],
}
NAMES = {"exact": "exact-4x20-{:g}", "second-order": "second-order-4-10x5-{:g}"}


def counts(label: str, margin: float) -> int:
    return 7 + round(40 * math.log(1 / margin)) if label == "log" else round(0.5 * margin**-1.5)


def evidence(folder: Path, *, ended: float = 0.0) -> Evidence:
    """Two labels that follow one law each; below ``ended`` the power is at its limit."""
    rows: list[Row] = []
    for family, name in NAMES.items():
        for margin in MARGINS:
            problem = name.format(margin)
            columns = {"problem.family": family, "problem.margin": margin}
            for label in ("log", "power"):
                late = label == "power" and margin < ended
                changes = {"status": "UPDATE_LIMIT", "proved": False} if late else {}
                rows.append(
                    make_row(problem, label, queries=counts(label, margin), **columns, **changes)
                )
    parameters = {
        name.format(margin): {"family": family, "margin": margin}
        for family, name in NAMES.items()
        for margin in MARGINS
    }
    return write_folder(folder, rows, config=CONFIG, parameters=parameters)


def test_a_law_is_recovered_from_its_numbers() -> None:
    ratios = np.geomspace(10.0, 1e8, 9)
    logarithm = Logarithm.of(ratios, 3.0 + 11.0 * np.log(ratios))
    assert (logarithm.a, logarithm.b) == (pytest.approx(3.0), pytest.approx(11.0))
    assert logarithm.residual < 1e-12
    power = Power.of(ratios, 0.2 * ratios**1.25)
    assert (power.factor, power.exponent) == (pytest.approx(0.2), pytest.approx(1.25))
    assert power.residual < 1e-12
    assert Power.of(ratios, 3.0 + 11.0 * np.log(ratios)).residual > 0.1
    assert Logarithm.of(ratios, 0.2 * ratios**1.25).residual > 0.1


def test_the_logarithm_has_the_least_relative_squares() -> None:
    """Neither number can be moved without a larger residual."""
    ratios, queries = np.geomspace(10.0, 1e4, 4), np.array([30.0, 55.0, 140.0, 160.0])
    law = Logarithm.of(ratios, queries)
    assert law.residual == residual_of(law.at(ratios), queries)
    for a, b in ((0.1, 0.0), (-0.1, 0.0), (0.0, 0.1), (0.0, -0.1)):
        shifted = (law.a + a) + (law.b + b) * np.log(ratios)
        assert residual_of(shifted, queries) > law.residual


def test_the_table_shows_both_laws_and_the_better_one(tmp_path: Path) -> None:
    table = report.table_frame("margin_dependence", evidence(tmp_path)).set_index(
        ["family", "label"]
    )
    assert table.index.get_level_values("family").unique().tolist() == [
        "rows, exact",
        "second-order",
    ]
    for family in ("rows, exact", "second-order"):
        log, power = table.loc[(family, "log")], table.loc[(family, "power")]
        assert (log["better"], power["better"]) == ("logarithm", "power")
        assert log["b"] == pytest.approx(40.0, rel=0.02)
        assert power["p"] == pytest.approx(1.5, rel=0.01)
        assert log["residual of logarithm"] < 0.01 < log["residual of power"]
        assert power["residual of power"] < 0.01 < power["residual of logarithm"]
        assert (log["margins"], log["down to"]) == (4, 1e-5)
    assert table["at least"].isna().all()


def test_unverified_runs_are_not_fitted(tmp_path: Path) -> None:
    table = report.table_frame("margin_dependence", evidence(tmp_path / "a", ended=0.001))
    power = table[table["label"] == "power"]
    assert power["margins"].tolist() == [3, 3]
    assert power["down to"].tolist() == [0.001, 0.001]
    assert power["at least"].tolist() == [counts("power", 1e-5)] * 2
    few = report.table_frame("margin_dependence", evidence(tmp_path / "b", ended=0.01))
    power = few[few["label"] == "power"]
    assert power["margins"].tolist() == [2, 2]
    assert power[["a", "b", "c", "p"]].isna().all(axis=None)
    assert power["better"].tolist() == ["", ""]


def test_the_figure_draws_medians_and_the_better_law(tmp_path: Path) -> None:
    figure = report.figure("margin_dependence", evidence(tmp_path, ended=0.001))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["rows, exact", "second-order"]
    lines = {str(line.get_label()): line for line in figure.axes[1].get_lines()}
    assert across(lines["log proved"]) == pytest.approx([1 / margin for margin in MARGINS])
    assert heights(lines["log proved"]) == [counts("log", margin) for margin in MARGINS]
    assert across(lines["power not proved"]) == pytest.approx([1e5])
    ends = across(lines["power law"])
    assert (ends[0], ends[-1]) == (pytest.approx(10.0), pytest.approx(1000.0))
    assert heights(lines["power law"])[-1] == pytest.approx(counts("power", 0.001), rel=0.01)
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["log", "power", "not proved", "fitted law"]


def test_two_margins_have_no_law(tmp_path: Path) -> None:
    rows = [make_row("torus-3x3", "EA")]
    for make in (report.table, report.figure):
        with pytest.raises(DataError, match="fewer than three known margins"):
            make("margin_dependence", write_folder(tmp_path, rows))
