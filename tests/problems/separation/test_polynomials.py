"""Raw powers of a variable: a polynomial separates labels that change at most so many times."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab import separation
from perceptron_lab.problems.separation import separation as engine
from perceptron_lab.problems.separation.changed_columns import orthogonalised
from perceptron_lab.problems.separation.labelled import labelled
from perceptron_lab.problems.separation.pair_verification import faults

DEGREE = 12


def powers(points: np.ndarray) -> np.ndarray:
    """The powers 1 to 12 as Python integers, up to 10^26."""
    return np.array([[int(point) ** k for k in range(1, DEGREE + 1)] for point in points])


def alternating(count: int, changes: int) -> np.ndarray:
    return np.arange(count) * (changes + 1) // count % 2


@pytest.mark.parametrize(
    ("changes", "verdict"), [(DEGREE, "complete"), (DEGREE + 1, "overlap"), (15, "overlap")]
)
def test_degree_12(changes: int, verdict: str) -> None:
    points = np.arange(20, 98)
    decision = separation(powers(points), alternating(len(points), changes), max_seconds=60)
    assert decision.verdict == verdict
    assert decision.pair is not None
    assert faults(decision.rows, decision.pair, decision.proofs) == []
    if changes == DEGREE:  # all roots lie between points: the signs of the powers alternate
        assert list(decision.coefficients.values()) == [*["+INF", "-INF"] * 6, "-INF"]


def test_weights_of_any_size_are_decided_by_the_linear_program() -> None:
    """Scores at the ends are so large that no double holds the weights of Newton's steps."""
    points = np.sort(np.random.default_rng(12).normal(50, 15, 150))
    table = np.vander(points, DEGREE + 1, increasing=True)[:, 1:]
    decision = separation(table, alternating(150, 15), max_seconds=60)
    assert decision.verdict == "overlap"
    assert decision.method in ("a basis of HiGHS", "exact pivots")


def test_orthogonal_columns_span_the_same_space() -> None:
    points = np.arange(20, 60)
    rows = labelled(powers(points), alternating(40, 3)).rows
    better, columns = orthogonalised(rows)
    assert columns is not None
    sizes = np.abs(better.doubles).max(axis=0)
    assert np.linalg.cond(better.doubles / sizes) < 100.0
    integers = rows.integers(np.arange(40)) @ np.array(columns, dtype=object).T
    ratios = better.integers(np.arange(40)) * integers[0] == integers * better.integers(
        np.zeros(1, dtype=np.int64)
    )
    assert ratios.all()
    assert orthogonalised(better) == (better, None)


def test_the_linear_program_tells_the_sides_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows 0 and 1 are opposite: 0 on the cone; row 2 is not."""
    monkeypatch.setattr(engine, "logistic_proposals", lambda _: iter(()))
    decision = separation([[0.0], [0.0], [1.0]], [0, 1, 1])
    assert decision.overlap_rows.tolist() == [0, 1]
    assert decision.pair is not None
    assert min(decision.pair.basis.values()) >= 1
    assert decision.coefficients == {"x_1": "+INF", "intercept": "FINITE"}
