"""A dataset and algorithms for tests of experiments: tiny, and faulty on demand."""

from __future__ import annotations

import hashlib
import math
import os
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.base import State
from perceptron_lab.algorithms.perceptron import Perceptron
from perceptron_lab.claims import Claim
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.errors import DataError
from perceptron_lab.facts import Facts
from perceptron_lab.goals import STRICT
from perceptron_lab.results import Bound, FloatArray
from perceptron_lab.system import ConicSystem

CONFIG: dict[str, Any] = {
    "experiment": "toy",
    "problems": [{"dataset": "toy", "instances": ["eye-2", "eye-3"]}],
    "algorithms": [{"name": "perceptron"}, {"name": "faulty", "parameters": {"how": "not"}}],
}


def first_entry(point: FloatArray) -> dict[str, float | FloatArray]:
    return {"first": float(point[0]), "entries": 2.0 * point}


@dataclass(frozen=True, config=STRICT)
class Toy:
    """Orthonormal rows.

    ``eye-3`` is the unit matrix of order 3, ``random-3`` a signed one drawn from the seed,
    ``absent`` cannot be loaded, and ``file`` is the order that a file holds.
    """

    instances: list[str]
    scale: float = 1.0
    measured: bool = False

    def names(self) -> list[str]:
        return self.instances

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        if name == "absent":
            raise DataError("absent: no such file; make it")
        order = int((base / "order.txt").read_text()) if name == "file" else int(name[-1])
        signs = np.ones(order)
        if name.startswith("random"):
            signs = np.random.default_rng([seed, order]).choice([-1.0, 1.0], size=order)
        rows = self.scale * np.diag(signs)
        sha256 = hashlib.sha256(rows.tobytes()).hexdigest()
        facts = Facts(order, order, margin=order**-0.5, unit_margin=order**-0.5)
        measure = first_entry if self.measured else None
        return Problem(name, ConicSystem.from_rows(rows), sha256, facts, measure)


@dataclass(frozen=True, config=STRICT)
class Unasking(Perceptron):
    """A perceptron with a bound that says nothing, and no use for an oracle."""

    uses_oracle: ClassVar[bool] = False

    def bound(self, facts: Facts) -> Bound:
        return Bound(math.inf, "none")


@dataclass(frozen=True, config=STRICT)
class Faulty:
    """A perceptron that fails on demand, at once, on problems of one dimension."""

    how: Literal["not", "error", "memory", "interrupt", "die"]
    dimension: int = 3

    def start(self, system: ConicSystem, rng: np.random.Generator) -> State:
        if system.dimension == self.dimension:
            if self.how == "error":
                raise RuntimeError("something\nbroke")
            if self.how == "memory":
                raise MemoryError
            if self.how == "interrupt":
                raise KeyboardInterrupt
            if self.how == "die":
                os._exit(7)
        return Perceptron().start(system, rng)

    def step(self, system: ConicSystem, state: State, most: int) -> tuple[State, Claim | None]:
        return Perceptron().step(system, state, most)

    def bound(self, facts: Facts) -> Bound:
        return Perceptron().bound(facts)
