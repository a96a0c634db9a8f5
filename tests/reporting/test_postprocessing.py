"""The table and the figure of solvers' answers before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.studies.postprocessing import AFTER, BEFORE
from tests.reporting.artificial_runs import Row, make_row, write_folder
from tests.reporting.drawn_lines import across, heights

DELTAS, SIDES = (0.01, 0.0001), ("feasible", "infeasible")
SHARED: dict[str, Any] = {"family": "orthant", "rows": 10}
STATUS = {"feasible": "FEASIBLE", "infeasible": "INFEASIBLE"}
PAIR = {"first": "scs-direct", "algorithm": "ellipsoid"}
CONFIG: dict[str, Any] = {
    "experiment": "made",
    "problems": [
        {"dataset": "conditioned-cones", **SHARED}
        | {"grid": {"side": [*SIDES], "delta": [*DELTAS]}}
    ],
    "algorithms": [
        {"name": "scs-direct", "label": "solver"},
        {"name": "scs-direct", "label": "finer", "parameters": {"tolerance": 1e-8}},
        {"name": "postprocessed", "label": "pair", "parameters": PAIR},
        {"name": "ellipsoid", "label": "ours"},
    ],
}
PARAMETERS = {
    "solver": ("scs-direct", '{"epsilon": 1e-6, "iterations": 100000, "time_limit": 300.0, '
               '"tolerance": 1e-4}'),
    "finer": ("scs-direct", '{"epsilon": 1e-6, "iterations": 100000, "time_limit": 300.0, '
              '"tolerance": 1e-8}'),
    "pair": ("postprocessed", '{"algorithm": "ellipsoid", "epsilon": 1e-9, "first": "scs-direct", '
             '"first_parameters": null, "parameters": null, "updates": 1}'),
    "ours": ("ellipsoid", '{"cuts": "central", "margin": 1e-9, "variant": "exact"}'),
}  # fmt: skip


def row(side: str, delta: float, label: str, **changes: Any) -> Row:
    name = ConditionedCones(**SHARED, side=side, delta=delta).name  # type: ignore[arg-type]
    algorithm, parameters = PARAMETERS[label]
    arguments = {"status": STATUS[side], "algorithm": algorithm, "parameters": parameters}
    return make_row(name, label, **arguments | changes)


def evidence(folder: Path, labels: tuple[str, ...] = tuple(PARAMETERS)) -> Evidence:
    """The solver is right at the first delta alone, and the pair at both."""
    rows = []
    for side in SIDES:
        for delta in DELTAS:
            before = [delta * number for number in (1, 2, 3, 4, -60, 5)]
            after = [0.0, 0.0, 1e-16, 0.0, delta**2, 0.0]
            errors = dict(zip((*BEFORE, *AFTER), [*before, *after], strict=True))
            changes = {"status": "UNVERIFIED", "proved": False} if delta < 0.01 else {}
            arguments: dict[str, dict[str, Any]] = {
                "solver": changes,
                "finer": {},
                "pair": {"updates": 20, "seconds": 0.5, **errors},
                "ours": {"updates": 300, "seconds": 3.0},
            }
            rows += [row(side, delta, label, **arguments[label]) for label in labels]
    return write_folder(folder, rows, config=CONFIG)


def test_the_table_shows_verified_answers_before_and_after(tmp_path: Path) -> None:
    table = report.table_frame("postprocessing", evidence(tmp_path)).set_index("side")
    assert table.index.tolist() == [*SIDES]
    assert set(table["family"]) == {"orthant"}
    assert set(table["solver"]) == {"solver"}  # and not the finer one
    assert set(table["then"]) == {"ours"}
    assert table["problems"].tolist() == [2, 2]
    assert table["proved before"].tolist() == [1, 1]
    assert table["proved after"].tolist() == [2, 2]
    assert table["proved alone"].tolist() == [2, 2]
    assert table["apart before"].tolist() == pytest.approx([(0.04 + 0.0004) / 2] * 2)
    assert table["apart after"].tolist() == pytest.approx([1e-16] * 2)
    assert table["error before"].tolist() == pytest.approx([(0.6 + 0.006) / 2] * 2)
    assert table["error after"].tolist() == pytest.approx([(1e-4 + 1e-8) / 2] * 2)
    assert table["updates"].tolist() == [20, 20]
    assert table["updates alone"].tolist() == [300, 300]
    assert table["seconds alone"].tolist() == [3.0, 3.0]


def test_missing_separate_runs_have_empty_cells(tmp_path: Path) -> None:
    table = report.table_frame("postprocessing", evidence(tmp_path, ("pair", "finer")))
    assert set(table["solver"]) == {"scs-direct"}
    assert set(table["then"]) == {"ellipsoid"}
    assert table["proved after"].tolist() == [2, 2]
    assert table[["proved before", "proved alone", "updates alone"]].isna().all(axis=None)


def test_an_answer_to_the_other_side_is_no_proof(tmp_path: Path) -> None:
    rows = [row("feasible", 0.01, "pair", status="MARGIN_BOUNDED")]
    rows.append(row("feasible", 0.01, "solver", status="INFEASIBLE"))
    table = report.table_frame("postprocessing", write_folder(tmp_path, rows, config=CONFIG))
    assert table["proved after"].tolist() == [0]
    assert table["proved before"].tolist() == [0]
    assert table[["apart before", "error after"]].isna().all(axis=None)


def test_the_figure_has_a_line_before_and_one_after(tmp_path: Path) -> None:
    figure = report.figure("postprocessing", evidence(tmp_path))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["orthant, feasible", "orthant, infeasible"]
    lines = {str(line.get_label()): line for line in figure.axes[0].get_lines()}
    assert across(lines["the solver's answer proved"]) == pytest.approx([100])
    assert across(lines["the solver's answer not proved"]) == pytest.approx([10_000])
    assert heights(lines["the solver's answer proved"]) == pytest.approx([0.6])
    assert heights(lines["then ours proved"]) == pytest.approx([1e-4, 1e-8])
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["the solver's answer (solver)", "then ours", "not proved"]


def test_programs_of_sdplib_are_decided_by_a_proof_of_either_side(tmp_path: Path) -> None:
    config = CONFIG | {
        "problems": [*CONFIG["problems"], {"dataset": "sdplib", "instances": ["control1", "infd1"]}]
    }
    rows = [row("feasible", delta, label) for delta in DELTAS for label in PARAMETERS]
    for name, status in (("control1", "FEASIBLE"), ("infd1", "INFEASIBLE")):
        for label in ("solver", "pair"):
            algorithm, parameters = PARAMETERS[label]
            answer = {"status": status} if label == "pair" else {"status": "UNVERIFIED"}
            arguments: dict[str, Any] = {"algorithm": algorithm, "parameters": parameters, **answer}
            rows.append(make_row(name, label, **arguments | {"proved": label == "pair"}))
    folder = write_folder(tmp_path, rows, config=config)
    table = report.table_frame("postprocessing", folder).set_index("family")
    assert table.loc["sdplib", "side"] == "either"
    assert table.loc["sdplib", "problems"] == 2
    assert table.loc["sdplib", "proved before"] == 0
    assert table.loc["sdplib", "proved after"] == 2
    titles = [axes.get_title(loc="left") for axes in report.figure("postprocessing", folder).axes]
    assert titles == ["orthant, feasible"]


def test_without_pairs_the_table_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "a", [row("feasible", 0.01, "ours")], config=CONFIG)
    other = write_folder(tmp_path / "b", [make_row("torus-3x3", "EA")])
    for make in (report.table, report.figure):
        with pytest.raises(DataError, match="no label resumes from a solver's answer"):
            make("postprocessing", folder)
        with pytest.raises(DataError, match="no problem has a known condition delta"):
            make("postprocessing", other)
