"""Linear models that are trained for longer and longer."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.base import State, Step
from perceptron_lab.claims import Claim, FeasiblePoint
from perceptron_lab.errors import NumericalError
from perceptron_lab.peers.base import Peer, Rows, ending, quiet, refuse_other_cones, rows_of
from perceptron_lab.results import FloatArray
from perceptron_lab.system import ConicSystem


@dataclass(kw_only=True)
class TrainedState(State):
    """A linear model under training; its iterations are the model's own, of all trainings.

    ``examples`` are s_i a_i, shape ``(m, dimension)``, and ``labels`` the signs s_i, of both kinds:
    a homogeneous model y of these classes has s_i <s_i a_i, y> = <a_i, y>, and separates them if y
    is feasible. ``length`` limits the next training; after the claim ``last`` there is none.
    """

    examples: Rows
    labels: FloatArray
    length: int
    seed: int
    last: Claim | None = None


class Trained(Peer[TrainedState]):
    """A linear model without a bias: trained, tested, trained for twice as long, and so on.

    Each training is one update, and a phase. It ends with a point that separates; where none does,
    the last point is claimed, and not believed: when the model takes itself to be trained, or at
    the largest number of iterations.

    Attributes
    ----------
    first, longest
        Iterations of the first training, and of the longest one.
    """

    first: int
    longest: int

    def start(self, system: ConicSystem, rng: np.random.Generator) -> TrainedState:
        """Return the untrained state at 0."""
        refuse_other_cones(self, system)
        examples, labels = two_classes(rows_of(system))
        return TrainedState(
            np.zeros(system.dimension),
            examples=examples,
            labels=labels,
            length=min(self.first, self.longest),
            seed=int(rng.integers(2**31)),
        )

    def step(self, system: ConicSystem, state: TrainedState, most: int) -> Step[TrainedState]:
        """Train once; claim the point if it lies inside, or if it is the last."""
        if state.last is not None:
            return state, state.last
        with quiet():
            point, made = self.train(state)
        if not np.isfinite(point).all():
            raise NumericalError("the coefficients of the linear model are not finite")
        state.point = np.asarray(point, dtype=np.float64)
        state.updates += 1
        state.iterations += made
        state.phase = f"at most {state.length} iterations"  # the budget is looked at in between
        state.ending = ending(type(self).__name__, made, state.length)
        claim = FeasiblePoint(state.point.copy())
        if made < state.length or state.length == self.longest:
            state.last = claim
        state.length = min(2 * state.length, self.longest)
        scores = system.scores(state.point)
        inside = system.inside(system.lowest(scores), scores)
        return state, claim if inside else state.last

    @abstractmethod
    def train(self, state: TrainedState) -> tuple[FloatArray, int]:
        """Train for ``length`` iterations at most; return the coefficients, and how many it made.

        Fewer mean that the model takes itself to be trained.
        """


def two_classes(rows: Rows) -> tuple[Rows, FloatArray]:
    """Return s_i a_i and s_i, the signs in turn; a single row comes with both signs."""
    if isinstance(rows, np.ndarray):
        given: Rows = np.vstack([rows, rows]) if len(rows) == 1 else rows
    else:
        given = sp.csr_array(sp.vstack([rows, rows])) if rows.shape[0] == 1 else rows
    signs = np.where(np.arange(given.shape[0]) % 2 == 0, 1.0, -1.0)
    if isinstance(given, np.ndarray):
        return given * signs[:, None], signs
    return sp.csr_array(sp.diags_array(signs) @ given), signs
