"""The table of both classifiers on the usual data is right."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from sklearn import datasets

from perceptron_lab.estimators import EllipsoidSeparationClassifier
from tests.bench.bench_estimators import PAIRS, UNLIKE
from tests.bench.classifier_table import Line, every_case, summary, width, write
from tests.estimators.usual_data import pairs


def line(name: str, lower: float, upper: float, hard: float, soft: float, warned: int) -> Line:
    return Line(name, 100, 4, "x", lower, upper, width(lower, upper), hard, soft, warned)


def test_the_summary_has_medians_and_worst_of_each_family() -> None:
    table = summary(
        [
            line("iris 0 in 1 raw", 2.0, 2.5, 1.0, 7.0, 0),
            line("iris 1 in 0 raw", 0.0, 0.125, 3.0, 8.0, 1),
            line("iris 2 in 0 raw", math.inf, math.inf, 2.0, 9.0, 1),
            line("shells", 1.0, 1.0, 4.0, 5.0, 0),
        ]
    )
    assert table.splitlines()[2:] == [
        "| iris raw | 3 | 100 x 4 | 1 / 1 | 1.2e-01 | 2.5e-01 | 2.00 | 3.00 | 8.00 | 9.00 | 2 |",
        "| shells | 1 | 100 x 4 | 0 / 0 | 0.0e+00 | 0.0e+00 | 4.00 | 4.00 | 5.00 | 5.00 | 0 |",
    ]


def test_lines_of_the_table_are_values_of_the_classifiers(tmp_path: Path) -> None:
    cases = pairs(datasets.load_iris)[:2]
    lines = write(cases, tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="") as stream:
        stored = list(csv.DictReader(stream))
    for case, line, record in zip(cases, lines, stored, strict=True):
        separation = EllipsoidSeparationClassifier().fit(*case.load()).separation_
        assert (line.ratio_lower, line.ratio_upper) == (
            separation.ratio_lower,
            separation.ratio_upper,
        )
        assert float(record["width"]) == line.width <= 1e-6
        assert record["name"] == case.name
        assert (line.rows, line.features) == (100, 4)
        assert min(line.hard_seconds, line.soft_seconds) > 0.0


def test_families_come_together() -> None:
    names = [Line(case.name, *[0] * 9).family for case in every_case()]  # type: ignore[arg-type]
    together = [name for at, name in enumerate(names) if not at or names[at - 1] != name]
    assert len(together) == len(set(together))
    assert {"digits raw", "digits standardised", "classification 100000"} <= set(together)


@pytest.mark.parametrize(("lower", "upper", "expected"), [(4.0, 5.0, 0.25), (0.0, 1e-7, 1e-7)])
def test_widths_are_relative_where_they_can_be(lower: float, upper: float, expected: float) -> None:
    assert width(lower, upper) == expected


def test_the_page_names_the_counterparts_of_the_benchmark() -> None:
    page = Path(__file__).parents[2] / "docs" / "estimators.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    cells = [line.split(" | ") for line in lines if line.startswith("| `")]
    counterparts = {name: line[3] for line in cells for name in line[0].strip("| `").split("`, `")}
    assert set(counterparts) == {name.split(",")[0] for name in PAIRS}
    for name, (_, counterpart) in PAIRS.items():
        stated = counterparts[name.split(",")[0]]
        assert f"`{type(counterpart).__name__}`" in stated, name
        assert stated.startswith("none; timed with") == (name in UNLIKE), name
