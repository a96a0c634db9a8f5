"""The soft classifiers of this package as learners: the candidates of each, and how it is made."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from perceptron_lab.core.refusals import Positive, Proportion, parameter_record
from perceptron_lab.estimators.ellipsoid_separation import SoftSeparationClassifier
from perceptron_lab.estimators.learners.extraction import Components
from perceptron_lab.estimators.learners.tuned_learner import (
    REGULARISATIONS,
    Candidates,
    Folds,
    TunedLearner,
    distinct,
)
from perceptron_lab.estimators.learners.tuning import Grid
from perceptron_lab.estimators.soft_ellipsoid import SoftEllipsoidClassifier, SquaredHingeClassifier


@parameter_record
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
        Of Newton's method, relative to the objective, above 0 (default 1e-4: with steps that gain
        so little the objective is known to about 1e-6 of it).
    """

    rank: Annotated[int, Field(ge=0)] = 20
    regularisations: Candidates = REGULARISATIONS
    class_weight: Literal["balanced"] | None = None
    tolerance: Positive = 1e-4
    folds: Folds = 3

    def search(self, seed: int) -> tuple[Grid, int]:
        """Return the classifier with its candidates, and the number of folds."""
        model = SoftEllipsoidClassifier(
            self.rank,
            class_weight=self.class_weight,
            tol=self.tolerance,
            random_state=np.random.default_rng(seed),
        )
        return Grid(
            model, {"regularisation": sorted(self.regularisations, reverse=True)}
        ), self.folds


@parameter_record
class TunedLinearScorer(TunedLearner):
    """The soft ellipsoid without its quadratic term, its regularisation chosen likewise.

    f(x) = -(2 g'x + c), see :class:`~perceptron_lab.estimators.SquaredHingeClassifier`: what an
    ellipsoid gains over it is due to the ellipsoid, the rest to loss and regularisation.
    """

    regularisations: Candidates = REGULARISATIONS
    class_weight: Literal["balanced"] | None = None
    folds: Folds = 3

    def search(self, seed: int) -> tuple[Grid, int]:
        """Return the classifier with its candidates, and the number of folds."""
        model = SquaredHingeClassifier(class_weight=self.class_weight)
        return Grid(
            model, {"regularisation": sorted(self.regularisations, reverse=True)}
        ), self.folds


@parameter_record
class TunedSoftSeparation(TunedLearner):
    """Maximal separation ratio with slacks, the penalties chosen by cross-validation.

        maximise    t - P+ mean_+ xi_i - P- mean_- xi_i
        subject to  x^'E^x^ <= 1 + xi_i on positives,  x^'E^x^ >= 1 + t - xi_i on negatives,

    xi >= 0 and E^ >= 0: (7.9) of `Kharechko2009` with slacks, ranking by (8.2), see
    :class:`~perceptron_lab.estimators.SoftSeparationClassifier`.

    Figures: also ``ratio``, t as computed, where it is bounded.

    Parameters
    ----------
    components
        The number of Gram-Schmidt features, 1 or more (default 10: the time grows with its sixth
        power); None for the examples as they are, which must be dense.
    positive_penalties
        The values of P+ that are tried, each above 0 (default 3, 10 and 30); t is unbounded below
        a critical penalty, which is 1 or more.
    negative_penalties
        Of P-, each above 1 (default 2, 5 and 20).
    tolerance
        Clarabel's, between 0 and 1 (default 1e-9).
    """

    components: Components = 10
    positive_penalties: Candidates = (3.0, 10.0, 30.0)
    negative_penalties: Annotated[
        tuple[Annotated[float, Field(gt=1)], ...], Field(min_length=1), AfterValidator(distinct)
    ] = (2.0, 5.0, 20.0)
    tolerance: Proportion = 1e-9
    folds: Folds = 3

    def search(self, seed: int) -> tuple[Grid, int]:
        """Return the classifier with its candidates, and the number of folds."""
        values = {
            "positive_penalty": sorted(self.positive_penalties),
            "negative_penalty": sorted(self.negative_penalties),
        }
        return Grid(SoftSeparationClassifier(tol=self.tolerance), values), self.folds

    def figures_of(self, model: SoftSeparationClassifier) -> dict[str, float]:
        """Return t, where it is bounded."""
        ratio = model.separation_.ratio
        return {"ratio": ratio} if math.isfinite(ratio) else {}
