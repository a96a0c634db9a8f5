"""What docs/papers.md says came out is what the samples hold; its numbers are on other pages."""

from __future__ import annotations

import re

import pandas as pd

from tests.prose.pages import PAGES, ROOT, paragraphs

SAMPLES = ROOT / "results" / "sample"


def outcome(name: str) -> str:
    """Return what the table says of an experiment."""
    (table,) = [part for part in paragraphs("docs/papers.md") if part.startswith("| result |")]
    (line,) = [line for line in table.splitlines() if f"`plab run {name}`" in line]
    return line.split("|")[3].strip()


def sample(name: str, table: str) -> pd.DataFrame:
    return pd.read_csv(SAMPLES / name / f"{table}.csv")


def test_every_result_has_its_sample() -> None:
    named = re.findall(r"^\|.*`plab run (\w+)` \|", PAGES["docs/papers.md"], re.MULTILINE)
    assert len(named) > 10
    assert all((SAMPLES / name).is_dir() for name in named)


def test_table_6_1() -> None:
    assert "the same counts on more than half of the instances" in outcome("maxcut")
    table = sample("maxcut", "table_6_1")
    deviations = table[["PRA deviation percent", "EA deviation percent"]].abs()
    assert (deviations == 0.0).all(axis=1).mean() > 0.5
    assert deviations.to_numpy().max() < 2.0


def test_no_ellipsoid_separates() -> None:
    assert "no ellipsoid separates any of the ten categories" in outcome("reuters")
    rows = sample("reuters", "table_8_1").query("category != 'mean'")
    assert len(rows) == 10
    assert (rows.filter(regex=" proves$") == "t = 0").all(axis=None)


def test_table_1() -> None:
    assert "every algorithm stays within the bound of its theorem" in outcome("rates")
    ratios = sample("rates", "rates")["largest ratio"].dropna()
    assert len(ratios) > 20
    assert ratios.max() <= 1.0


def test_the_algorithms_of_the_other_papers_hold_to_their_bounds() -> None:
    line = "| `plab run bounds` | the same comparison for the algorithms of the other papers |"
    assert line in PAGES["docs/papers/mirror-prox.md"]
    table = sample("bounds", "rates")
    ratios = table["largest ratio"].combine_first(table["mean ratio"])
    assert ratios.notna().all()
    assert ratios.max() <= 1.0


def test_table_2() -> None:
    assert "the order by iterations is reproduced" in outcome("margin_sets")
    table = sample("margin_sets", "table_2").set_index(["rows", "dimension", "label"])
    iterations = table.loc[5000, 100]["iterations"]
    order = ["MPLFP", "SPCT", "VN", "PCT"]
    assert list(iterations[order]) == sorted(iterations[order])


def test_the_exact_method_is_ahead_of_the_bisections() -> None:
    assert "an exact method is faster than the bisections on all sets but one" in outcome("margins")
    times = sample("margins", "margins").pivot_table(
        index="problem", columns="label", values="to 99 %", dropna=False
    )
    ours = times.pop("minimum-norm-point")
    bisections = times.filter(regex="bisection|working set")
    assert ours.notna().all()
    best = bisections.min(axis=1).fillna(float("inf"))  # none has reached it
    assert (best < ours).sum() == 1


def test_the_worst_case_grows_exactly() -> None:
    assert "reproduced, and the growth is known exactly" in outcome("worst_case")
    table = sample("worst_case", "mistakes")
    rows = table[table["label"] == "order of the notes"]
    order = rows["problem"].str.extract(r"-(\d+)$")[0].astype(int)
    assert (rows["mistakes"] == 2 * order**2 - 2 * order + 5).all()


def test_no_algorithm_makes_fewer_mistakes_than_forced() -> None:
    assert "the orders of growth hold" in outcome("resisting")
    assert (sample("resisting", "resisting")["least ratio"].dropna() >= 1.0).all()
