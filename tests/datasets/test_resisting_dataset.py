"""The dataset of the lower bound: its parameters, its problems, and its proofs once more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perceptron_lab import solve
from perceptron_lab.algorithms.resisting.forced import forced
from perceptron_lab.algorithms.resisting.system import ResistingSystem
from perceptron_lab.core import registry
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.datasets.generated.streams import Resisting


def test_its_name_holds_its_parameters() -> None:
    dataset = registry.load("dataset", "resisting")(dimension=50, margin=1e-6)
    assert dataset.names() == ["resisting-50-1e-06"]
    assert Resisting().names() == ["resisting-10-0.01"]


@pytest.mark.parametrize(
    "parameters", [{"dimension": 0}, {"dimension": 1001}, {"margin": 0.0}, {"margin": 1.1}]
)
def test_other_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Resisting(**parameters)


def test_seeds_have_the_same_problem_and_negative_ones_none() -> None:
    dataset = Resisting(dimension=5, margin=0.1)
    first, other = dataset.problem(0), dataset.problem(7)
    assert first.sha256 == other.sha256 != Resisting(dimension=6, margin=0.1).problem(0).sha256
    with pytest.raises(InputError, match="allowed: 0 or more"):
        dataset.problem(-1)


def test_its_facts_are_the_forced_mistakes_and_the_margin() -> None:
    problem = Resisting(dimension=5, margin=0.1).problem(0)
    assert problem.measure is not None
    measures = problem.measure(np.ones(5))
    assert measures["forced"] == forced(5, 0.1) == problem.system.constraints
    assert 0.1 <= float(measures["final_margin"]) < 0.14
    assert problem.facts.margin == 0.1


def test_a_problem_can_be_run_again() -> None:
    """Runs leave the problem as it was: each has an adversary of its own."""
    system = Resisting(dimension=4, margin=0.1).problem(0).system
    assert isinstance(system, ResistingSystem)
    first, again = solve(system, "ellipsoid"), solve(system, "ellipsoid")
    assert system.adversary.revealed == 0
    assert first.queries == again.queries
    assert np.array_equal(first.point, again.point)


def test_a_certificate_without_the_resisting_rows_is_reported() -> None:
    system = Resisting(dimension=3, margin=0.2).problem(0).system
    with pytest.raises(DataError, match="does not determine the rows that were shown"):
        system.fixed({})
    with pytest.raises(DataError, match="signs, \\+ or -"):
        system.fixed({"rows": "+-"})
