"""What is said of labelled examples is in the sample of `benchmarks/labelled`."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from tests.prose.pages import PAGES, numbers, paragraph, rounded
from tests.prose.test_numbers_of_tiny_margins import times

PAGE = PAGES["docs/which-algorithm.md"]
LINE = re.compile(r"^\| (heavy tails|sparse), (\d+) x (\d+)(?:, ([\d.]+))? \|(.+)\|$", re.MULTILINE)
PEERS = ("HiGHS simplex", "LinearSVC", "SGDClassifier", "sklearn Perceptron")
HEAD = f"| labelled examples, dimension x rows | `auto`, ms | {' | '.join(PEERS)} |"
NONE = "none"


def of(line: tuple[str, ...]) -> pd.DataFrame:
    """The rows of an instance's runs."""
    family, dimension, rows, difficulty, _ = line
    middle = "0.3-3-0.9" if family == "heavy tails" else f"{difficulty}-0.01"
    name = f"{'heavy-tailed' if family == 'heavy tails' else family}-{dimension}x{rows}-{middle}"
    runs = times("labelled")
    return runs[runs["problem"] == name]


@pytest.mark.parametrize("line", LINE.findall(PAGE), ids="-".join)
def test_a_line_of_the_table(line: tuple[str, ...]) -> None:
    """The medians of the runs that were proved, and how many these are, if not all."""
    rows = of(line)
    instances = rows["seed"].nunique()
    assert len(rows) == instances * (len(PEERS) + 1)
    proved = {str(label): group for label, group in rows[rows["proved"]].groupby("label")}
    assert len(proved["auto"]) == instances
    expected = [rounded(1e3 * proved["auto"]["time"].median())]
    for label in PEERS:
        if label not in proved:
            expected.append(NONE)
            continue
        rows_of_label = proved[label]
        count = "" if len(rows_of_label) == instances else f" ({len(rows_of_label)} of {instances})"
        expected.append(rounded(rows_of_label["ratio"].median()) + count)
    assert [field.strip() for field in line[-1].split("|")] == expected


def test_the_runs_it_is_about() -> None:
    assert HEAD in PAGE
    runs = times("labelled")
    assert len(LINE.findall(PAGE)) == runs["problem"].nunique()
    families = paragraph("The second benchmark has labelled examples")
    text = f"{families} {paragraph('The times are medians over')}"
    for claim in (
        f"medians over {runs['seed'].nunique()} instances",
        "limit of 10 s",
        "three degrees of freedom",
        "a factor of 1 leaves the data unchanged",
    ):
        assert claim in text
        text = text.replace(claim, "")
    assert numbers(text) == []
