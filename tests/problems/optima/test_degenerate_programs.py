"""Small programs without interior: bounds and refutations are proved, and nothing crashes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Status
from perceptron_lab.problems.optima.bound_verification import reverified_bounds
from perceptron_lab.problems.optima.optimum import optimum
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import SdpaData, homogenised
from tests.repetitions import repeated

Entry = tuple[int, int, int, int, float]


def program(objective: list[float], blocks: list[int], entries: list[Entry]) -> ConicSystem:
    indices = np.array([entry[:4] for entry in entries], dtype=np.int64)
    values = np.array([entry[4] for entry in entries], dtype=np.float64)
    return homogenised(SdpaData.from_entries(np.array(objective), blocks, indices, values))


def diagonal(constant: float) -> ConicSystem:
    """Minimise 0 subject to diag(-constant, x) positive semidefinite."""
    return program([0.0], [2], [(0, 0, 0, 0, constant), (1, 0, 1, 1, 1.0)])


def test_no_variable_is_left_on_the_face() -> None:
    result = optimum(diagonal(-1.0))
    assert (result.optimum_lower, result.optimum_upper) == (0.0, 0.0)
    assert result.goal_reached


@pytest.mark.parametrize("constant", [1.0, 0.0])
def test_no_strictly_feasible_point_with_the_bound_that_was_proved(constant: float) -> None:
    system = diagonal(constant)
    result = optimum(system)
    assert (result.status, result.proved, result.optimum_lower) == (Status.INFEASIBLE, True, 0.0)
    assert "no point is strictly feasible" in result.message
    assert "at least 0" in result.message
    assert result.weights is not None
    assert system.prove_weights(result.weights) == 0.0


@pytest.mark.parametrize(
    "entries",
    [
        [(1, 0, 0, 0, 1.0), (1, 0, 1, 1, -1.0), (2, 0, 0, 1, 1.0)],  # [[x, y], [y, -x]]
        [(1, 0, 0, 0, 1.0), (0, 0, 0, 1, -1.0), (2, 0, 0, 1, 1.0)],  # [[x, y + 1], [y + 1, 0]]
    ],
)
def test_refutations_without_an_interior_are_simple_numbers(entries: list[Entry]) -> None:
    system = program([1.0, 0.0], [2], entries)
    result = optimum(system, budget=Budget(seconds=20))
    assert result.status is Status.INFEASIBLE
    assert result.weights is not None
    assert system.prove_weights(result.weights) == 0.0


def test_a_single_number_is_no_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.dat-s").write_text("1\n1\n1\n1\n0 1 1 1 3\n1 1 1 1 1\n")
    assert main(["solve", str(tmp_path / "p.dat-s"), "--optimum"]) == 0
    printed = capsys.readouterr().out
    assert "the optimum lies in [2.99" in printed
    assert "a cut has" not in printed


def test_a_graph_without_edges_has_the_optimum_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "g.rud").write_text("3 0\n")
    assert main(["solve", str(tmp_path / "g.rud"), "--optimum"]) == 0
    assert "the optimum lies in [0, 0], relative width 0 (proved); a cut has 0" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize("seed", repeated(range(20), kept=6))
def test_bounds_of_small_diagonal_programs_are_around_the_exact_optimum(seed: int) -> None:
    """Rows a_k x >= b_k of one variable: the least x is the largest of the b_k / a_k, a_k > 0."""
    rng = np.random.default_rng(seed)
    count, objective = int(rng.integers(1, 4)), float(rng.integers(0, 2))
    a, b = rng.integers(-1, 3, count), rng.integers(-2, 3, count)
    entries: list[Entry] = [(1, 0, k, k, float(v)) for k, v in enumerate(a) if v]
    entries += [(0, 0, k, k, float(v)) for k, v in enumerate(b) if v]
    if not entries:
        entries = [(1, 0, 0, 0, 1.0)]
        a[0] = 1
    system = program([objective], [-count], entries)
    low = max((v / u for u, v in zip(a, b, strict=True) if u > 0), default=-np.inf)
    high = min((v / u for u, v in zip(a, b, strict=True) if u < 0), default=np.inf)
    strict = low < high and all(v < 0 for u, v in zip(a, b, strict=True) if u == 0)
    result = optimum(system, budget=Budget(2000, 20))
    assert (result.status is Status.INFEASIBLE) <= (not strict)
    least = objective * low if objective else 0.0
    lower, upper = reverified_bounds(system, result.point, result.proof, result.optimum_lower)
    assert (lower is None) == (result.optimum_lower is None)
    if result.infeasibility != "boundary only":
        assert (upper is None) == (result.optimum_upper is None)
    if strict:
        assert result.optimum_lower is None or result.optimum_lower <= least
        assert result.optimum_upper is None or result.optimum_upper >= least
    else:
        closed = low <= high and all(v <= 0 for u, v in zip(a, b, strict=True) if u == 0)
        assert (result.optimum_upper is not None) <= closed
        assert result.optimum_upper is None or result.optimum_upper >= least
