"""Separating methods as scikit-learn classifiers, one class each: all examples in each step."""

from __future__ import annotations

from typing import Literal

import numpy as np

from perceptron_lab.algorithms.base import AnyAlgorithm
from perceptron_lab.algorithms.nearest_point.minimum_norm_point import MinimumNormPoint
from perceptron_lab.algorithms.rescaling.ellipsoid import Ellipsoid
from perceptron_lab.algorithms.rescaling.rescaled_perceptron import RescaledPerceptron
from perceptron_lab.algorithms.saddle_points.mirror_prox import AdaptiveMirrorProx, MirrorProx
from perceptron_lab.algorithms.smoothing.smoothed_perceptron import SmoothedPerceptron
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Goal, MarginRatio
from perceptron_lab.core.refusals import Count, Positive
from perceptron_lab.core.results import AnyArray, FloatArray
from perceptron_lab.estimators.binary import ClassWeight
from perceptron_lab.estimators.one_problem import SeparatingFunction
from perceptron_lab.estimators.separating import Run, SeparatingClassifier
from perceptron_lab.estimators.soft_margin import SoftMargin
from perceptron_lab.estimators.validation import with_parameters
from perceptron_lab.estimators.weights import class_factors
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.constructors import Margin
from perceptron_lab.systems.parted_system import PartedSystem


@with_parameters
class EllipsoidMethodClassifier(SeparatingClassifier):
    """The ellipsoid method: the centre of a shrinking ellipsoid around the separating functions.

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
    """The rescaled perceptron, which stretches the space and so finds small margins.

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
    """Functions of the largest geometric margin: support vector machines with a hard margin.

        maximise over w, b   min_i s_i (w'x_i + b) / norm(w),

    half the distance of the hulls of the classes, proved to be found up to a part ``tol``: the
    ratio of ``margin_bounds_`` is 1 - tol or more. norm(w) = 1, so that ``decision_function`` is
    the signed distance from the hyperplane. Without ``fit_intercept`` b = 0. With a kernel the
    margin is that of the normalised features, the constant one included.

    Where no function separates, there is no largest margin. Then the function is that of the soft
    margin with the squared hinge loss, as ``sklearn.svm.LinearSVC`` has it,

        minimise over w, b   1/2 norm(w)^2 + C sum_i c_i max(0, 1 - s_i (w'x_i + b))^2,

    with a ConvergenceWarning; the proof of inseparability is in ``certificate_``. Functions of
    other classes then have their margins at +1 and -1 as well, instead of norm(w) = 1. c_i are the
    sample weights times those of the classes, and b is not penalised, but with a kernel. A fit with
    ``warm_start`` starts Newton's method for the soft margin at the last function.

    An update is a round in which examples join the working set. Nothing is drawn. The other
    attributes are those of :class:`~perceptron_lab.estimators.separating.SeparatingClassifier`.

    Parameters
    ----------
    C
        The penalty of violations where no function separates, > 0.
    class_weight
        None, ``"balanced"`` (each class has an equal part of the sum of weights), or factors > 0 by
        label, for the violations where no function separates.
    tol
        The relative distance from the largest margin, between 0 and 1 (default 1e-3).

    Attributes
    ----------
    soft_margin_
        Whether each function is that of the soft margin, shape ``(k,)``.

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

    C: Positive = 1.0
    class_weight: ClassWeight = None

    @property
    def _margin(self) -> Margin:
        return "geometric" if self.fit_intercept else "directional"

    def _violation_weights(self, labels: AnyArray, counts: FloatArray) -> FloatArray:
        return counts * class_factors(self.class_weight, labels, counts)

    def _soft_margin(self) -> SoftMargin:
        return SoftMargin(float(self.C), self.fit_intercept and self.kernel is None)

    def _set_results(self, functions: list[SeparatingFunction]) -> None:
        super()._set_results(functions)
        self.soft_margin_ = np.array([function.soft_norm > 0.0 for function in functions])

    def _points(self, functions: list[SeparatingFunction]) -> FloatArray:
        if not self.soft_margin_.any():
            return super()._points(functions)
        return np.array([function.canonical for function in functions])

    def _goal(self, system: ConicSystem | PartedSystem) -> Goal:
        return MarginRatio(1.0 - float(self.tol))

    def _run(self, system: ConicSystem) -> Run:
        return MinimumNormPoint(), None

    def _algorithm_in_parts(self) -> AnyAlgorithm:
        if self.fit_intercept:
            raise InputError(
                "fit_intercept=True with collections of dask, where the geometric margin is not "
                "computed; give fit_intercept=False (and X a column of ones), or use "
                "MarginPerceptronClassifier"
            )
        return MinimumNormPoint()
