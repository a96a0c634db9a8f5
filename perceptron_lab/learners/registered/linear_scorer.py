"""The linear function with the loss of the soft ellipsoid, as a learner."""

from __future__ import annotations

from typing import Literal

from pydantic.dataclasses import dataclass

from perceptron_lab.estimators.squared_hinge import SquaredHingeClassifier
from perceptron_lab.learners.extraction import CHECKED
from perceptron_lab.learners.tuned import REGULARISATIONS, Candidates, Folds, TunedLearner
from perceptron_lab.learners.tuning import Grid


@dataclass(frozen=True, config=CHECKED)
class TunedLinearScorer(TunedLearner):
    """The soft ellipsoid without its quadratic term, its regularisation chosen likewise.

    f(x) = -(2 g'x + c), see :class:`~perceptron_lab.estimators.SquaredHingeClassifier`: what an
    ellipsoid gains over it is due to the ellipsoid, the rest to loss and regularisation.

    Parameters
    ----------
    components
        The number of Gram-Schmidt features, 1 or more (default 30); None for the examples as they
        are, dense or sparse.
    feature_kernel
        Of these features: ``linear`` (default) x'z, ``polynomial``
        (1 + gamma x'z)^polynomial_degree, or ``rbf`` exp(-gamma norm(x - z)^2).
    gamma, polynomial_degree
        Of that kernel: > 0 (default 1 / columns of the examples); 1 or more (default 2).
    regularisations
        What is tried, each above 0 (default 1e-2 to 1e-8).
    class_weight
        ``balanced``, or None (default).
    folds
        Of the cross-validation, 2 or more (default 3).
    """

    regularisations: Candidates = REGULARISATIONS
    class_weight: Literal["balanced"] | None = None
    folds: Folds = 3

    def search(self, seed: int) -> tuple[Grid, int]:
        """Return the classifier with what is tried of it, and on how many folds."""
        model = SquaredHingeClassifier(class_weight=self.class_weight)
        return Grid(model, {"regularisation": self.regularisations}), self.folds
