"""What is said of separation verdicts and of Figure 6.1 is in their samples."""

from __future__ import annotations

import math

import pandas as pd

from tests.prose.pages import PAGES, ROOT, numbers, paragraph

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
    text = paragraph("`plab run separation_verdicts` runs")
    for claim in (
        f"on the same {seeds.sum()} data sets",
        f"In {seeds[separated].sum()} of them the classes are separated",
        f"reports convergence on {seeds[converged].sum()} of these",
        f"ends on all {seeds[separated].sum()} without",
        f"separation for {konis['Konis LP by HiGHS wrong'].sum()} data sets that overlap by 2⁻³⁰",
    ):
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == []


def test_figure_6_1() -> None:
    table = pd.read_csv(SAMPLES / "figure_6_1" / "optima_reached.csv").set_index("label")
    levels = pd.read_csv(SAMPLES / "figure_6_1" / "levels.csv").groupby("label")
    above, updates = table["above the optimum"], table["updates"]
    least = math.floor(1000.0 * table["lower bound"].max()) / 1000.0
    most = math.ceil(1000.0 * table["objective"].min()) / 1000.0
    bisections = above[above.index.str.endswith(" bisection")]
    assert len(bisections) == 2
    first, last = levels.first().loc["PRA with margin"], table.loc["EA"]
    assert first["objective"] < last["objective"]
    # The thesis's rule: two consecutive objectives differ by less than 5 %.
    reached = levels.get_group("PRA with margin")["objective"].dropna()
    assert (-reached.pct_change().dropna() > 0.05).all()
    text = paragraph("**Figure 6.1 is not reproduced.** `plab run figure_6_1` minimises")
    for claim in (
        f"With τ = 1 the sequence of levels is {above['PRA with margin']:.1f} % above the optimum "
        f"when its budget of {updates['PRA with margin']} updates is spent",
        f"The sequence of EA stops {above['EA']:.0f} % above",
        f"(objective {first['objective']:.0f}, {first['updates']:.0f} updates)",
        f"last point of EA ({last['objective']:.0f}, {last['updates']:.0f} updates)",
        f"PRA stops {above['PRA']:.0f} % above the optimum",
        f"[{least:.3f}, {most:.3f}]",
        f"ends within {math.ceil(bisections.max())} %",
    ):
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == []


def test_figure_6_1_is_not_called_reproduced() -> None:
    assert paragraph("**Figure 6.1 is not reproduced.**")
    (line,) = [
        line for line in PAGES["docs/papers.md"].splitlines() if "plab run figure_6_1" in line
    ]
    assert line.split("|")[3].strip().startswith("not reproduced")
