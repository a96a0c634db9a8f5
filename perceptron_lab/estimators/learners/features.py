"""Gram-Schmidt kernel features as a scikit-learn transformer (chapter 8 of `Kharechko2009`).

They come from a partial Cholesky factorisation of a kernel matrix, with pivots biased to positive
examples. K = (k(d_i, d_j)), m x m, is approximated by F F', F of shape (m, k). The residuals
n_i = K_ii - (F F')_ii start at n_i = K_ii. For j = 1 .. k (Algorithm 1, with corrected
indices):

    i_j = argmax_i b_i,  b_i = B n_i for a positive example, n_i for a negative one
    F_ij = (k(d_i, d_{i_j}) - sum_{t<j} F_it F_{i_j t}) / sqrt(n_{i_j})    for every i
    n_i <- n_i - F_ij^2                                                      for every i

with the square root of n_{i_j} taken before the update. A new example d has the features
(Algorithm 2, which uses its own earlier features)

    f_j = (k(d, d_{i_j}) - sum_{t<j} f_t F_{i_j t}) / sqrt(n_{i_j}),

one forward substitution with the triangular matrix of the pivots' features. These are the
coordinates of the examples' images in an orthonormal basis of the pivots' span: F F' equals K in
the pivots' rows and columns, and n_i is the squared distance of an image from that span.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import ValidationInfo, field_validator
from scipy.linalg import solve_triangular
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from perceptron_lab.cones.operators.kernels import Linear, Polynomial, Rbf
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.dataset import Defaults, defaulted_with
from perceptron_lab.datasets.problem import Examples, Task
from perceptron_lab.estimators.learners.partial_cholesky import (
    FeatureKernel,
    PartialCholesky,
    computed_columns,
    kernel_values,
    partial_cholesky,
    precomputed_columns,
)
from perceptron_lab.estimators.validation import with_parameters
from perceptron_lab.numerics.class_labels import signs_of
from perceptron_lab.numerics.input_checks import refuse_rounded
from perceptron_lab.numerics.sparse_arrays import dense_array

KernelName = Literal["linear", "poly", "rbf", "precomputed"]

LARGEST_BIAS = 10.0
"""Upper limit of the bias B, which is the inverse fraction of positives (chapter 8)."""


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
        Index of the first pivot among the tied examples, in the order of the rows, modulo their
        number; 0 or more.

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
        The number of examples tied for the first pivot.
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
        self._factorise(X, y)
        return self

    def fit_transform(
        self, X: npt.ArrayLike | Examples, y: npt.ArrayLike | None = None
    ) -> FloatArray:
        """Choose the pivots and return the features of the training examples, as ``fit``."""
        return self._factorise(X, y).features

    def transform(self, X: npt.ArrayLike | Examples) -> FloatArray:
        """Return the features of examples (Algorithm 2), shape ``(len(X), n_components_)``."""
        check_is_fitted(self)
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        refuse_rounded(X)
        if self.kernel == "precomputed":
            values = dense_array(rows[:, self.pivots_])
        else:
            values = kernel_values(self._kernel(), rows, self.pivot_rows_)
        # Algorithm 2 as one forward substitution for all examples.
        return np.asarray(
            solve_triangular(self.pivot_features_, values.T, lower=True).T, dtype=np.float64
        )

    def _factorise(
        self, examples: npt.ArrayLike | Examples, labels: npt.ArrayLike | None
    ) -> PartialCholesky:
        """Factorise the kernel matrix, set the attributes, and return the factorisation."""
        fewest = 1 if self._ignores_labels() else 2
        rows = validate_data(
            self, examples, accept_sparse="csr", dtype=np.float64, ensure_min_samples=fewest
        )
        refuse_rounded(examples)
        for name, least in (("n_components", 1), ("pivot_start", 0)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise InputError(f"{name}={value!r}; allowed: a whole number, {least} or more")
        bias, precomputed = self._bias(labels, rows.shape[0]), self.kernel == "precomputed"
        columns = (
            precomputed_columns(rows) if precomputed else computed_columns(self._kernel(), rows)
        )
        factor = partial_cholesky(*columns, self.n_components, bias, self.pivot_start)
        self.pivots_ = factor.pivots
        self.pivot_rows_: Any = None if precomputed else dense_array(rows[factor.pivots])
        self.pivot_features_ = np.ascontiguousarray(factor.features[factor.pivots])
        self.residuals_ = factor.residuals
        self.n_first_ties_ = factor.first_ties
        self.n_components_ = self._n_features_out = len(factor.pivots)
        return factor

    def _bias(self, labels: npt.ArrayLike | None, count: int) -> FloatArray:
        """Return the factor of each example's residual; set ``bias_``."""
        balanced = isinstance(self.bias, str) and self.bias == "balanced"
        number = isinstance(self.bias, Real) and not isinstance(self.bias, bool)
        if not balanced and not (number and 0.0 < float(self.bias) < np.inf):
            raise InputError(f"bias={self.bias!r}; allowed: 'balanced', or a number above 0")
        if self._ignores_labels():
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

    def _ignores_labels(self) -> bool:
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
        """Return scikit-learn's tags: sparse rows, doubles, and labels of two classes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.target_tags.required = not self._ignores_labels()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


Components = Count | None
"""The number of Gram-Schmidt features; None for the examples as they are."""

_OF_KERNEL: Defaults = {
    "linear": {},
    "polynomial": {"gamma": None, "polynomial_degree": 2},
    "rbf": {"gamma": None},
}


@parameter_record
class OnFeatures:
    """The features of a learner: Gram-Schmidt features of a kernel, or the original examples.

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
    """

    components: Components = 30
    feature_kernel: Literal["linear", "polynomial", "rbf"] = "linear"
    gamma: Positive | None = None
    polynomial_degree: Count | None = None

    @field_validator("feature_kernel")
    @classmethod
    def _of_components(cls, kernel: str, info: ValidationInfo) -> str:
        if kernel != "linear" and info.data.get("components", 1) is None:
            raise ValueError(
                f"{kernel} has as many features as components says, and that is null; give a "
                "number, or delete feature_kernel"
            )
        return kernel

    _of_the_kernel = defaulted_with("feature_kernel", _OF_KERNEL, "gamma", "polynomial_degree")

    def transformer(self, seed: int) -> GramSchmidtFeatures | None:
        """Return the features' transformer, not fitted, or None for the examples as they are."""
        if self.components is None:
            return None
        return GramSchmidtFeatures(
            self.components,
            kernel="poly" if self.feature_kernel == "polynomial" else self.feature_kernel,
            gamma=self.gamma,
            degree=self.polynomial_degree or 2,  # without effect on other kernels
            pivot_start=int(np.random.default_rng(seed).integers(2**31)),
        )


@dataclass(frozen=True)
class Extracted:
    """Features of a task."""

    training: Examples  # shapes (m, k) and (t, k)
    test: Examples
    # components: k; first_ties: the number of examples tied for the first pivot
    figures: dict[str, float]


def extract(task: Task, features: GramSchmidtFeatures | None) -> Extracted:
    """Return the features of a task; pivots are chosen among its training examples."""
    if features is None:
        figures = {"components": float(task.examples.shape[1])}
        return Extracted(task.examples, task.test_examples, figures)
    training = features.fit_transform(task.examples, task.labels)
    test = features.transform(task.test_examples)
    counts = {"components": features.n_components_, "first_ties": features.n_first_ties_}
    return Extracted(training, test, {name: float(count) for name, count in counts.items()})
