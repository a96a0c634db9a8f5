"""The linear function with the loss and the penalty of the soft ellipsoid."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_sample_weight

from perceptron_lab.datasets.problem import Examples
from perceptron_lab.ellipsoids.soft.squared_hinge import SquaredHinge, minimised
from perceptron_lab.errors import InputError
from perceptron_lab.estimators.binary import BinaryClassifier
from perceptron_lab.results import FloatArray


class SquaredHingeClassifier(BinaryClassifier):
    """Two classes by a linear function: the soft ellipsoid without its quadratic term.

        minimise 1/2 sum_i w_i max(0, 1 - y_i f(x_i))^2 + regularisation norm(g)^2 over g and c,
        f(x) = -(2 g'x + c),  sum_i w_i = 1.

    What an ellipsoid gains over it is due to the ellipsoid; the rest is due to loss and penalty.
    The problem is convex and solved by Newton's method, see
    :mod:`~perceptron_lab.ellipsoids.soft.squared_hinge`. Dense or sparse examples.

    Parameters
    ----------
    regularisation
        > 0.
    class_weight
        None: all w_i equal. ``"balanced"``: each class has half of the weight. A mapping of labels
        to factors > 0 of the equal weights of their examples.
    tol
        The norm of the gradient at which it ends, > 0; much less than the regularisation, which is
        about the size of the minimum on separable examples.
    max_iter
        Newton steps at most, 1 or more.

    Attributes
    ----------
    classes_
        The two labels, sorted.
    n_features_in_
        The number of features.
    coef_, intercept_
        -2 g, shape ``(1, n_features_in_)``, and -c, shape ``(1,)``.
    objective_
        The minimum.
    n_iter_, converged_
        Newton steps; whether the gradient came down to ``tol``.

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
        regularisation: Annotated[float, Field(gt=0)] = 1e-4,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        tol: Annotated[float, Field(gt=0)] = 1e-10,
        max_iter: Annotated[int, Field(ge=1)] = 1000,
    ) -> None:
        self.regularisation = regularisation
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: npt.ArrayLike | Examples, y: npt.ArrayLike) -> Self:
        """Find the function."""
        data, positive = self._learned(X, y)
        if isinstance(self.class_weight, Mapping):
            labels = self.classes_[positive.astype(np.intp)]
            weights = compute_sample_weight(dict(self.class_weight), labels)
            if weights.min() <= 0.0:
                raise InputError(
                    f"class_weight received {dict(self.class_weight)}; give each label a finite "
                    "number above 0"
                )
            weights = weights / weights.sum()
        else:
            share = positive.mean() if self.class_weight is None else 0.5
            weights = np.where(positive, share / positive.sum(), (1.0 - share) / (~positive).sum())
        problem = SquaredHinge(data, positive, weights, self.regularisation)
        at, self.n_iter_, self.converged_ = minimised(problem, self.tol, self.max_iter)
        self.coef_, self.intercept_ = at[None, :-1], at[-1:]
        self.objective_ = problem.value_and_gradient(at)[0]
        if not self.converged_:
            warnings.warn(
                f"Newton's method ended after {self.n_iter_} steps with a gradient above tol; "
                "raise max_iter, tol or regularisation, or scale the features",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def decision_function(self, X: npt.ArrayLike | Examples) -> FloatArray:
        """Return f(x) of every example, shape ``(m,)``: positive for ``classes_[1]``."""
        data = self._new(X)
        return np.asarray(data @ self.coef_[0] + float(self.intercept_[0]), dtype=np.float64)
