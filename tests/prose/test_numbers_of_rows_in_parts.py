"""What is said of a billion rows follows from the sample of a run on fewer."""

from __future__ import annotations

import pandas as pd

from perceptron_lab.systems.parted_system import ENTRIES, GROWTH
from tests.prose.pages import PAGES, ROOT, numbers, paragraph

PAGE = "docs/rows-in-parts.md"
RUNS = pd.read_csv(ROOT / "results" / "sample" / "cluster" / "runs.csv")
AUTO, SGD = (RUNS[RUNS["label"] == label].set_index("constraints") for label in ("auto", "sgd"))
RATES = AUTO["seconds"] / AUTO["products"] / AUTO.index
"""Seconds per row and pass."""
DIMENSION, BILLION = 20, 1_000_000_000


def assert_claims(words: str, *claims: str) -> None:
    """Assert that a paragraph makes these claims, and has no other numbers."""
    text = paragraph(words)
    for claim in claims:
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == []


def test_the_table_is_the_sample() -> None:
    assert RUNS["proved"].all()
    assert set(RUNS["status"]) == {"FEASIBLE"}
    assert set(RUNS["dimension"]) == {DIMENSION}
    for rows in AUTO.index:
        auto, sgd = AUTO.loc[rows], SGD.loc[rows]
        cells = [f"{rows:,}".replace(",", " "), f"{auto['products']:.0f}", f"{auto['seconds']:.1f}"]
        cells += [f"{RATES[rows] * 1e9:.0f}", f"{sgd['iterations']:.0f}", f"{sgd['seconds']:.1f}"]
        assert f"| {' | '.join(cells)} |" in PAGES[PAGE]
    lines = [line for line in PAGES[PAGE].splitlines() if line.startswith("| ")]
    assert len(lines) == 1 + len(AUTO)


def test_the_law() -> None:
    ratios = SGD["seconds"] / AUTO["seconds"]
    assert set(SGD["iterations"]) == {1}
    assert_claims(
        "The number of passes hardly depends",
        f"at {RATES.min() * 1e9:.0f} to {RATES.max() * 1e9:.0f} ns per row",
        f"takes {ratios.min():.2f} to {ratios.max():.2f} times the time of ",
    )
    assert AUTO["products"].max() <= 1.2 * AUTO["products"].min()
    assert_claims("`plab run benchmarks/cluster` ([results", f"dimension {DIMENSION}")


def test_the_prediction() -> None:
    hours = RATES * AUTO["products"].max() * BILLION / 3600
    low, high = hours.min(), hours.max()
    assert_claims(
        "At these rates, a billion rows",
        f"dimension {DIMENSION}",
        f"take {low:.1f} to {high:.1f} hours",
    )


def test_the_network() -> None:
    speeds = 4 * DIMENSION / RATES / 1e6
    low, high = speeds.min(), speeds.max()
    assert low > 125
    assert_claims(
        "A pass over a billion rows reads",
        f"{4 * DIMENSION * BILLION / 1e9:.0f} GB",
        f"consumes {low:.0f} to {high:.0f} MB per second",
        "A network of 1 Gbit per second, which is 125 MB per second",
    )
    most = GROWTH * DIMENSION
    assert all(GROWTH * n <= ENTRIES // n for n in range(1, 101))
    sent = 8 * most * (DIMENSION + 2)
    # Workers, each with a million rows per part
    assert 125e6 / (sent / (1e6 * RATES.min())) > 200
    assert_claims(
        "If workers read their own parts",
        "8 k (n + 2) bytes",
        f"k = {GROWTH} n for dimensions up to 100",
        f"For k = {most}, n = {DIMENSION}",
        f"that is {sent / 1e3:.0f} kB instead of {4 * DIMENSION} MB",
    )
