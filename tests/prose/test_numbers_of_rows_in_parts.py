"""What is said of a billion rows follows from the sample of a run on fewer."""

from __future__ import annotations

import numpy as np
import pandas as pd

from perceptron_lab.systems.parted_system import ENTRIES, GROWTH
from tests.prose.pages import PAGES, ROOT, numbers, paragraph

PAGE = "docs/rows-in-parts.md"
RUNS = pd.read_csv(ROOT / "results" / "sample" / "cluster" / "runs.csv")
AUTO = RUNS[RUNS["label"] == "auto"].set_index(["constraints", "problem.workers"])
SGD = RUNS[RUNS["label"] == "sgd"].set_index("constraints")
CPU = AUTO["measure.claimed_worker_seconds"]
"""CPU seconds of all workers."""
READ = AUTO.index.get_level_values(0) * AUTO["measure.claimed_passes"]
"""Rows times passes."""
DIMENSION, BILLION, LARGEST = 20, 1_000_000_000, (200_000_000, 2)


def law(runs: pd.Index) -> tuple[float, float]:
    """Return a and b of CPU = a + b READ, with the least sum of squared relative deviations."""
    read, cpu = READ.loc[runs].to_numpy(float), CPU.loc[runs].to_numpy()
    columns = np.column_stack([1.0 / cpu, read / cpu])
    constant, rate = np.linalg.lstsq(columns, np.ones(len(cpu)), rcond=None)[0]
    return float(constant), float(rate)


CONSTANT, RATE = law(AUTO.index)
DEVIATIONS = CPU / (CONSTANT + RATE * READ)
SHARES = DEVIATIONS.min(), DEVIATIONS.max()
"""Measured seconds as multiples of the law."""


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
    lines = []
    for (rows, workers), run in AUTO.iterrows():
        cells = [f"{rows:,}".replace(",", " "), f"{workers}"]
        cells += [
            f"{run['measure.claimed_passes']:.0f}",
            f"{run['measure.bytes_per_pass'] / 1e9:g}",
        ]
        cells += [f"{CPU[rows, workers]:.1f}", f"{run['total_seconds']:.1f}"]
        cells += [f"{run['measure.claimed_worker_memory'] / 1e6:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    for rows, run in SGD.iterrows():
        cells = [
            f"{rows:,}".replace(",", " "),
            f"{run['iterations']}",
            f"{run['total_seconds']:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    printed = [line for line in PAGES[PAGE].splitlines() if line.startswith("| ")]
    assert [line for line in printed if "rows" not in line] == lines


def test_the_law() -> None:
    low, high = SHARES
    assert set(AUTO["measure.claimed_passes"]) == {1}
    constant, rate = law(AUTO.index.drop(LARGEST))
    predicted = constant + rate * READ[LARGEST]
    assert_claims(
        "The CPU seconds of all workers",
        f"{CONSTANT:.1f} s + {RATE * 1e9:.0f} ns",
        f"{low:.2f} to {high:.2f} times the law",
        f"{predicted:.0f} s for 200 million rows, and {CPU[LARGEST]:.0f} s were measured",
    )
    assert_claims(
        "`plab run benchmarks/cluster` ([results",
        f"dimension {DIMENSION}",
    )


def test_the_times_of_the_run() -> None:
    two = AUTO["total_seconds"].xs(1, level=1) / AUTO["total_seconds"].xs(2, level=1)
    ratios = SGD["total_seconds"] / AUTO["total_seconds"].xs(1, level=1)
    assert set(SGD["iterations"]) == {1}
    assert_claims(
        "The machine has two cores",
        f"{two.min():.2f} to {two.max():.2f} times",
    )
    assert_claims(
        "`sgd` needs one pass",
        f"{ratios.min():.1f} to {ratios.max():.1f} times",
    )


def test_the_memory() -> None:
    largest = AUTO["measure.claimed_worker_memory"].max() / 1e6
    smallest = AUTO["measure.claimed_worker_memory"].min() / 1e6
    assert largest <= 1.2 * smallest
    assert_claims("No worker had more than", f"{largest:.0f} MB")


def test_the_prediction() -> None:
    minutes = (CONSTANT + RATE * BILLION) / 60
    low, high = (share * minutes for share in SHARES)
    assert_claims(
        "For a billion rows of dimension",
        f"dimension {DIMENSION}",
        f"{minutes:.0f} CPU minutes",
        f"from {low:.0f} to {high:.0f}",
        f"{low / 2:.0f} to {high / 2:.0f} minutes with two workers",
    )


def test_the_network() -> None:
    speed = 4 * DIMENSION / RATE / 1e6
    assert 125 / speed < 1  # so that the network is the limit
    assert_claims(
        "A pass over a billion rows reads",
        f"{4 * DIMENSION * BILLION / 1e9:.0f} GB",
        f"consumes {speed:.0f} MB per second",
        "A network of 1 Gbit per second, which is 125 MB per second",
        f"serves {125 / speed:.1f} workers",
    )
    most = GROWTH * DIMENSION
    assert all(GROWTH * n <= ENTRIES // n for n in range(1, 101))
    sent = 8 * most * (DIMENSION + 2)
    # Workers, each with a million rows per part
    assert 125e6 / (sent / (1e6 * RATE)) > 200
    assert_claims(
        "If workers read their own parts",
        "8 k (n + 2) bytes",
        f"k = {GROWTH} n for dimensions up to 100",
        f"For k = {most}, n = {DIMENSION}",
        f"that is {sent / 1e3:.0f} kB instead of {4 * DIMENSION} MB",
    )
