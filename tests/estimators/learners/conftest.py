"""Real documents for the tests that need them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from perceptron_lab.datasets.collections.reuters import Reuters
from perceptron_lab.datasets.problem import Task
from tests.datasets.reuters_counts import counted


@pytest.fixture(scope="module")
def categories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reuters]:
    """The categories of Reuters-21578, read from the mirror; skips without one."""
    with counted(tmp_path_factory) as dataset:
        yield dataset


@pytest.fixture(scope="module")
def corn(categories: Reuters) -> Task:
    """The category corn."""
    return categories.task("corn", seed=0, base=Path())
