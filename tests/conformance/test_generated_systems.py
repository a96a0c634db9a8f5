"""Systems of numbers of every kind against the exact judge: no false claim, no result lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from perceptron_lab import Budget, solve
from perceptron_lab.cones.operators.kernels import Linear
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.core.results import Result, Status
from tests.conformance.generated_systems import KINDS, Truth, integers, invalid, kernels
from tests.repetitions import repeated

BUDGET = Budget(updates=60, seconds=10.0)
ON_CONES = ["auto", "perceptron", "mirror-prox", "von-neumann", "smoothed-perceptron", "ellipsoid"]
ON_ROWS = [
    *ON_CONES,
    "minimum-norm-point",
    "normalized-perceptron",
    "rescaled-perceptron",
    "smoothed-von-neumann",
    "adaptive-mirror-prox",
    "relaxed-perceptron",
]
BATCH = 25
"""Systems of a test; 100 batches of eight kinds are 20 000."""


def falsehoods(truth: Truth, result: Result) -> list[str]:
    """What a result says that is not true."""
    lower, upper = result.margin_lower, result.margin_upper
    statements = {
        "FEASIBLE": result.status is not Status.FEASIBLE
        or (truth.feasible is not False and truth.inside(result.point)),
        "INFEASIBLE": result.status is not Status.INFEASIBLE
        or (not truth.feasible and upper == 0.0),
        "lower": lower is None
        or not result.point.any()
        or (truth.reaches(result.point, lower) and (lower <= 0.0 or truth.feasible is not False)),
        "upper is 0": upper is None or upper > 0.0 or not truth.feasible,
        "upper": upper is None
        or upper == 0.0
        or truth.bounded is None
        or (result.weights is not None and truth.bounded(result.weights, upper)),
        "planted": upper is None or truth.planted is None or upper >= truth.planted,
        "bracket": lower is None or upper is None or lower <= upper,
        "data": bool(result.certificate["data"]),
    }
    return [name for name, holds in statements.items() if not holds]


def examine(kind: str, seed: int, folder: Path) -> Counter[str]:
    """Judge two algorithms on one system; what was wrong, and how they ended."""
    drawn = KINDS[kind](np.random.default_rng([seed, *map(ord, kind)]), folder)
    names = ON_CONES if kind in ("second-order", "program") else ON_ROWS
    counts: Counter[str] = Counter()
    for name in (names[seed % len(names)], names[(seed + 1 + seed // 7) % len(names)]):
        result = solve(drawn.system, name, budget=BUDGET, seed=seed)
        false_claims = falsehoods(drawn.truth, result)
        assert not false_claims, f"{kind} {seed} {name}: {', '.join(false_claims)} of {result}"
        counts[result.status.value] += 1
    return counts


def batches(first: int) -> list[range]:
    return [range(first), *(range(k * BATCH, (k + 1) * BATCH) for k in range(1, 100))]


@pytest.mark.parametrize("seeds", repeated([pytest.param(b, id=str(b[0])) for b in batches(6)], 1))
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_false_is_claimed(kind: str, seeds: range, tmp_path: Path) -> None:
    statuses = sum((examine(kind, seed, tmp_path) for seed in seeds), Counter[str]())
    assert sum(statuses.values()) == 2 * len(seeds)


@pytest.mark.parametrize("seeds", repeated([pytest.param(b, id=str(b[0])) for b in batches(25)], 1))
def test_malformed_systems_are_refused(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        make = invalid(np.random.default_rng(seed), tmp_path)
        with pytest.raises((InputError, DataError)) as caught:
            make()
        assert len(str(caught.value)) > 20


def test_the_reference_check_detects_errors_excluded_by_the_enclosure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the rounding of the data in the bounds, feasible systems are called infeasible."""
    monkeypatch.setattr("perceptron_lab.cones.operators.matrix.Matrix.roundings", 0)
    for seed in (23, 32, 46, 56):
        drawn = integers(np.random.default_rng([seed, *map(ord, "integers")]), tmp_path)
        result = solve(drawn.system, "perceptron", budget=BUDGET)
        assert falsehoods(drawn.truth, result) == ["INFEASIBLE", "upper is 0"]


def test_the_reference_check_detects_errors_of_a_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the errors of its values, one unknown has two dimensions as a linear kernel."""
    monkeypatch.setattr(Linear, "spread", lambda *_: 0.0)
    drawn = kernels(np.random.default_rng([40, *map(ord, "kernels")]), tmp_path)
    result = solve(drawn.system, "von-neumann", budget=BUDGET)
    assert falsehoods(drawn.truth, result) == ["FEASIBLE", "lower"]
    monkeypatch.undo()
    drawn = kernels(np.random.default_rng([40, *map(ord, "kernels")]), tmp_path)
    assert not falsehoods(drawn.truth, solve(drawn.system, "von-neumann", budget=BUDGET))
