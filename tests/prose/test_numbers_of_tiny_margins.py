"""What is said of tiny margins and of rows without a separator is in the two samples."""

from __future__ import annotations

import pandas as pd

from perceptron_lab.reporting.evidence import Evidence
from tests.prose.pages import ROOT, numbers, paragraph, rounded

SAMPLES = ROOT / "results" / "sample"


def times(name: str) -> pd.DataFrame:
    """Rows of a sample with ``time``, the proof's included, and its ``ratio`` to that of auto."""
    rows = Evidence.of_folder(SAMPLES / name).frame
    rows["time"] = rows["seconds"] + rows["proof_seconds"]
    ours = rows[rows["label"] == "auto"].set_index(["problem", "seed"])["time"]
    rows["ratio"] = (
        rows["time"] / ours.loc[list(zip(rows["problem"], rows["seed"], strict=True))].to_numpy()
    )
    return rows


def holds(text: str, claims: list[str]) -> str:
    """The text without the claims, all of which are in it."""
    for claim in claims:
        assert claim in text, claim
        text = text.replace(claim, "", 1)
    return text


def span(ratios: pd.Series) -> str:
    return f"{rounded(ratios.min())} to {rounded(ratios.max())}"


def test_margins_down_to_1e_9() -> None:
    rows = times("tiny_margin")
    assert rows["label"].nunique() == 15
    proved = rows[rows["status"] == "FEASIBLE"]
    by = {str(label): part for label, part in proved.groupby("label")}
    count = int((rows["label"] == "auto").sum())
    white = by["whitened primal-dual"]
    for all_of_them in (by["auto"], by["Clarabel"], by["rescaled-perceptron"], white):
        assert len(all_of_them) == count
    highs = [by[f"HiGHS {way}"] for way in ("simplex", "ipm", "margin")]
    nearest = by["minimum-norm-point"]
    ending = {"primal-dual", "adaptive-mirror-prox", "cyclic-perceptron", "nnls"}
    ending |= {"LinearSVC", "SGDClassifier", "sklearn Perceptron"}
    text = holds(
        paragraph("This benchmark has 48 instances"),
        [
            "margins of 1e-2 to 1e-9 in dimension 50 with 2000 rows",
            f"has {count} instances",
            f"Clarabel takes {span(by['Clarabel']['ratio'])} times the time of ``",
            f"`` takes {span(by['rescaled-perceptron']['ratio'])} times. The updates of",
            f"whitened primal-dual steps take {span(white['ratio'])} times",
            f"HiGHS solves {min(map(len, highs))} to {max(map(len, highs))} instances",
            f"takes {rounded(nearest['ratio'].median())} times the time of `` in the median",
            f"is faster on {int((nearest['ratio'] < 1).sum())} instances and fails on "
            f"{count - len(nearest)}",
            f"Each of the other methods solves {min(len(by[label]) for label in ending)} to "
            f"{max(len(by[label]) for label in ending)}",
        ],
    )
    assert set(by) - ending == {
        *("auto", "Clarabel", "rescaled-perceptron", "whitened primal-dual"),
        *("minimum-norm-point", "HiGHS simplex", "HiGHS ipm", "HiGHS margin"),
    }
    assert numbers(text.replace("1/margin", "")) == []


def test_rows_without_a_separator() -> None:
    rows = times("certificates")
    ours = rows[rows["label"] == "auto"]
    assert (ours["status"] == "INFEASIBLE").all()
    reached = rows[rows["goal_reached"] == "true"]
    by = {str(label): part for label, part in reached.groupby("label")}
    frames = [by[label] for label in ("HiGHS simplex", "HiGHS ipm", "Clarabel", "SCS")]
    nearest, least = by["minimum-norm-point"], by["nnls"]
    assert len(nearest) == len(least) == len(ours)
    approximate = rows[rows["problem"] == "gaussian-1000x2300"]
    limited = approximate[approximate["label"].isin(["HiGHS simplex", "HiGHS ipm"])]
    assert (limited["status"] == "TIME_LIMIT").all()
    times_ours = 20.0 / approximate[approximate["label"] == "auto"]["time"].median()
    text = holds(
        paragraph("`auto` proves infeasibility on all"),
        [
            f"on all {len(ours)} instances",
            f"each prove {min(map(len, frames))} to {max(map(len, frames))} of them",
            f"take at least {rounded(min(frame['ratio'].min() for frame in frames))} times as long",
            f"takes {span(nearest['ratio'])} times the time of ``",
            f"on {int((nearest['status'] == 'MARGIN_BOUNDED').sum())} instances",
            f"Non-negative least squares takes {span(least['ratio'])} times",
            "On 2300 rows in dimension 1000",
            f"its limit of 20 s, which is {times_ours:.0f} times",
            "1e-6",
        ],
    )
    assert numbers(text) == []
