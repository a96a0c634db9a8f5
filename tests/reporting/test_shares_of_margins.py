"""The table and figure of largest margins: shares of what is proved, and the time to them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from perceptron_lab import check
from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.studies.margins import CLOSEST, LEAST, best_bounds
from tests.reporting.artificial_runs import NOTHING, make_result, make_row, make_trace, write_folder

UPDATES = [0, 1, 2, 4, 8]
COURSES = {
    "good": [-math.inf, 0.5, 0.89, 0.9, 0.9995],
    "worse": [-math.inf, -0.3, 0.7, 0.6, 0.75],  # falls, and the best point counts
    "none": [-math.inf, -0.9, -0.8, math.nan, -0.7],
}


def evidence_of_courses(tmp_path: Path, *, seeds: int = 1, **changes: Any) -> Evidence:
    """Runs of one problem whose proved bound is 2, by the label "worse"; a second has no result."""
    rows, results = [], {}
    for seed in range(seeds):
        for label, bounds in COURSES.items():
            cell = f"{label}-{seed}"
            trace = make_trace(UPDATES, [2.0 * value for value in bounds])
            results[cell] = make_result(trace)
            lower = 2.0 * bounds[-1]
            columns = {"margin_lower": lower, "margin_upper": 2.0 if label == "worse" else 4.0}
            columns |= {"status": "FEASIBLE" if lower > 0 else "MARGIN_BOUNDED"}
            rows.append(
                make_row("a", label, cell=cell, seed=seed, products=7.0, **columns | changes)
            )
    rows.append(make_row("b", "good", cell="b", **NOTHING | {"status": "ERROR"}))
    return write_folder(tmp_path, rows, results)


def test_shares_are_those_of_the_least_proved_bound(tmp_path: Path) -> None:
    evidence = evidence_of_courses(tmp_path)
    assert best_bounds(evidence) == {("a", 0.0): 2.0}
    frame = report.table("margins", evidence).frame.set_index(["problem", "label"])
    good, worse, none = (frame.loc[("a", label)] for label in COURSES)
    assert (good["share"], good["own ratio"]) == (0.9995, 0.49975)
    assert (worse["share"], worse["own ratio"]) == (0.75, 0.75)
    assert (none["share"], none["own ratio"], none["status"]) == (0.0, 0.0, "MARGIN_BOUNDED")
    assert good[["to 90 %", "to 99 %", "to 99.9 %"]].tolist() == pytest.approx([0.4, 0.8, 0.8])
    assert worse[["to 90 %", "to 99 %", "to 99.9 %"]].isna().all()
    assert good["epochs"] == 7
    other = frame.loc[("b", "good")]
    assert other[["share", "own ratio", "to 90 %"]].isna().all()


def test_times_are_medians_of_seeds_that_all_have_one(tmp_path: Path) -> None:
    """A seed that has not come so far leaves no time for the others to show."""
    evidence = evidence_of_courses(tmp_path, seeds=3)
    frame = evidence.frame
    frame.loc[frame["cell"] == "worse-2", "margin_upper"] = 4.0  # its bound is now twice as large
    line = report.table("margins", evidence).frame.set_index("label").loc["good"].iloc[0]
    assert line["seeds"] == 3
    assert line["share"] == 0.9995
    assert pd.isna(line["to 90 %"])


def test_printed_shares_are_rounded_down(tmp_path: Path) -> None:
    latex = report.table("margins", evidence_of_courses(tmp_path, margin_lower=1.99999999)).latex(
        "T"
    )
    assert "& 0.99999 &" in latex
    assert "1.0000" not in latex


def test_the_curves_are_the_missing_parts(tmp_path: Path) -> None:
    figure = report.figure("margins", evidence_of_courses(tmp_path))
    axes = figure.axes[0]
    curves = {str(line.get_label()): line for line in axes.get_lines()}
    missing = np.asarray(curves["good"].get_ydata(), dtype=float)
    assert missing == pytest.approx([0.5, 0.11, 0.1, 5e-4])
    assert np.asarray(curves["worse"].get_ydata(), dtype=float) == pytest.approx(
        [1.0 - LEAST, 0.3, 0.3, 0.25]
    )
    assert np.asarray(curves["none"].get_ydata(), dtype=float) == pytest.approx([1.0 - LEAST] * 4)
    lowest, highest = axes.get_ylim()
    assert lowest > 1.0 - LEAST > CLOSEST > highest
    ticks = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
    labels = {float(position): label.get_text() for position, label in ticks}
    assert labels[1.0 - LEAST] == "\u2264 1 %"
    assert labels[CLOSEST] == "\u2265 99.99 %"
    indices = [float(np.asarray(line.get_xdata(), dtype=float)[0]) for line in curves.values()]
    assert 0.0 < axes.get_xlim()[0] < min(indices)
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["a", "b"]


def test_without_a_bound_there_are_no_shares(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no run has proved a positive upper bound"):
        report.table("margins", evidence_of_courses(tmp_path, margin_upper=0.0, margin_lower=-1.0))


def test_learners_have_no_margin() -> None:
    for kind in ("tables", "figures"):
        with pytest.raises(ConfigError, match="learners have no margin"):
            check("separation_2d", [f"report.{kind}=[margins]"])
