"""The only repetition of steps: no clock, no status."""

from __future__ import annotations

from perceptron_lab.algorithms.base import Algorithm, S, Step
from perceptron_lab.claims import Claim
from perceptron_lab.system import ConicSystem


def advance(algorithm: Algorithm[S], system: ConicSystem, state: S, most: int) -> Step[S]:
    """Step until ``most`` updates are made, the algorithm claims something or enters a new phase.

    A step that does none of the three is the last one: the caller has the clock, and may call
    again. ``most`` is 1 or more.
    """
    target, phase = state.updates + most, state.phase
    claim: Claim | None = None
    while state.updates < target and claim is None and state.phase == phase:
        before = state.updates
        state, claim = algorithm.step(system, state, target - before)
        if state.updates == before:
            break
    return state, claim
