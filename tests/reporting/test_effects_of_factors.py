"""Effects of a factorial experiment: exact for products, and enclosed where cells are cut off."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Trace
from perceptron_lab.reporting.evidence import Evidence, checked_runs
from perceptron_lab.reporting.papers.thesis.factors import (
    Factorial,
    Span,
    combined,
    effect_of,
    effects_table,
    factorials,
    rivals_of,
    rivals_table,
)
from perceptron_lab.reporting.papers.thesis.factors import rivals_figure as drawn
from tests.reporting.artificial_runs import make_row

INSTANCES = 7
LABELS = [
    *map(" ".join, product(["PRA"], ["plain", "tau"], ["deep", "flat"], ["own", "given"])),
    *map(" ".join, product(["EA"], ["plain"], ["deep", "flat"], ["own", "given"])),
]
QUERIES = {"PRA": 3, "tau": 5, "flat": 7, "given": 2, "tau flat": 11}
EXCESSES = {"PRA": 0.25, "tau": 0.5, "flat": 2.0, "given": 8.0, "tau flat": 16.0}

Row = dict[str, Any]


def scale(label: str, factors: dict[str, float]) -> float:
    """Return the product of the factors of which a label has all words."""
    words = set(label.split())
    return float(np.prod([f for name, f in factors.items() if set(name.split()) <= words]))


def trace(queries: int) -> Trace:
    counts = [0, queries - 1, 2 * queries]
    return Trace(
        updates=counts,
        iterations=counts,
        queries=[0, queries, 2 * queries],
        products=[0.0] * 3,
        seconds=[0.0] * 3,
        phase=["start", "level 0", "end"],
        margin=[0.0] * 3,
        upper=[np.nan] * 3,
        measures={},
    )


def made(change: Callable[[Row], Row] = lambda row: row) -> Evidence:
    """Return runs whose responses are products of numbers of the instance and of the levels."""
    rows, traces = [], {}
    for k, label in product(range(INSTANCES), [*LABELS, "reference"]):
        excess = 1e-3 * (k + 1) * scale(label, EXCESSES)
        row = make_row(
            f"p{k}",
            label,
            algorithm="objective-sequence",
            parameters="{}",
            optimum_lower=1.0 if label == "reference" else None,
            optimum_upper=1.0 if label == "reference" else 1.0 + excess,
        )
        rows.append(change(row))
        traces[row["cell"]] = trace(int(10 * (k + 1) * scale(label, QUERIES)))
    return Evidence(checked_runs(pd.DataFrame(rows)), None, traces)


def cut_off(row: Row) -> Row:
    """Take the point from the cells of one label on the instances 0 to 2."""
    if row["label"] == "PRA tau flat own" and row["problem"] in ("p0", "p1", "p2"):
        return row | {"status": "UPDATE_LIMIT", "proved": False, "optimum_upper": None}
    return row


@pytest.fixture(scope="module")
def exact() -> Evidence:
    return made()


@pytest.fixture(scope="module")
def limited() -> Evidence:
    return made(cut_off)


def test_effects_of_products_are_exact(exact: Evidence) -> None:
    table = effects_table(exact).frame.set_index(["method", "effect"])
    for response, factors in (("queries", QUERIES), ("excess", EXCESSES)):
        mixed = factors["tau flat"]
        expected = {
            ("PRA", "tau / plain"): factors["tau"] * mixed**0.5,
            ("PRA", "flat / deep"): factors["flat"] * mixed**0.5,
            ("PRA", "given / own"): factors["given"],
            ("PRA", "tau / plain x flat / deep"): mixed,
            ("PRA", "tau / plain x given / own"): 1.0,
            ("PRA", "flat / deep x given / own"): 1.0,
            ("EA", "flat / deep"): factors["flat"],
            ("EA", "given / own"): factors["given"],
            ("EA", "flat / deep x given / own"): 1.0,
        }
        assert list(table.index) == list(expected)
        for end in ("ratio", "lower", "upper"):
            assert table[f"{response} {end}"].tolist() == pytest.approx(list(expected.values()))
    assert table.loc[("PRA", "tau / plain"), ["queries above", "excess below"]].tolist() == [7, 0]
    assert set(table["instances"]) == {INSTANCES}


def test_rivals_are_compared_under_equal_conditions(exact: Evidence) -> None:
    table = rivals_table(exact).frame
    assert len(table) == 2 * 4
    for line in table.to_dict("records"):
        words = f"{line['first']} {line['condition']}"
        for response, factors in (("queries", QUERIES), ("excess", EXCESSES)):
            other = f"{line['second']} {line['condition']}"
            ratio = scale(words, factors) / scale(other, factors)
            assert line[f"{response} ratio"] == pytest.approx(ratio)


def test_cells_that_were_cut_off_only_widen_intervals(exact: Evidence, limited: Evidence) -> None:
    table, full = (effects_table(runs).frame.set_index("effect") for runs in (limited, exact))
    for response in ("queries", "excess"):
        line, before = table.loc["flat / deep"], full.loc["flat / deep"]
        first = line[line["method"] == "PRA"].iloc[0]
        assert first[f"{response} ratio"] == pytest.approx(before[f"{response} ratio"].iloc[0])
        assert first[f"{response} upper"] == np.inf
    assert drawn(limited).axes[0].get_yscale() == "log"


def test_the_interval_holds_whatever_cells_would_have_come_to() -> None:
    rng = np.random.default_rng(0)
    weights = np.array([0.5, 0.5, -0.5, -0.5])
    for _ in range(5):
        low = rng.normal(size=(4, 14))
        high = low + np.where(rng.random((4, 14)) < 0.2, np.inf, 0.0)
        effect = effect_of(combined([Span(*ends) for ends in zip(low, high, strict=True)], weights))
        for size in (0.0, 1.0, 50.0):
            values = low + np.where(np.isinf(high), size * rng.random((4, 14)), 0.0)
            whole = effect_of(combined([Span(row, row) for row in values], weights))
            assert effect.lower is not None
            assert effect.upper is not None
            assert whole.lower is not None
            assert whole.upper is not None
            assert effect.lower <= whole.lower <= whole.upper <= effect.upper
            assert effect.above <= whole.above
            assert effect.below <= whole.below
            assert effect.ratio is None or effect.ratio == pytest.approx(whole.ratio)


def test_the_interval_is_between_two_order_statistics_and_covers_the_median() -> None:
    numbers = np.arange(14.0)
    effect = effect_of(Span(numbers, numbers))
    assert effect[:3] == pytest.approx(tuple(np.exp([6.5, 2.0, 11.0])))
    assert binom.cdf(11, 14, 0.5) - binom.cdf(2, 14, 0.5) >= 0.95
    rng, covered = np.random.default_rng(1), 0
    for _ in range(40):
        sample = rng.exponential(size=14) - np.log(2.0)
        effect = effect_of(Span(sample, sample))
        assert effect.lower is not None
        assert effect.upper is not None
        covered += effect.lower <= 1.0 <= effect.upper
    assert covered >= 38


def test_few_instances_have_no_interval_and_missing_cells_no_ratio(exact: Evidence) -> None:
    assert effect_of(Span(np.zeros(5), np.zeros(5)))[:3] == (1.0, None, None)
    unknown = Span(np.full(6, -np.inf), np.full(6, np.inf))
    assert effect_of(unknown) == (None, 0.0, np.inf, 0, 0)
    difference = combined([unknown, unknown], np.array([1.0, -1.0]))
    assert effect_of(difference) == (None, 0.0, np.inf, 0, 0)


def outline(*labels: str) -> Evidence:
    rows = [
        make_row("p", label, algorithm="objective-sequence", parameters="{}") for label in labels
    ]
    return Evidence.of_runs(pd.DataFrame(rows))


def test_levels_are_read_from_the_labels() -> None:
    runs = outline("PRA a x", "PRA b x", "PRA a y", "PRA b y", "low-rank")
    assert factorials(runs) == [Factorial("PRA", (("a", "b"), ("x", "y")))]
    names, weights = zip(*Factorial("PRA", (("a", "b", "c"), ("x", "y"))).contrasts(), strict=True)
    assert names[0] == "b / a"
    assert weights[0].tolist() == [-0.5, -0.5, 0.5, 0.5, 0.0, 0.0]
    assert names[-1] == "c / a x y / x"
    assert weights[-1].tolist() == [1.0, -1.0, 0.0, 0.0, -1.0, 1.0]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["PRA a x", "PRA b x", "PRA a y"], "PRA are not all combinations .*; PRA b y is missing"),
        (["PRA a", "PRA b", "PRA a x"], "PRA are not all combinations of some levels; call them"),
        (["PRA", "EA"], "no method has several labels"),
    ],
)
def test_labels_that_are_not_crossed_are_refused(labels: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        factorials(outline(*labels))


@pytest.mark.parametrize(
    "others", [["EA c z", "EA d z"], [], ["EA c x", "EA d x", "B c x", "B d x"]]
)
def test_rivals_need_two_methods_with_the_same_conditions(others: list[str]) -> None:
    with pytest.raises(DataError, match=r"two methods are compared.*there are PRA"):
        rivals_of(outline("PRA a x", "PRA b x", *others))
