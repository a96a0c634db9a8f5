"""Table 2 in docs/papers/mirror-prox.md, and what is told of it, say what the sample says."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import pandas as pd
import pytest

from tests.prose.pages import PAGES, ROOT, numbers, paragraph, rounded

PAGE = PAGES["docs/papers/mirror-prox.md"]
LINE = re.compile(r"^\| (\d+) x (\d+) \| ([\d.]+) s \|(.+)\|$", re.MULTILINE)
LABELS = ["auto", "adaptive MP", "SPCT", "PCT", "VN", "ISPVN", "ISPVN 2n"]
SMALL = [(100, 5000), (1000, 5000)]
SHAPES = [*SMALL, (100, 50000), (1000, 50000)]


def sample() -> pd.DataFrame:
    table = pd.read_csv(ROOT / "results" / "sample" / "margin_sets" / "table_2.csv")
    return table.set_index(["dimension", "rows", "label"]).sort_index()


def agrees(printed: str, number: float) -> bool:
    """Return whether a number is printed to its last digit."""
    unit = Decimal(printed).as_tuple().exponent
    assert isinstance(unit, int)
    return abs(float(printed) - number) <= 0.5000001 * 10.0**unit


@pytest.mark.parametrize("line", LINE.findall(PAGE), ids=lambda line: f"{line[0]}x{line[1]}")
def test_every_cell_is_that_of_the_sample(line: tuple[str, str, str, str]) -> None:
    dimension, rows, seconds, cells = line
    table, shape = sample(), (int(dimension), int(rows))
    assert agrees(seconds, float(table.loc[(*shape, "MPLFP"), "seconds"]))
    words = [cell.strip() for cell in cells.split("|")]
    for label, word in zip(LABELS, words, strict=True):
        entry = table.loc[(*shape, label)]
        match = re.fullmatch(r"(≥ )?([\d.]+)(?: \((.+)\))?", word)
        assert match is not None, word
        bound, ratio, paper = match.groups()
        if bound:
            assert math.isnan(entry["ratio"])
            assert agrees(ratio, float(entry["ratio at least"]))
        else:
            assert agrees(ratio, float(entry["ratio"]))
        if label in ("SPCT", "PCT", "VN"):
            assert paper is not None
            timeout = str(entry["paper ending"]) == "timeout"
            assert paper == "timeout" if timeout else agrees(paper, float(entry["paper ratio"]))
        else:
            assert paper is None


def test_all_shapes_are_there_and_how_often_they_were_run() -> None:
    assert [(int(n), int(m)) for n, m, *_ in LINE.findall(PAGE)] == SHAPES
    table, text = sample(), paragraph("The table shows the time to a verified separator")
    counts = [int(table.loc[(*shape, "MPLFP"), "seeds"]) for shape in SHAPES]
    claim = f"medians over {counts[0]}, {counts[1]}, {counts[2]} and {counts[3]} instances"
    limits = "Lower bounds are from limits of 30, 120, 240 and 700 s"
    fewer = (
        "On the two larger shapes they are from one instance each. PCT and VN at 1000 x 5000 are"
    )
    for shape, limit in zip(SHAPES, (30.0, 120.0, 240.0, 700.0), strict=True):
        ended = table.loc[shape]
        ended = ended[ended["status"].fillna("") == "TIME_LIMIT"]["seconds"]
        assert len(ended)
        assert ended.between(0.99 * limit, 1.05 * limit).all()
        assert limit >= 2.5 * table.loc[(*shape, "MPLFP"), "seconds"]
    below = table[table["seeds"] < table["seeds"].groupby(level=[0, 1]).transform("max")]["seeds"]
    assert dict(below.loc[1000, 5000]) == {"PCT": 3, "VN": 3}
    larger = table.loc[pd.IndexSlice[:, 50000, :], :]
    assert (larger["seeds"] == 1).equals(larger["ratio at least"].notna())
    for sentence in (claim, limits, fewer):
        assert sentence in text
        text = text.replace(sentence, "")
    assert numbers(text) == []


def test_numbers_of_iterations_and_ratios() -> None:
    table = sample()
    iterations, ratio = table["iterations"], table["ratio"]
    for shape in SMALL:
        order = [iterations[(*shape, label)] for label in ("MPLFP", "SPCT", "VN", "PCT")]
        assert order == sorted(order)
    assert (table.xs("PCT", level="label")["status"] == "TIME_LIMIT").all()
    for shape in SHAPES:
        assert ratio[(*shape, "SPCT")] < 1.5  # not the paper's factor
        assert ratio[(*shape, "ISPVN")] > 0 or shape == (100, 50000)
        assert ratio[(*shape, "ISPVN 2n")] > 0 or shape not in SMALL
    assert ratio[(1000, 5000, "ISPVN")] < 1
    products = [iterations[(*shape, "SPCT")] / iterations[(*shape, "MPLFP")] for shape in SHAPES]
    slow, fast = (
        [round(iterations[(*shape, label)]) for shape in SMALL] for label in ("ISPVN 2n", "ISPVN")
    )
    faster = [1.0 / ratio[(*shape, "adaptive MP")] for shape in SHAPES]
    ours = [1.0 / ratio[(*shape, "auto")] for shape in SHAPES]
    parts = ("Generator", "Order", "Smoothed perceptron", "Iterated smoothed", "Our methods")
    text = text_before = " ".join(paragraph(f"**{part}") for part in parts)
    for claim in (
        "ISPVN 2n",
        "difficulty of 0.3 ",
        f"takes {rounded(min(products))} to {rounded(max(products))} times as many",
        f"{slow[0]} iterations instead of {fast[0]} at 100 x 5000",
        f"{slow[1]} instead of {fast[1]} at 1000 x 5000",
        f"is {rounded(min(faster))} to {rounded(max(faster))} times faster",
        f"`` is {rounded(min(ours))} to {rounded(max(ours))} times as fast",
    ):
        assert claim in text, (claim, text_before)
        text = text.replace(claim, "", 1)
    assert numbers(text) == []
