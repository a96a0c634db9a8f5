"""Methods that look at all examples in each step, as scikit-learn classifiers: one class each."""

from __future__ import annotations

from typing import Literal

from perceptron_lab.algorithms.nearest_point.minimum_norm_point import MinimumNormPoint
from perceptron_lab.algorithms.rescaling.ellipsoid import Ellipsoid
from perceptron_lab.algorithms.rescaling.rescaled_perceptron import RescaledPerceptron
from perceptron_lab.algorithms.saddle_points.mirror_prox import AdaptiveMirrorProx, MirrorProx
from perceptron_lab.algorithms.smoothing.smoothed_perceptron import SmoothedPerceptron
from perceptron_lab.core.goals import Goal, MarginRatio
from perceptron_lab.core.refusals import Count
from perceptron_lab.estimators.separating import Run, SeparatingClassifier
from perceptron_lab.estimators.validation import with_parameters
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.constructors import Margin


@with_parameters
class EllipsoidMethodClassifier(SeparatingClassifier):
    """The ellipsoid method: the centre of an ellipsoid that shrinks around what separates.

    At most 2 n^2 ln(1 / r_0(rho)) updates are made in n dimensions for a margin rho; where the
    volume is too small for a margin of ``tol``, the fit ends. A kernel has as many dimensions as
    its matrix has rank: choose few examples, or another method.

    Nothing is drawn. The attributes are those of
    :class:`~perceptron_lab.estimators.separating.SeparatingClassifier`.

    References
    ----------
    `Kharechko2009`, Algorithm 2, Theorem 2.9.

    Examples
    --------
    >>> from perceptron_lab.estimators import EllipsoidMethodClassifier
    >>> EllipsoidMethodClassifier().fit([[1.0], [2.0], [4.0]], [0, 0, 1]).predict([[5.0]])
    array([1])
    """

    def _run(self, system: ConicSystem) -> Run:
        return Ellipsoid(margin=float(self.tol)), None


@with_parameters
class RescaledPerceptronClassifier(SeparatingClassifier):
    """The perceptron that stretches the space where it fails, and so finds small margins.

    Its weights prove little once the space is stretched: where the classes are not separable, most
    fits end by ``max_iter``, which is less by default. The relaxed perceptron starts at random. The
    attributes are those of :class:`~perceptron_lab.estimators.separating.SeparatingClassifier`.

    Parameters
    ----------
    preset
        ``"practical"`` (default), ``"thesis"``, ``"dunagan-vempala"`` or ``"least-bound"``, see
        :class:`~perceptron_lab.algorithms.rescaling.rescaled_perceptron.RescaledPerceptron`.

    References
    ----------
    `Kharechko2009`, Algorithms 4 and 6; J. Dunagan and S. Vempala, Mathematical Programming 114
    (2008).

    Examples
    --------
    >>> from perceptron_lab.estimators import RescaledPerceptronClassifier
    >>> RescaledPerceptronClassifier().fit([[1.0], [2.0], [4.0]], [0, 0, 1]).predict([[5.0]])
    array([1])
    """

    max_iter: Count = 20_000
    preset: Literal["dunagan-vempala", "thesis", "practical", "least-bound"] = "practical"

    def _run(self, system: ConicSystem) -> Run:
        return RescaledPerceptron(preset=self.preset), None


@with_parameters
class SmoothedPerceptronClassifier(SeparatingClassifier):
    """The smoothed perceptron: 2 sqrt(2 ln m) / rho iterations at most, on m rows of margin rho.

    Nothing is drawn. The attributes are those of
    :class:`~perceptron_lab.estimators.separating.SeparatingClassifier`.

    References
    ----------
    `RamdasPena2014`, Algorithms 4 and 6, Lemmas 5 and 8.

    Examples
    --------
    >>> from perceptron_lab.estimators import SmoothedPerceptronClassifier
    >>> SmoothedPerceptronClassifier().fit([[1.0], [2.0], [4.0]], [0, 0, 1]).predict([[5.0]])
    array([1])
    """

    def _run(self, system: ConicSystem) -> Run:
        return SmoothedPerceptron(), None


@with_parameters
class MirrorProxClassifier(SeparatingClassifier):
    """Mirror-Prox on the saddle point of the margin: sqrt(2 ln m) / rho iterations at most.

    Nothing is drawn. The attributes are those of
    :class:`~perceptron_lab.estimators.separating.SeparatingClassifier`.

    Parameters
    ----------
    adaptive
        Whether steps are tested instead of bounded beforehand: fewer, longer ones (default False).

    References
    ----------
    `YuKilincCarbonell2014`, Algorithm 1, Theorem 3.

    Examples
    --------
    >>> from perceptron_lab.estimators import MirrorProxClassifier
    >>> MirrorProxClassifier().fit([[1.0], [2.0], [4.0]], [0, 0, 1]).predict([[5.0]])
    array([1])
    """

    adaptive: bool = False

    def _run(self, system: ConicSystem) -> Run:
        return AdaptiveMirrorProx() if self.adaptive else MirrorProx(), None


@with_parameters
class MaxMarginClassifier(SeparatingClassifier):
    """The functions of the largest geometric margin: support vector machines with a hard margin.

        maximise over w, b   min_i s_i (w'x_i + b) / norm(w),

    half the distance of the hulls of the classes, proved to be found up to a part ``tol``: the
    ratio of ``margin_bounds_`` is 1 - tol or more. norm(w) = 1, so that ``decision_function`` is
    the signed distance from the hyperplane. Without ``fit_intercept`` b = 0. With a kernel the
    margin is that of the normalised features, the constant one included.

    Where no function separates there is no largest margin; a smoothed perceptron then looks for the
    function of least violation, the sum of the distances of the examples on the wrong side. An
    update is a round in which examples join the working set. Nothing is drawn. The attributes are
    those of :class:`~perceptron_lab.estimators.separating.SeparatingClassifier`.

    Parameters
    ----------
    tol
        The part of the largest margin that may be missing, between 0 and 1 (default 1e-3).

    References
    ----------
    P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976).

    Examples
    --------
    >>> from perceptron_lab.estimators import MaxMarginClassifier
    >>> found = MaxMarginClassifier().fit([[1.0], [2.0], [4.0]], [0, 0, 1])
    >>> found.separable_, found.margin_, found.decision_function([[3.5]])
    (True, array([1.]), array([0.5]))
    """

    _other = SmoothedPerceptron()

    @property
    def _margin(self) -> Margin:
        return "geometric" if self.fit_intercept else "directional"

    def _goal(self, system: ConicSystem) -> Goal:
        return MarginRatio(1.0 - float(self.tol))

    def _run(self, system: ConicSystem) -> Run:
        return MinimumNormPoint(), None
