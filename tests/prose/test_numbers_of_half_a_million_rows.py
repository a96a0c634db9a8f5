"""What docs/papers/mirror-prox.md tells of half a million rows is what the sample says."""

from __future__ import annotations

import pandas as pd

from tests.prose.pages import ROOT, numbers, paragraph, rounded

SMALL, LARGE = (100, 500000), (1000, 500000)


def test_endings_on_half_a_million_rows() -> None:
    table = pd.read_csv(ROOT / "results" / "sample" / "margin_sets_large" / "table_2.csv")
    table = table.set_index(["dimension", "rows", "label"]).sort_index()
    seconds, status = table["seconds"], table["status"].fillna("")
    assert (table["seeds"] <= 1).all()
    for label in ("MPLFP", "SPCT"):
        assert status[(*SMALL, label)] == "TIME_LIMIT"
        assert 5000.0 <= seconds[(*SMALL, label)] < 5010.0
        assert status[(*LARGE, label)] == "not run"
    assert table["paper ending"][(*SMALL, "SPCT")] == "fail"
    text = text_before = paragraph("**Half a million rows.**")
    for claim in (
        f"adaptive MP takes {rounded(seconds[(*SMALL, 'adaptive MP')], 4)} s",
        f"`` takes {rounded(seconds[(*SMALL, 'auto')])} s",
        f"MPLFP ({table['paper seconds'][(*SMALL, 'MPLFP')]:.0f} s in the paper)",
        "do not finish within 5000 s",
        f"adaptive MP takes {rounded(seconds[(*LARGE, 'adaptive MP')], 4)} s",
        f"`` takes {rounded(seconds[(*LARGE, 'auto')], 3)} s",
    ):
        assert claim in text, (claim, text_before)
        text = text.replace(claim, "", 1)
    assert numbers(text) == []
