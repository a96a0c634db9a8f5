"""Gram-Schmidt kernel features as a scikit-learn transformer (chapter 8 of `Kharechko2009`)."""

from __future__ import annotations

from dataclasses import field
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from perceptron_lab.cones.operators.kernels import Linear, Polynomial, Rbf
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.estimators.learners.partial_cholesky import (
    FeatureKernel,
    PartialCholesky,
    computed_columns,
    given_columns,
    kernel_values,
    partial_cholesky,
)
from perceptron_lab.estimators.validation import with_parameters
from perceptron_lab.numerics.input_checks import refuse_rounded, signs_of
from perceptron_lab.numerics.sparse_arrays import dense_array

KernelName = Literal["linear", "poly", "rbf", "precomputed"]

LARGEST_BIAS = 10.0
"""B of the thesis: the inverse fraction of positives, but this at most."""


@with_parameters
class GramSchmidtFeatures(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Gram-Schmidt kernel features as a scikit-learn transformer.

    Algorithms 1 and 2 of chapter 8 of `Kharechko2009`, as :mod:`.partial_cholesky` states them.

    Parameters
    ----------
    n_components
        k >= 1, the number of features at most.
    kernel
        ``"linear"`` x'z, ``"poly"`` (gamma x'z + coef0)^degree, ``"rbf"``
        exp(-gamma norm(x - z)^2), or ``"precomputed"``: ``fit`` receives K and ``transform`` the
        kernel of new examples (rows) with the training examples (columns).
    gamma
        > 0; None stands for 1 / (number of columns).
    degree, coef0
        Of ``"poly"``: an integer >= 1; >= 0.
    bias
        B > 0, the factor of positive examples' residuals in the choice of pivots.
        ``"balanced"`` is the thesis's choice min(10, m / number of positives). With 1.0 labels
        have no effect and may be left out.
    pivot_start
        0 or more: which of the examples that are tied for the first pivot is taken, counted in the
        order of the rows, modulo their number.

    Attributes
    ----------
    n_components_
        The number of features: ``n_components``, or the numerical rank of K if that is less.
    pivots_
        Rows of the pivots in the training examples, shape ``(n_components_,)``.
    pivot_features_
        Features of the pivots, lower triangular, shape ``(n_components_, n_components_)``.
    pivot_rows_
        The pivots themselves; None for a precomputed kernel.
    residuals_
        n_i, the squared distance of each training example from the pivots' span, shape ``(m,)``.
    n_first_ties_
        How many examples were tied for the first pivot.
    bias_
        B.
    """

    n_components: int = field(default=30, kw_only=False)
    kernel: KernelName = "linear"
    gamma: float | None = None
    degree: int = 2
    coef0: float = 1.0
    bias: float | Literal["balanced"] = "balanced"
    pivot_start: int = 0

    def fit(self, X: npt.ArrayLike | Examples, y: npt.ArrayLike | None = None) -> Self:
        """Choose the pivots.

        Parameters
        ----------
        X
            Examples, dense or sparse, shape ``(m, columns)``; K for a precomputed kernel.
        y
            Labels of two classes, the larger one positive; needed unless ``bias`` is 1.
        """
        self._train(X, y)
        return self

    def fit_transform(
        self, X: npt.ArrayLike | Examples, y: npt.ArrayLike | None = None
    ) -> FloatArray:
        """Choose the pivots and return the features of the training examples, as ``fit``."""
        return self._train(X, y).features

    def transform(self, X: npt.ArrayLike | Examples) -> FloatArray:
        """Return the features of examples (Algorithm 2), shape ``(len(X), n_components_)``."""
        check_is_fitted(self)
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        refuse_rounded(X)
        if self.kernel == "precomputed":
            values = dense_array(rows[:, self.pivots_])
        else:
            values = kernel_values(self._kernel(), rows, self.pivot_rows_)
        return np.asarray(
            solve_triangular(self.pivot_features_, values.T, lower=True).T, dtype=np.float64
        )

    def _train(self, examples: Any, labels: npt.ArrayLike | None) -> PartialCholesky:
        """Choose the pivots, set the attributes, return the factorisation."""
        fewest = 1 if self._without_labels() else 2
        rows = validate_data(
            self, examples, accept_sparse="csr", dtype=np.float64, ensure_min_samples=fewest
        )
        refuse_rounded(examples)
        for name, least in (("n_components", 1), ("pivot_start", 0)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise InputError(f"{name}={value!r}; allowed: a whole number, {least} or more")
        bias, given = self._bias(labels, rows.shape[0]), self.kernel == "precomputed"
        columns = given_columns(rows) if given else computed_columns(self._kernel(), rows)
        found = partial_cholesky(*columns, self.n_components, bias, self.pivot_start)
        self.pivots_ = found.pivots
        self.pivot_rows_: Any = None if given else dense_array(rows[found.pivots])
        self.pivot_features_ = np.ascontiguousarray(found.features[found.pivots])
        self.residuals_ = found.residuals
        self.n_first_ties_ = found.first_ties
        self.n_components_ = self._n_features_out = len(found.pivots)
        return found

    def _bias(self, labels: npt.ArrayLike | None, count: int) -> FloatArray:
        """Return the factor of each example's residual; set ``bias_``."""
        balanced = isinstance(self.bias, str) and self.bias == "balanced"
        number = isinstance(self.bias, Real) and not isinstance(self.bias, bool)
        if not balanced and not (number and 0.0 < float(self.bias) < np.inf):
            raise InputError(f"bias={self.bias!r}; allowed: 'balanced', or a number above 0")
        if self._without_labels():
            self.bias_ = 1.0
            return np.ones(count)
        if labels is None:
            raise InputError(
                f"bias={self.bias!r} requires y to be passed, but the target y is None; give "
                "labels, or bias=1.0 for pivots without regard to them"
            )
        positive = signs_of(labels, count) > 0
        inverse = count / float(positive.sum())
        self.bias_ = min(LARGEST_BIAS, inverse) if balanced else float(self.bias)
        return np.where(positive, self.bias_, 1.0)

    def _without_labels(self) -> bool:
        return not isinstance(self.bias, str) and self.bias == 1.0

    def _kernel(self) -> FeatureKernel:
        try:
            if self.kernel == "linear":
                return Linear()
            if self.kernel == "poly":
                return Polynomial(degree=self.degree, coef0=self.coef0, gamma=self.gamma)
            if self.kernel == "rbf":
                return Rbf(gamma=self.gamma)
        except InputError as error:
            raise InputError(f"kernel={self.kernel!r}: {error}") from None
        raise InputError(f"kernel={self.kernel!r}; allowed: 'linear', 'poly', 'rbf', 'precomputed'")

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn to expect sparse rows, doubles, and labels of two classes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.target_tags.required = not self._without_labels()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags
