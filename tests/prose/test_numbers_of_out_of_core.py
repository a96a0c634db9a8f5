"""What is said of rows on disk is in the sample of a run on them."""

from __future__ import annotations

import pandas as pd

from tests.prose.pages import ROOT, numbers, paragraph

RUNS = ROOT / "results" / "sample" / "out_of_core" / "runs.csv"


def test_a_million_rows() -> None:
    runs = pd.read_csv(RUNS).set_index("problem.rows")
    assert runs["proved"].all()
    assert set(runs["problem.dimension"]) == {1000}
    large = runs.loc[1_000_000]
    text = paragraph("Data may be larger than memory")
    for claim in (
        "a million rows of dimension 1000 in single precision (4 GB)",
        f"takes {large['products']:.0f} passes and {large['seconds']:.0f} s",
    ):
        assert claim in text
        text = text.replace(claim, "")
    assert numbers(text) == []
