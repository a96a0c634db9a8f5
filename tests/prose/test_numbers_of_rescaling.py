"""What is said of the resisting oracle and of rescaling is in their samples."""

from __future__ import annotations

import math

import pandas as pd

from perceptron_lab.reporting.evidence import Evidence
from tests.prose.pages import ROOT, numbers, paragraph

SAMPLES = ROOT / "results" / "sample"


def test_forced_mistakes() -> None:
    table = pd.read_csv(SAMPLES / "resisting" / "resisting.csv")
    frame = table[(table["dimension"] == 50) & (table["margin"] == 1e-6)].set_index("label")
    (forced,) = set(frame["forced"])
    mistakes = frame["mistakes"]
    assert mistakes["space-dilation"] == forced
    assert frame.loc["perceptron", "status"] == "UPDATE_LIMIT"
    text = paragraph("A resisting oracle (`plab run resisting`)")
    for claim in (
        "In dimension 50 and at a margin of a millionth",
        f"{forced} mistakes are forced",
        f"Space dilation makes exactly {forced}",
        f"the ellipsoid method makes {mistakes['ellipsoid']}",
        f"not finished after {mistakes['perceptron']}",
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
    assert runs["problem.delta"].astype(float).min() == 1e-8
    text = paragraph("The feasible and infeasible systems of")
    for claim in (
        "have a condition down to 10⁻⁸",
        f"smoothed procedure decides all {decided['PR smoothed']} of the {problems} systems, "
        f"Clarabel decides {decided['clarabel']} and SCS {decided['scs']}",
    ):
        assert claim in text
        text = text.replace(claim, "")
    assert numbers(text) == []


def test_answers_before_and_after() -> None:
    table = pd.read_csv(SAMPLES / "postprocessing" / "postprocessing.csv")
    auto = (
        table[table["then"] == "auto"]
        .groupby("solver")[["problems", "proved before", "proved after"]]
        .sum()
    )
    runs = Evidence.of_folder(SAMPLES / "postprocessing").frame
    pairs = runs[runs["label"].str.match("(?:scs|clarabel) then")]
    solver = pairs["label"].str.split().str[0]
    start, last = (
        pairs[[f"measure.claimed_{prefix}dimacs_{number}" for number in range(1, 5)]].abs()
        for prefix in ("start_", "")
    )
    before = start.max(axis=1).groupby(solver).max()
    after = last.max(axis=None)
    (problems,) = set(auto.loc[["scs", "clarabel"], "problems"])
    (proved,) = set(auto.loc[["scs", "clarabel"], "proved after"])
    assert proved == problems
    assert set(table["family"]) >= {"second-order", "semidefinite", "mixed", "sdplib"}
    infeasible = runs.query("`problem.side` == 'infeasible'")
    assert infeasible["problem.delta"].astype(float).min() == 1e-8
    text = paragraph("`plab run postprocessing` starts")
    for claim in (
        f"The answers of SCS decide {auto.loc['scs', 'proved before']} of its {problems} systems, "
        f"and the answers of Clarabel decide {auto.loc['clarabel', 'proved before']}.",
        f"Started from either answer, `` decides all {proved}, including the infeasible systems "
        "with the worst condition and the programs of SDPLIB",
        f"up to {above(before['scs'])} for SCS and up to {above(before['clarabel'])} "
        f"for Clarabel, and afterwards they are at most {above(after)}",
    ):
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == []


def above(value: float) -> str:
    """Return a number of two digits that is not less."""
    exponent = math.floor(math.log10(value))
    digits = math.ceil(value / 10.0 ** (exponent - 1))
    return f"{digits * 10.0 ** (exponent - 1):.1e}".replace("e-0", "e-")


def test_laws() -> None:
    table = pd.read_csv(SAMPLES / "margin_dependence" / "margin_dependence.csv")
    polynomial = {"correlation", "deterministic", "PRA", "ellipsoid", "PR", "interior-point"}
    powers = {"perceptron", "von-neumann", "smoothed-perceptron", "mirror-prox", "second-order"}
    assert set(table["label"]) == polynomial | powers
    assert table["family"].nunique() == 3
    for label, better in zip(table["label"], table["better"], strict=True):
        assert better == ("logarithm" if label in polynomial else "power")
    exponents = table.groupby("label")["p"].agg(["min", "max"])
    ranges = {
        label: (math.floor(low * 100) / 100, math.ceil(high * 100) / 100)
        for label, low, high in exponents.itertuples()
    }
    smooth = [ranges["smoothed-perceptron"], ranges["mirror-prox"]]
    ranges["smoothed"] = (min(value for value, _ in smooth), max(value for _, value in smooth))
    texts = {label: f"{low:.2f} to {high:.2f}" for label, (low, high) in ranges.items()}
    text = paragraph("`plab run margin_dependence` fits")
    for claim in (
        f"Its exponent is {texts['von-neumann']} for von Neumann's algorithm and "
        f"{texts['perceptron']} for the perceptron. Their theorems state an exponent of 2.",
        f"Mirror-Prox the exponent is {texts['smoothed']}, and their theorems state 1.",
    ):
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == []
