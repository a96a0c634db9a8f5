"""The tables of applications in docs/notes/open-questions.md are those of the samples."""

from __future__ import annotations

import re

import pandas as pd

from tests.prose.pages import ROOT

PAGE = (ROOT / "docs" / "notes" / "open-questions.md").read_text(encoding="utf-8")
SAMPLES = ROOT / "results" / "sample"


def read(sample: str, table: str) -> pd.DataFrame:
    return pd.read_csv(SAMPLES / sample / f"{table}.csv")


def count(value: float) -> str:
    return "-" if pd.isna(value) else f"{value:.0f}"


def request_lines() -> list[str]:
    """The stream, the learner, labels to 1 % and to 0.1 %, and mistakes."""
    table = read("active_learning", "label_requests")
    streams = table["problem"].str.extract(r"sphere-(\d+)x\d+-(\d+)")
    lines = []
    for (_, row), (_, stream) in zip(table.iterrows(), streams.iterrows(), strict=True):
        name = "sphere" if stream[1] == "1" else f"condition {stream[1]}"
        cells = [f"{name}, d = {stream[0]}", f"`{row['label']}`"]
        cells += [count(row[column]) for column in ("to 1 %", "to 0.1 %", "mistakes")]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def text_lines() -> list[str]:
    """The category, columns, mistakes, both bounds rounded up, and the test error."""
    table = read("text_stream", "mistakes")
    lines = []
    for _, row in table.iterrows():
        category, columns = row["problem"].split(" columns=")
        bounds = [row["hinge-loss bound"], row["Novikoff's bound"]]
        cells = [f"`{category}`", columns, count(row["mistakes"])]
        cells += ["-" if pd.isna(bound) else f"{-(-bound // 1):.0f}" for bound in bounds]
        error = f"{row['error']:.1f}"
        lines.append(f"| {' | '.join([*cells, error])} |")
    return lines


def optimum_lines() -> list[str]:
    """The label, its updates, and percent to the optimum and between the proved bounds."""
    table = read("bundle_mirror", "optima_reached").set_index("label")
    lines = []
    for label, row in table.iterrows():
        width = 100 * (row["objective"] - row["lower bound"]) / row["objective"]
        if label == "low-rank":
            continue
        above = row["above the optimum"]
        cells = [str(label), count(row["updates"]), f"{above:.2g}", f"{width:.2g}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def rotation_lines() -> list[str]:
    """The demand, the algorithm, cells with a proved point, updates and three errors."""
    lines = []
    for _, row in read("rotated_digits", "rotated_digits").iterrows():
        proved = f"{row['feasible']:.0f} of {row['cells']:.0f}"
        cells = [row["demand"], f"`{row['label']}`", proved, count(row["updates"])]
        cells += [f"{row[column]:.1f}" for column in ("rotated", "upright", "worst")]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def lines_under(header: str) -> list[str]:
    """The lines of the table of the page whose header begins so, without header and rule."""
    start = PAGE.index(f"\n{header}")
    table = PAGE[start:].strip().split("\n\n")[0].splitlines()
    return table[2:]


def test_the_table_of_requested_labels_is_that_of_the_sample() -> None:
    assert lines_under("| stream | learner |") == request_lines()


def test_the_table_of_texts_is_that_of_the_sample() -> None:
    assert lines_under("| category | columns |") == text_lines()


def test_mistakes_on_texts_are_a_third_of_the_bound() -> None:
    table = read("text_stream", "mistakes")
    assert table["largest ratio"].between(0.3, 0.4).all()
    assert "The bound is about three times the mistakes" in PAGE
    separable = table[table["Novikoff's bound"].notna()]
    assert list(separable["problem"]) == ["earn columns=4096"]
    assert (separable["Novikoff's bound"] > separable["hinge-loss bound"]).all()


def test_the_table_of_optima_is_that_of_the_sample() -> None:
    assert lines_under("| label | updates | distance") == optimum_lines()


def test_the_table_of_rotated_digits_is_that_of_the_sample() -> None:
    assert lines_under("| demand | algorithm |") == rotation_lines()
    assert re.search(r"25 digits of each of two classes, τ = 10 degrees", PAGE)
