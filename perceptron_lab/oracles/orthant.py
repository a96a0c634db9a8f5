"""Oracles of the orthant: which of the violated constraints an algorithm gets to see.

Constraint i is violated by scores z if z_i <= -slack (slack <= 0: the open orthant, or a part of
it) or z_i < -slack (slack > 0: the closed orthant, relaxed).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np
from pydantic.dataclasses import dataclass

from perceptron_lab.goals import STRICT
from perceptron_lab.results import FloatArray, IntArray


class Picker(ABC):
    """A running oracle of the orthant; it may remember its last answer."""

    @abstractmethod
    def find(self, scores: FloatArray, slack: float) -> int | None:
        """Return the index of a violated constraint, or None if there is none."""


def violated(scores: FloatArray, slack: float) -> IntArray:
    """Return the indices of all constraints that the scores, shape ``(m,)``, violate."""
    return np.flatnonzero(scores < -slack if slack > 0 else scores <= -slack)


@dataclass(frozen=True, config=STRICT)
class MostViolated:
    """The constraint of lowest score (the first one on ties)."""

    kind: ClassVar[Literal["orthant"]] = "orthant"

    def start(self, rng: np.random.Generator) -> Picker:
        """Return a running oracle."""
        return _Lowest()


class _Lowest(Picker):
    def find(self, scores: FloatArray, slack: float) -> int | None:
        j = int(scores.argmin())
        return j if (scores[j] < -slack if slack > 0 else scores[j] <= -slack) else None


@dataclass(frozen=True, config=STRICT)
class FirstViolated:
    """The violated constraint of lowest index."""

    kind: ClassVar[Literal["orthant"]] = "orthant"

    def start(self, rng: np.random.Generator) -> Picker:
        """Return a running oracle."""
        return _First()


class _First(Picker):
    def find(self, scores: FloatArray, slack: float) -> int | None:
        indices = violated(scores, slack)
        return int(indices[0]) if len(indices) else None


@dataclass(frozen=True, config=STRICT)
class Cyclic:
    """The first violated constraint after the last one returned, around the whole set."""

    kind: ClassVar[Literal["orthant"]] = "orthant"

    def start(self, rng: np.random.Generator) -> Picker:
        """Return a running oracle that begins with constraint 0."""
        return _Round()


class _Round(Picker):
    def __init__(self) -> None:
        self.last = -1

    def find(self, scores: FloatArray, slack: float) -> int | None:
        indices = violated(scores, slack)
        if not len(indices):
            return None
        self.last = int(indices[np.searchsorted(indices, self.last + 1) % len(indices)])
        return self.last


@dataclass(frozen=True, config=STRICT)
class Random:
    """A violated constraint drawn uniformly, from the run's own random generator."""

    kind: ClassVar[Literal["orthant"]] = "orthant"

    def start(self, rng: np.random.Generator) -> Picker:
        """Return a running oracle that draws from ``rng``."""
        return _Draw(rng)


class _Draw(Picker):
    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def find(self, scores: FloatArray, slack: float) -> int | None:
        indices = violated(scores, slack)
        return int(self.rng.choice(indices)) if len(indices) else None
