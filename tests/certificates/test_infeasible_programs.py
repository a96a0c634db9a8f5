"""Real programs: infp1 and infp2 are proved infeasible, feasible ones never."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.formats.sdpa import read_sdpa
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import homogenised
from tests.certificates.exact_margins import rational
from tests.certificates.exact_weights import (
    lies_in_dual_cone,
    nearest,
)
from tests.certificates.small_systems import SMALL
from tests.repetitions import repeated

RNG = np.random.default_rng
every_cone = pytest.mark.parametrize("cone", SMALL.values(), ids=SMALL)


def program(folder: Path, name: str) -> ConicSystem:
    path = folder / f"{name}.dat-s"
    if not path.exists():
        pytest.skip(f"the mirror has no {name}.dat-s")
    return homogenised(read_sdpa(path))


@pytest.mark.parametrize("name", ["infp1", "infp2"])
@pytest.mark.parametrize("algorithm", ["von-neumann", "smoothed-von-neumann", "mirror-prox"])
def test_infeasible_programs_are_proved_from_the_weights_of_an_algorithm(
    sdplib_folder: Path, name: str, algorithm: str
) -> None:
    system = program(sdplib_folder, name)
    result = solve(system, algorithm, budget=Budget(updates=3000))
    assert (result.status, result.proved) == (Status.INFEASIBLE, True)
    assert result.margin_upper == 0.0
    assert result.weights is not None
    proof = system.prove_infeasible(result.weights)
    assert proof is not None
    assert proof.ratio < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", repeated(["infp1", "infp2"], kept=1))
def test_infeasible_programs_are_so_in_exact_arithmetic(sdplib_folder: Path, name: str) -> None:
    """Weights rounded to 30 bits: they are definite and q < 1, which is computed exactly."""
    system = program(sdplib_folder, name)
    proof = system.prove_infeasible(barycentre(system.cone))
    assert proof is not None
    weights = rational(np.round(proof.weights * 2.0**30) / 2.0**30)
    assert isinstance(system.operator, Matrix)
    data = np.asarray(sp.csr_array(system.operator.data).toarray())
    assert lies_in_dual_cone(system.cone, weights)
    nearest_point = nearest(system.cone, data, weights)
    assert nearest_point is not None
    assert nearest_point[1] < 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", repeated(["infd1", "truss1", "control1", "mcp100", "gpp100", "theta1"], kept=3)
)
def test_feasible_programs_are_never_called_infeasible(sdplib_folder: Path, name: str) -> None:
    system = program(sdplib_folder, name)
    if system.cone.size < 2000:
        system = system.completed()
    weights, gradient = barycentre(system.cone), system.combine(barycentre(system.cone))
    for step in range(6):
        assert system.prove_infeasible(weights) is None
        deepest = system.deepest(gradient)  # the von Neumann algorithm
        share = 2.0 / (step + 3)
        weights = (1.0 - share) * weights
        weights[deepest.cut.atom.span] += share * deepest.cut.atom.values
        gradient = system.combine(weights)
