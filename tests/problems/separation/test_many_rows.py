"""Designs of far more rows than columns: exact sums in slices, and factors of some rows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from perceptron_lab.problems.separation import pairs
from perceptron_lab.problems.separation.labelled import labelled
from perceptron_lab.problems.separation.separation import verdict_for


@pytest.mark.parametrize("spread", [1, 60])
def test_sums_of_long_entries_are_exact(spread: int) -> None:
    """Entries have 53 digits each, at places that differ by ``spread`` bits, and any sign."""
    rng = np.random.default_rng(spread)
    table = rng.standard_normal((5000, 3)) * 2.0 ** rng.integers(0, spread, (5000, 3))
    rows = labelled(table, np.arange(5000) % 2).rows
    assert rows.exact is None
    assert not rows.sparse
    some = rng.permutation(rows.count)[:4500]
    integers = rows.integers(some)
    for largest in (2**10, 2**60):
        weights = rng.integers(-largest, largest, len(some))
        assert rows.combined(some, weights) == (weights.astype(object) @ integers).tolist()


@pytest.fixture
def factorised(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The longer sides of the matrices that are factorised."""
    sides = list[int]()

    def counting(rows: Any, **options: Any) -> Any:
        sides.append(max(rows.shape))
        return scipy.linalg.qr(rows, **options)

    monkeypatch.setattr(pairs, "sla", SimpleNamespace(**vars(scipy.linalg) | {"qr": counting}))
    return sides


@pytest.mark.parametrize("verdict", ["overlap", "complete"])
def test_some_rows_are_factorised_in_place_of_all(verdict: str, factorised: list[int]) -> None:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((2000, 3))
    noise = 0.0 if verdict == "complete" else rng.standard_normal(2000)
    labels = table[:, 0] + noise > 0.0
    decision = verdict_for(labelled(table, labels))
    assert decision.verdict == verdict
    assert decision.classified
    assert factorised
    assert max(factorised) < 500


def test_all_rows_are_factorised_where_some_do_not_suffice(factorised: list[int]) -> None:
    """A column is 0 in all evenly spaced rows."""
    rng = np.random.default_rng(0)
    table = rng.standard_normal((2000, 3))
    labels = table[:, 0] + rng.standard_normal(2000) > 0.0
    table[::2, 1] = 0.0
    decision = verdict_for(labelled(table, labels))
    assert decision.verdict == "overlap"
    assert set(decision.coefficients.values()) == {"FINITE"}
    assert max(factorised) == 2000
