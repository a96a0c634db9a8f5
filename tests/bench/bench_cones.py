"""`auto` on cones beside Clarabel: `python -m tests.bench.bench_cones`.

Seconds of the processor, of a whole call of ``solve`` with its proofs, in one process; medians over
12 instances (SEEDS=3 for fewer). Clarabel is called directly, without cvxpy. Second-order products
around a badly centred analytic centre have 100 and 1000 coordinates; matrices of order 5 to 50 have
a margin known exactly, or are its infeasible twins; second-order twins have 60 coordinates. What is
asserted: every answer of `auto` is proved, and it is never more than 3 times Clarabel on the former
at delta = 1e-3, 5 times on matrices.
"""

from __future__ import annotations

import os
import statistics
import time
from collections import Counter
from typing import Any

from perceptron_lab import Budget, solve
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from perceptron_lab.systems import ConicSystem

SEEDS = range(int(os.environ.get("SEEDS", "12")))
NAMES = ("auto", "clarabel-direct")


def timed(system: ConicSystem, name: str) -> tuple[str, float]:
    """Return the status of an answer and the seconds that it took."""
    began = time.process_time()
    result = solve(system, name, budget=Budget(seconds=120))
    return result.status.value, time.process_time() - began


def compare(status: str, **parameters: Any) -> tuple[Counter[str], float]:
    """Print a line; return the statuses of `auto`, and its median over Clarabel's."""
    record = ConditionedCones(**parameters)
    systems = [record.problem(seed).system for seed in SEEDS]
    answers = {name: [timed(system, name) for system in systems] for name in NAMES}
    medians = {name: statistics.median(seconds for _, seconds in answers[name]) for name in NAMES}
    ratio = medians["auto"] / medians["clarabel-direct"]
    shares = [sum(answer == status for answer, _ in answers[name]) for name in NAMES]
    print(
        f"{record.name}: auto {shares[0]} of {len(systems)} {status}, {medians['auto']:.3f} s; "
        f"Clarabel {shares[1]}, {medians['clarabel-direct']:.3f} s; ratio {ratio:.2f}",
        flush=True,
    )
    return Counter(answer for answer, _ in answers["auto"]), ratio


def main() -> None:
    """Print a line for each family."""
    for name in NAMES:  # compiled, and loaded
        timed(ConditionedCones(family="second-order", blocks=3).problem(0).system, name)
    for blocks, size in ((20, 5), (50, 2), (5, 20), (200, 5), (50, 20)):
        for delta in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
            shape = {"blocks": blocks, "block_size": size, "delta": delta}
            answers, ratio = compare("FEASIBLE", family="second-order", **shape)
            assert set(answers) == {"FEASIBLE"}
            assert delta != 1e-3 or ratio <= 3.0
    for delta in (1e-4, 1e-6, 1e-7, 1e-8):
        shape = {"blocks": 12, "block_size": 5, "delta": delta, "side": "infeasible"}
        answers, _ = compare("INFEASIBLE", family="second-order", **shape)
        assert set(answers) == {"INFEASIBLE"}
    for order in (5, 10, 20, 30, 50):
        for delta in (1e-2, 1e-5, 1e-8):
            for side in ("feasible", "infeasible"):
                shape = {"known": "margin", "blocks": 1, "order": order, "delta": delta}
                answers, ratio = compare(side.upper(), family="semidefinite", side=side, **shape)
                assert set(answers) == {side.upper()}
                assert ratio <= 5.0


if __name__ == "__main__":
    main()
