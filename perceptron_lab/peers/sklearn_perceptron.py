"""scikit-learn's Perceptron as a reference for rows."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass
from sklearn.linear_model import Perceptron

from perceptron_lab.algorithms.base import Systems
from perceptron_lab.goals import STRICT
from perceptron_lab.peers.trained import Trained, TrainedState
from perceptron_lab.results import FloatArray


@dataclass(frozen=True, config=STRICT)
class SklearnPerceptron(Trained):
    """The perceptron of unit rows in random order, without a bias.

    A training goes on from the coefficients of the one before, in another random order.

    Parameters
    ----------
    first, longest
        Passes over the rows of the first training, and of the longest one (default 1 and 65536).
    """

    systems: ClassVar[Systems] = {"runs": "rows", "coordinates: runs": "kernel"}

    first: Annotated[int, Field(ge=1)] = 1
    longest: Annotated[int, Field(ge=1)] = 65536

    def train(self, state: TrainedState) -> tuple[FloatArray, int]:
        """Pass over the rows ``length`` times more; never takes itself to be trained."""
        model = Perceptron(
            fit_intercept=False,
            max_iter=state.length,
            tol=None,
            random_state=(state.seed + state.updates) % 2**31,
        )
        model.fit(state.examples, state.labels, coef_init=state.point[None, :])
        return np.asarray(model.coef_[0]), int(model.n_iter_)
