"""The linear function with the loss of the soft ellipsoid, as a learner."""

from __future__ import annotations

from typing import Literal

from pydantic.dataclasses import dataclass

from perceptron_lab.estimators.squared_hinge import SquaredHingeClassifier
from perceptron_lab.learners.extraction import CHECKED
from perceptron_lab.learners.tuning import REGULARISATIONS, Candidates, Folds, Grid, TunedLearner


@dataclass(frozen=True, config=CHECKED)
class TunedLinearScorer(TunedLearner):
    """The soft ellipsoid without its quadratic term, its regularisation chosen likewise.

    f(x) = -(2 g'x + c), see :class:`~perceptron_lab.estimators.SquaredHingeClassifier`: what an
    ellipsoid gains over it is due to the ellipsoid, the rest to loss and regularisation.
    """

    regularisations: Candidates = REGULARISATIONS
    class_weight: Literal["balanced"] | None = None
    folds: Folds = 3

    def search(self, seed: int) -> tuple[Grid, int]:
        """Return the classifier with what is tried of it, and on how many folds."""
        model = SquaredHingeClassifier(class_weight=self.class_weight)
        return Grid(model, {"regularisation": self.regularisations}), self.folds
