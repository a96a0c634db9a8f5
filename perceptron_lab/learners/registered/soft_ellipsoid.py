"""The soft-margin ellipsoid as a learner."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from perceptron_lab.estimators.soft_ellipsoid import SoftEllipsoidClassifier
from perceptron_lab.learners.extraction import CHECKED
from perceptron_lab.learners.tuning import REGULARISATIONS, Candidates, Folds, Grid, TunedLearner


@dataclass(frozen=True, config=CHECKED)
class TunedSoftEllipsoid(TunedLearner):
    """The soft-margin ellipsoid, its regularisation chosen by cross-validation.

    f(x) = -(|L'x|^2 + 2 g'x + c) with the squared hinge of a margin of 1 and low rank, see
    :class:`~perceptron_lab.estimators.SoftEllipsoidClassifier`. What it has in place of the
    separation ratio of `Kharechko2009`, (7.9), is a slack: it answers for any two classes.

    Parameters
    ----------
    rank
        Columns of L, 0 or more (default 20).
    tolerance
        Of L-BFGS, above 0 (default 1e-6).
    """

    rank: Annotated[int, Field(ge=0)] = 20
    regularisations: Candidates = REGULARISATIONS
    class_weight: Literal["balanced"] | None = None
    tolerance: Annotated[float, Field(gt=0)] = 1e-6
    folds: Folds = 3

    def search(self, seed: int) -> tuple[Grid, int]:
        """Return the classifier with what is tried of it, and on how many folds."""
        model = SoftEllipsoidClassifier(
            self.rank,
            class_weight=self.class_weight,
            tol=self.tolerance,
            random_state=np.random.default_rng(seed),
        )
        return Grid(model, {"regularisation": self.regularisations}), self.folds
