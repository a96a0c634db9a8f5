"""What is said of cuts at the centre of gravity is in the sample."""

from __future__ import annotations

import pandas as pd

from perceptron_lab.algorithms.rescaling.central_cuts import CentralCuts
from perceptron_lab.algorithms.resisting.system import ResistingSystem
from tests.prose.pages import ROOT, numbers, paragraph, rounded, spelt

TABLE = pd.read_csv(ROOT / "results" / "sample" / "central_cuts" / "summary.csv")


def test_the_methods() -> None:
    text = paragraph("Section 5.5 of the thesis names cuts at the centre of gravity")
    for claim in (
        "Section 5.5",
        "margins of 1/n or less (case 1)",
        "in dimensions 2 and 3",
        f"from {CentralCuts().samples} hit-and-run samples",
    ):
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == []


def test_mistakes_and_seconds() -> None:
    resisting = TABLE[TABLE["problem"].str.startswith("resisting-")]
    centres = resisting[resisting["label"].isin(["gravity", "analytic", "volumetric"])]
    for row in centres.itertuples():
        _, dimension, margin = str(row.problem).split("-", 2)
        system = ResistingSystem.of_margin(int(dimension), float(margin))
        assert row.iterations == system.adversary.forced
    hardest = resisting[resisting["problem"] == "resisting-20-0.0001"].set_index("label")
    rows = TABLE[TABLE["problem"] == "exact-20x2000-0.0001"].set_index("label")
    updates, seconds = rows["iterations"], rows["seconds"]
    methods = ["gravity", "analytic", "volumetric", "simplex", "ellipsoid"]
    assert (rows.loc[methods, "seeds"] == 3).all()
    assert seconds[methods].idxmin() == "simplex"
    assert hardest["iterations"].drop("perceptron").idxmax() == "simplex"
    text = paragraph("Is case 1 of section 5.5 attained in practice?")
    for claim in (
        f"on all {spelt(resisting['problem'].nunique())} systems: "
        f"{hardest.loc['gravity', 'iterations']:.0f} in dimension 20 at a margin of 10⁻⁴, where "
        f"the ellipsoid method makes {hardest.loc['ellipsoid', 'iterations']:.0f} and the simplex "
        f"variant {hardest.loc['simplex', 'iterations']:.0f}",
        "case 1",
        "On 2000 rows",
        f"needs {updates['gravity']:.0f} updates, the analytic centre {updates['analytic']:.0f}, "
        f"the volumetric centre {updates['volumetric']:.0f}, the simplex variant "
        f"{updates['simplex']:.0f} and the ellipsoid method {updates['ellipsoid']:.0f} "
        "(medians over three seeds)",
        f"take {rounded(seconds['gravity'])} s, {rounded(seconds['analytic'])} s, "
        f"{rounded(seconds['volumetric'])} s, {rounded(seconds['simplex'])} s and "
        f"{rounded(seconds['ellipsoid'])} s",
    ):
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == []
