"""What is said of proved optima is in the three samples."""

from __future__ import annotations

import math

import pandas as pd

from tests.prose.pages import ROOT, numbers, paragraph, rounded, spelt
from tests.prose.test_numbers_of_tiny_margins import holds

SAMPLES = ROOT / "results" / "sample"


def proved(name: str) -> pd.DataFrame:
    """Rows of programs that were at hand, with ``time``, the proofs' included."""
    rows = pd.read_csv(SAMPLES / name / "proved_optima.csv")
    rows["time"] = rows["seconds"] + rows["proof seconds"]
    return rows[rows["status"] != "SKIPPED"]


def scientific(value: float) -> str:
    """A width, rounded upward to two digits."""
    exponent = math.floor(math.log10(value)) - 1
    text = f"{math.ceil(value / 10.0**exponent * (1.0 - 1e-12)) * 10.0**exponent:.1e}"
    return text.replace("e-0", "e-").replace(".0e", "e")


def test_relaxations_of_maxcut() -> None:
    rows = proved("maxcut_optimum")
    times = rows.pivot_table(index="problem", columns="label", values="time")
    ratios = times.div(times["low-rank"], axis="index").median()
    widths = rows.groupby("label")["width"].agg(["min", "max", "count"])
    ours = times["low-rank"]
    assert widths.loc["low-rank", "count"] == len(ours)
    assert widths.loc["low-rank", "max"] <= 1e-8
    limit = rows[(rows["problem"] == "maxG55") & (rows["label"] == "DSDP")].iloc[0]
    assert limit["status"] == "NUMERICAL_ERROR"

    lines = ["| solver | relative time | smallest width |", "|---|---|---|"]
    for label in ("DSDP", "CSDP", "SCS", "Clarabel"):
        width = scientific(float(widths.loc[label, "min"]))
        lines.append(f"| {label} | {rounded(ratios[label])} | {width} |")
    parts = (
        "`plab run maxcut_optimum` runs on",
        "The other solvers were run",
        "| solver | relative time |",
        "DSDP returned no answer",
    )
    text = holds(
        " ".join(map(paragraph, parts)),
        [
            f"on {len(ours)} relaxations of SDPLIB",
            "a relative width of 1e-8 or less on each of them",
            f"takes {rounded(ours.sum())} s for all together, including verification",
            f"{rounded(ours['maxG55'])} s for maxG55 with 5000 vertices",
            f"Clarabel on the {spelt(int(widths.loc['Clarabel', 'count']))} smallest",
            " ".join(lines),
            f"no answer for maxG55 within {math.floor(limit['seconds'])} s",
        ],
    )
    assert numbers(text) == []


def test_other_programs() -> None:
    best = pd.read_csv(SAMPLES / "sdplib_optimum" / "best_optima.csv").set_index("problem")
    both = best[best["width"].notna()]
    assert set(best.index) - set(both.index) == {"hinf1"}
    text = holds(
        paragraph("`plab run sdplib_optimum` runs on"),
        [
            f"on the {spelt(len(best))} other available programs that have an optimum",
            f"{spelt(len(both)).capitalize()} of them get lower and upper bounds that are "
            f"{scientific(both['width'].min())} to {scientific(both['width'].max())} apart",
        ],
    )
    assert numbers(text) == []
    assert (both["agrees"] == "yes").all()


def test_from_a_thousand_vertices_to_a_million() -> None:
    rows = pd.read_csv(SAMPLES / "maxcut_scaling" / "maxcut_scaling.csv").set_index("problem")
    assert (rows["status"] == "FEASIBLE").all()
    assert (rows["width"] <= rows["goal"]).all()
    times = rows["seconds"] + rows["proof seconds"]
    random, union, torus = "random-20000-50000", "planar-20000-118000", "torus-1000x1000"
    gigabytes = rows["megabytes"] / 1000.0
    text = holds(
        paragraph("`plab run maxcut_scaling` runs on"),
        [
            f"A random graph with 20 000 vertices takes {rounded(times[random])} s to a width of "
            "1e-6",
            f"A union of two planar graphs with as many vertices takes {rounded(times[union])} s "
            f"and {rounded(gigabytes[union])} GB",
            f"A torus with a million vertices takes {rounded(times[torus])} s and "
            f"{rounded(gigabytes[torus])} GB to a width of {scientific(rows.loc[torus, 'width'])}",
            f"at least {math.floor(100 * rows['cut ratio'].min())} % of the optimum",
        ],
    )
    assert numbers(text) == []
