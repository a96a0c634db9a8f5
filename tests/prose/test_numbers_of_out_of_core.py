"""What is said of rows on disk is in the sample of a run on them."""

from __future__ import annotations

import pandas as pd

from tests.prose.pages import ROOT, numbers, paragraph

RUNS = ROOT / "results" / "sample" / "out_of_core" / "runs.csv"


def test_a_million_rows() -> None:
    both = pd.read_csv(RUNS).set_index("problem.rows")
    runs, sgd = (both[both["label"] == label] for label in ("auto", "sgd"))
    assert runs["proved"].all()
    assert set(both["problem.dimension"]) == {1000}
    assert list(sgd["status"]) == ["UNVERIFIED"]
    small, other = runs.loc[100_000], sgd.loc[100_000]
    large = runs.loc[1_000_000]
    text = paragraph("Data may be larger than memory")
    for claim in (
        "a million rows of dimension 1000 in single precision (4 GB)",
        f"takes {large['products']:.0f} passes and {large['seconds']:.0f} s",
        "On 100 000 such rows",
        f"takes {small['products']:.0f} passes, and {other['iterations']} passes of",
        f"in {other['seconds'] / small['seconds']:.1f} times its seconds",
    ):
        assert claim in text
        text = text.replace(claim, "")
    assert numbers(text) == []
