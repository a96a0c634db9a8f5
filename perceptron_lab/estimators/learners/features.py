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

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal, Self, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from pydantic import ValidationInfo, field_validator
from scipy.linalg import solve_triangular
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from perceptron_lab.cones.operators.kernels import Linear, Polynomial, Rbf
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.datasets.dataset import Defaults, defaulted_with
from perceptron_lab.datasets.problem import Examples, Task
from perceptron_lab.estimators.validation import with_parameters
from perceptron_lab.numerics.class_labels import signs_of
from perceptron_lab.numerics.input_checks import checked_rows, refuse_rounded
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


Rows = FloatArray | sp.csr_array
FeatureKernel = Linear | Polynomial | Rbf

RANK_TOLERANCE = 1e-10
"""Residuals up to this, relative to the largest K_ii, count as rounding errors."""
TIE_TOLERANCE = 1e-12
"""Relative tolerance for ties with the largest biased residual, and for norms equal to 1."""
BLOCK = 256
"""Rows that become dense in one batch."""
ASYMMETRY = 1e-8
"""Largest difference of K_ij and K_ji, relative to the largest K_ii."""


@dataclass(frozen=True)
class PartialCholesky:
    """F F' = K on the pivots, and the residuals elsewhere."""

    # F, shape (m, rank); the pivots' rows are lower triangular in the order of the pivots
    features: FloatArray
    pivots: IntArray  # i_1 .. i_rank, shape (rank,).
    residuals: FloatArray  # n_i >= 0 after the last pivot, shape (m,); exactly 0 for the pivots
    # number of examples tied for the first pivot, 1 or more (0 without a pivot)
    first_ties: int


def partial_cholesky(
    column: Callable[[int], FloatArray],
    diagonal: FloatArray,
    most: int,
    bias: FloatArray,
    pivot_start: int = 0,
) -> PartialCholesky:
    """Return the features of the training examples (Algorithm 1).

    Ties: biased residuals within ``TIE_TOLERANCE`` of the largest are tied. Of the examples tied
    for the first pivot the one at position ``pivot_start`` (modulo their number) in the order of
    the rows is taken, otherwise the first.

    It stops early, with fewer features, when every residual is at most ``RANK_TOLERANCE`` times
    the largest K_ii: K has that numerical rank.

    Parameters
    ----------
    column
        i -> column i of K, shape ``(m,)``.
    diagonal
        K_ii >= 0, shape ``(m,)``.
    most
        k, 1 or more.
    bias
        The factor of each example's residual in the choice of pivots, > 0, shape ``(m,)``.
    pivot_start
        0 or more.
    """
    features = np.zeros((len(diagonal), min(most, len(diagonal))), order="F")
    residuals = diagonal.copy()
    least = RANK_TOLERANCE * diagonal.max()
    pivots: list[int] = []
    ties = 0
    for rank in range(features.shape[1]):
        # The threshold applies to the residual before the bias: a bias must not promote rounding
        # errors.
        biased = np.where(residuals > least, bias * residuals, 0.0)
        largest = biased.max()
        if largest <= 0.0:
            break
        tied = np.flatnonzero(biased >= (1.0 - TIE_TOLERANCE) * largest)
        ties = ties or len(tied)  # for the first pivot
        pivot = int(tied[0] if rank else tied[pivot_start % ties])
        root = np.sqrt(residuals[pivot])
        projected = features[:, :rank] @ features[pivot, :rank]
        new = (column(pivot) - projected) / root
        # Earlier pivots are reproduced exactly, up to rounding that would spoil the triangular
        # factor.
        new[pivots] = 0.0  # exactly triangular: K - F F' vanishes in the rows of earlier pivots
        new[pivot] = root
        features[:, rank] = new
        pivots.append(pivot)
        residuals = residuals - new**2
        worst = int(residuals.argmin())
        if residuals[worst] < -100.0 * least:
            raise InputError(
                f"K_ii - (F F')_ii = {residuals[worst]:.3g} < 0 for example {worst}: the kernel "
                "matrix is not positive semidefinite; give one that is"
            )
        # Clipped, as a negative residual would make the root of a later pivot NaN.
        residuals = np.maximum(residuals, 0.0)  # rounding errors
        residuals[pivots] = 0.0
    pivot_rows = np.asarray(pivots, dtype=np.int64)
    return PartialCholesky(features[:, : len(pivots)], pivot_rows, residuals, ties)


def precomputed_columns(matrix: Rows) -> tuple[Callable[[int], FloatArray], FloatArray]:
    """Return a function for the columns of a given K, checked for symmetry, and its diagonal."""
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the kernel matrix has shape {matrix.shape}; give a square one")
    diagonal = _exact_units(np.asarray(matrix.diagonal(), dtype=np.float64))
    if diagonal.min() < 0.0:
        raise InputError(
            f"K(x, x) = {diagonal.min():g} < 0 for example {diagonal.argmin()}: the kernel matrix "
            "is not positive semidefinite; give one that is"
        )
    # Only the columns of pivots are compared, as no others are read.
    most = ASYMMETRY * float(diagonal.max())

    def column(pivot: int) -> FloatArray:
        values = dense_array(matrix[:, [pivot]])[:, 0]
        gaps = np.abs(values - dense_array(matrix[[pivot]])[0])
        if gaps.max() > most:
            raise InputError(
                f"K_ij and K_ji differ by {gaps.max():.3g} for examples {pivot} and "
                f"{gaps.argmax()}: the kernel matrix is not symmetric; give one that is"
            )
        return values

    return column, diagonal


def computed_columns(
    kernel: FeatureKernel, rows: Rows
) -> tuple[Callable[[int], FloatArray], FloatArray]:
    """Return a function that computes columns of K, and its diagonal.

    Squared norms that are 1 to rounding are treated as exactly 1, so that no rounding error chooses
    the first pivot.
    """

    def column(pivot: int) -> FloatArray:
        return kernel_values(kernel, rows, dense_array(rows[[pivot]]))[:, 0]

    squares = _exact_units(_square_norms(rows))
    if isinstance(kernel, Rbf):
        return column, np.ones(len(squares))
    if isinstance(kernel, Linear):
        return column, squares
    gamma = kernel.gamma or 1.0 / rows.shape[1]
    return column, np.asarray((gamma * squares + kernel.coef0) ** kernel.degree)


def kernel_values(kernel: FeatureKernel, rows: Rows, pivots: FloatArray) -> FloatArray:
    """Return k(x_i, p_j); a product of sparse rows with dense pivots is dense, shape (m, k)."""
    if isinstance(kernel, Rbf) and not isinstance(rows, np.ndarray):
        gamma = kernel.gamma or 1.0 / rows.shape[1]
        # Sparse rows stay sparse: only their products with the pivots are dense.
        squares = _square_norms(rows)[:, None] + (pivots**2).sum(axis=1)
        return np.asarray(np.exp(-gamma * np.maximum(squares - 2.0 * (rows @ pivots.T), 0.0)))
    return kernel.matrix(cast("FloatArray", rows), pivots)


def kernel_matrix(kernel: FeatureKernel, rows: Rows) -> FloatArray:
    """Return k(x_i, x_j) of all examples, (n, n) doubles; sparse rows are never made dense."""
    data = checked_rows(rows)
    matrix = np.empty((data.shape[0], data.shape[0]))
    for start in range(0, len(matrix), BLOCK):
        columns = slice(start, start + BLOCK)
        matrix[:, columns] = kernel_values(kernel, data, dense_array(data[columns]))
    return matrix


def _square_norms(rows: Rows) -> FloatArray:
    if isinstance(rows, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()


def _exact_units(squares: FloatArray) -> FloatArray:
    return np.where(np.abs(squares - 1.0) <= TIE_TOLERANCE, 1.0, squares)
