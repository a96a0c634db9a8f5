"""Real documents for the tests that need them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from perceptron_lab.datasets.collections.reuters import Reuters
from perceptron_lab.datasets.problem import Task

MIRROR = Path(os.environ.get("PLAB_DATA_MIRROR") or "/nonexistent")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the documents are counted once, for all modules."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def categories(cache: Path) -> Iterator[Reuters]:
    """The categories of Reuters-21578, read from the mirror; skips without one."""
    if not (MIRROR / "reuters21578").is_dir():
        pytest.skip(
            "needs Reuters-21578: set PLAB_DATA_MIRROR to a folder with reuters21578/reut2-0NN.sgm"
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAB_DATA_DIR", str(cache))
        patch.setenv("PLAB_DATA_MIRROR", str(MIRROR))
        patch.setenv("PLAB_OFFLINE", "1")
        dataset = Reuters()
        dataset.task("corn", seed=0, base=Path())  # later tasks find the counts in memory
        yield dataset


@pytest.fixture(scope="module")
def corn(categories: Reuters) -> Task:
    """The category corn."""
    return categories.task("corn", seed=0, base=Path())
