"""scikit-learn's LinearSVC (LIBLINEAR) as a reference for rows."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass
from sklearn.svm import LinearSVC

from perceptron_lab.algorithms.base import Systems
from perceptron_lab.goals import STRICT
from perceptron_lab.peers.trained import Trained, TrainedState
from perceptron_lab.results import FloatArray


@dataclass(frozen=True, config=STRICT)
class LinearSvc(Trained):
    """The linear support vector machine with a hard margin, by dual coordinate descent.

    minimise norm(y)^2 / 2 + C sum_i loss(1 - <a_i, y>), with a large C and no bias. LIBLINEAR
    cannot go on from where it stopped: each training begins anew, with twice as many iterations.

    Parameters
    ----------
    loss
        ``hinge`` (default) or ``squared-hinge``.
    penalty
        C > 0 (default 1e6).
    tolerance
        LIBLINEAR's stopping tolerance, > 0 (default 1e-6).
    first, longest
        Passes over the rows of the first training, and of the longest one (default 1000, scikit-
        learn's own, and 1024000).

    References
    ----------
    C.-J. Hsieh et al., A dual coordinate descent method for large-scale linear SVM, ICML 2008.
    """

    systems: ClassVar[Systems] = {"runs": "rows", "coordinates: runs": "kernel"}

    loss: Literal["hinge", "squared-hinge"] = "hinge"
    penalty: Annotated[float, Field(gt=0)] = 1e6
    tolerance: Annotated[float, Field(gt=0)] = 1e-6
    first: Annotated[int, Field(ge=1)] = 1000
    longest: Annotated[int, Field(ge=1)] = 1_024_000

    def train(self, state: TrainedState) -> tuple[FloatArray, int]:
        """Train from the start; fewer passes than allowed mean that LIBLINEAR has converged."""
        machine = LinearSVC(
            loss=self.loss.replace("-", "_"),
            C=self.penalty,
            tol=self.tolerance,
            max_iter=state.length,
            dual=True,
            fit_intercept=False,
            random_state=state.seed,
        )
        machine.fit(state.examples, state.labels)
        return np.asarray(machine.coef_[0]), int(np.max(machine.n_iter_))
