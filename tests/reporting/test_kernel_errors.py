"""Figure 2: multi-class predictions from the traces of one-versus-rest classifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, Trace
from perceptron_lab.datasets.collections.tabular import Tabular, held_out_labels
from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.papers.yu.figure_2 import (
    ITERATIONS,
    figure_2,
    kernel_errors,
    snapshot,
)
from tests.reporting.artificial_runs import (
    NOTHING,
    Row,
    make_result,
    make_row,
    make_trace,
    write_folder,
)

CLASSES = ("wine-0-rest", "wine-1-rest", "wine-2-rest")
WINE = Tabular(source="wine", test_fraction=0.5)
UPDATES = [0, 1, *ITERATIONS]


def config(*sources: str) -> dict[str, Any]:
    """Return the configuration of an experiment on one-versus-rest problems, of wine by default."""
    return {
        "experiment": "e",
        "problems": [
            {"dataset": "tabular", "source": source, "test_fraction": 0.5}
            for source in sources or ("wine",)
        ],
        "algorithms": [{"name": "perceptron"}],
    }


def decisions(index: int, seed: int, invalid: int) -> FloatArray:
    """Return f of the test examples: right, but for the last ones, which say class 0."""
    truth = held_out_labels(WINE, seed)
    values = np.where(truth == index, 1.0, -1.0)
    values[len(values) - invalid :] = 5.0 if index == 0 else -5.0
    return values


def trace_of(index: int, seed: int, invalid: dict[int, int], updates: list[int]) -> Trace:
    decision_values = [decisions(index, seed, invalid.get(count, 0)) for count in updates]
    return make_trace(updates, [0.0] * len(updates), decisions=decision_values)


def wine(folder: Path, label: str, *, seeds: int = 1, **course: Any) -> Evidence:
    """Write runs of the three classifiers with ``wrong`` errors at each number of iterations."""
    rows: list[Row] = []
    results = {}
    updates = course.get("updates", UPDATES)
    for seed in range(seeds):
        for index, problem in enumerate(CLASSES):
            cell = f"{seed}{index}{label}"
            rows.append(make_row(problem, label, seed=seed, cell=cell))
            trace = trace_of(index, seed, course.get("wrong", {}), updates)
            results[cell] = make_result(trace)
    return write_folder(folder, rows, results, config())


def count_errors(seed: int, invalid: int) -> float:
    truth = held_out_labels(WINE, seed)
    return float(np.sum(truth[len(truth) - invalid :] != 0) / len(truth))


def test_the_class_predicted_is_that_of_the_largest_value(tmp_path: Path) -> None:
    evidence = wine(tmp_path, "MP", seeds=2, wrong={10: 40, 32: 20, 100: 3})
    errors_by_iteration = kernel_errors(evidence)
    assert [(e.label, e.iterations) for e in errors_by_iteration] == [("MP", n) for n in ITERATIONS]
    for errors, count in zip(errors_by_iteration, (40, 20, 3, 0, 0), strict=True):
        assert errors.errors == [count_errors(seed, count) for seed in (0, 1)]
        assert (errors.classifiers, errors.ended, errors.incomplete) == (6, 0, 0)
    assert errors_by_iteration[0].errors[0] > 0


def test_a_run_that_ended_earlier_keeps_its_last_point(tmp_path: Path) -> None:
    evidence = wine(tmp_path, "SVC", updates=[0, 1], wrong={1: 30})
    errors_by_iteration = kernel_errors(evidence)
    assert {errors.median for errors in errors_by_iteration} == {count_errors(0, 30)}
    assert [(errors.ended, errors.classifiers) for errors in errors_by_iteration] == [(3, 3)] * 5
    (line,) = [line for line in figure_2(evidence).axes[0].get_lines() if line.get_label() == "SVC"]
    assert set(line.get_ydata()) == {100.0 * count_errors(0, 30)}
    assert list(line.get_xdata()) == [0, 1]  # in parts of the axis: from end to end


def test_the_table_has_percentages_and_their_counts(tmp_path: Path) -> None:
    frame = report.table("table_figure_2", wine(tmp_path, "MP", seeds=2, wrong={10: 40})).frame
    assert frame["iterations"].tolist() == list(ITERATIONS)
    first = frame.iloc[0]
    errors = [100.0 * count_errors(seed, 40) for seed in (0, 1)]
    assert first["median"] == first["mean"] == pytest.approx(np.mean(errors))
    assert first[["lowest", "highest"]].tolist() == [min(errors), max(errors)]
    assert first[["seeds", "classifiers", "ended", "incomplete"]].tolist() == [2, 6, 0, 0]
    assert frame["status"].tolist() == ["FEASIBLE"] * 5


def test_a_seed_without_one_of_its_classifiers_is_counted_and_left_out(tmp_path: Path) -> None:
    evidence = wine(tmp_path, "MP", seeds=2)
    failed = evidence.frame["cell"] == "01MP"
    rows = evidence.frame.astype(object).where(~failed, None).to_dict("records")
    names = {key: evidence.frame.loc[failed, key].item() for key in ("cell", "problem", "label")}
    broken = names | {"seed": 0, **NOTHING, "status": "CRASHED"}
    rows = [broken if row["cell"] is None else row for row in rows]
    traces = {cell: evidence.trace(cell) for cell in evidence.frame["cell"][~failed]}
    results = {cell: make_result(trace) for cell, trace in traces.items() if trace is not None}
    errors = kernel_errors(write_folder(tmp_path, rows, results, config()))
    assert [(len(e.errors), e.incomplete) for e in errors] == [(1, 1)] * 5
    assert errors[0].status_counts == "FEASIBLE (5 of 6), CRASHED (1 of 6)"


def test_a_label_without_any_result_is_a_cross_at_the_edge(tmp_path: Path) -> None:
    rows = [
        make_row(problem, "MP", cell=problem, **NOTHING | {"status": "ERROR"})
        for problem in CLASSES
    ]
    evidence = write_folder(tmp_path, rows, {}, config())
    assert report.table("table_figure_2", evidence).frame["median"].isna().all()
    (line,) = figure_2(evidence).axes[0].get_lines()
    assert (line.get_marker(), len(line.get_xdata())) == ("x", 5)
    assert str(line.get_label()).endswith("edge")


def test_the_figure_draws_medians_and_ranges(tmp_path: Path) -> None:
    axes = figure_2(wine(tmp_path, "MP", seeds=2, wrong={10: 40, 32: 30})).axes[0]
    (drawn,) = [line for line in axes.get_lines() if line.get_label() == "MP"]
    medians = [50.0 * (count_errors(0, count) + count_errors(1, count)) for count in (40, 30)]
    np.testing.assert_allclose(drawn.get_ydata(), medians)
    np.testing.assert_allclose(drawn.get_xdata(), [10, 32])
    # Errors of 0 cannot be shown at their height.
    (edge,) = [line for line in axes.get_lines() if line.get_label() == "MP, edge"]
    np.testing.assert_allclose(edge.get_xdata(), [100, 320, 1000])
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_a_snapshot_needs_a_record_unless_the_run_had_ended() -> None:
    trace = trace_of(0, 0, {}, [0, 8, 16])
    with pytest.raises(DataError, match=r"no record after 10 iterations; run .* record_at"):
        snapshot(trace, 10)
    assert snapshot(trace, 16).ended is False
    assert snapshot(trace, 1000).ended is True
    with pytest.raises(DataError, match="the traces have no decisions"):
        snapshot(make_trace([0], [0.0]), 10)


@pytest.mark.parametrize(
    ("problem", "entry"),
    [
        ("torus-3x3", {"dataset": "maxcut", "instances": ["torus-3x3"]}),
        ("wine-0-1", {"dataset": "tabular", "source": "wine", "task": "pairs"}),
        ("breast-cancer", {"dataset": "tabular", "source": "breast-cancer"}),
    ],
)
def test_other_problems_are_refused(tmp_path: Path, problem: str, entry: dict[str, Any]) -> None:
    settings = {**config(), "problems": [entry]}
    evidence = write_folder(tmp_path, [make_row(problem, "MP")], {}, settings)
    with pytest.raises(DataError, match=f"'{problem}' is not one class against the rest"):
        kernel_errors(evidence)


def test_every_class_is_needed(tmp_path: Path) -> None:
    evidence = write_folder(tmp_path, [make_row(CLASSES[1], "MP")], {}, config())
    with pytest.raises(DataError, match="no runs of wine-0-rest, wine-2-rest; run every class"):
        kernel_errors(evidence)


def test_classes_of_two_datasets_are_refused(tmp_path: Path) -> None:
    rows = [make_row(problem, "MP") for problem in (*CLASSES, "digits-0-rest")]
    with pytest.raises(DataError, match="its problems belong to several datasets"):
        kernel_errors(write_folder(tmp_path, rows, {}, config("wine", "digits")))
