"""The contract of an algorithm: start a state, step it, state a guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from perceptron_lab.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.facts import Facts
from perceptron_lab.results import Bound, FloatArray
from perceptron_lab.system import ConicSystem, Cut


@dataclass
class State:
    """What every algorithm's state shows; each algorithm adds its own arrays, which it owns.

    Parameters
    ----------
    point
        The current point, shape ``(dimension,)``.
    updates
        How often it has changed.
    iterations
        Turns of a method that is not mistake-driven.
    phase
        A label that changes when the method enters a new phase.
    weights
        Weights in the dual cone that belong to the point, shape ``(size,)``, or None.
    """

    point: FloatArray
    updates: int = 0
    iterations: int = 0
    phase: str = ""
    weights: FloatArray | None = None


S = TypeVar("S", bound=State)


class Algorithm(Protocol[S]):
    """A frozen record of parameters with the three methods of the contract."""

    def start(self, system: ConicSystem, rng: np.random.Generator) -> S:
        """Return the state before the first update."""
        ...

    def step(self, system: ConicSystem, state: S, most: int) -> tuple[S, Claim | None]:
        """Make at most ``most`` >= 1 updates, in place; return early on a claim or a new phase.

        A step makes progress: it updates, claims or enters a new phase.
        """
        ...

    def bound(self, facts: Facts) -> Bound:
        """Return the guarantee on the number of updates for these facts."""
        ...


def cut_or_claim(system: ConicSystem, point: FloatArray) -> Cut | Claim:
    """Return a cut with a non-zero normal, or what there is to claim where there is none.

    That is the point itself, if it passes the oracle, or that no point exists.
    """
    cut = system.cut(point)
    if cut is None:
        return FeasiblePoint(point.copy())
    return no_point_exists(system, cut) if cut.norm == 0.0 else cut


def no_point_exists(system: ConicSystem, cut: Cut) -> MarginBelow:
    """Return the claim of a cut with A(atom) = 0: then <atom, A*y> = 0 for every y."""
    weights = np.zeros(system.cone.size)
    weights[cut.atom.span] = cut.atom.values
    return MarginBelow(weights, 0.0)
