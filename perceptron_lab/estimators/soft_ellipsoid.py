"""The soft-margin ellipsoid as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight

from perceptron_lab.ellipsoids.soft.ellipsoid import SoftEllipsoid
from perceptron_lab.errors import InputError
from perceptron_lab.estimators.binary import BinaryClassifier, record_of
from perceptron_lab.results import FloatArray

ClassWeight = Literal["balanced"] | Mapping[Any, float] | None


class SoftEllipsoidClassifier(BinaryClassifier):
    """Two classes by a low-rank ellipsoid with a soft margin.

        minimise over L, g, c   1/2 sum_i w_i max(0, 1 - y_i f(x_i))^2
                                + regularisation / 2 (|L L'|_F^2 + 2 |g|^2),
        f(x) = -(|L'x|^2 + 2 g'x + c),

    as :class:`~perceptron_lab.ellipsoids.soft.ellipsoid.SoftEllipsoid` describes. The larger label
    is inside. Dense or sparse examples; features of very different scales need a scaler, or
    ``whiten``.

    Parameters
    ----------
    rank
        Columns of L, 0 or more, the number of features at most; 0 is a linear classifier.
    regularisation
        >= 0.
    class_weight
        None, ``"balanced"``, or weights by label.
    whiten
        Fit in coordinates in which the examples have mean 0 and covariance I; dense examples only.
    tol
        L-BFGS ends when a step lowers the objective, at most 1/2, by no more than this.
    max_iter
        Steps of L-BFGS at most, 1 or more.
    max_seconds
        Seconds of L-BFGS at most, > 0; None for no limit, so that the same examples always have
        the same answer.
    random_state
        Of the random start.

    Attributes
    ----------
    classes_
        The two labels, sorted.
    n_features_in_
        The number of features.
    quadratic_
        -f as :class:`~perceptron_lab.ellipsoids.soft.objective.Quadratic`, in the coordinates of
        ``axes_``.
    axes_
        The whitening, or None.
    objective_
        The least objective found.
    n_iter_
        Steps of L-BFGS.
    """

    def __init__(
        self,
        rank: int = 20,
        *,
        regularisation: float = 1e-4,
        class_weight: ClassWeight = None,
        whiten: bool = False,
        tol: float = 1e-7,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.rank = rank
        self.regularisation = regularisation
        self.class_weight = class_weight
        self.whiten = whiten
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Fit the ellipsoid.

        Parameters
        ----------
        X
            Examples, dense or sparse, shape ``(m, features)``.
        y
            Labels of two classes, shape ``(m,)``.
        sample_weight
            Weights >= 0, shape ``(m,)``.

        Raises
        ------
        ValueError
            If examples or labels are not as described, or a parameter is out of its range.
        """
        data, positive = self._learned(X, y)
        weights = _check_sample_weight(sample_weight, data, dtype=np.float64)
        if self.class_weight is not None:
            weights = weights * self._class_weights(positive, weights)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        model = record_of(
            SoftEllipsoid,
            {"tolerance": "tol", "max_iterations": "max_iter"},
            rank=self.rank,
            regularisation=self.regularisation,
            whiten=self.whiten,
            tolerance=self.tol,
            max_iterations=self.max_iter,
            max_seconds=self.max_seconds,
            seed=int(seed),
        )
        fitted = model.fit(data, positive, weights)
        self.quadratic_, self.axes_ = fitted.quadratic, fitted.axes
        self.objective_, self.n_iter_ = fitted.value, fitted.iterations
        if not fitted.converged:
            warnings.warn(
                f"L-BFGS ended after {fitted.iterations} steps without converging; raise max_iter, "
                "max_seconds or regularisation, scale the features, or set whiten=True",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _class_weights(self, positive: npt.NDArray[np.bool_], weights: FloatArray) -> FloatArray:
        """Return the factor of each example; balanced ones are of the weights, not the counts."""
        place = positive.astype(np.intp)
        if self.class_weight == "balanced":
            sums = np.bincount(place, weights, minlength=2)
            factors = 1.0 / np.maximum(sums, np.finfo(float).tiny)[place]
        elif isinstance(self.class_weight, Mapping):
            factors = compute_sample_weight(dict(self.class_weight), self.classes_[place])
        else:
            raise InputError(
                f"class_weight={self.class_weight!r}; allowed: None, 'balanced', or label -> weight"
            )
        return np.asarray(factors, dtype=np.float64)

    def _sparse_formats(self) -> str | Literal[False]:
        """Return ``"csr"``, unless the examples are whitened, which makes them dense."""
        return False if self.whiten else "csr"

    def decision_function(self, X: Any) -> FloatArray:
        """Return f(x) of every example, shape ``(m,)``: positive inside the ellipsoid."""
        data = self._new(X)
        return -self.quadratic_.values(self.axes_.of(data) if self.axes_ else data)
