"""scikit-learn's stochastic gradient descent as a reference for rows."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass
from sklearn.linear_model import SGDClassifier

from perceptron_lab.algorithms.base import Systems
from perceptron_lab.goals import STRICT
from perceptron_lab.peers.trained import Trained, TrainedState
from perceptron_lab.results import FloatArray


@dataclass(frozen=True, config=STRICT)
class Sgd(Trained):
    """The linear support vector machine by stochastic gradient descent, without a bias.

    minimise alpha norm(y)^2 / 2 + mean_i loss(<a_i, y>). A training goes on from the coefficients
    of the one before, in another random order; falling steps begin anew.

    Parameters
    ----------
    loss
        ``hinge``, max(0, 1 - s) (default), or ``perceptron``, max(0, -s).
    regularisation
        alpha, 0 to 1, not 0 (default 1e-9: separation is what counts).
    steps
        ``constant``, of size 1 (default), or ``optimal``, scikit-learn's falling schedule.
    first, longest
        Passes over the rows of the first training, and of the longest one (default 1 and 65536).

    References
    ----------
    L. Bottou, Stochastic Gradient Descent Tricks (2012).
    """

    systems: ClassVar[Systems] = {"runs": "rows", "coordinates: runs": "kernel"}

    loss: Literal["hinge", "perceptron"] = "hinge"
    regularisation: Annotated[float, Field(gt=0, le=1)] = 1e-9
    steps: Literal["constant", "optimal"] = "constant"
    first: Annotated[int, Field(ge=1)] = 1
    longest: Annotated[int, Field(ge=1)] = 65536

    def train(self, state: TrainedState) -> tuple[FloatArray, int]:
        """Pass over the rows ``length`` times more; never takes itself to be trained."""
        model = SGDClassifier(
            loss=self.loss,
            alpha=self.regularisation,
            learning_rate=self.steps,
            eta0=1.0,
            fit_intercept=False,
            max_iter=state.length,
            tol=None,
            random_state=(state.seed + state.updates) % 2**31,
        )
        model.fit(state.examples, state.labels, coef_init=state.point[None, :])
        return np.asarray(model.coef_[0]), int(model.n_iter_)
