"""The nearest points of two hulls: optimal over all pairs, and what their shares say."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled import minimum_norm
from perceptron_lab.numerics.compiled import nearest_points as module
from perceptron_lab.numerics.compiled.minimum_norm import minimum_norm_point
from perceptron_lab.numerics.compiled.nearest_points import least_of_each, nearest_points
from tests.repetitions import repeated

ONE, START = np.ones(1), np.zeros(1, np.int64)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels as Python: numpy checks every index."""
    for name in ("enter", "leave", "descend"):
        plain = getattr(minimum_norm, name).__wrapped__
        monkeypatch.setattr(minimum_norm, name, plain)
        if hasattr(module, name):
            monkeypatch.setattr(module, name, plain)
    monkeypatch.setattr(module, "_nearest_points", module._nearest_points.__wrapped__)


def two_sets(seed: int, apart: float) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    dimension = int(rng.integers(1, 6))
    first, second = (rng.uniform(-1, 1, (int(rng.integers(1, 12)), dimension)) for _ in range(2))
    first[:, 0] += apart
    return first / 10, second / 10


@pytest.mark.parametrize("apart", [0.0, 2.5])
@pytest.mark.parametrize("seed", repeated(range(30), kept=1))
def test_they_are_those_of_the_hull_of_all_differences(
    seed: int, apart: float, interpreted: None
) -> None:
    first, second = two_sets(seed, apart)
    x, pairs, shares, turns = nearest_points(first, second, 1000, START, ONE)
    assert turns < 1000
    i, j = pairs // len(second), pairs % len(second)
    assert shares.sum() == pytest.approx(1.0)
    assert (shares > 0.0).all()
    assert shares @ (first[i] - second[j]) == pytest.approx(x, abs=1e-15)
    assert (first @ x).min() - (second @ x).max() >= x @ x - 1e-13
    every = (first[:, None] - second[None]).reshape(-1, first.shape[1])
    shortest = minimum_norm_point(np.ascontiguousarray(every), 10_000)[0]
    assert x == pytest.approx(shortest, abs=1e-9)
    again = nearest_points(first, second, 1000, pairs, shares)
    assert again[3] <= 1
    assert again[0] == pytest.approx(x, abs=1e-12)


def test_the_least_score_of_each_class() -> None:
    scores, first = np.array([3.0, -1.0, 2.0, 5.0]), np.array([True, False, True, False])
    assert least_of_each(scores, first) == (2.0, -1.0)
    assert least_of_each(scores, ~first) == (-1.0, 2.0)
    assert least_of_each(scores[:1], first[:1]) == (3.0, np.inf)
