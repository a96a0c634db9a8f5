"""The soft-margin ellipsoid, and the linear function with its loss, as scikit-learn classifiers."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from perceptron_lab.core.refusals import Count, Positive
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.estimators.binary import BinaryClassifier, BoolArray, ClassWeight
from perceptron_lab.estimators.validation import Seconds, generator_of, with_parameters
from perceptron_lab.estimators.weights import checked_weights
from perceptron_lab.problems.ellipsoids.ellipsoid import WhiteCoordinates
from perceptron_lab.problems.ellipsoids.soft.descent import (
    SquaredHinge,
    minimise,
    minimise_linear,
)
from perceptron_lab.problems.ellipsoids.soft.low_rank import (
    Quadratic,
    SoftObjective,
    SoftOptimality,
    certify,
)


@with_parameters
class SoftEllipsoidClassifier(BinaryClassifier):
    """Two classes by a low-rank ellipsoid with a soft margin.

        minimise over L, g, c   1/2 sum_i w_i max(0, 1 - y_i f(x_i))^2
                                + regularisation / 2 (|L L'|_F^2 + 2 |g|^2),   sum_i w_i = 1,
        f(x) = -(|L'x|^2 + 2 g'x + c).

    For data that no ellipsoid separates: a margin fixed at 1 with slack in place of the separation
    ratio of `Kharechko2009`. {f >= 0} is an ellipsoid, degenerate where L has no full row rank. In
    A = L L' the problem is convex, so that a low-rank minimum without a direction of negative
    curvature in A is the global one; :meth:`certify` computes a duality gap. The solver is Newton's
    method in a trust region from a small random L. Each conjugate gradient iteration of a step
    costs two products of the examples within their margins with ``rank + 1`` vectors. Fits that
    take more than 200 steps, of nearly separated examples with little regularisation, follow a
    sequence of falling regularisations.

    Dense or sparse examples; features of very different scales need a scaler, or ``whiten``.

    Parameters
    ----------
    rank
        Columns of L, 0 or more, the number of features at most; 0 is a linear classifier.
    regularisation
        >= 0. On the ten categories of Table 8.1, rows of norm 1, cross-validation chooses 1e-9 to
        1e-3 with 30 features, 1e-7 to 1e-3 with 200, 1e-4 to 1e-3 with all words.
    class_weight
        None, ``"balanced"`` (each class has half of the weight), or weights by label.
    whiten
        Fit in coordinates in which the weighted examples have mean 0 and covariance I (directions
        in which they do not vary are left out), which makes f invariant to affine maps; dense
        examples only.
    tol
        Relative tolerance of the objective: the fit ends when three successive Newton steps, and a
        step along negative curvature in A, gain no more.
    max_iter
        Newton steps at most, 1 or more.
    max_seconds
        Seconds of steps at most, > 0; None for no limit, so that the same examples always have the
        same answer.
    random_state
        Of the random start; a ``numpy.random.Generator`` draws it directly.
    warm_start
        Whether the fit starts at the ellipsoid of the last fit, of the same features and rank
        (default False).

    Attributes
    ----------
    quadratic_
        -f as :class:`~perceptron_lab.problems.ellipsoids.soft.low_rank.Quadratic`, in the
        coordinates of ``axes_``.
    axes_
        The whitening, or None.
    objective_
        The least objective found.

    References
    ----------
    `Kharechko2009`, sections 8.4 and 9 (soft margins as an open problem), equation (8.2).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, species = load_iris(return_X_y=True)
    >>> classifier = SoftEllipsoidClassifier(rank=2).fit(X, species == 1)
    >>> classifier.score(X, species == 1) > 0.95
    True
    """

    rank: Annotated[int, Field(ge=0)] = field(default=20, kw_only=False)
    regularisation: Annotated[float, Field(ge=0)] = 1e-4
    class_weight: ClassWeight = None
    whiten: bool = False
    tol: Positive = 1e-7
    max_iter: Count = 10_000
    max_seconds: Seconds = None
    random_state: int | np.random.RandomState | np.random.Generator | None = 0
    warm_start: bool = False

    def _fit(self, data: Any, positive: BoolArray, weights: FloatArray) -> None:
        weights = self._normalised_weights(weights, positive, self.class_weight)
        self.axes_ = WhiteCoordinates.fitted(data, weights) if self.whiten else None
        # The random start breaks the symmetry of L: at L = 0 its gradient vanishes.
        objective = self._objective(data, positive, weights)
        start = getattr(self, "quadratic_", None) if self.warm_start else None
        if start is None or start.factor.shape != (data.shape[1], min(self.rank, data.shape[1])):
            start = Quadratic.random(objective, self.rank, generator_of(self.random_state))
        minimum = minimise(
            objective,
            start,
            tolerance=self.tol,
            steps=self.max_iter,
            seconds=self.max_seconds,
        )
        self.quadratic_, self.objective_ = minimum.quadratic, minimum.value
        self._set_convergence(
            minimum.steps,
            minimum.converged,
            f"Newton's method has not converged after {minimum.steps} steps; raise max_iter, "
            "max_seconds or regularisation, scale the features, or set whiten=True",
        )

    def decision_function(self, X: npt.ArrayLike | Examples) -> FloatArray:
        """Return f(x) of every example, shape ``(m,)``: positive inside the ellipsoid."""
        data = self._checked_examples(X)
        return -self.quadratic_.values(self.axes_.transform(data) if self.axes_ else data)

    def certify(
        self,
        X: npt.ArrayLike | Examples,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> SoftOptimality:
        """Return the duality gap: a bound of the objective's distance from the best of any rank.

        Arguments are those of :meth:`fit`; the regularisation must be above 0.
        """
        data, positive = self._checked_examples(X), np.asarray(y) == self.classes_[1]
        weights = checked_weights(sample_weight, len(positive))
        weights = self._normalised_weights(weights, positive, self.class_weight)
        return certify(self._objective(data, positive, weights), self.quadratic_)

    def _objective(self, data: Examples, positive: BoolArray, weights: FloatArray) -> SoftObjective:
        rows = self.axes_.transform(data) if self.axes_ else data
        return SoftObjective(rows, np.where(positive, 1.0, -1.0), weights, self.regularisation)

    @property
    def takes_sparse(self) -> bool:
        """Whether examples may be sparse: whitening makes them dense."""
        return not self.whiten


@with_parameters
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
        None: w_i in proportion to the sample weights; ``"balanced"``: half of the weight in each
        class; or label -> factor > 0 of these weights.
    tol
        The norm of the gradient at which it ends, > 0; much less than the regularisation, which is
        about the size of the minimum on separable examples.
    max_iter
        Newton steps at most, 1 or more.
    warm_start
        Whether the fit starts at the function of the last fit, of the same features (default
        False).

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

    regularisation: Positive = 1e-4
    class_weight: ClassWeight = None
    tol: Positive = 1e-10
    max_iter: Count = 1000
    warm_start: bool = False

    def _fit(self, data: Any, positive: BoolArray, weights: FloatArray) -> None:
        if self.class_weight is None and (weights == 1.0).all():
            # 1 / m as stored results have it: rounded once more, in the share of each class
            share = positive.mean()
            weights = np.where(positive, share / positive.sum(), (1.0 - share) / (~positive).sum())
        else:
            weights = self._normalised_weights(weights, positive, self.class_weight)
        start: FloatArray | None = getattr(self, "_point", None) if self.warm_start else None
        if start is not None and len(start) != data.shape[1] + 1:
            start = None
        problem = SquaredHinge(data, positive, weights, self.regularisation)
        at, steps, converged = minimise_linear(problem, self.tol, self.max_iter, start)
        self._point, self.coef_, self.intercept_ = at, at[None, :-1], at[-1:]
        self.objective_ = problem.value_and_gradient(at)[0]
        self._set_convergence(
            steps,
            converged,
            f"Newton's method has not converged: after {steps} steps the gradient is above tol; "
            "raise max_iter, tol or regularisation, or scale the features",
        )

    def decision_function(self, X: npt.ArrayLike | Examples) -> FloatArray:
        """Return f(x) of every example, shape ``(m,)``: positive for ``classes_[1]``."""
        data = self._checked_examples(X)
        return np.asarray(data @ self.coef_[0] + float(self.intercept_[0]), dtype=np.float64)
