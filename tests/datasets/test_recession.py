"""Rays: points that prove the matrix side of a semidefinite program empty."""

import numpy as np
import pytest

from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.collections.semidefinite_programs import Sdplib
from perceptron_lab.datasets.formats.sdpa import read_sdpa
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems.pencil import SdpaData, recession
from tests.repetitions import repeated


def program(objective, *diagonals):
    """minimise c'x subject to sum_i x_i Diag(diagonals_i) positive semidefinite, F_0 = 0."""
    entries = [
        ((i + 1, 0, j, j), value)
        for i, diagonal in enumerate(diagonals)
        for j, value in enumerate(diagonal)
    ]
    indices, values = zip(*entries, strict=True)
    return SdpaData.from_entries(
        np.array(objective), [len(diagonals[0])], np.array(indices), np.array(values)
    )


def test_a_ray_is_found_where_the_matrix_side_is_empty():
    """<I, Y> = -1 has no positive semidefinite solution; x = 1 is the ray."""
    result = solve(recession(program([-1.0], [1.0, 1.0])), "mirror-prox")
    assert result.status is Status.FEASIBLE
    assert result.point[0] > 0


def test_no_ray_where_the_matrix_side_has_a_solution():
    """<I, Y> = 1 has the solution I / 2: -x > 0 and x I positive definite exclude one another."""
    result = solve(recession(program([1.0], [1.0, 1.0])), "mirror-prox")
    assert result.status is Status.INFEASIBLE


def test_the_instance_states_the_question(sdplib_folder):
    dataset = Sdplib(instances=["infd1"], question="recession")
    assert dataset.names() == ["infd1.recession"]
    problem = dataset.load("infd1.recession", seed=0, base=sdplib_folder)
    assert problem.name == "infd1.recession"
    assert problem.system.dimension == 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "algorithm", repeated(["ellipsoid", "von-neumann", "mirror-prox", "perceptron"], kept=2)
)
def test_infd1_is_feasible_although_the_dual_side_is_empty(sdplib_folder, algorithm):
    data = read_sdpa(sdplib_folder / "infd1.dat-s")
    point = solve(sdplib_folder / "infd1.dat-s", algorithm, budget=Budget(updates=50_000))
    assert point.status is Status.FEASIBLE
    ray = solve(recession(data), algorithm, budget=Budget(updates=50_000))
    assert ray.status is Status.FEASIBLE
    assert data.objective @ ray.point < 0


@pytest.mark.parametrize("algorithm", ["perceptron", "ellipsoid", "mirror-prox", "von-neumann"])
def test_infp1_is_infeasible(sdplib_folder, algorithm):
    result = solve(sdplib_folder / "infp1.dat-s", algorithm, budget=Budget(updates=50_000))
    assert result.status is Status.INFEASIBLE
    assert result.margin_upper == 0.0
    assert result.certificate["infeasibility_ratio"] < 1e-12
    assert "no x has F(x) positive semidefinite" in result.message
    assert result.weights[0] > 0
