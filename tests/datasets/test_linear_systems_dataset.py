"""Generated linear systems are what they are called, by a judge in fractions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perceptron_lab import solve
from perceptron_lab.algorithms.linear.linear_result import LinearResult
from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.generated.linear_systems import LinearSystems
from perceptron_lab.systems.linear_system import LinearSystem
from tests.algorithms.linear.exact_simplex import has_a_point

KINDS: list[dict[str, Any]] = [
    {"kind": "feasible"},
    {"kind": "tight", "digits": 1},
    {"kind": "dependent"},
    {"kind": "infeasible", "gap": 20},
]
SMALL = {"variables": 3, "inequalities": 5, "equations": 2}


def drawn_system(seed: int, **parameters: Any) -> LinearSystem:
    system = LinearSystems(**(SMALL | parameters)).problem(seed).system
    assert isinstance(system, LinearSystem)
    return system


@pytest.mark.parametrize("parameters", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_the_planted_answer_is_correct(parameters: dict[str, Any], seed: int) -> None:
    system, rows, equations = drawn_system(seed, **parameters), [], []
    for condition in system.conditions:
        entries = dict(zip(condition.columns, condition.coefficients, strict=True))
        line = [entries.get(j, 0) for j in range(system.unknowns)]
        (equations if condition.equation else rows).append((line, condition.right))
    judged = has_a_point(
        [row for row, _ in rows],
        [right for _, right in rows],
        [row for row, _ in equations],
        [value for _, value in equations],
    )
    assert judged == (parameters["kind"] != "infeasible")


def test_rows_of_tight_systems_are_always_tight_and_those_of_feasible_ones_never() -> None:
    for kind, expected in (("tight", SMALL["inequalities"]), ("feasible", 0)):
        system = drawn_system(1, kind=kind)
        result = solve(system)
        assert isinstance(result, LinearResult)
        tight = [system.conditions[k].name for k in result.exact.tight]
        assert sum(name.startswith("row ") for name in tight) == expected


def test_equal_seeds_give_equal_systems_of_one_shape() -> None:
    dataset = LinearSystems(kind="infeasible", gap=3)
    (name,) = dataset.names()
    assert name == "infeasible-10x20x4-0-3"
    first, again, other = (dataset.load(name, seed=seed, base=Path()) for seed in (1, 1, 2))
    assert first.sha256 == again.sha256 != other.sha256
    assert first.system.constraints == other.system.constraints == 20 + 4 + 5 + 5
    assert first.system.unknowns == 10


def test_sizes_beyond_their_limits_are_refused() -> None:
    with pytest.raises(InputError):
        LinearSystems(variables=0)
