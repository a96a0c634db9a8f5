"""The base class of systems.

Answers of the oracle of a system, and how often it was asked.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from perceptron_lab.cones.base import Atom, Cone
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import FloatArray, IntArray, Result
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
    """A feasibility problem with its own way of running algorithms.

    Attributes
    ----------
    homogenised
        Whether a point is (x_0, x) with x_0 > 0, of a question about x / x_0.
    objective
        The objective of the program whose feasible set is the system, or None.
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

    def conic(self) -> System:
        """Return the system with all its data as an operator, where it is another one."""
        return self

    @abstractmethod
    def driven(self, algorithm: Any, options: RunOptions, loop: Loop) -> Result:
        """Run an algorithm; conic systems leave this to ``loop``."""


class Cut(NamedTuple):
    """A violated constraint: <normal, point> <= 0 at the queried point, or <= -slack.

    Parameters
    ----------
    normal
        a = A(atom), shape ``(dimension,)``, a new array.
    atom
        The extreme point of Delta(K) that it belongs to.
    norm
        norm(a); 0 shows that no point is strictly feasible.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptron_lab import ConicSystem
    >>> system = ConicSystem.from_rows([[3.0, 4.0], [1.0, 0.0]])
    >>> system.cut(np.array([0.0, -1.0])).normal  # of the first row, divided by its norm
    array([0.6, 0.8])
    """

    normal: FloatArray
    atom: Atom
    norm: float


class Deepest(NamedTuple):
    """The most violated (or least satisfied) constraint of a point.

    Parameters
    ----------
    cut
        The constraint.
    score
        <normal, point>, the lowest eigenvalue of the scores.
    scores
        A*point, shape ``(size,)``.
    """

    cut: Cut
    score: float
    scores: FloatArray


CutObserver = Callable[[Cut, float], None]
"""Called with a cut and its depth -<a, y> / (norm(a) norm(y)) at the point y, NaN for y = 0."""


@dataclass
class Counters:
    """Oracle queries and products with the data, shared by all views of a system.

    ``observe_cut`` is called with each single cut of an oracle; None if cuts are not observed.
    Methods that sweep over rows in compiled loops, or compute whole spectra, ask for no single cut.
    """

    queries: int = 0
    products: float = 0.0
    observe_cut: CutObserver | None = None


@dataclass
class CutStatistics:
    """Norms and depths of the cuts of each block since the last call of ``take``.

    The depth of a cut a at y is -<a, y> / (norm(a) norm(y)), from 0 to 1: the distance of
    y / norm(y) from the half-space <a, .> >= 0. It is what an update of the perceptron takes off
    the growth of its point, norm(y + a / norm(a))^2 = norm(y)^2 + 1 - 2 depth norm(y); by how much
    an update of the central ellipsoid method shrinks the volume does not depend on it.

    Parameters
    ----------
    cone
        The cone whose blocks are counted separately.
    """

    cone: Cone
    _starts: IntArray = field(init=False)
    _sums: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        starts = [span.start for _, span in self.cone.blocks]
        self._starts = np.array(starts, dtype=np.int64)
        self._sums = np.zeros((4, len(starts)))

    def see(self, cut: Cut, depth: float) -> None:
        """Count a cut; its depth counts unless it is NaN."""
        block = int(np.searchsorted(self._starts, cut.atom.span.start, side="right")) - 1
        placed = not math.isnan(depth)
        self._sums[:, block] += (1.0, cut.norm, placed, depth if placed else 0.0)

    def take(self) -> dict[str, FloatArray]:
        """Return ``cuts``, ``cut_norm`` and ``cut_depth`` of each block, and reset them.

        They are a number and two means, shape ``(blocks,)`` each; the mean of nothing is NaN.
        """
        count, norms, placed, depths = self._sums
        self._sums = np.zeros_like(self._sums)
        with np.errstate(invalid="ignore"):
            return {"cuts": count, "cut_norm": norms / count, "cut_depth": depths / placed}
