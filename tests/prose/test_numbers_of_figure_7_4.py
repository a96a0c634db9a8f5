"""What is said of Figure 7.4 is in its sample."""

from __future__ import annotations

import pandas as pd

from perceptron_lab.experiments.storage.reader import read_config_of
from tests.prose.pages import ROOT, numbers, paragraph

SAMPLE = ROOT / "results" / "sample" / "affine_invariance"


def test_its_numbers() -> None:
    table = pd.read_csv(SAMPLE / "table_figure_7_4.csv")
    ellipsoid = table[table["label"] == "ellipsoid"]
    assert ellipsoid["error"].nunique() == 1
    assert set(ellipsoid["exponent"]) == set(range(-6, 5))
    machine = table[table["label"] == "SVM of degree 2"]
    assert (machine["not converged"][machine["exponent"] >= 2] > 90.0).all()
    tiny = machine[(machine["rescaled"] == "all") & (machine["exponent"] <= -4)]
    assert (tiny["not converged"] < 3.0).all()
    assert (tiny["error"] > 45.0).all()
    (options,) = [
        algorithm.parameters
        for algorithm in read_config_of(SAMPLE).algorithms
        if algorithm.label == "SVM of degree 2"
    ]
    assert (options["iterations"], max(options["penalties"])) == (10_000, 1e7)
    assert set(table["repetitions"]) == {500}
    text = paragraph("The error of the ellipsoid is the same to the last digit")
    for claim in (
        "ten orders of magnitude (500 repetitions)",
        "From 10² on almost no fit had converged after 10 000 iterations",
        "With all coordinates at 10⁻⁴ or less almost all fits had converged",
        "C up to 10⁷ is too small",
    ):
        assert claim in text
        text = text.replace(claim, "")
    assert numbers(text) == ["1", "1"]  # (1 + x'z)² is close to 1
