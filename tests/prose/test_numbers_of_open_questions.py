"""What docs/notes/open-questions.md measures of prox-functions, lists and the map is in samples."""

from __future__ import annotations

import pandas as pd
import pytest

from perceptron_lab.reporting.theory.learning_complexity import gravity_mistakes, least_upper
from tests.prose.pages import PAGES, ROOT, paragraph

SAMPLES = ROOT / "results" / "sample"
PAGE = "docs/notes/open-questions.md"
FACTOR = 10.0


def medians(sample: str, index: str, value: str, **only: object) -> pd.DataFrame:
    """Medians over the seeds, a column per label."""
    frame = pd.read_csv(SAMPLES / sample / "runs.csv")
    for column, wanted in only.items():
        frame = frame[frame[f"problem.{column}"] == wanted]
    return frame.pivot_table(index=index, columns="label", values=value, aggfunc="median")


def check(words: str, *claims: str) -> None:
    text = paragraph(words)
    for claim in claims:
        assert claim in text


def gram_table() -> list[str]:
    """The lines of iterations and products."""
    labels = ["Gram", "entropy", "Euclidean", "mirror-prox", "minimum-norm-point"]
    frames = [
        medians("gram_prox", "problem.rows", value, margin=0.001)
        for value in ("updates", "products")
    ]
    header = " | ".join(["rows", *labels])
    lines = [f"| {header} |", "|---" * (len(labels) + 1) + "|"]
    for rows in frames[0].index:
        cells = [", ".join(f"{f.loc[rows, label]:.0f}" for f in frames) for label in labels]
        lines.append("| " + " | ".join([str(rows), *cells]) + " |")
    return lines


def winnow_table() -> list[str]:
    """The lines of updates, with the known margin."""
    labels = ["winnow", "accelerated-winnow", "perceptron", "smoothed-perceptron", "mirror-prox"]
    updates, margins = (
        medians("decision_lists", "problem.length", value, labels="alternate")
        for value in ("updates", "measure.known_l1_margin")
    )
    header = " | ".join(["rules", "rho_1", *labels])
    lines = [f"| {header} |", "|---" * (len(labels) + 2) + "|"]
    for length in updates.index:
        margin = f"{margins.loc[length, 'winnow']:.2g}"
        cells = [str(length), margin, *(f"{updates.loc[length, label]:.0f}" for label in labels)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def test_prox_functions() -> None:
    assert "\n".join(gram_table()) in PAGES[PAGE]
    runs = pd.read_csv(SAMPLES / "gram_prox" / "runs.csv")
    assert set(runs["status"]) == {"FEASIBLE"}
    assert set(runs["dimension"]) == {50}
    gram = runs[runs["label"] == "Gram"]
    share = (gram["updates"] / gram["bound"]).max()
    assert gram["measure.claimed_inner_gaps"].max() <= 0.125
    check("All runs found a separator", f"at most {100 * share:.1f} % of the iterations")
    updates, products = (
        medians("gram_prox", ["problem.margin", "problem.rows"], value)
        for value in ("updates", "products")
    )
    moved = updates["Gram"] > 10
    assert (updates["Gram"] <= updates["entropy"]).all()
    ranks = updates["Euclidean"] < updates["Gram"]
    assert ranks[0.001].to_dict() == {100: True, 1000: False, 10000: False}
    assert (products["Gram"] / updates["Gram"])[moved].between(2.5, 3.7).all()
    assert products["minimum-norm-point"].max() <= 5


def test_decision_lists() -> None:
    assert "\n".join(winnow_table()) in PAGES[PAGE]
    runs = pd.read_csv(SAMPLES / "decision_lists" / "runs.csv")
    ended = runs[runs["status"] != "FEASIBLE"]
    (limit,) = set(ended["updates"])
    assert set(ended["label"]) == {"winnow", "perceptron"}
    assert ended.groupby(["label", "problem.length"]).size().to_dict() == {
        ("perceptron", 10): 3,
        ("perceptron", 12): 3,
        ("winnow", 10): 2,
        ("winnow", 12): 3,
    }
    updates, margins = (
        medians("decision_lists", "problem.length", value, labels="alternate")
        for value in ("updates", "measure.known_l1_margin")
    )
    growth = updates.loc[8] / updates.loc[2]
    margin = margins.loc[2, "winnow"] / margins.loc[8, "winnow"]
    check(
        "Winnow and the perceptron reach",
        f"the limit of {limit} updates",
        f"by a factor of {growth['winnow']:.0f} and",
        f"accelerated Winnow by {growth['accelerated-winnow']:.0f}, while",
        f"1 / rho_1 grows by {margin:.0f}.",
    )
    queries = medians("decision_lists", "problem.length", "queries", labels="alternate")
    products = medians("decision_lists", "problem.length", "products", labels="alternate")
    assert queries.loc[2, "winnow"] < products.loc[2, "accelerated-winnow"]
    assert queries.loc[4, "winnow"] > products.loc[4, "accelerated-winnow"]


@pytest.fixture(scope="module")
def mistakes() -> pd.DataFrame:
    """The runs against the resisting oracle that ask for cuts, with the ratio to the forced."""
    table = pd.read_csv(SAMPLES / "resisting" / "resisting.csv")
    table = table[table["asks for"] == "cuts"]
    return table.assign(
        ratio=table["mistakes"] / table["forced"], ended=table["status"] == "FEASIBLE"
    )


def test_nowhere_is_every_algorithm_far_above_the_lower_bound(mistakes: pd.DataFrame) -> None:
    places = mistakes.drop_duplicates(["dimension", "margin"])
    dilation = mistakes[mistakes["label"] == "space-dilation"]
    assert dilation["ended"].all()
    assert dilation["bound"].isna().all()
    assert len(dilation) == len(places)
    upper, gravity = (
        max(
            bound(n, rho) / forced
            for n, rho, forced in zip(
                places["dimension"], places["margin"], places["forced"], strict=True
            )
        )
        for bound in (least_upper, gravity_mistakes)
    )
    assert max(upper, gravity, dilation["ratio"].max()) < FACTOR
    check(
        "**There is no place where",
        f"{len(places)} places space dilation makes at most {dilation['ratio'].max():.2f} times",
        f"a theorem is at most {upper:.1f} times",
        f"alone at most {gravity:.1f} times",
    )


def test_where_those_with_a_theorem_are_far_above_it(mistakes: pd.DataFrame) -> None:
    bounded = mistakes[mistakes["label"] != "space-dilation"]
    assert bounded["bound"].notna().all()
    places = bounded.groupby(["dimension", "margin"])
    near = places.apply(lambda group: bool((group["ended"] & (group["ratio"] <= FACTOR)).any()))
    far = [place for place, is_near in near.items() if not is_near]
    assert {n for n, _ in far} == {50}
    margins = sorted((rho for _, rho in far), reverse=True)
    ellipsoid = bounded[(bounded["label"] == "ellipsoid") & (bounded["dimension"] == 50)]
    ratios = ellipsoid[ellipsoid["margin"].isin(margins)]["ratio"]
    excess = places["bound"].min() / places["forced"].first()
    wide = excess[excess > FACTOR]
    expected = {(n, rho) for n, rho in excess.index if n >= 10 and rho <= 0.01}
    assert set(wide.index) == expected
    check(
        "The centre of gravity can be computed",
        f"at the margins {', '.join(f'{rho:g}' for rho in margins[:-1])} and {margins[-1]:g}:",
        f"{ratios.min():.0f} to {ratios.max():.0f} times the forced number there",
        "margins of 0.01 or less in the dimensions 10 and 50",
        f"by factors of {wide.min():.0f} to {wide.max():.0f}.",
    )
