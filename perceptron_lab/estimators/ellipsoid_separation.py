"""Ellipsoids of maximal separation ratio, hard and with slacks, as scikit-learn classifiers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field
from sklearn.exceptions import ConvergenceWarning

from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.refusals import Count, Positive, Proportion
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.core.time_limit import time_limit
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.estimators.binary import BinaryClassifier, BoolArray
from perceptron_lab.estimators.validation import (
    Seconds,
    with_parameters,
)
from perceptron_lab.estimators.weights import repetitions
from perceptron_lab.problems.ellipsoids.hard.separation import Separation, can_rank
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import SolverName, maximal_separation
from perceptron_lab.problems.ellipsoids.hard.solution import LimitReached
from perceptron_lab.problems.ellipsoids.soft.separation_ratio import soft_separation

Inseparable = Literal["central-path", "solver", "error"]


@with_parameters
class EllipsoidSeparationClassifier(BinaryClassifier):
    """Two classes by the ellipsoid of maximal separation ratio (`Kharechko2009`, chapters 7, 8).

        f(x) = ((1 + sqrt(1 + t)) / 2)^2 - x^'E^x^,   x^ = (x, 1),                          (8.2)

    with t and E^ of (7.9), see
    :func:`~perceptron_lab.problems.ellipsoids.hard.separation_ratio.maximal_separation`. The larger
    label is inside. There are no slacks; ``status_`` states the case:

    - FEASIBLE: an ellipsoid is proved to separate the classes, and ``predict`` gives the labels of
      all examples;
    - UNBOUNDED: no example of the smaller label lies in the affine hull of the larger one's, as
      generically if there are no more of those than features; f falls with the squared distance
      from that hull;
    - UNVERIFIED: nothing is proved; or an ellipsoid separates the classes (``separation_``), but
      only by the rounding errors of columns that depend on others, which is no rule for new
      examples. Then f ranks as below, with a ConvergenceWarning;
    - else no ellipsoid separates them (t = 0, and E^ is empty): f ranks by the direction in which
      the central path of (7.9) approaches that solution, or as ``inseparable`` says.

    Parameters
    ----------
    inseparable
        What to do with classes that no ellipsoid separates: ``"central-path"``; ``"solver"`` ranks
        by the solver's own matrix, which is its error; ``"error"``: ``fit`` fails.
    solver
        Of (7.9), a name that ``maximal_separation`` knows; ``"auto"`` chooses by size.
    whiten
        Whether to solve in coordinates in which the examples are white, so that affine maps change
        nothing.
    tol
        The solver's tolerance, in (0, 1): of the bracket of t relative to t, or to 1 where t is 0.
    max_iter
        Iterations of the solver at most, 1 or more, and steps of the central path.
    max_seconds
        Seconds of both at most, > 0; None for no limit, so that the same examples always have the
        same answer.
    random_state
        For the common signature: nothing is drawn.

    Attributes
    ----------
    status_
        The case as above, for ``predict``.
    separation_
        t, E^, the weights and their proofs; its status refers to the examples as doubles.

    Examples
    --------
    Points near the origin against points far from it, which no line separates:

    >>> import numpy as np
    >>> near = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    >>> X, y = np.vstack([near, 4.0 + near, near - 4.0]), np.repeat([1, 0, 0], 20)
    >>> classifier = EllipsoidSeparationClassifier().fit(X, y)
    >>> classifier.status_.value, classifier.score(X, y)
    ('FEASIBLE', 1.0)
    """

    inseparable: Inseparable = "central-path"
    solver: SolverName = "auto"
    whiten: bool = True
    tol: Proportion = 1e-9
    max_iter: Count = 1000
    max_seconds: Seconds = None
    random_state: int | np.random.RandomState | np.random.Generator | None = None

    def _fit(self, data: Any, positive: BoolArray, weights: FloatArray) -> None:
        rows = repetitions(weights)
        data, positive = data[rows], positive[rows]
        separation = partial(
            maximal_separation,
            data[positive],
            data[~positive],
            tolerance=self.tol,
            whiten=self.whiten,
            max_iterations=self.max_iter,
            max_seconds=self.max_seconds,
        )
        # One limit for both solvers: the central path has the time that the first one leaves.
        with time_limit(math.inf if self.max_seconds is None else self.max_seconds):
            fitted = separation(solver=self.solver)
            self._set_convergence(
                fitted.iterations,
                fitted.complete,
                f"the separation ratio has not reached tol after {fitted.iterations} iterations "
                f"({fitted.message}); raise tol, max_iter or max_seconds",
            )
            if fitted.complete and not (self.inseparable == "solver" or can_rank(fitted)):
                fitted = self._ranking_separation(fitted, separation)
        self.separation_, self.status_ = fitted, fitted.status
        self._compare_with_proof(data, positive)

    def _compare_with_proof(self, data: FloatArray, positive: BoolArray) -> None:
        """Set UNVERIFIED if f misclassifies examples that are proved to be separated.

        A ConvergenceWarning reports this, or that nothing is proved.
        """
        if self.status_ is Status.UNVERIFIED and self.converged_:
            warnings.warn(
                f"{self.separation_.message}; scale the features, drop columns that depend on "
                "others, or use SoftEllipsoidClassifier",
                ConvergenceWarning,
                stacklevel=4,
            )
        # Only these statuses promise that predict reproduces the labels.
        if self.status_ not in (Status.FEASIBLE, Status.UNBOUNDED):
            return
        misclassified = np.flatnonzero((self.separation_.decision_values(data) > 0.0) != positive)
        if not len(misclassified):
            return
        reason = "the margin is smaller than the rounding errors of predict"
        remedy = "scale the features"
        if self.separation_.residual_ellipsoid is not None or self.status_ is Status.UNBOUNDED:
            reason = (
                "it uses the rounding errors of columns that depend on others, which is no rule "
                "for new examples"
            )
            remedy = "drop the dependent columns"
        self.status_ = Status.UNVERIFIED
        warnings.warn(
            f"{self.separation_.message}; but predict gives {len(misclassified)} training examples "
            f"another label (the first is row {misclassified[0]}): {reason}; {remedy}, or use "
            "SoftEllipsoidClassifier",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _ranking_separation(
        self, fitted: Separation, separation: Callable[..., Separation]
    ) -> Separation:
        """Return the limit of the central path, which ranks classes that no ellipsoid separates."""
        if self.inseparable == "error":
            raise InputError(
                f"inseparable='error': {fitted.message}; use slacks (SoftEllipsoidClassifier), or "
                "inseparable='central-path'"
            )
        try:
            ranking = separation(solver="central-path")
        except NumericalError as error:
            if self.max_seconds is not None and isinstance(error, LimitReached):
                # the proofs about the classes are valid without a ranking
                warnings.warn(f"{fitted.message}; {error}", ConvergenceWarning, stacklevel=4)
                self.converged_ = False
                return fitted
            raise NumericalError(
                f"no separating ellipsoid was found ({fitted.message}); the central path has no "
                "limit to rank the classes by, which happens if they only touch; use slacks "
                "(SoftEllipsoidClassifier)"
            ) from error
        self.n_iter_, self.converged_ = ranking.iterations, ranking.complete
        return ranking

    def decision_function(self, X: npt.ArrayLike | Examples) -> FloatArray:
        """Return f(x) of every example, shape ``(m,)``: positive inside the ellipsoid."""
        data = self._checked_examples(X)  # raises an error if not fitted
        return self.separation_.decision_values(data)


@with_parameters
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

    positive_penalty: Positive = 10.0
    negative_penalty: Annotated[float, Field(gt=1)] = 10.0
    tol: Proportion = 1e-9

    def _fit(self, data: Any, positive: BoolArray, weights: FloatArray) -> None:
        rows = repetitions(weights)
        data, positive = data[rows], positive[rows]
        self.separation_ = soft_separation(
            data[positive],
            data[~positive],
            # Means of slacks instead of sums: the penalties then do not depend on the numbers of
            # examples.
            positive_penalty=self.positive_penalty / int(positive.sum()),
            negative_penalty=self.negative_penalty / int((~positive).sum()),
            tolerance=self.tol,
        )
        self.status_, self.n_iter_ = self.separation_.status, self.separation_.iterations
        self.converged_ = True  # Clarabel reaches tol or fails

    def decision_function(self, X: npt.ArrayLike | Examples) -> FloatArray:
        """Return f(x) of every example, shape ``(m,)``: positive inside the middle ellipsoid."""
        data = self._checked_examples(X)  # raises an error if not fitted
        return self.separation_.decision_values(data)
