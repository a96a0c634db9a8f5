"""What is said of the resisting oracle and of rescaling is in their samples."""

from __future__ import annotations

import pandas as pd

from tests.prose.pages import ROOT, numbers, paragraph

SAMPLES = ROOT / "results" / "sample"


def test_forced_mistakes() -> None:
    table = pd.read_csv(SAMPLES / "resisting" / "resisting.csv")
    found = table[(table["dimension"] == 50) & (table["margin"] == 1e-6)].set_index("label")
    (forced,) = set(found["forced"])
    mistakes = found["mistakes"]
    assert mistakes["space-dilation"] == forced
    assert found.loc["perceptron", "status"] == "UPDATE_LIMIT"
    text = paragraph("Against the resisting oracle in dimension")
    for claim in (
        "in dimension 50, at a margin of a millionth",
        f"{forced} mistakes are forced",
        f"the ellipsoid method {mistakes['ellipsoid']}",
        f"not ended after {mistakes['perceptron']}",
    ):
        assert claim in text
        text = text.replace(claim, "")
    assert numbers(text) == []


def test_decided_systems() -> None:
    table = pd.read_csv(SAMPLES / "rescaling" / "rescaling.csv")
    sided = table[table["side"] != "ill-posed"].groupby("label")[["problems", "decided"]].sum()
    (problems,) = set(sided["problems"])
    decided = sided["decided"]
    runs = pd.read_csv(SAMPLES / "rescaling" / "runs.csv")
    assert runs["problem.delta"].min() == 1e-8
    text = paragraph("Of 30 feasible and infeasible systems")
    for claim in (
        f"Of {problems} feasible and infeasible systems",
        "down to a condition of 10⁻⁸",
        f"smoothed procedure decides {decided['PR smoothed']}, Clarabel {decided['clarabel']} and "
        f"SCS {decided['scs']}",
    ):
        assert claim in text
        text = text.replace(claim, "")
    assert numbers(text) == []
