"""Tables and figures about Table 6.1: rescalings, ratios by oracle, cuts, density and margin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting import Evidence, report, table_frame
from tests.reporting.artificial_runs import (
    Row,
    make_result,
    make_row,
    make_trace,
    write_folder,
)

THESIS = '{"preset": "thesis"}'
ALGORITHMS = {"PRA": "rescaled-perceptron", "EA": "ellipsoid", "P": "perceptron"}


def row(problem: str, label: str, **changes: Any) -> Row:
    algorithm = ALGORITHMS[label.split()[0]]
    parameters = THESIS if algorithm == "rescaled-perceptron" else "{}"
    return make_row(problem, label, algorithm=algorithm, parameters=parameters, **changes)


def stored(
    folder: Path, rows: list[Row], traces: dict[str, Any], config: dict[str, Any] | None = None
) -> Evidence:
    results = {cell: make_result(trace) for cell, trace in traces.items()}
    return write_folder(folder, rows, results, config)


def phased(*phases: str) -> Any:
    counts = list(range(len(phases)))
    return replace(make_trace(counts, [0.0] * len(phases)), phase=list(phases))


@pytest.fixture
def by_oracle(tmp_path: Path) -> Evidence:
    labels = ("PRA", "EA", "PRA eigenvector", "EA eigenvector")
    rows = [row("mcp100", label) for label in labels]
    rows[2] |= {"queries": 900, "updates": 899}
    traces = {row["cell"]: phased("perceptron 1") for row in rows}
    traces[rows[2]["cell"]] = phased("perceptron 1", "relaxed 1", "perceptron 2")
    return stored(tmp_path, rows, traces)


def test_ratios_stand_by_oracle_and_clock(by_oracle: Evidence) -> None:
    (line,) = table_frame("table_6_1_oracles", by_oracle).to_dict("records")
    assert line["queries"] == pytest.approx(313 / 173)
    assert line["queries eigenvector"] == 900 / 50
    assert line["seconds"] == 0.25 / 0.5
    assert line["thesis seconds"] == pytest.approx(0.4 / 0.5)


def test_rescalings_are_counted_in_the_phases_of_the_traces(by_oracle: Evidence) -> None:
    (line,) = table_frame("table_6_1_oracles", by_oracle).to_dict("records")
    assert (line["most updates"], line["first phase"]) == (899, 256 * 101)
    assert line["rescalings"] == 1


def test_a_ratio_needs_two_proofs(tmp_path: Path) -> None:
    rows = [row("mcp100", "PRA"), row("mcp100", "EA", status="UPDATE_LIMIT", proved=False)]
    evidence = stored(tmp_path, rows, {row["cell"]: phased("perceptron 1") for row in rows})
    (line,) = table_frame("table_6_1_oracles", evidence).to_dict("records")
    assert pd.isna(line["queries"])
    assert pd.isna(line["seconds"])
    assert line["rescalings"] == 0


@pytest.mark.parametrize(
    "labels", [{"PRA": "PRA", "E": "EA"}, {"PRA x": "EA", "EA x": "PRA"}], ids=["alone", "swapped"]
)
def test_labels_without_a_counterpart_are_refused(labels: dict[str, str]) -> None:
    rows = [make_row("mcp100", label) | named(other) for label, other in labels.items()]
    with pytest.raises(DataError, match=r"table_6_1_oracles: .* with the same ORACLE"):
        table_frame("table_6_1_oracles", Evidence.of_runs(pd.DataFrame(rows)))


def named(label: str) -> Row:
    return {"algorithm": ALGORITHMS[label], "parameters": "{}"}


def test_rescalings_and_margins(tmp_path: Path) -> None:
    rows = [
        row("small", "PRA", updates=50, seed=seed, **{"problem.margin": 0.1}) for seed in (0, 1)
    ]
    rows.append(row("small", "P", updates=25, **{"problem.margin": 0.1}))
    traces = {
        rows[0]["cell"]: phased("perceptron 1", "relaxed 1"),
        rows[1]["cell"]: phased("perceptron 1", "relaxed 1", "perceptron 2", "perceptron 5"),
        rows[2]["cell"]: phased(""),
    }
    frame = table_frame("rescalings", stored(tmp_path, rows, traces)).set_index("label")
    assert frame.loc["PRA", "rescalings"] == 2
    assert pd.isna(frame.loc["P", "rescalings"])
    assert frame["times margin squared"].tolist() == pytest.approx([0.5, 0.25])


TRACED = {
    "experiment": "made",
    "problems": [{"dataset": "maxcut", "instances": ["torus-3x3"]}],
    "algorithms": [{"name": "ellipsoid"}],
    "trace_cuts": True,
}


def cut_rows(folder: Path, **measures: Any) -> Evidence:
    rows = [row("torus-3x3", label) for label in ("PRA", "EA")]
    columns = {
        "cuts": [[0, 0], [1, 1], [1, 3]],
        "cut_norm": [[np.nan, np.nan], [1.0, 2.0], [1.0, 4.0]],
        "cut_depth": [[np.nan, np.nan], [np.nan, 0.4], [0.5, 0.2]],
    } | measures
    arrays = {
        name: [np.array(row, dtype=float) for row in rows_] for name, rows_ in columns.items()
    }
    trace = make_trace([0, 2, 6], [0.0] * 3, **arrays)
    return stored(folder, rows, {row["cell"]: trace for row in rows}, TRACED)


def test_means_are_over_all_cuts_of_a_block(tmp_path: Path) -> None:
    lines = table_frame("cuts", cut_rows(tmp_path)).to_dict("records")
    assert len(lines) == 2
    for line in lines:
        assert line["x0 percent"] == pytest.approx(100 * 2 / 6)
        assert line["norm"] == pytest.approx((2.0 + 3 * 4.0) / 4)
        assert line["depth"] == pytest.approx((0.4 + 3 * 0.2) / 4)
        assert line["x0 depth"] == 0.5


def test_the_figure_of_cuts_has_the_matrix_cuts(tmp_path: Path) -> None:
    depth, other, norm, _ = report.figure("cuts", cut_rows(tmp_path)).axes
    (line,) = (line for line in depth.get_lines() if len(line.get_xdata()) == 2)
    assert np.asarray(line.get_xydata()).tolist() == [[2.0, 0.4], [6.0, 0.2]]
    assert (depth.get_title("left"), other.get_title("left")) == ("PRA", "EA")
    assert norm.get_lines()[0].get_ydata().tolist() == [2.0, 4.0]


def test_traces_of_other_cones_or_without_cuts_are_refused(tmp_path: Path) -> None:
    three = {name: [[0.0] * 3] * 3 for name in ("cuts", "cut_norm", "cut_depth")}
    with pytest.raises(DataError, match="two blocks"):
        table_frame("cuts", cut_rows(tmp_path / "three", **three))
    rows = [row("torus-3x3", "PRA")]
    with pytest.raises(DataError, match="trace_cuts: true"):
        table_frame("cuts", stored(tmp_path / "none", rows, {}))


DENSITY = {
    "experiment": "made",
    "problems": [
        {"dataset": "maxcut", "enclose": True, "instances": ["random-50-63", "random-100-125"]},
        {"dataset": "maxcut", "instances": ["random-50-125-0.03"]},
    ],
    "algorithms": [{"name": "ellipsoid"}],
}


def density(folder: Path, **last: Any) -> Evidence:
    rows = []
    for problem, (pra, ea), rho in (
        ("random-50-63", (90, 60), 0.06),
        ("random-100-125", (200, 100), 0.04),
        ("random-50-125-0.03", (300, 100), 0.03),
    ):
        enclosed = {
            "problem.enclose": not problem.endswith("-0.03"),
            "measure.rho_lower": 0.999 * rho,
            "measure.rho_upper": rho,
        }
        rows += [
            row(problem, label, queries=count, **enclosed)
            for label, count in (("PRA", pra), ("EA", ea))
        ]
    rows[-1] |= last
    return write_folder(folder, rows, {}, DENSITY)


def test_ratios_density_and_margin(tmp_path: Path) -> None:
    frame = table_frame("maxcut_density", density(tmp_path)).set_index("problem")
    assert frame["mean degree"].tolist() == [2.5, 2.5, 5.0]
    assert frame["ratio"].tolist() == [1.5, 2.0, 3.0]
    assert frame["EA per vertex"].tolist() == [1.2, 1.0, 2.0]
    assert frame.loc["random-50-125-0.03", "n rho squared"] == pytest.approx(0.045, rel=2e-3)


def test_the_figure_of_density_joins_graphs_of_one_kind(tmp_path: Path) -> None:
    left, right = report.figure("maxcut_density", density(tmp_path)).axes
    drawn = [line for line in left.get_lines() if line.get_marker() != "None"]
    assert [line.get_xydata().tolist() for line in drawn] == [
        [[50.0, 1.5], [100.0, 2.0]],
        [[50.0, 3.0]],
    ]
    assert [line.get_fillstyle() for line in drawn] == ["full", "none"]
    left.figure.draw_without_rendering()
    assert [text.get_text() for text in left.get_xticklabels()] == ["50", "100"]
    lowest, highest = left.get_ylim()
    ticks = [tick for tick in left.get_yticks() if lowest <= tick <= highest]
    assert ticks == pytest.approx([1.0, 1.5, 2.0, 3.0])
    assert right.get_xlabel() == "n $\\rho^2$"


def test_an_answer_without_proof_has_no_ratio(tmp_path: Path) -> None:
    evidence = density(tmp_path, status="TIME_LIMIT", proved=False)
    frame = table_frame("maxcut_density", evidence)
    assert pd.isna(frame["ratio"].iloc[-1])
    assert frame["status"].iloc[-1] == "EA: TIME_LIMIT"
    figure = report.figure("maxcut_density", evidence)
    assert "1 graphs" in figure.get_supxlabel()


def test_a_graph_without_any_result_is_named(tmp_path: Path) -> None:
    evidence = density(tmp_path)
    frame = evidence.frame
    frame[["measure.rho_lower", "measure.rho_upper"]] = ""
    with pytest.raises(DataError, match="no run on random-50-63 has a result"):
        table_frame("maxcut_density", evidence)
