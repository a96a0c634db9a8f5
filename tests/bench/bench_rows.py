"""Not collected by default: `pytest -s tests/bench/bench_rows.py`.

`auto` on rows beside `minimum-norm-point` (tiny margins) and beside solvers that users would take
(labelled examples with heavy tails, and sparse ones): seconds of the processor, one thread, until
the claim that was proved, the least of some runs each, taken in turns. A peer that has no answer
within its limit counts as one that takes as long as that.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from perceptron_lab.algorithms.advance import advance
from perceptron_lab.algorithms.automatic.auto import Auto
from perceptron_lab.algorithms.base import AnyAlgorithm
from perceptron_lab.algorithms.nearest_point.minimum_norm_point import MinimumNormPoint
from perceptron_lab.core import registry
from perceptron_lab.core.claims import Claim, FeasiblePoint
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.datasets.generated.labelled_sets import LabelledSets
from perceptron_lab.datasets.generated.margin_sets import MarginSets
from perceptron_lab.numerics.compiled.kernel import load_kernels
from perceptron_lab.systems import ConicSystem

LIMIT = 20.0
"""Seconds of the processor that a peer may take."""
PEERS: list[tuple[str, dict[str, Any]]] = [
    ("highs", {"method": "simplex", "time_limit": 10.0 * LIMIT}),
    ("linear-svc", {"longest": 10**9}),
    ("sgd", {"longest": 10**9}),
    ("sklearn-perceptron", {"longest": 10**9}),
]


def seconds_to_a_proof(algorithm: AnyAlgorithm, system: ConicSystem, limit: float = LIMIT) -> float:
    """Seconds of the processor until a point is claimed, which is proved; or the limit."""
    view = algorithm.view(system).started({}, np.random.default_rng(0))
    clock, claim = time.process_time(), None
    state = algorithm.start(view, np.random.default_rng(1))
    with suppress(NumericalError):  # no answer
        while claim is None and time.process_time() - clock < limit:
            claim = _next(algorithm, view, state)
    spent = time.process_time() - clock
    proved = isinstance(claim, FeasiblePoint) and view.prove_point(claim.point).feasible
    return spent if proved else max(spent, limit)


def _next(algorithm: AnyAlgorithm, view: ConicSystem, state: Any) -> Claim | None:
    return advance(algorithm, view, state, 1 << int(state.updates).bit_length())[1]


def in_turns(
    algorithms: list[AnyAlgorithm], system: ConicSystem, *, runs: int, limit: float = LIMIT
) -> list[float]:
    """The least seconds of each, of so many runs in turns."""
    load_kernels()
    with threadpool_limits(1):
        times = [
            [seconds_to_a_proof(algorithm, system, limit) for algorithm in algorithms]
            for _ in range(runs)
        ]
    return [min(each) for each in zip(*times, strict=True)]


@pytest.mark.parametrize("margin", [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
@pytest.mark.parametrize("family", ["exact", "thin"])
def test_tiny_margins_compared_with_the_minimum_norm_point(family: Any, margin: float) -> None:
    ratios, seconds = [], []
    for seed in range(5):
        record = MarginSets(family=family, dimension=50, rows=2000, margin=margin)
        algorithms: list[AnyAlgorithm] = [Auto(), MinimumNormPoint(epsilon=1e-12)]
        ours, other = in_turns(algorithms, record.problem(seed).system, runs=7, limit=1.0)
        ratios.append(ours / other)
        seconds.append(ours)
    print(
        f"\n{record.name}: auto {1e3 * np.median(seconds):.2f} ms, in units of minimum-norm-point "
        f"median {np.median(ratios):.2f}, worst {max(ratios):.2f}"
    )
    assert np.median(ratios) <= 1.2


LABELLED: list[tuple[dict[str, Any], float]] = [
    ({"family": "heavy-tailed", "dimension": 50, "rows": 20_000}, 50.0),
    ({"family": "heavy-tailed", "dimension": 300, "rows": 10_000}, 50.0),
    ({"family": "sparse", "dimension": 2000, "rows": 10_000, "difficulty": 1.0}, 10.0),
    ({"family": "sparse", "dimension": 2000, "rows": 10_000, "difficulty": 0.3}, 25.0),
    ({"family": "sparse", "dimension": 2000, "rows": 10_000, "difficulty": 0.1}, 50.0),
    ({"family": "sparse", "dimension": 2000, "rows": 10_000, "difficulty": 0.03}, 50.0),
]


@pytest.mark.timeout(0)  # some peers take their limit, of a busy processor
@pytest.mark.parametrize(("parameters", "goal"), LABELLED)
def test_labelled_examples_compared_with_external_solvers(
    parameters: dict[str, Any], goal: float
) -> None:
    record = LabelledSets(**parameters)
    system = record.problem(0).system
    (ours,) = in_turns([Auto()], system, runs=5)
    print(f"\n{record.name}: auto {1e3 * ours:.1f} ms")
    ratios = []
    for name, values in PEERS:
        peer = registry.load("algorithm", name)(**values)
        (seconds,) = in_turns([peer], system, runs=1)
        ratios.append(seconds / ours)
        more = "more than " if seconds >= LIMIT else ""
        print(f"  {name}: {more}{ratios[-1]:.1f} times as long")
    assert min(ratios) >= goal
