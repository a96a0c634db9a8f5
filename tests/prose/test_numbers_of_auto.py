"""What is said of `auto` on separable rows is in the sample of `benchmarks/auto`."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from tests.prose.pages import PAGES, numbers, paragraph, rounded
from tests.prose.test_numbers_of_tiny_margins import times

PAGE = PAGES["docs/which-algorithm.md"]
LINE = re.compile(r"^\| (\d+ x \d+) \| (\d+) \| (.+) \|$", re.MULTILINE)
OTHER = re.compile(r"([\d.]+) \(([A-Za-z -]+)(?:, (\d) of (\d))?\)")
LABELS = {"non-negative least squares": "nnls", "HiGHS interior point": "HiGHS ipm"}


def of(shape: str) -> pd.DataFrame:
    rows = times("auto")
    return rows[rows["problem"] == f"reflected-{shape.replace(' ', '')}-0.3"]


@pytest.mark.parametrize("line", LINE.findall(PAGE), ids=lambda line: line[0].replace(" ", ""))
def test_a_line_of_the_table(line: tuple[str, str, str]) -> None:
    """The best of the others are those, in that order, and nobody else is before the last."""
    shape, prox, last_column = line
    rows = of(shape)
    proved = rows[rows["status"] == "FEASIBLE"].groupby("label")["ratio"]
    medians, counts = proved.median().drop("auto"), proved.count()
    assert prox == rounded(medians.pop("mirror-prox"))
    named = OTHER.findall(last_column)
    assert len(named) >= 2
    assert numbers(OTHER.sub("", last_column)) == []
    labels = [LABELS.get(name, name) for _, name, _, _ in named]
    for label, (ratio, _, solved, attempted) in zip(labels, named, strict=True):
        assert ratio == rounded(medians[label])
        count, instances = int(counts[label]), rows["seed"].nunique()
        assert (solved, attempted) == (
            ("", "") if count == instances else (str(count), str(instances))
        )
    assert labels == list(medians.sort_values().index[: len(labels)])
    rest = set(rows["label"]) - set(counts.index)
    if "no run of the other solvers was verified" in last_column:
        assert set(medians.index) == set(labels)
    elif "no run of" in last_column:
        assert rest == {"Clarabel", "HiGHS simplex"}
        assert "no run of Clarabel or the HiGHS simplex was verified" in last_column
    else:
        assert rest == set()


def test_the_runs_it_is_about() -> None:
    assert [line[0] for line in LINE.findall(PAGE)] == ["100 x 5000", "1000 x 5000", "100 x 50000"]
    ours = times("auto").query("label == 'auto'")
    assert (ours["status"] == "FEASIBLE").all()
    text = paragraph("The table shows the time to a verified answer")
    medians = [
        rounded(1e3 * of(line[0]).query("label == 'auto'")["time"].median())
        for line in LINE.findall(PAGE)
    ]
    claim = f"takes {medians[0]}, {medians[1]} and {medians[2]} ms"
    counted = f"medians over {ours['seed'].nunique()} instances"
    assert claim in text
    assert counted in text
    assert numbers(text.replace(claim, "").replace(counted, "")) == []
