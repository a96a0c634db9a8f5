"""The perceptrons that learn examples as they come, as scikit-learn classifiers."""

from __future__ import annotations

from perceptron_lab.algorithms.margins.perceptron_with_margin import PerceptronWithMargin
from perceptron_lab.algorithms.margins.tau_perceptron import TauPerceptron
from perceptron_lab.algorithms.perceptrons.cyclic_perceptron import CyclicPerceptron
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.core.refusals import Count, Positive, Proportion
from perceptron_lab.estimators.kernel_choice import KernelChoice
from perceptron_lab.estimators.online import OnlineClassifier
from perceptron_lab.estimators.separating import RandomState, Run, Seconds


class PerceptronClassifier(OnlineClassifier):
    """The perceptron: w <- w + s_i x_i whenever s_i f(x_i) <= 0, the examples in cyclic order.

    At most (R / rho)^2 updates are made, R being the largest norm of a row and rho the margin
    (Novikoff). ``partial_fit`` is the online perceptron, one pass: its updates are its mistakes.

    Parameters
    ----------
    normalized
        Whether rows are divided by their norms (default). Without, they count as given: margins are
        then those of such rows (``directional``), and ``tol`` is a part of the largest norm.
    kernel, fit_intercept, max_iter, max_seconds, tol, random_state
        See :class:`~perceptron_lab.estimators.separating.SeparatingClassifier`, as for attributes.
        Nothing is drawn.

    References
    ----------
    `Kharechko2009`, Algorithm 1, Theorem 2.7; `PerceptronNotes`, section 2.

    Examples
    --------
    >>> from perceptron_lab.estimators import PerceptronClassifier
    >>> found = PerceptronClassifier().fit([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> found.separable_, found.status_.value, found.predict([[0.0], [5.0]])
    (True, 'FEASIBLE', array(['no', 'yes'], dtype='<U3'))
    >>> found.margin_bounds_[0, 0] <= found.margin_[0] <= found.margin_bounds_[0, 1]
    np.True_
    """

    def __init__(
        self,
        *,
        normalized: bool = True,
        kernel: KernelChoice = None,
        fit_intercept: bool = True,
        max_iter: Count = 100_000,
        max_seconds: Seconds = None,
        tol: Proportion = 1e-3,
        random_state: RandomState = 0,
    ) -> None:
        self.normalized = normalized
        super().__init__(
            kernel=kernel,
            fit_intercept=fit_intercept,
            max_iter=max_iter,
            max_seconds=max_seconds,
            tol=tol,
            random_state=random_state,
        )

    def _limit(self, longest: float) -> float:
        return 0.0

    def _swept(self, limit: float) -> Run:
        return CyclicPerceptron(), None

    def _asked(self, limit: float) -> Run:
        return Perceptron(normalized=self.normalized), "cyclic"


class MarginPerceptronClassifier(OnlineClassifier):
    """The perceptron with margin: w <- w + s_i x_i whenever s_i f(x_i) <= b, in cyclic order.

    With R the largest norm of a row and gamma_d the largest margin, at most R^2 (1 + 2 b / R^2) /
    gamma_d^2 updates are made (2.11), and the margin reached is at least gamma_d / (2 + R^2 / b)
    (2.21): a third of the largest one with the default.

    Parameters
    ----------
    b
        The score to be exceeded, in units of R^2, > 0 (default 1). In ``partial_fit``, R at
        each row is the largest norm up to that row, however the rows are divided into batches.
    normalized
        As of :class:`PerceptronClassifier`.
    kernel, fit_intercept, max_iter, max_seconds, tol, random_state
        See :class:`~perceptron_lab.estimators.separating.SeparatingClassifier`, as for attributes.
        Nothing is drawn.

    References
    ----------
    `TsampoukaShaweTaylor`, section 2.1.

    Examples
    --------
    >>> from perceptron_lab.estimators import MarginPerceptronClassifier
    >>> found = MarginPerceptronClassifier().fit([[1.0], [2.0], [4.0]], [0, 0, 1])
    >>> found.margin_[0] > found.margin_bounds_[0, 1] / 3.0
    np.True_
    """

    def __init__(
        self,
        *,
        b: Positive = 1.0,
        normalized: bool = True,
        kernel: KernelChoice = None,
        fit_intercept: bool = True,
        max_iter: Count = 100_000,
        max_seconds: Seconds = None,
        tol: Proportion = 1e-3,
        random_state: RandomState = 0,
    ) -> None:
        self.b = b
        self.normalized = normalized
        super().__init__(
            kernel=kernel,
            fit_intercept=fit_intercept,
            max_iter=max_iter,
            max_seconds=max_seconds,
            tol=tol,
            random_state=random_state,
        )

    def _limit(self, longest: float) -> float:
        return float(self.b) * longest * longest

    def _swept(self, limit: float) -> Run:
        return PerceptronWithMargin(b=limit), None

    def _asked(self, limit: float) -> Run:
        return TauPerceptron(tau=limit), "cyclic"
