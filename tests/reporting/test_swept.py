"""Curves of columns of the runs: medians, bands, scales, and what is refused before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from perceptron_lab import check
from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.experiments.configuration.config import Curves, ReportEntry
from perceptron_lab.experiments.run import Results
from perceptron_lab.reporting import Evidence, make_report, report
from tests.reporting.artificial_runs import NOTHING, MakeRuns, Row, make_row, rows_of, write_folder
from tests.reporting.drawn_lines import across, heights

BY_ROWS = Curves(x="problem.rows", y="seconds")


def row(rows: int, label: str, seed: int = 0, **changes: Any) -> Row:
    arguments = {"cell": f"{rows}{label}{seed}", "seed": seed, "problem.rows": rows}
    return make_row(f"r{rows}", label, **arguments | changes)


def sweep() -> list[Row]:
    return [
        row(rows, label, seed, seconds=factor * rows * (1.0 + seed))
        for label, factor in (("MP", 1.0), ("VN", 2.0))
        for rows in (10, 100, 1000)
        for seed in (0, 1, 2)
    ]


def drawn(make_runs: MakeRuns, rows: list[Row], columns: Curves = BY_ROWS) -> Figure:
    return report.curves(Evidence.of_runs(make_runs(*rows)), columns)


def test_medians_over_the_seeds_with_a_band_on_axes_chosen_by_the_data(
    make_runs: MakeRuns,
) -> None:
    figure = drawn(make_runs, sweep())
    (axes,) = figure.axes
    lines = {str(line.get_label()): line for line in axes.get_lines()}
    assert across(lines["MP"]) == [10.0, 100.0, 1000.0]
    assert heights(lines["MP"]) == [20.0, 200.0, 2000.0]
    assert heights(lines["VN"]) == [40.0, 400.0, 4000.0]
    band = np.asarray(axes.collections[0].get_paths()[0].vertices)
    assert set(band[band[:, 0] == 10.0][:, 1]) == {15.0, 25.0}
    assert all(
        collection.get_zorder() < lines["MP"].get_zorder() for collection in axes.collections
    )
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rows", "seconds")
    assert figure.get_supxlabel() == "medians and quartiles over seeds"


def test_numbers_of_one_size_have_linear_axes(make_runs: MakeRuns) -> None:
    rows = [row(size, "MP", seconds=size / 10.0) for size in (10, 20)]
    figure = drawn(make_runs, rows)
    assert (figure.axes[0].get_xscale(), figure.axes[0].get_yscale()) == ("linear", "linear")
    assert figure.get_supxlabel() == ""


def test_texts_stand_side_by_side_and_any_column_tells_lines_apart(make_runs: MakeRuns) -> None:
    figure = drawn(make_runs, sweep(), Curves(x="label", y="seconds", by="problem.rows"))
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["MP", "VN"]
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named == ["rows 10", "rows 100", "rows 1000"]


def test_problems_that_differ_only_in_hidden_columns_are_pooled_with_a_note(
    make_runs: MakeRuns,
) -> None:
    rows = [row(10, "MP"), {**row(10, "MP"), "problem": "other", "cell": "o"}]
    assert "seeds and problems" in drawn(make_runs, rows).get_supxlabel()


def test_unverified_runs_are_crosses_and_missing_numbers_are_at_the_edge(
    make_runs: MakeRuns,
) -> None:
    rows = [
        row(10, "MP", seconds=1.0),
        row(100, "MP", seconds=5.0, status="TIME_LIMIT", proved=False),
        row(1000, "MP", **NOTHING | {"status": "ERROR"}),
    ]
    figure = drawn(make_runs, rows)
    crosses = [line for line in figure.axes[0].get_lines() if line.get_marker() == "x"]
    assert [across(line) for line in crosses] == [[100.0], [1000.0]]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["MP", "not proved"]


def test_columns_that_are_not_there_are_named(make_runs: MakeRuns) -> None:
    with pytest.raises(DataError, match=r"no column 'second' \(did you mean 'seconds'\?\)"):
        drawn(make_runs, sweep(), Curves(x="problem.rows", y="second"))
    with pytest.raises(DataError, match="column status has no numbers"):
        drawn(make_runs, sweep(), Curves(x="problem.rows", y="status"))


def test_curves_of_a_report_have_separate_files(tmp_path: Path, make_runs: MakeRuns) -> None:
    write_folder(tmp_path, sweep())
    entry = ReportEntry.model_validate(
        {
            "tables": ["profile"],
            "figures": [
                {"curves": {"x": "problem.rows", "y": "seconds"}},
                {"curves": {"x": "problem.rows", "y": "measure.gone", "name": "gone"}},
            ],
        }
    )
    report = make_report(tmp_path, entry.model_dump(), "t")
    assert tmp_path / "seconds_over_problem.rows.png" in report.files
    assert [failure.partition(";")[0] for failure in report.failed] == [
        "figure gone: the runs have no column 'measure.gone'"
    ]
    results = Results(tmp_path, rows_of(make_runs(*sweep())))
    assert results.curves("problem.rows", "seconds").axes[0].get_xlabel() == "rows"


@pytest.mark.parametrize(
    ("figures", "message"),
    [
        (
            "[{curves: {x: algorithm.gama, y: seconds}}]",
            "did you mean 'algorithm.gamma'",
        ),
        ("[{curves: {x: seed, y: status}}]", r"curves\.y: the column status holds text"),
        ("[{curves: {x: seed, y: second}}]", r"curves\.y: .*did you mean 'seconds'"),
        ("[{curves: {x: seed, y: seconds, per: label}}]", "unknown key 'per'; allowed: x, y, by"),
        ("[{curve: {x: seed, y: seconds}}]", "unknown key 'curve'; .*did you mean 'curves'"),
        ("[{curves: {x: seed}}]", r"curves\.y: missing"),
        ("[3]", r"report\.figures\.0: received 3; allowed: text"),
        ("[profil]", "did you mean 'profile'"),
        (
            "[{curves: {x: seed, y: seconds}}, {curves: {x: seed, y: seconds}}]",
            "two figures would have the files 'seconds_over_seed'",
        ),
    ],
)
def test_invalid_curves_are_refused_before_any_run(figures: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check("quickstart", [f"report.figures={figures}"])


def test_right_curves_are_accepted() -> None:
    figures = "[profile, {curves: {x: measure.cut, y: algorithm.radius, by: problem.family}}]"
    with pytest.raises(ConfigError, match=r"algorithm\.radius"):
        check("quickstart", [f"report.figures={figures}"])
    assert check("quickstart", ["report.figures=[profile, {curves: {x: measure.cut, y: seed}}]"])
