"""The base class of the systems that algorithms are run on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import FloatArray, Result
from perceptron_lab.core.run_options import Oracle, RunOptions

# Runs an algorithm on a conic system: the loop of perceptron_lab.solving.driver
Loop = Callable[[Any, Any, RunOptions], Result]


@dataclass(frozen=True, eq=False)
class Objective:
    """c of min c'x subject to F(x) = sum_i x_i F_i - F_0 positive semidefinite.

    Parameters
    ----------
    values
        c, shape ``(m,)``: of the coordinates 1 to m of a point (x_0, x).
    roundings
        0: the values are doubles; 1: they are the doubles nearest to those meant.
    """

    values: FloatArray
    roundings: int = 0


class System(ABC):
    """A question about a point, which says how algorithms are run on it.

    Attributes
    ----------
    homogenised
        Whether a point is (x_0, x) with x_0 > 0, of a question about x / x_0.
    objective
        That of the program whose feasible set is asked about; None if there is none.
    """

    homogenised: bool = False
    objective: Objective | None = None

    @property
    @abstractmethod
    def constraints(self) -> int:
        """Number of constraints."""

    @property
    @abstractmethod
    def unknowns(self) -> int:
        """Number of coordinates of an answer."""

    @property
    @abstractmethod
    def oracles(self) -> Mapping[str, Oracle]:
        """The oracle of each kind of cone, unless another one is chosen."""

    @abstractmethod
    def facts(self, margin: float | None = None) -> Facts:
        """Return the facts for bounds; ``margin`` is a known (lower bound of the) margin."""

    @abstractmethod
    def driven(self, algorithm: Any, options: RunOptions, loop: Loop) -> Result:
        """Run an algorithm; what runs on conic systems is left to the ``loop``."""
