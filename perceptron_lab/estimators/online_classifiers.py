"""Online learners as scikit-learn classifiers: perceptrons that learn example by example."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np
import numpy.typing as npt

from perceptron_lab.algorithms.base import AnyAlgorithm
from perceptron_lab.algorithms.margins.perceptron_with_margin import (
    PerceptronWithMargin,
    TauPerceptron,
)
from perceptron_lab.algorithms.perceptrons.perceptron import CyclicPerceptron, Perceptron
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import Count, Positive
from perceptron_lab.core.results import AnyArray, FloatArray, Status
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.estimators.separating import Run, SeparatingClassifier
from perceptron_lab.estimators.validation import (
    learned_examples,
    refuse_one_class,
    refuse_parameters,
    with_parameters,
)
from perceptron_lab.estimators.weights import checked_weights
from perceptron_lab.numerics.compiled.margin_sweeps import UNLIMITED, margin_sweep
from perceptron_lab.numerics.input_checks import refuse_extreme_rows
from perceptron_lab.numerics.sparse_arrays import dense_array
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.constructors import Margin

BLOCK = 1024  # Examples presented in one batch; sparse ones become dense


@with_parameters
class OnlineClassifier(SeparatingClassifier):
    """Base class of perceptrons: w <- w + s_i x_i whenever s_i f(x_i) is not above a limit.

    The number of updates grows with the inverse square of the margin. ``max_iter`` is less by
    default than for other methods: raise it for margins near ``tol``.

    Examples are processed in their order. ``fit`` cycles through them, from 0 or from the last
    functions (``warm_start``), see
    :class:`~perceptron_lab.estimators.separating.SeparatingClassifier`; ``partial_fit`` presents
    each example once to every function. Nothing is drawn.

    Parameters
    ----------
    normalized
        Whether rows are divided by their norms (default). If not, margins belong to the original
        rows (``directional``), and ``tol`` is relative to the largest norm.
    """

    max_iter: Count = 20_000
    normalized: bool = True

    @abstractmethod
    def _limit(self, longest: float) -> float:
        """Return the score that a row has to exceed, for the largest norm R of a row."""

    @abstractmethod
    def _sweeping_algorithm(self, limit: float) -> Run:
        """Return the algorithm with compiled sweeps, for dense rows and kernels."""

    @abstractmethod
    def _oracle_algorithm(self, limit: float) -> Run:
        """Return the same algorithm with an oracle, for sparse rows."""

    @property
    def _margin(self) -> Margin:
        return "unit" if self.normalized else "directional"

    def _run(self, system: ConicSystem) -> Run:
        if self.kernel is not None and not self.normalized:
            raise InputError(
                f"normalized=False with kernel={self.kernel!r}, whose features are always divided "
                "by their norms; omit one of them"
            )
        operator, limit = system.operator, self._limit(system.atom_norm())
        # Compiled sweeps read dense rows or kernel columns; sparse rows are queried through the
        # oracle, in the same cyclic order.
        sparse = isinstance(operator, Matrix) and not isinstance(operator.data, np.ndarray)
        return self._oracle_algorithm(limit) if sparse else self._sweeping_algorithm(limit)

    def _algorithm_in_parts(self) -> AnyAlgorithm:
        if not self.normalized:
            raise InputError(
                "normalized=False with collections of dask, whose largest norm is not computed; "
                "give normalized=True, or data in memory: X.compute()"
            )
        return self._sweeping_algorithm(self._limit(1.0))[0]

    def partial_fit(
        self,
        X: npt.ArrayLike | Examples,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Present examples once each, in their order, and continue from the present functions.

        Nothing is proved, as examples are not stored: ``status_`` is FITTED, ``separable_`` None.
        ``updates_`` continue to be counted; for a perceptron they are its mistakes. After ``fit``,
        the functions have norm 1.

        Parameters
        ----------
        X, y
            As for ``fit``; y may lack some of the classes.
        classes
            All labels that will occur; required in the first call only.
        sample_weight
            Weights c_i >= 0 of the examples, shape ``(m,)``, or None for ones: an update is
            w <- w + c_i s_i x_i, and examples of weight 0 are left out. An example of weight 2 is
            not the same as two: after the update for the first one the second may be right.

        Raises
        ------
        ValueError
            As by ``fit``; or if there is a kernel, for which examples would have to be kept.
        """
        refuse_parameters(self)
        if self.kernel is not None:
            raise InputError(
                f"partial_fit with kernel={self.kernel!r}, which would need all examples before; "
                "use fit, or kernel=None on features (sklearn.kernel_approximation)"
            )
        first = not hasattr(self, "coef_")
        data, targets = learned_examples(self, X, y, sparse=True, reset=first)
        weights = checked_weights(sample_weight, len(targets))
        weighted = weights > 0.0
        data, targets, weights = data[weighted], targets[weighted], weights[weighted]
        self._set_classes(targets, classes, first)
        positive = self.classes_ if len(self.classes_) > 2 else self.classes_[1:]
        if first:
            self._set_coefficients(np.zeros((len(positive), data.shape[1] + self.fit_intercept)))
            self.updates_ = np.zeros(len(positive), dtype=np.int64)
        # After fit the functions have norm 1: R of earlier examples no longer scales their limits.
        if first or self.status_ is not Status.FITTED:
            self.longest_ = 0.0
        signs = [np.where(targets == label, 1.0, -1.0) for label in positive]
        self._present_examples(data, np.array(signs) * weights)
        self.n_iter_, self.status_, self.separable_ = int(self.updates_.max()), Status.FITTED, None
        self.margin_ = np.full(len(positive), np.nan)
        self.margin_bounds_ = np.tile([-np.inf, np.inf], (len(positive), 1))
        # Without the earlier examples no margin can be bounded.
        self.certificate_ = ()
        return self

    def _set_classes(self, targets: AnyArray, classes: npt.ArrayLike | None, first: bool) -> None:
        """Set ``classes_`` in the first call, and refuse labels that are not among them."""
        if first:
            if classes is None:
                raise InputError(
                    "classes are missing; give all labels in the first call: "
                    "partial_fit(X, y, classes=np.unique(y_of_all))"
                )
            self.classes_ = np.unique(np.asarray(classes))
            refuse_one_class(self, self.classes_, len(targets))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise InputError(
                f"classes={np.unique(classes).tolist()}, after {self.classes_.tolist()} in "
                "the previous call; omit them, or start with a new estimator"
            )
        unknown = np.setdiff1d(targets, self.classes_)
        if len(unknown):
            raise InputError(
                f"label {unknown.tolist()[0]!r} is not among the classes {self.classes_.tolist()}; "
                "name all classes in the first call of partial_fit"
            )

    def _present_examples(self, data: Examples, signs: FloatArray) -> None:
        """Present each example once to each function; c_i s_i by functions, shape ``(k, m)``."""
        points = np.hstack([self.coef_, self.intercept_[:, None]])
        points = points if self.fit_intercept else self.coef_.copy()
        for start in range(0, data.shape[0], BLOCK):
            rows = self._rows(dense_array(data[start : start + BLOCK]))
            # R of each row is that of the rows up to it, wherever the batches and blocks end
            lengths = np.ones(len(rows)) if self.normalized else np.linalg.norm(rows, axis=1)
            longest = np.maximum.accumulate(np.maximum(lengths, self.longest_))
            self.longest_ = float(longest[-1])
            limits = np.array([self._limit(length) for length in longest])
            for k, point in enumerate(points):  # which the sweep changes in place
                factors = signs[k, start : start + BLOCK]
                signed, lowest = rows * factors[:, None], limits * np.abs(factors)
                looks, counts = len(rows), np.zeros(len(rows))
                # One pass exactly: each example is read once, and updates count as mistakes.
                swept = margin_sweep(signed, point, counts, lowest, 1.0, 0, UNLIMITED, 0, looks)
                self.updates_[k] += swept[0]
        self._set_coefficients(points)

    def _rows(self, examples: FloatArray) -> FloatArray:
        """Return the rows (x_i, 1), or x_i, divided by their norms if ``normalized``."""
        rows = examples
        if self.fit_intercept:
            rows = np.hstack([examples, np.ones((len(examples), 1))])
        if not self.normalized:
            return rows
        norms = np.linalg.norm(rows, axis=1)
        refuse_extreme_rows(rows, norms)
        return np.asarray(rows * (1.0 / norms)[:, None])


@with_parameters
class PerceptronClassifier(OnlineClassifier):
    """The perceptron: w <- w + s_i x_i whenever s_i f(x_i) <= 0, the examples in cyclic order.

    At most (R / rho)^2 updates are made, R being the largest norm of a row and rho the margin
    (Novikoff). ``partial_fit`` is the online perceptron, one pass: its updates are its mistakes.
    Nothing is drawn. The attributes are those of
    :class:`~perceptron_lab.estimators.separating.SeparatingClassifier`.

    References
    ----------
    `Kharechko2009`, Algorithm 1, Theorem 2.7; `PerceptronNotes`, section 2.

    Examples
    --------
    >>> from perceptron_lab.estimators import PerceptronClassifier
    >>> classifier = PerceptronClassifier().fit([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> classifier.separable_, classifier.status_.value, classifier.predict([[0.0], [5.0]])
    (True, 'FEASIBLE', array(['no', 'yes'], dtype='<U3'))
    >>> classifier.margin_bounds_[0, 0] <= classifier.margin_[0] <= classifier.margin_bounds_[0, 1]
    np.True_
    """

    def _limit(self, longest: float) -> float:
        return 0.0

    def _sweeping_algorithm(self, limit: float) -> Run:
        return CyclicPerceptron(), None

    def _oracle_algorithm(self, limit: float) -> Run:
        return Perceptron(normalized=self.normalized), "cyclic"


@with_parameters
class MarginPerceptronClassifier(OnlineClassifier):
    """The perceptron with margin: w <- w + s_i x_i whenever s_i f(x_i) <= b, in cyclic order.

    With R the largest norm of a row and gamma_d the largest margin, at most R^2 (1 + 2 b / R^2) /
    gamma_d^2 updates are made (2.11), and the margin reached is at least gamma_d / (2 + R^2 / b)
    (2.21): a third of the largest one with the default. Nothing is drawn. The attributes are those
    of :class:`~perceptron_lab.estimators.separating.SeparatingClassifier`.

    Parameters
    ----------
    b
        The score to be exceeded, in units of R^2, > 0 (default 1). In ``partial_fit``, R at
        each row is the largest norm up to that row, however the rows are divided into batches.

    References
    ----------
    `TsampoukaShaweTaylor`, section 2.1.

    Examples
    --------
    >>> from perceptron_lab.estimators import MarginPerceptronClassifier
    >>> classifier = MarginPerceptronClassifier().fit([[1.0], [2.0], [4.0]], [0, 0, 1])
    >>> classifier.margin_[0] > classifier.margin_bounds_[0, 1] / 3.0
    np.True_
    """

    b: Positive = 1.0

    def _limit(self, longest: float) -> float:
        return float(self.b) * longest * longest

    def _sweeping_algorithm(self, limit: float) -> Run:
        return PerceptronWithMargin(b=limit), None

    def _oracle_algorithm(self, limit: float) -> Run:
        return TauPerceptron(tau=limit), "cyclic"
