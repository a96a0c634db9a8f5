"""Datasets of one instance that is made from its name and a seed."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg  # noqa: F401 - so that its BLAS is found as well as numpy's
from numpy.random import Generator
from threadpoolctl import ThreadpoolController

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import AnyArray, FloatArray, IntArray
from perceptron_lab.datasets.dataset import Dataset
from perceptron_lab.datasets.problem import Problem, Task, sha256_of_arrays
from perceptron_lab.datasets.regular_files import check_generated

if TYPE_CHECKING:
    from perceptron_lab.systems import ConicSystem


class GeneratedDataset(Dataset):
    """One instance, whose name holds all parameters; name and seed determine the data."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the instance."""

    @abstractmethod
    def problem(self, seed: int) -> Problem:
        """Generate the instance; an ``InputError`` refuses a negative seed."""

    def names(self) -> list[str]:
        """Return the name of the only instance."""
        return [self.name]

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Generate the instance; the folder is without meaning."""
        self.check_name(name)
        return self.problem(seed)

    def stated(
        self,
        system: ConicSystem,
        *arrays: AnyArray,
        point: FloatArray | None = None,
        tasks: tuple[Task, ...] = (),
    ) -> Problem:
        """Return the instance of a system made from these arrays.

        The margin of a ``point`` that is feasible by construction is proved.
        """
        margin = None if point is None else proved_margin(self.name, system, point)
        facts = system.facts(margin)
        return Problem(self.name, system, sha256_of_arrays(*arrays), facts, tasks=tasks)

    @contextmanager
    def random(self, seed: int, size: int, stream: str | None = None) -> Iterator[Generator]:
        """Yield the random generator for data of ``size`` bytes, with BLAS limited to one thread.

        Instances of one stream, which is by default the name, have one source for each seed.
        """
        check_generated(size, self.name)
        with one_thread():
            yield np.random.default_rng(seed_sequence(stream or self.name, seed))


_libraries = cache(ThreadpoolController)  # to find the numerical libraries takes milliseconds


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit matrix products to one thread within this context."""
    # Sums depend on the number of threads, and the data must not
    with _libraries().limit(limits=1):
        yield


def seed_sequence(name: str, seed: int) -> np.random.SeedSequence:
    """Return the source of randomness of a name and a seed >= 0; others are independent of it."""
    if seed < 0:
        raise InputError(f"seed {seed} for {name}; allowed: 0 or more")
    # The name enters by a hash that is the same in every process, unlike Python's own.
    word = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return np.random.SeedSequence([seed, word])


def split_by_class(
    name: str, labels: IntArray | FloatArray, fraction: float, seed: int
) -> tuple[IntArray, IntArray]:
    """Return the positions of training and test examples, ascending, the classes in proportion.

    A ``ValueError`` says that a class would have no example on one side.
    """
    from sklearn.model_selection import train_test_split  # it takes long to load

    state = int(seed_sequence(f"{name}-split", seed).generate_state(1)[0])
    train, test = train_test_split(
        np.arange(len(labels)), test_size=fraction, stratify=labels, random_state=state
    )
    return np.sort(train), np.sort(test)


def plain(value: float) -> str:
    """Return a number as in an instance's name: 0.3, 5, 1e-09; different numbers differ."""
    return repr(float(value)).removesuffix(".0")


def proved_margin(name: str, system: ConicSystem, point: FloatArray) -> float:
    """Return a proved lower bound of the margin, from a point that is feasible by construction."""
    proof = system.prove_point(point)
    if not proof.feasible or proof.margin_lower <= 0.0:
        raise InputError(
            f"{name}: rounding hides the margin of the known point; choose parameters that make it "
            "larger"
        )
    return proof.margin_lower
