"""The entries read until a proof, in docs/papers/mirror-prox.md, are those of the sample."""

from __future__ import annotations

import re

import pandas as pd

from tests.prose.pages import ROOT, paragraph, rounded


def allowed(label: str, digits: int) -> str:
    """How often the bounds allow reading the data with margin 0.1, to so many digits."""
    rates = pd.read_csv(ROOT / "results" / "sample" / "sublinear" / "rates.csv")
    rates = rates[rates["problem"].str.endswith("-0.1") & (rates["label"] == label)]
    dimension, rows = (
        rates["problem"].str.extract(r"-(\d+)x(\d+)-").astype(float).to_numpy().transpose()
    )
    entries = (rows + dimension) / (rows * dimension) if label == "sampled" else 4.0
    passes = rates["bound"] * entries
    return f"{rounded(passes.min(), digits)} to {rounded(passes.max(), digits)}"


def test_the_passes_over_the_data_are_those_of_the_sample() -> None:
    text = paragraph("Section 8 names sublinear time")
    runs = pd.read_csv(ROOT / "results" / "sample" / "sublinear" / "runs.csv")
    assert (runs["status"] == "FEASIBLE").all()
    groups = runs.groupby(["problem.margin", "constraints", "label"])
    passes = groups["products"].median().unstack()
    printed = (
        (0.1, "sampled", 1),
        (0.1, "perceptron", 0),
        (0.03, "sampled", 0),
        (0.03, "MPLFP", 0),
        (0.03, "perceptron", 0),
    )
    ranges = []
    for margin, label, digits in printed:
        values = passes.loc[margin, label]
        ranges.append(f"{values.min():.{digits}f} to {values.max():.{digits}f}")
    bounds = [allowed("sampled", 2), allowed("MPLFP", 3)]
    assert re.findall(r"[\d.]+ to [\d.]+(?= times)", text) == [*ranges, *bounds]
    assert set(passes.loc[0.1, "MPLFP"]) == {4.0}
    assert (passes["perceptron"] > passes["sampled"]).all()
    small = passes.loc[0.03]
    assert list(small.index[small["MPLFP"] < small["sampled"]]) == [16000]
    assert small["MPLFP"].idxmax() == 1000
