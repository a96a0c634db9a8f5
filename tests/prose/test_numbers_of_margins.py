"""What is said of the margin that is reached, and when, is in the sample."""

from __future__ import annotations

import pandas as pd

from tests.prose.pages import ROOT, numbers, paragraph, rounded

NAMES = {
    "minimum-norm-point": "`` reaches 99 % of it in",
    "on a working set": "the bisection on a working set in",
    "bisection with bounds": "the plain bisection with bounds in",
    "LIBSVM": "LIBSVM in",
    "LIBLINEAR": "LIBLINEAR in",
}


def test_seconds_to_99_percent_of_a_million_rows() -> None:
    table = pd.read_csv(ROOT / "results" / "sample" / "margins" / "margins.csv")
    million = table[table["rows"] == 1_000_000].set_index("label")
    assert (million["dimension"] == 20).all()
    assert set(million.index) - set(NAMES) == {
        *("bisection", "second bisection", "bisection of fixed length")
    }
    assert million["to 99 %"].drop(list(NAMES)).isna().all()
    text = paragraph("`plab run margins` plots the fraction of the verified largest margin")
    for label, name in NAMES.items():
        claim = f"{name} {rounded(million.loc[label, 'to 99 %'])} s"
        assert claim in text, claim
        text = text.replace(claim, "", 1)
    assert "On a million rows in dimension 20, " in text
    assert numbers(text.replace("in dimension 20", "")) == []
    methods = paragraph("Two methods compute the largest margin").replace("(1 - eps)", "")
    assert numbers(methods.replace("1 - 1e-8", "")) == []
