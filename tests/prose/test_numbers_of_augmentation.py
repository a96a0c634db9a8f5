"""What is said of the appended feature, and of the time by the rows, is in the sample."""

from __future__ import annotations

import math

import pandas as pd

from tests.prose.pages import ROOT, numbers, paragraph

TABLE = pd.read_csv(ROOT / "results" / "sample" / "augmentation" / "augmentation.csv")


def up(value: float, digits: int) -> str:
    """Return a number rounded up."""
    return f"{math.ceil(value * 10**digits) / 10**digits:.{digits}f}"


def test_the_statement_of_the_inequality_has_no_measured_number() -> None:
    text = paragraph("The bisections seek the directional margin")
    assert numbers(text.replace("1 ≤ γ/γ_d", "").replace("(2.67)", "").replace("(2.68)", "")) == []


def test_ratios_and_updates() -> None:
    swept = TABLE[TABLE["rows"] == 1000]
    assert (swept["ratio least"] >= 1.0).all()
    assert (swept["ratio most"] <= swept["R over rho"]).all()
    one = swept[swept["label"] == "with margin"].set_index("rho")
    assert one["updates"].idxmin() == 1.0
    text = paragraph("`plab run augmentation` shows both on data with known").replace("R_x = 1", "")
    least, most = one.loc[0.125], one.loc[32.0]
    for claim in (
        "From ρ = 0.125 to ρ = 32",
        f"from {up(least['ratio most'], 3)} to {up(most['ratio most'], 4)}, and its bound",
        f"from {up(least['R over rho'], 3)} to {up(most['R over rho'], 4)}",
        f"takes {least['updates']:.0f} updates at ρ = 0.125, {one.loc[1.0, 'updates']:.0f} at "
        f"ρ = 1 and {most['updates']:.0f} at ρ = 32",
    ):
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == []


def test_time_by_the_rows() -> None:
    bisection = TABLE[(TABLE["label"] == "bisection") & (TABLE["rho"] == 1.0)].set_index("rows")
    first, last = bisection.loc[4000], bisection.loc[256000]
    text = paragraph("The paper says that the time of its bisection grows linearly")
    for claim in (
        f"{256000 // 4000} times the rows (4000 to 256000) take "
        f"{last['seconds'] / first['seconds']:.0f} times the seconds",
        f"{last['epochs'] / first['epochs']:.2f} times the epochs",
    ):
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == []
