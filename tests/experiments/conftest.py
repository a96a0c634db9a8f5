"""Toys in the registry, and configurations made of them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from perceptron_lab.core import registry
from perceptron_lab.core.registry import register
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.configuration.yaml_source import Source
from tests.experiments import toys

Configure = Callable[..., ExperimentConfig]


@pytest.fixture(autouse=True)
def _registered(user_registrations: None) -> None:
    if "toy" not in registry.names("dataset"):  # a module may have done so
        register("dataset", "toy", toys.Toy)
        register("algorithm", "faulty", toys.Faulty)
    register("algorithm", "unasking", toys.Unasking)


@pytest.fixture
def configure() -> Configure:
    """Return a function that makes the toy configuration with some keys replaced."""

    def make(**changes: Any) -> ExperimentConfig:
        return load_experiment(Source("", deepcopy(toys.CONFIG) | changes)).config

    return make
