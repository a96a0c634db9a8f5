"""Table 2 in docs/papers/mirror-prox.md says what the committed samples say."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import pandas as pd
import pytest

from tests.prose.pages import PAGES, ROOT

SAMPLES = ROOT / "results" / "sample"
PAGE = PAGES["docs/papers/mirror-prox.md"]
LINE = re.compile(r"^\| (\d+) x (\d+) \| ([\d.]+) s \|(.+)\|$", re.MULTILINE)
LABELS = ["adaptive MP", "SPCT", "PCT", "VN", "ISPVN", "ISPVN 2n"]


def sample(name: str) -> pd.DataFrame:
    table = pd.read_csv(SAMPLES / name / "table_2.csv")
    return table.set_index(["dimension", "rows", "label"])


def agrees(printed: str, number: float) -> bool:
    """Return whether a number is printed to its last digit."""
    unit = Decimal(printed).as_tuple().exponent
    assert isinstance(unit, int)
    return abs(float(printed) - number) <= 0.5000001 * 10.0**unit


@pytest.mark.parametrize("line", LINE.findall(PAGE), ids=lambda line: f"{line[0]}x{line[1]}")
def test_every_cell_is_that_of_a_sample(line: tuple[str, str, str, str]) -> None:
    dimension, rows, seconds, cells = line
    main, other = sample("margin_sets"), sample("margin_sets_mu0")
    shape = int(dimension), int(rows)
    assert agrees(seconds, float(main.loc[(*shape, "MPLFP"), "seconds"]))
    words = [cell.strip() for cell in cells.split("|")]
    for label, word in zip(LABELS, words, strict=True):
        found = (other if label == "ISPVN 2n" else main).loc[(*shape, label)]
        bound, shown = re.fullmatch(r"(≥ )?([\d.]+|limit)(?: \(.+\))?", word).groups()  # type: ignore[union-attr]
        if shown == "limit":
            assert str(found["status"]).startswith("TIME_LIMIT")
        elif bound:
            assert math.isnan(found["ratio"])
            assert agrees(shown, float(found["ratio at least"]))
        else:
            assert agrees(shown, float(found["ratio"]))


def test_all_shapes_and_the_iterations_in_the_text() -> None:
    assert len(LINE.findall(PAGE)) == 4
    other = sample("margin_sets_mu0")["iterations"]
    text = " ".join(PAGE.split())
    for shape in ((100, 5000), (1000, 5000)):
        slow, fast = (int(other[(*shape, label)]) for label in ("ISPVN 2n", "ISPVN"))
        assert f"{slow} iterations instead of {fast}" in text or f"{slow} instead of {fast}" in text
