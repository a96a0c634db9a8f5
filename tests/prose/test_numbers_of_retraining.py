"""The updates after rows were added, in docs/papers/mirror-prox.md, are those of the sample."""

from __future__ import annotations

import json

import pandas as pd

from tests.prose.pages import ROOT, paragraph

SAMPLE = ROOT / "results" / "sample" / "retraining"
RESCALED = [
    "deterministic-rescaled-perceptron",
    "correlation-rescaling",
    "conic-rescaled-perceptron",
    "rescaled-perceptron",
]


def test_the_shares_of_updates_are_those_of_the_sample() -> None:
    text = paragraph("Section 8 also names incremental")
    table = pd.read_csv(SAMPLE / "retraining.csv").set_index("algorithm")
    assert table["status"].isna().all()
    (problem,) = set(table["problem"])
    _, sizes, margin = problem.split("-")
    dimension, rows = sizes.split("x")
    assert f"There are {rows} rows of margin {margin} in dimension {dimension}" in text
    seeds = json.loads((SAMPLE / "config.json").read_text())["seeds"]
    assert len(seeds) == 2
    assert "on two instances" in text
    assert f"for {len(table)} algorithms that take a start" in text
    unchanged = int((table["share 0.99"] == 0).sum())
    assert f"If 1 % of the rows are added, {unchanged} algorithms need no further update" in text
    parts = table["share 0.9"] / table["restart"]
    assert f"the perceptron needs {parts['perceptron']:.0%}".replace("%", " %") in text
    rescaled = parts[RESCALED]
    assert (
        f"the rescaled perceptrons {100 * rescaled.min():.0f} to {100 * rescaled.max():.0f} % "
        f"and the ellipsoid method {100 * parts['ellipsoid']:.0f} %" in text
    )
    assert list(table.index[table["largest ratio"] > 1.0]) == ["auto"]
    assert table["restart"]["auto"] == 1.5
