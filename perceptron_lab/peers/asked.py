"""Solvers that are asked once, and answer."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from perceptron_lab.algorithms.base import State, Step, claim_bound
from perceptron_lab.claims import Claim, FeasiblePoint
from perceptron_lab.errors import NumericalError
from perceptron_lab.peers.base import Peer, quiet, refuse_other_cones
from perceptron_lab.system import ConicSystem


@dataclass(kw_only=True)
class AskedState(State):
    """The point and the weights of the answer, once there is one; or why there is none."""

    answer: Claim | None = None
    silence: str = ""


class Asked(Peer[AskedState]):
    """A solver that is asked once: one update, at the end of which it claims its answer.

    It cannot be interrupted. If it gives up, the run ends at its budget, if that is spent, or else
    with the solver's own reason as a numerical error.
    """

    def start(self, system: ConicSystem, rng: np.random.Generator) -> AskedState:
        """Return the state before the solver is asked, at 0."""
        refuse_other_cones(self, system)
        return AskedState(np.zeros(system.dimension))

    def step(self, system: ConicSystem, state: AskedState, most: int) -> Step[AskedState]:
        """Ask once, then repeat the answer."""
        if state.silence:
            raise NumericalError(state.silence)
        if state.answer is None:
            state.updates, state.iterations = 1, 1
            state.ending = f"{type(self).__name__} is asked once, and has answered"
            try:
                with quiet():
                    state.answer = self.ask(system, state)
            except NumericalError as error:
                state.silence = str(error)
        return state, state.answer

    @abstractmethod
    def ask(self, system: ConicSystem, state: AskedState) -> Claim:
        """Run the solver, set the state's point and weights, and return the claim.

        Raises
        ------
        NumericalError
            If the solver gives no answer; the message says why.
        """


def supported(system: ConicSystem, state: State, epsilon: float) -> Claim | None:
    """Return the claim that a point with weights allows: a separator, a bound, or None."""
    assert state.weights is not None
    if system.lowest(system.scores(state.point)) > 0.0:
        return FeasiblePoint(state.point.copy())
    small = system.upper(state.weights) <= system.worth(epsilon)
    return claim_bound(system, state.weights, epsilon) if small else None


def claimed(system: ConicSystem, state: State, epsilon: float) -> Claim:
    """Return the claim that a point with weights allows; the point, if they allow none."""
    return supported(system, state, epsilon) or FeasiblePoint(state.point.copy())
