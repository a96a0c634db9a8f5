"""The only repetition of steps: no clock, no status."""

from __future__ import annotations

from perceptron_lab.algorithms.base import Algorithm, S
from perceptron_lab.claims import Claim
from perceptron_lab.system import ConicSystem


def advance(
    algorithm: Algorithm[S], system: ConicSystem, state: S, most: int
) -> tuple[S, Claim | None]:
    """Step until ``most`` updates are made, the algorithm claims something or enters a new phase.

    Parameters
    ----------
    algorithm, system, state
        The algorithm, what it runs on, and where it stands.
    most
        Updates at most, 1 or more.
    """
    target, phase = state.updates + most, state.phase
    claim: Claim | None = None
    while state.updates < target and claim is None and state.phase == phase:
        state, claim = algorithm.step(system, state, target - state.updates)
    return state, claim
