"""The tables and counts of rescaling on the page of open questions are those of its samples."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.prose.pages import ROOT, numbers, paragraph, paragraphs, spelt

PAGE = "docs/notes/open-questions.md"
SAMPLES = ROOT / "results" / "sample"
RESCALINGS = pd.read_csv(SAMPLES / "deep_separation" / "rescalings.csv")
EXPONENTS = pd.read_csv(SAMPLES / "exponents" / "exponents.csv")


def lines_of(kind: str) -> list[str]:
    """Return the page's table of the problems of a kind: a line per label, a column per margin."""
    table = RESCALINGS[RESCALINGS["problem"].str.startswith(kind)]
    margins = list(dict.fromkeys(table["margin"]))
    lines = [f"| {kind}: margin | {' | '.join(f'{margin:g}' for margin in margins)} |"]
    lines.append("|---" * (len(margins) + 1) + "|")
    for label in dict.fromkeys(table["label"]):
        rows = table[table["label"] == label].set_index("margin")
        lines.append(f"| {label} | {' | '.join(cell(rows.loc[m]) for m in margins)} |")
    return lines


def cell(row: pd.Series) -> str:
    """Return the updates, the rescalings if the algorithm has such, and a sign of a limit."""
    ended = "" if row["ended"] == "FEASIBLE" else "> "
    rescalings = "" if pd.isna(row["rescalings"]) else f" ({row['rescalings']:.0f})"
    return f"{ended}{row['updates']:.0f}{rescalings}"


@pytest.mark.parametrize("kind", ["semidefinite", "random"])
def test_the_tables_of_updates_and_rescalings(kind: str) -> None:
    assert "\n".join(lines_of(kind)) in paragraphs(PAGE)


def columns(name: str) -> pd.DataFrame:
    """Return a column of the table, by problem and label."""
    return RESCALINGS.pivot(index="problem", columns="label", values=name)


def test_the_comparisons_of_the_text() -> None:
    updates, rescalings = columns("updates"), columns("rescalings")
    ended = columns("ended") == "FEASIBLE"
    graphs = updates.index.str.startswith("random")
    rescaled = rescalings["deep practical"] > 0
    assert rescaled.sum() == len(updates) - 1
    starts = ["coordinate practical", "deep practical"]
    assert ended[[*starts, "Pena-Soheili early"]].all(axis=None)
    for table in (updates, rescalings):
        assert (table[starts[0]] < table[starts[1]])[rescaled].all()
    assert rescalings["coordinate starts"].max() == 1
    assert (updates.idxmin(axis=1)[graphs] == "Pena-Soheili early").all()
    dunagan, thesis = updates["PRA Dunagan-Vempala"], updates["PRA thesis"]
    assert (thesis >= updates["perceptron"])[graphs].all()
    assert (dunagan == updates["perceptron"])[graphs & (rescalings["PRA Dunagan-Vempala"] == 0)][
        ended["perceptron"] & ended["PRA Dunagan-Vempala"]
    ].all()
    long = graphs & (rescalings["deep thesis"] > 0)
    assert (rescalings["deep thesis"] > rescalings["PRA thesis"])[long].all()
    assert (rescalings["deep thesis"] == rescalings["PRA thesis"])[~graphs].all()


def test_the_maps_of_the_exponents() -> None:
    assert set(EXPONENTS["ended"]) == {"FEASIBLE"}
    holds = EXPONENTS[EXPONENTS["condition"] == "holds"]
    assert holds["bound"].notna().all()
    assert set(EXPONENTS[EXPONENTS["condition"] == "fails"]["beta"]) == {0.5, 0.75}
    assert (holds["beta"].min(), holds[holds["gamma"] == 0.75]["beta"].min()) == (0.75, 0.75)
    for _, at in holds.groupby(["margin", "beta"]):
        assert at.sort_values("gamma")["bound"].is_monotonic_decreasing
    for _, at in holds[holds["beta"] >= 1.0].groupby(["margin", "gamma"]):
        assert at.sort_values("beta")["bound"].is_monotonic_increasing
    by_gamma = EXPONENTS.groupby(["margin", "gamma"])["updates"].median()
    assert all(by_gamma[margin].iloc[-1] > 3 * by_gamma[margin].iloc[0] for margin in (0.01, 0.001))
    text = paragraph("The two maps disagree.")
    claim = f"at most a share of {holds['share'].max():.5f} of its bound"
    assert claim in text
    assert numbers(text.replace(claim, "")) == ["1", "1", "2", "2"]  # phases and beta >= 1


def test_the_design_of_the_maps() -> None:
    text = paragraph("Theorem 4.4 leaves β")
    margins = spelt(EXPONENTS["margin"].nunique())
    assert f"rows of {margins} margins, in dimension 5 with c = 4, d = 32 and κ = 1" in text
