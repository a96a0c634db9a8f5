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


def test_linear_programs() -> None:
    table = pd.read_csv(SAMPLES / "linear_programs" / "lp_feasibility.csv")
    known = table[table["false"].notna()]
    exact, highs, qsopt, soplex = (
        known[known["label"] == label].set_index("problem")
        for label in ("exact", "HiGHS", "QSopt_ex", "SoPlex")
    )
    netlib = exact["seeds"] == 1
    thin = exact.index.str.startswith("infeasible-")
    assert {name.rpartition("-")[2] for name in exact.index[thin]} >= {"9", "30"}
    assert exact["false"].sum() == 0
    assert (highs["false"] == highs["seeds"].where(thin, 0)).all()
    assert qsopt["false"].sum() == soplex["false"].sum() == 0
    ratio, longest = {}, {}
    for name, label in (("exact", exact), ("qsopt", qsopt), ("soplex", soplex)):
        ratio[name] = (label["seconds"] / highs["seconds"])[netlib].median()
        longest[name] = label["seconds"][netlib].max()
    text = paragraph("`plab run linear_programs` decides")
    for claim in (
        f"decides {exact['decided'][netlib].sum()} of {netlib.sum()} programs of netlib",
        f"{exact['decided'][~netlib].sum()} of {exact['seeds'][~netlib].sum()} generated ones",
        f"{exact['seeds'][thin].sum()} that are infeasible by 1e-9 to 1e-30",
        f"calls these {highs['false'].sum():.0f} feasible",
        f"{highs['decided'][netlib].sum()} for netlib",
        f"{highs['decided'][~netlib].sum()} for generated programs",
        f"QSopt_ex decides {qsopt['decided'].sum()} programs and SoPlex {soplex['decided'].sum()}",
        f"takes {ratio['exact']:.1f} times as long as HiGHS in the median",
        f"and {longest['exact']:.1f} s at most",
        f"QSopt_ex {ratio['qsopt']:.1f} times and {longest['qsopt']:.1f} s",
        f"SoPlex {ratio['soplex']:.1f} times and {longest['soplex']:.1f} s",
    ):
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == []


def levels_of_figure_6_1(label: str) -> pd.DataFrame:
    """Return the levels of a label, with the updates up to their ends."""
    levels = pd.read_csv(SAMPLES / "figure_6_1" / "levels.csv").groupby("label").get_group(label)
    return levels.assign(spent=levels["updates"].cumsum()).set_index("number")


def test_figure_6_1() -> None:
    table = pd.read_csv(SAMPLES / "figure_6_1" / "optima_reached.csv").set_index("label")
    above, updates = table["above the optimum"], table["updates"]
    text = paragraph("**Figure 6.1 is not reproduced.** `plab run figure_6_1` minimises")
    for claim in (
        "(1 + 2τ)/ρ²",
        f"With τ = 0.1 the sequence of levels stops {above['PRA tau 0.1']:.1f} % above the optimum "
        f"after {updates['PRA tau 0.1']} updates, with τ = 1 {above['PRA tau 1']:.1f} % above "
        f"after {updates['PRA tau 1']} updates, with τ = 10 {above['PRA tau 10']:.1f} % above and "
        f"with τ = 0.01 {above['PRA tau 0.01']:.0f} % above",
        f"The sequence of EA stops {above['EA']:.0f} % above",
        f"PRA stops {above['PRA']:.0f} % above the optimum",
        f"it stops {above['PRA relaxed']:.0f} % above",
    ):
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == []
    for label in ("PRA tau 0.1", "PRA tau 1", "PRA tau 10", "PRA tau 0.01", "EA", "PRA"):
        # The thesis's rule: two consecutive objectives differ by less than 5 %.
        changes = -levels_of_figure_6_1(label)["objective"].pct_change().dropna()
        assert (changes.iloc[:-1] >= 0.05).all()
        assert changes.iloc[-1] < 0.05


def test_ellipsoid_method_in_figure_6_1() -> None:
    table = pd.read_csv(SAMPLES / "figure_6_1" / "optima_reached.csv").set_index("label")
    least = math.floor(1000.0 * table["lower bound"].max()) / 1000.0
    most = math.ceil(1000.0 * table["objective"].min()) / 1000.0
    ellipsoid, ours = levels_of_figure_6_1("EA"), levels_of_figure_6_1("PRA tau 0.1")
    last = ellipsoid.iloc[-1]
    assert ours["objective"][ours["spent"] <= last["spent"]].min() > last["objective"]
    later = ours[ours["spent"] > last["spent"]].iloc[:2]
    above = table["above the optimum"]
    text = paragraph("**EA does not outperform PRA completely, as the thesis says.**")
    for claim in (
        "PRA with τ = 0.1",
        f"(objective {last['objective']:.0f} after {last['spent']:.0f} updates)",
        "objectives {:.0f} and {:.0f}".format(*later["objective"]),
        "after {:.0f} and {:.0f} updates".format(*later["spent"]),
        f"it ends {above['EA bisection']:.2f} % above the optimum, PRA "
        f"{above['PRA bisection']:.2f} %",
        f"[{least:.3f}, {most:.3f}]",
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
