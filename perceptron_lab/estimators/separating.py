"""Base class of one-versus-rest classifiers with verified separation."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import field
from functools import partial
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from perceptron_lab.algorithms.base import AnyAlgorithm
from perceptron_lab.cones.operators.row_parts import is_dask
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget, Goal, MarginUpper
from perceptron_lab.core.outward_rounding import text_above
from perceptron_lab.core.refusals import Count, Proportion
from perceptron_lab.core.results import AnyArray, FloatArray, IntArray, Result, Status
from perceptron_lab.core.time_limit import time_limit
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.estimators.dask_collections import (
    by_blocks,
    learned_collections,
    proved_function,
    rows_by_class,
)
from perceptron_lab.estimators.kernel_choices import (
    KernelChoice,
    kernel_columns,
    training_kernel_matrix,
)
from perceptron_lab.estimators.linear_functions import linear_values
from perceptron_lab.estimators.one_problem import SeparatingFunction, separate
from perceptron_lab.estimators.soft_margin import SoftMargin
from perceptron_lab.estimators.validation import (
    RandomState,
    Seconds,
    generator_of,
    learned_examples,
    new_examples,
    refuse_one_class,
    refuse_parameters,
    with_parameters,
)
from perceptron_lab.estimators.weights import checked_weights, distinct_rows
from perceptron_lab.numerics.sparse_arrays import dense_array
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.constructors import Margin
from perceptron_lab.systems.parted_system import PartedSystem

Run: TypeAlias = tuple[AnyAlgorithm, str | None]  # An algorithm, and the name of its oracle

UNLIMITED_SECONDS = 1e9  # Seconds


@with_parameters
class SeparatingClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Linear classification, one class against the rest, with a verified separation.

        f_k(x) = w_k'x + b_k > 0 for the examples of class k, < 0 for all others: s_i f_k(x_i) > 0.

    That is the conic system of the rows s_i (x_i, 1), and an algorithm of this package runs on it.
    Two classes have one function, positive for the larger label. The margin is that of the rows
    divided by their norms (``unit``), unless a class says otherwise: scale the features first.

    ``status_`` states how the fit ended, for all functions together:

    - FEASIBLE: every function is proved to separate;
    - INFEASIBLE: one class is proved not to be separable from the rest by any such function;
    - MARGIN_BOUNDED: the margin of one is proved to be ``tol`` or less, if there is any;
    - UPDATE_LIMIT, TIME_LIMIT, NUMERICAL_ERROR, UNVERIFIED: one is undecided, for that reason;
    - FITTED: after ``partial_fit``, which proves nothing.

    Unless the status is FEASIBLE, ``fit`` issues a ConvergenceWarning. A function that does not
    separate is the iterate with the least sum of violations max(0, -s_i f_k(x_i)) / norm((x_i, 1)),
    for norm((w_k, b_k)) = 1. The fit does not depend on the clock unless ``max_seconds`` is given,
    or the records of iterates take more than a second in all.

    Parameters
    ----------
    kernel
        None (default) for the features themselves; ``"linear"``, ``"poly"``, ``"rbf"`` for the
        records Linear(), Polynomial(), Rbf() of :mod:`perceptron_lab.cones.operators.kernels`, or
        another record of these; ``"precomputed"``: X is the matrix K(x_i, x_j), for new examples x
        the K(x, x_j). All m^2 values are kept in a fit. Margins are then those of the normalised
        features, the constant included.
    fit_intercept
        Whether the rows have the constant feature 1, whose weight is b (default); a kernel K
        becomes K + 1.
    max_iter
        Largest number of updates of each function, 1 or more; iterations for methods that are not
        mistake-driven.
    max_seconds
        Time limit in seconds, > 0, divided equally among the functions; None (default) for no
        limit.
    tol
        Margins up to this count as 0, between 0 and 1 (default 1e-3).
    random_state
        The seed of random choices of the algorithm.
    warm_start
        Whether a fit starts at the functions of the last one, of the same classes and features
        without a kernel (default False). Where they separate, no update is made; else methods with
        a starting point start there.

    Attributes
    ----------
    classes_
        The labels, sorted.
    coef_, intercept_
        w_k, shape ``(1, n_features_in_)`` for two classes and else ``(k, n_features_in_)``, and
        b_k, shape ``(1,)`` or ``(k,)``, with norm((w_k, b_k)) = 1. No ``coef_`` with a kernel.
    dual_coef_, support_, support_vectors_
        With a kernel: f_k(x) = sum_j dual_coef_[k, j] K(x_j, x) + b_k over the support examples
        x_j, their indices, and the examples themselves (None if precomputed).
    n_iter_, updates_
        The largest number of updates of any function, and the number of each.
    separable_
        True: a positive margin is proved for every function; False: one class is proved
        inseparable from the rest; None: undecided.
    status_
        As above.
    margin_
        min_i s_i f_k(x_i) / norm((x_i, 1)) of the functions found, as computed, shape ``(k,)``:
        negative where they do not separate.
    margin_bounds_
        Proved: margin_bounds_[k, 0] <= the largest margin <= margin_bounds_[k, 1], shape
        ``(k, 2)``.
    certificate_
        The :class:`~perceptron_lab.core.results.Result` of each function: what is proved, and by
        which point or weights.
    """

    classes_: AnyArray = field(init=False)

    kernel: KernelChoice = None
    fit_intercept: bool = True
    max_iter: Count = 100_000
    max_seconds: Seconds = None
    tol: Proportion = 1e-3
    random_state: RandomState = 0
    warm_start: bool = False

    @abstractmethod
    def _run(self, system: ConicSystem) -> Run:
        """Return the algorithm for a system, and the name of its oracle or None."""

    @property
    def _margin(self) -> Margin:
        """The margin of the systems without a kernel."""
        return "unit"

    def _goal(self, system: ConicSystem | PartedSystem) -> Goal:
        """Return the goal: a separating point, or a proof that the margin is at most ``tol``."""
        if isinstance(system, PartedSystem) or system.unit_rows:
            return MarginUpper(self.tol)
        # Rows of any length: tol is relative to the largest norm, so that units do not matter.
        return MarginUpper(self.tol * float(system.facts().norm or 1.0))

    def fit(
        self,
        X: npt.ArrayLike | Examples,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Find the functions, and prove that they separate or that none does.

        Parameters
        ----------
        X
            Examples of numbers that doubles hold, dense or sparse, shape ``(m, features)``, or
            ``(m, m)`` if the kernel is precomputed. Perceptrons, and ``MaxMarginClassifier``
            without intercept, accept arrays and frames of dask without weights and kernels. Rows
            stay in their parts, few of them are learned at a time, and passes prove the functions.
            A function that does not separate is the last iterate.
        y
            Labels of two classes or more, shape ``(m,)``; a collection of dask if X is one.
        sample_weight
            Weights >= 0 of the examples, shape ``(m,)``, or None for ones. Examples of weight 0 are
            left out; separation and margins do not depend on the other weights, and violations
            count in proportion to them. Equal examples of one class count as one example with the
            sum of their weights, so that k of them and one of weight k have the same fit.

        Raises
        ------
        ValueError
            If examples, labels or weights are not as described, or a parameter is out of its range.
        """
        refuse_parameters(self)
        algorithm = self._algorithm_in_parts() if is_dask(X) or is_dask(y) else None
        if algorithm is not None:
            return self._fit_in_parts(X, y, sample_weight, algorithm)
        data, targets = learned_examples(self, X, y, sparse=True)
        self._refuse_not_square(data)
        rows, counts = distinct_rows(data, targets, checked_weights(sample_weight, len(targets)))
        start = self._warm_points(targets[rows])
        self.classes_, class_index = np.unique(targets[rows], return_inverse=True)
        refuse_one_class(self, self.classes_, len(rows))
        counts = self._violation_weights(targets[rows], counts)
        examples = self._rows_of(data, rows)
        with time_limit(math.inf if self.max_seconds is None else self.max_seconds):
            functions, signs = self._separating_functions(examples, class_index, counts, start)
        self._set_results(functions)
        if self.kernel is None:
            self._set_coefficients(self._points(functions))
        else:
            coefficients = np.zeros((len(functions), len(targets)))
            coefficients[:, rows] = self._points(functions) * signs
            self._set_dual_coefficients(coefficients, data)
            # Only kernels need the check: predict evaluates K again, with errors that the proof
            # bounds for the stored matrix alone.
            self._compare_with_proof(data[rows], signs)
        self._warn(functions)
        return self

    def _algorithm_in_parts(self) -> AnyAlgorithm | None:
        """Return the algorithm for collections of dask; None if these are refused."""
        return None

    def _fit_in_parts(self, X: Any, y: Any, sample_weight: object, algorithm: AnyAlgorithm) -> Self:
        """Fit on collections of dask."""
        stated = {"sample_weight": sample_weight is not None, "warm_start": self.warm_start}
        stated["kernel"] = self.kernel is not None
        for name in (name for name, is_stated in stated.items() if is_stated):
            raise InputError(
                f"{name} with collections of dask, which have none; leave it out (and rows of "
                "weight 0 out of X and y), or give data in memory: X.compute()"
            )
        examples, labels = learned_collections(self, X, y)
        self.classes_ = np.sort(labels.classes)
        count, unit = len(self.classes_) if len(self.classes_) > 2 else 1, self._margin == "unit"
        seconds = UNLIMITED_SECONDS if self.max_seconds is None else self.max_seconds / count
        budget = Budget(updates=int(self.max_iter), seconds=float(seconds))
        rng, functions = generator_of(self.random_state), []
        for rows in rows_by_class(examples, labels, affine=self.fit_intercept):
            system, seed = PartedSystem(rows, unit=unit), int(rng.integers(2**31))
            goal = self._goal(system)
            result = solve(system, algorithm, goal=goal, budget=budget, seed=seed)
            functions.append(proved_function(rows, result, unit=unit))
        self._set_results(functions)
        self._set_coefficients(self._points(functions))
        self._warn(functions)
        return self

    def _rows_of(self, data: Examples, rows: IntArray) -> Any:
        """Return examples; of a precomputed kernel its values among them."""
        if len(rows) == data.shape[0]:
            return data
        return data[rows][:, rows] if self.kernel == "precomputed" else data[rows]

    def _points(self, functions: list[SeparatingFunction]) -> FloatArray:
        """Return the points of the functions, in their scale."""
        return np.array([function.point for function in functions])

    def _violation_weights(self, labels: AnyArray, counts: FloatArray) -> FloatArray:
        """Return the weights of violations, from those of the examples."""
        return counts

    def _warm_points(self, labels: AnyArray) -> list[FloatArray] | None:
        """Return the points of the last fit if this one starts there, before its labels are set."""
        fitted = self.warm_start and self.kernel is None and hasattr(self, "coef_")
        if not fitted or not np.array_equal(self.classes_, np.unique(labels)):
            return None
        points = np.column_stack([self.coef_, self.intercept_])
        if len(self.coef_[0]) != self.n_features_in_ or not points.any(axis=1).all():
            return None
        return list(points if self.fit_intercept else self.coef_)

    def _separating_functions(
        self,
        data: Examples,
        class_index: IntArray,
        counts: FloatArray,
        start: list[FloatArray] | None,
    ) -> tuple[list[SeparatingFunction], FloatArray]:
        """Return one function per class, or one for two classes, and the signs s_i of each."""
        positive = range(len(self.classes_)) if len(self.classes_) > 2 else [1]
        signs = np.array([np.where(class_index == k, 1.0, -1.0) for k in positive])
        # One generator for all functions: each has its own seed, and the fit depends on
        # random_state alone.
        rng = generator_of(self.random_state)
        # Equal shares, so that a hard class does not use up the time of those after it.
        seconds = UNLIMITED_SECONDS if self.max_seconds is None else self.max_seconds / len(signs)
        budget = Budget(updates=int(self.max_iter), seconds=float(seconds))
        equal, margin = (counts == counts[0]).all(), self._soft_margin()
        starts: list[Any] = start or [None] * len(signs)
        functions = [
            separate(
                system,
                *self._run(system),
                goal=self._goal(system),
                budget=budget,
                seed=int(rng.integers(2**31)),
                counts=None if equal else counts,
                start=first,
                soft=None
                if margin is None
                else partial(margin.point, system.operator, data, side, counts, first),
            )
            for system, side, first in zip(self._systems(data, signs), signs, starts, strict=True)
        ]
        return functions, signs

    def _soft_margin(self) -> SoftMargin | None:
        """Return the soft margin for inseparable classes; None for the least violation."""
        return None

    def _systems(self, data: Examples, signs: FloatArray) -> Iterator[ConicSystem]:
        """Yield the system of each function."""
        if self.kernel is not None:
            matrix = training_kernel_matrix(self.kernel, data, self.fit_intercept)
            for class_signs in signs:
                yield ConicSystem.from_kernel("precomputed", matrix, class_signs)
        else:
            for class_signs in signs:
                yield ConicSystem.from_labelled(
                    data, class_signs, affine=self.fit_intercept, margin=self._margin
                )

    def _set_results(self, functions: list[SeparatingFunction]) -> None:
        """Set the attributes that describe the results of the runs."""
        results: list[Result] = [function.result for function in functions]
        self.certificate_ = tuple(results)
        self.updates_ = np.array([result.updates for result in results])
        self.n_iter_ = int(self.updates_.max())
        self.margin_ = np.array([function.margin for function in functions])
        self.margin_bounds_ = np.array([[function.lower, function.upper] for function in functions])
        statuses = [result.status for result in results]
        failed = [status for status in statuses if status is not Status.FEASIBLE]
        refuted = Status.INFEASIBLE in statuses
        self.status_ = Status.INFEASIBLE if refuted else (failed or statuses)[0]
        self.separable_ = False if refuted else (None if failed else True)

    def _set_coefficients(self, points: FloatArray) -> None:
        """Set w_k and b_k from (w_k, b_k), shape ``(k, features + 1)``, or from w_k alone."""
        self._delete_attributes("dual_coef_", "support_", "support_vectors_")
        if self.fit_intercept:
            self.coef_, self.intercept_ = points[:, :-1].copy(), points[:, -1].copy()
        else:
            self.coef_, self.intercept_ = points, np.zeros(len(points))

    def _set_dual_coefficients(self, coefficients: FloatArray, data: Examples) -> None:
        """Set the support of coefficients of phi(x_j), shape ``(k, m)``."""
        self._delete_attributes("coef_")
        self.support_ = np.flatnonzero(coefficients.any(axis=0))
        self.dual_coef_ = coefficients[:, self.support_]
        bias = self.dual_coef_.sum(axis=1)
        # The constant feature of K + 1 contributes the sum of the coefficients.
        self.intercept_ = bias if self.fit_intercept else np.zeros(len(coefficients))
        precomputed = self.kernel == "precomputed"
        self.support_vectors_ = None if precomputed else dense_array(data[self.support_])

    def _delete_attributes(self, *names: str) -> None:
        """Delete attributes that an earlier fit with another kind of kernel has set."""
        for name in names:
            self.__dict__.pop(name, None)

    def _compare_with_proof(self, data: Examples, signs: FloatArray) -> None:
        """Set UNVERIFIED, with a warning, if rounded kernel values change proved signs."""
        if self.status_ is not Status.FEASIBLE:
            return
        misclassified = np.flatnonzero((self._values(data).T * signs <= 0.0).any(axis=0))
        if len(misclassified):
            self.status_ = Status.UNVERIFIED
            warnings.warn(
                f"predict gives {len(misclassified)} training examples a wrong label (the first is "
                f"row {misclassified[0]}), although the classes are proved separable: rounding of "
                "kernel values exceeds the margin; scale the features, or choose another kernel",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _warn(self, functions: list[SeparatingFunction]) -> None:
        """Warn of the first function that did not reach its goal, with ``fit`` as the location."""
        for k, function in enumerate(functions):
            result, of = function.result, self.classes_.tolist()[k if len(functions) > 1 else 1]
            if result.status is Status.FEASIBLE and result.goal_reached:
                continue
            soft = "a soft margin (MaxMarginClassifier, sklearn.svm.LinearSVC)"
            other = soft if self.kernel is None else f"another kernel, or {soft}"
            if function.soft_norm:
                remedy = "the function is that of a soft margin (soft_margin_); choose its C"
            elif result.status is Status.INFEASIBLE:
                remedy = f"use {other}"
            elif result.status is Status.FEASIBLE:
                remedy = (
                    "the classes are separated; raise max_iter, max_seconds or tol for the rest"
                )
            elif result.status is Status.MARGIN_BOUNDED:
                remedy = f"lower tol if smaller margins matter; otherwise use {other}"
            else:
                remedy = "raise max_iter or max_seconds, or scale the features"
            warnings.warn(
                f"{self._outcome(of, result)}; {remedy}",
                ConvergenceWarning,
                stacklevel=3,
            )
            return

    def _outcome(self, label: object, result: Result) -> str:
        """Return a sentence on the separation of a class from the rest."""
        kind = "hyperplane" if self.kernel is None else "function of the kernel"
        if result.status is Status.INFEASIBLE:
            return f"no {kind} separates class {label!r} from the rest (proved)"
        if result.status is Status.MARGIN_BOUNDED:
            most = text_above(result.margin_upper or 0.0, 3)
            which = f"with a {result.margin_name} above {most}"
            return f"no {kind} separates class {label!r} from the rest {which} (proved)"
        return f"class {label!r} against the rest: {result.status}, {result.message}"

    def decision_function(self, X: npt.ArrayLike | Examples) -> FloatArray:
        """Return f_k(x) of every example, shape ``(m,)`` for two classes and else ``(m, k)``.

        Of a collection of dask the result is an array of dask.
        """
        if is_dask(X):
            check_is_fitted(self)
            shape = (0,) if len(self.classes_) == 2 else (0, len(self.classes_))
            return by_blocks(self.decision_function, X, np.empty(shape))  # type: ignore[no-any-return]
        values = self._values(new_examples(self, X, sparse=True))
        return values.ravel() if values.shape[1] == 1 else values

    def _values(self, data: Examples) -> FloatArray:
        """Return f_k(x) of checked examples, shape ``(m, k)``."""
        if self.kernel is None:
            return linear_values(data, self.coef_, self.intercept_)
        with np.errstate(over="ignore", invalid="ignore"):
            kernel_values = kernel_columns(self.kernel, data, self.support_vectors_, self.support_)
        if not np.isfinite(kernel_values).all():
            row = int(np.argmin(np.isfinite(kernel_values).all(axis=1)))
            raise InputError(
                f"kernel={self.kernel!r} overflows on row {row} of X; scale the features, or "
                "choose other parameters of the kernel"
            )
        if self.fit_intercept:  # K + 1 as it was learned, rounded
            return linear_values(
                kernel_values + 1.0, self.dual_coef_, np.zeros(len(self.dual_coef_))
            )
        return linear_values(kernel_values, self.dual_coef_, self.intercept_)

    def predict(self, X: npt.ArrayLike | Examples) -> AnyArray:
        """Return the class of the largest f_k(x); of two, ``classes_[1]`` where f(x) > 0."""
        if is_dask(X):
            check_is_fitted(self)
            return by_blocks(self.predict, X, self.classes_[:0])  # type: ignore[no-any-return]
        values = self.decision_function(X)
        # One versus rest: no probabilities are compared, only the values of functions of norm 1.
        class_index = values.argmax(axis=1) if values.ndim == 2 else (values > 0.0).astype(np.intp)
        return np.asarray(self.classes_[class_index])

    def _refuse_not_square(self, data: Examples) -> None:
        if self.kernel == "precomputed" and data.shape[0] != data.shape[1]:
            raise InputError(
                f"kernel='precomputed' with X of shape {data.shape}; give K(x_i, x_j) of "
                "all examples, or another kernel"
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
