"""What is said of separation verdicts and of Figure 6.1 is in their samples."""

from __future__ import annotations

import math

import pandas as pd

from tests.prose.pages import ROOT, numbers, paragraph

SAMPLES = ROOT / "results" / "sample"


def test_verdicts() -> None:
    table = pd.read_csv(SAMPLES / "separation_verdicts" / "separation_verdicts.csv")
    seeds = table["seeds"]
    separated = table["proved says"] != "overlap"
    assert table["proved wrong"].sum() == 0
    assert not table["Newton steps says"][separated].str.contains(r"(?:^|, )converged").any()
    konis = table[table["Konis LP by HiGHS wrong"] > 0]
    assert list(konis["problem"]) == ["overlap-40-2i-2f-gap30"]
    converged = separated & (table["LogisticRegression C inf says"] == "converged")
    assert table["LogisticRegression C inf says"].isin(["converged", "not converged"]).all()
    text = paragraph("`--verdict`, or `separation(X, y)`")
    for claim in (
        f"Of its {seeds.sum()} data sets {seeds[separated].sum()} are separated",
        f"as converged on {seeds[converged].sum()} of them",
        f"end on all {seeds[separated].sum()} without",
        f"calls {konis['Konis LP by HiGHS wrong'].sum()} data sets separated that overlap by 2⁻³⁰",
    ):
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == []


def test_figure_6_1() -> None:
    table = pd.read_csv(SAMPLES / "figure_6_1" / "optima_reached.csv").set_index("label")
    above = table["above the optimum"]
    least = math.floor(1000.0 * table["lower bound"].max()) / 1000.0
    most = math.ceil(1000.0 * table["objective"].min()) / 1000.0
    bisections = above[above.index.str.endswith(" bisection")]
    assert len(bisections) == 2
    text = paragraph("`plab run maxcut_oracles` repeats it")
    for claim in (
        f"ends PRA {above['PRA']:.0f} % and EA {above['EA']:.0f} % above the optimum",
        f"[{least:.3f}, {most:.3f}]",
        f"ends within {math.ceil(bisections.max())} %",
    ):
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == ["7000"]  # vertices
