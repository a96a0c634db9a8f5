"""The maximal separation ratio with slacks as a scikit-learn classifier."""

from __future__ import annotations

from typing import Annotated, Self

import numpy.typing as npt
from pydantic import Field

from perceptron_lab.core.refusals import Positive, Proportion
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.estimators.binary import BinaryClassifier
from perceptron_lab.problems.ellipsoids.soft.separation_ratio import soft_separation


class SoftSeparationClassifier(BinaryClassifier):
    """Two classes by two concentric ellipsoids of maximal separation ratio, with slacks.

        maximise    t - P+ mean_+ xi_i - P- mean_- xi_i
        subject to  x^'E^x^ <= 1 + xi_i on positives,  x^'E^x^ >= 1 + t - xi_i on negatives,

    xi >= 0 and E^ >= 0: (7.9) of `Kharechko2009` with slacks, see
    :func:`~perceptron_lab.problems.ellipsoids.soft.separation_ratio.soft_separation`, where C+ = P+
    / m+ and C- = P- / m-. About 1 / P- of the negatives have slack at most. f is (8.2). The larger
    label is inside. Where no t is the largest (P+ below a critical penalty, which is 1 or more, or
    too few negatives in the affine hull of the positives) f ranks by the direction in which t
    grows.

    Parameters
    ----------
    positive_penalty, negative_penalty
        P+ > 0 and P- > 1, below which t grows for nothing.
    tol
        Clarabel's tolerance, of the gap and of feasibility, in (0, 1).

    Attributes
    ----------
    status_
        MARGIN_BOUNDED, or UNBOUNDED.
    separation_
        t, E^, the weights, and the bracket of the optimum as computed.

    Examples
    --------
    >>> from perceptron_lab.estimators import SoftSeparationClassifier
    >>> SoftSeparationClassifier().fit([[0.0], [1.0], [3.0], [5.0]], [0, 1, 1, 0]).predict([[2.0]])
    array([1])
    """

    def __init__(
        self,
        *,
        positive_penalty: Positive = 10.0,
        negative_penalty: Annotated[float, Field(gt=1)] = 10.0,
        tol: Proportion = 1e-9,
    ) -> None:
        self.positive_penalty = positive_penalty
        self.negative_penalty = negative_penalty
        self.tol = tol

    def fit(self, X: npt.ArrayLike | Examples, y: npt.ArrayLike) -> Self:
        """Find the ellipsoids.

        Raises
        ------
        NumericalError
            If Clarabel gives up, as it may next to the critical penalty.
        """
        data, positive = self._learned(X, y)
        self.separation_ = soft_separation(
            data[positive],
            data[~positive],
            positive_penalty=self.positive_penalty / int(positive.sum()),
            negative_penalty=self.negative_penalty / int((~positive).sum()),
            tolerance=self.tol,
        )
        self.status_, self.n_iter_ = self.separation_.status, self.separation_.iterations
        self.converged_ = True  # Clarabel reaches tol or fails
        return self

    def decision_function(self, X: npt.ArrayLike | Examples) -> FloatArray:
        """Return f(x) of every example, shape ``(m,)``: positive inside the middle ellipsoid."""
        data = self._new(X)  # which says so where nothing is fitted
        return self.separation_.decision_values(data)
