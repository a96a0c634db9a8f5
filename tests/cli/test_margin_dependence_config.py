"""The shipped experiment on queries against 1 / rho, at a small size: the laws come out."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.cli.small_runs import run_config

pytestmark = pytest.mark.slow

PROBLEMS = "{dataset: conic-sets, family: second-order, dimension: 8, blocks: 12, block_size: 4, "
SMALL = (
    f"problems=[{PROBLEMS} grid: {{margin: [0.1, 0.03, 0.01]}}}},"
    f"{PROBLEMS} algorithms: [ellipsoid, interior-point], grid: {{margin: [1.0e-4, 1.0e-8]}}}}]",
    "algorithms=[{name: perceptron}, {name: mirror-prox}, {name: ellipsoid},"
    "{name: interior-point, parameters: {steps: short}}]",
    "seeds=[0, 1]",
    "budget={updates: 100000, seconds: 100}",
    "report.figures=[]",
    "experiment=margin_dependence",
)


@pytest.mark.long  # the sentences on the sample state it
def test_polynomial_methods_follow_a_logarithm_and_the_others_a_power(tmp_path: Path) -> None:
    assert run_config("margin_dependence", tmp_path, SMALL) == 0
    rows = pd.read_csv(tmp_path / "margin_dependence" / "runs.csv")
    assert rows["proved"].all()
    table = pd.read_csv(tmp_path / "margin_dependence" / "margin_dependence.csv")
    laws = table.set_index("label")
    for label in ("ellipsoid", "interior-point"):
        assert laws.loc[label, "better"] == "logarithm"
        assert laws.loc[label, "margins"] == 5
        assert laws.loc[label, "b"] > 0.0
    # The theorems' exponents are 2 and 1, and bounds.
    assert laws.loc["perceptron", "better"] == "power"
    assert 1.4 < laws.loc["perceptron", "p"] <= 2.2
    assert 0.5 < laws.loc["mirror-prox", "p"] <= 1.2
