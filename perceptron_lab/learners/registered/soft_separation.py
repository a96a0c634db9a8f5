"""The maximal separation ratio with slacks as a learner."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic.dataclasses import dataclass

from perceptron_lab.estimators.soft_separation import SoftSeparationClassifier
from perceptron_lab.learners.extraction import CHECKED
from perceptron_lab.learners.tuning import Candidates, Folds, Grid, TunedLearner, distinct


@dataclass(frozen=True, config=CHECKED)
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

    components: Annotated[int, Field(ge=1)] | None = 10
    positive_penalties: Candidates = (3.0, 10.0, 30.0)
    negative_penalties: Annotated[
        tuple[Annotated[float, Field(gt=1)], ...], Field(min_length=1), AfterValidator(distinct)
    ] = (2.0, 5.0, 20.0)
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 1e-9
    folds: Folds = 3

    def search(self, seed: int) -> tuple[Grid, int]:
        """Return the classifier with what is tried of it, and on how many folds."""
        values = {
            "positive_penalty": self.positive_penalties,
            "negative_penalty": self.negative_penalties,
        }
        return Grid(SoftSeparationClassifier(tol=self.tolerance), values), self.folds

    def figures_of(self, model: SoftSeparationClassifier) -> dict[str, float]:
        """Return t, where it is bounded."""
        ratio = model.separation_.ratio
        return {"ratio": ratio} if math.isfinite(ratio) else {}
