"""The linear function with the loss and the penalty of the soft ellipsoid."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.refusals import Count, Positive
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.estimators.binary import BinaryClassifier, ClassWeight
from perceptron_lab.problems.ellipsoids.soft.squared_hinge import SquaredHinge, minimised


class SquaredHingeClassifier(BinaryClassifier):
    """Two classes by a linear function: the soft ellipsoid without its quadratic term.

        minimise 1/2 sum_i w_i max(0, 1 - y_i f(x_i))^2 + regularisation norm(g)^2 over g and c,
        f(x) = -(2 g'x + c),  sum_i w_i = 1.

    What an ellipsoid gains over it is due to the ellipsoid; the rest is due to loss and penalty.
    The problem is convex and solved by Newton's method. Dense or sparse examples.

    Parameters
    ----------
    regularisation
        > 0.
    class_weight
        None: all w_i equal; ``"balanced"``: half of the weight in each class; or label -> factor
        > 0 of the equal weights.
    tol
        The norm of the gradient at which it ends, > 0; much less than the regularisation, which is
        about the size of the minimum on separable examples.
    max_iter
        Newton steps at most, 1 or more.

    Attributes
    ----------
    coef_, intercept_
        -2 g, shape ``(1, n_features_in_)``, and -c, shape ``(1,)``.
    objective_
        The minimum.

    Examples
    --------
    >>> from perceptron_lab.estimators import SquaredHingeClassifier
    >>> SquaredHingeClassifier().fit([[0.0], [1.0], [3.0]], [0, 0, 1]).predict([[0.5], [4.0]])
    array([0, 1])
    """

    takes_sparse = True

    def __init__(
        self,
        *,
        regularisation: Positive = 1e-4,
        class_weight: ClassWeight = None,
        tol: Positive = 1e-10,
        max_iter: Count = 1000,
    ) -> None:
        self.regularisation = regularisation
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: npt.ArrayLike | Examples, y: npt.ArrayLike) -> Self:
        """Find the function."""
        data, positive = self._learned(X, y)
        if self.class_weight is None:
            # 1 / m as stored results have it: rounded once more, in the share of each class
            share = positive.mean()
            weights = np.where(positive, share / positive.sum(), (1.0 - share) / (~positive).sum())
        else:
            weights = self._shares(np.ones(len(positive)), positive, self.class_weight)
        problem = SquaredHinge(data, positive, weights, self.regularisation)
        at, steps, converged = minimised(problem, self.tol, self.max_iter)
        self.coef_, self.intercept_ = at[None, :-1], at[-1:]
        self.objective_ = problem.value_and_gradient(at)[0]
        self._ended(
            steps,
            converged,
            f"Newton's method ended after {steps} steps with a gradient above tol; raise max_iter, "
            "tol or regularisation, or scale the features",
        )
        return self

    def decision_function(self, X: npt.ArrayLike | Examples) -> FloatArray:
        """Return f(x) of every example, shape ``(m,)``: positive for ``classes_[1]``."""
        data = self._new(X)
        return np.asarray(data @ self.coef_[0] + float(self.intercept_[0]), dtype=np.float64)
