"""Solvers that are asked once, and answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from perceptron_lab.algorithms.base import State
from perceptron_lab.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.errors import NumericalError
from perceptron_lab.peers.base import Peer, quiet, refuse_other_cones
from perceptron_lab.system import ConicSystem


@dataclass(kw_only=True)
class AskedState(State):
    """The point and the weights of the answer, once there is one.

    Parameters
    ----------
    answer
        What the solver has answered, or None.
    silence
        Why the solver has not answered, if it was asked and has not.
    """

    answer: Claim | None = None
    silence: str = ""


class Asked(Peer, ABC):
    """A solver that is asked once: one update, at the end of which it claims its answer.

    It cannot be interrupted. If it gives up, the run ends at its budget, if that is spent, or else
    with the solver's own reason as a numerical error.
    """

    def start(self, system: ConicSystem, rng: np.random.Generator) -> AskedState:
        """Return the state before the solver is asked, at 0.

        Raises
        ------
        InputError
            If the system is not one of rows.
        """
        refuse_other_cones(self, system)
        return AskedState(np.zeros(system.dimension))

    def step(
        self, system: ConicSystem, state: AskedState, most: int
    ) -> tuple[AskedState, Claim | None]:
        """Ask once, then repeat the answer.

        Raises
        ------
        NumericalError
            If the solver was asked before and has not answered.
        """
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
    """Return what a point with weights of the dual cone allows to claim, or None.

    The point, if it lies inside; or that the margin is at most epsilon, or what the goal asks for,
    if norm(A w) is as small as that.
    """
    assert state.weights is not None
    bound = system.worth(epsilon)
    if system.lowest(system.scores(state.point)) > 0.0:
        return FeasiblePoint(state.point.copy())
    if system.upper(state.weights) <= bound:
        return MarginBelow(state.weights.copy(), bound)
    return None


def claimed(system: ConicSystem, state: State, epsilon: float) -> Claim:
    """Return what a point with weights supports; the point, believed or not, if that is nothing."""
    return supported(system, state, epsilon) or FeasiblePoint(state.point.copy())
