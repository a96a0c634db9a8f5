"""The tables and the figure of requested labels and of rotated digits."""

from __future__ import annotations

from pathlib import Path

import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting import report
from tests.reporting.artificial_runs import Row, make_row, write_folder

SPHERE = {"problem.dataset": "sphere-streams"}


def request_row(label: str, seed: int, **measures: float) -> Row:
    row = make_row("sphere-5x10-1", label, seed=seed, status="FITTED", proved=False)
    row |= {"algorithm": "active-perceptron", "parameters": "{}"}
    return row | {f"measure.{name}": value for name, value in measures.items()}


def test_labels_to_an_error_are_medians_of_all_seeds(tmp_path: Path) -> None:
    rows = [
        request_row(
            "A", 0, labels=10, mistakes=3, label_bound=50, error=0.01, **{"labels_to_0.1": 4}
        ),
        request_row(
            "A", 1, labels=20, mistakes=5, label_bound=60, error=0.02, **{"labels_to_0.1": 8}
        ),
        request_row("A", 2, labels=30, mistakes=7, label_bound=70, error=0.03),
        request_row("B", 0, labels=10, mistakes=3, error=0.01),
        make_row("sphere-5x10-1", "other", algorithm="perceptron", parameters="{}"),
    ]
    table = report.table_frame("label_requests", write_folder(tmp_path, rows))
    assert list(table["label"]) == ["A", "B"]
    assert list(table["labels"]) == [20, 10]
    assert list(table["bound"].fillna(-1)) == [60, -1]
    assert list(table["error"]) == [2.0, 1.0]
    assert list(table["to 10 %"].fillna(-1)) == [8, -1]


def test_a_table_without_requests_is_refused(tmp_path: Path) -> None:
    evidence = write_folder(tmp_path, [make_row("a", "p", algorithm="perceptron", parameters="{}")])
    with pytest.raises(DataError, match="no label counts the labels it requests; add"):
        report.table_frame("label_requests", evidence)
