"""MAXSEP at a fixed ratio as a registered dataset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.dataset import check_instance_name
from perceptron_lab.datasets.generated.ellipsoid_sets import EllipsoidSets
from perceptron_lab.solving.entry import solve


def make(**parameters: Any) -> Any:
    kind = registry.load("dataset", "ellipsoid-separation")
    return TypeAdapter(kind).validate_json(json.dumps(parameters))


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ({}, ["ellipsoid-2x30-200-1.5-above-1"]),
        ({"dimension": 3, "ratio": 1.2}, ["ellipsoid-3x30-200-1.5-above-1.2"]),
        (
            {"source": "wine", "ratio": 1.5},
            ["wine-0-1-above-1.5", "wine-0-2-above-1.5", "wine-1-2-above-1.5"],
        ),
        ({"source": "breast-cancer"}, ["breast-cancer-above-1"]),
        ({"source": "digits", "instances": ["digits-8-9"]}, ["digits-8-9-above-1"]),
    ],
)
def test_instances_are_named_after_examples_and_ratio(
    parameters: dict[str, Any], names: list[str]
) -> None:
    assert make(**parameters).names() == names
    assert [check_instance_name(name) for name in names] == names


@pytest.mark.parametrize(
    ("parameters", "location", "reason"),
    [
        ({"ratio": 0.9}, "ratio", "greater than or equal to 1"),
        ({"attained": 1.0}, "attained", "on one ellipsoid"),
        ({"training": 2}, "training", "give 3 or more"),
        ({"source": "wine", "dimension": 2}, "dimension", "source wine has no dimension"),
        ({"source": "wine", "training": 9}, "training", "source wine has no training"),
        ({"instances": ["wine-0-1"]}, "instances", "has no instances"),
        ({"source": "wine", "instances": ["wine-0-3"]}, "instances", "did you mean"),
    ],
)
def test_invalid_parameters_are_refused(
    parameters: dict[str, Any], location: str, reason: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        make(**parameters)
    (error,) = caught.value.errors()
    assert error["loc"][0] == location
    assert reason in error["msg"]


@pytest.mark.parametrize("attained", [1.5, 0.8])
def test_the_answer_equals_the_planted_one(attained: float) -> None:
    for ratio in (1.0, 1.4, 1.7):
        dataset = make(attained=attained, ratio=ratio)
        problem = dataset.load(*dataset.names(), seed=1, base=Path())
        result = solve(problem.system, "auto")
        assert result.proved
        assert (result.status is Status.FEASIBLE) == (ratio < attained)
        assert problem.measure(result.point)["attained"] <= max(attained, 1.0) * (1 + 1e-9)
        assert (problem.measure(result.point)["attained"] > ratio) == (ratio < attained)


def test_the_examples_are_those_of_ellipsoid_sets() -> None:
    dataset = make(ratio=1.2)
    products = dataset.load(*dataset.names(), seed=4, base=Path()).measure.__self__.products
    task = EllipsoidSets().sample(4).task
    assert [len(part) for part in products] == [30, 30]
    again = dataset.load(*dataset.names(), seed=4, base=Path())
    other = dataset.load(*dataset.names(), seed=5, base=Path())
    assert again.sha256 != other.sha256
    assert (again.measure.__self__.products[0] == products[0]).all()
    mean = np.asarray(task.examples)[:30].mean(axis=0)
    np.testing.assert_allclose(again.measure.__self__.frame.shift, mean)


def test_classes_of_real_data() -> None:
    dataset = make(source="wine", instances=["wine-0-1"], ratio=1.5)
    problem = dataset.load("wine-0-1-above-1.5", seed=0, base=Path())
    assert problem.system.dimension == 14 * 15 // 2 + 1
    result = solve(problem.system, "perceptron")
    assert result.status is Status.FEASIBLE
    assert problem.measure(result.point)["attained"] > 1.5
    with pytest.raises(ConfigError, match="there is no instance"):
        dataset.load("wine-0-1-above-1", seed=0, base=Path())
