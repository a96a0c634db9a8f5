"""What an ellipsoid has to be compared with: a polynomial SVM, and no quadratic term at all."""

from __future__ import annotations

import warnings
from dataclasses import dataclass as plain_dataclass
from dataclasses import field
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field
from pydantic.dataclasses import dataclass
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from perceptron_lab.ellipsoids.soft.squared_hinge import SquaredHinge, minimised
from perceptron_lab.errors import InputError
from perceptron_lab.goals import STRICT
from perceptron_lab.inputs import checked_rows, two_classes
from perceptron_lab.learners.features.kernel_rows import KernelRows
from perceptron_lab.learners.models import BoolArray, Examples
from perceptron_lab.operators.kernels import Polynomial
from perceptron_lab.results import FloatArray

ClassWeight = Literal["balanced"] | None


@dataclass(frozen=True, config=STRICT)
class PolynomialSvm:
    """The support vector machine with slacks and a polynomial kernel, by scikit-learn's SVC.

    minimise norm(h)^2 / 2 + C sum_i w_i max(0, 1 - y_i (h(x_i) + b)) over h in the kernel's
    function space and b. With the default kernel, (1 + x'z)^2, h ranges over all quadratic
    functions: the machine may draw any ellipsoid, and other quadrics.

    Parameters
    ----------
    penalty
        C > 0.
    kernel
        The kernel; gamma must be given, so that it does not depend on the number of features.
    class_weight
        None: every w_i is 1. ``"balanced"``: w_i = m / (2 m_i), m_i the size of the class of i.
    tolerance
        LIBSVM's stopping tolerance, > 0.
    iterations
        LIBSVM's iterations at most, 1 or more; ``converged`` of the result tells.
    """

    penalty: Annotated[float, Field(gt=0)] = 1.0
    kernel: Polynomial = Polynomial(degree=2, coef0=1.0, gamma=1.0)
    class_weight: ClassWeight = None
    tolerance: Annotated[float, Field(gt=0)] = 1e-3
    iterations: Annotated[int, Field(ge=1)] = 10_000_000

    def fit(self, examples: Examples, labels: npt.ArrayLike) -> FittedSvm:
        """Train the machine.

        Parameters
        ----------
        examples
            Rows, dense or sparse, or :class:`KernelRows` of the same kernel; shape ``(m, ...)``.
        labels
            As :func:`~perceptron_lab.learners.models.two_classes` describes.
        """
        if self.kernel.gamma is None:
            raise InputError("PolynomialSvm: the kernel's gamma is None; give a number, such as 1")
        known = isinstance(examples, KernelRows)
        if known and examples.kernel != self.kernel:
            raise InputError(
                f"the kernel matrix is of {examples.kernel}, but the machine's kernel is "
                f"{self.kernel}; make them agree"
            )
        data: Any = examples.against(examples) if known else checked_rows(examples)
        positive = two_classes(labels, data.shape[0])
        machine = self._machine("precomputed" if known else "poly")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # told by ``converged``
            machine.fit(data, positive)
        return FittedSvm(
            machine, examples if known else None, int(machine.n_iter_[0]) < self.iterations
        )

    def _machine(self, kernel: str) -> Any:
        return SVC(
            C=self.penalty,
            kernel=kernel,
            degree=self.kernel.degree,
            gamma=self.kernel.gamma,
            coef0=self.kernel.coef0,
            class_weight=self.class_weight,
            tol=self.tolerance,
            max_iter=self.iterations,
            cache_size=500.0,
        )


@plain_dataclass(frozen=True)
class FittedSvm:
    """A trained support vector machine.

    Parameters
    ----------
    machine
        scikit-learn's SVC.
    training
        The training examples, if they were :class:`KernelRows`.
    converged
        Whether LIBSVM ended by its tolerance.
    """

    machine: Any = field(repr=False)
    training: KernelRows | None = field(repr=False)
    converged: bool

    def scores(self, examples: Examples) -> FloatArray:
        """Return h(x_i) + b, shape ``(m,)``."""
        if isinstance(examples, KernelRows) != (self.training is not None):
            raise InputError(
                "rows and KernelRows are mixed; score the kind of examples that were trained on"
            )
        known = self.training is not None
        data = examples.against(self.training) if known else checked_rows(examples)
        return np.asarray(self.machine.decision_function(data), dtype=np.float64)


@dataclass(frozen=True, config=STRICT)
class LinearScorer:
    """The linear function with the loss and the penalty of the soft ellipsoid.

    minimise 1/2 sum_i w_i max(0, 1 - y_i f(x_i))^2 + regularisation norm(g)^2 over g and c, with
    f(x) = -(2 g'x + c) and sum_i w_i = 1: the soft ellipsoid without its quadratic term. What an
    ellipsoid gains over it is due to the ellipsoid; the rest is due to loss and penalty.

    The problem is convex and has one minimum value; it is found by Newton's method, see
    :mod:`~perceptron_lab.ellipsoids.soft.squared_hinge`.

    Parameters
    ----------
    regularisation
        > 0.
    class_weight
        None: all w_i equal. ``"balanced"``: each class has half of the weight.
    tolerance
        The norm of the gradient at which it ends, > 0; much less than the regularisation, which is
        about the size of the minimum on separable examples.
    iterations
        Newton steps at most, 1 or more; ``converged`` of the result tells.
    """

    regularisation: Annotated[float, Field(gt=0)] = 1e-4
    class_weight: ClassWeight = None
    tolerance: Annotated[float, Field(gt=0)] = 1e-10
    iterations: Annotated[int, Field(ge=1)] = 1000

    def fit(self, examples: Examples, labels: npt.ArrayLike) -> LinearFunction:
        """Find the function.

        Parameters
        ----------
        examples
            Rows, dense or sparse, shape ``(m, features)``.
        labels
            As :func:`~perceptron_lab.learners.models.two_classes` describes.
        """
        rows: Any = checked_rows(examples)
        positive = two_classes(labels, rows.shape[0])
        problem = SquaredHinge(rows, positive, self._weights(positive), self.regularisation)
        at, steps, converged = minimised(problem, self.tolerance, self.iterations)
        value = problem.value_and_gradient(at)[0]
        return LinearFunction(at[:-1], float(at[-1]), value, steps, converged)

    def _weights(self, positive: BoolArray) -> FloatArray:
        share = positive.mean() if self.class_weight is None else 0.5
        weights = np.where(positive, share / positive.sum(), (1.0 - share) / (~positive).sum())
        return np.asarray(weights, dtype=np.float64)


@plain_dataclass(frozen=True)
class LinearFunction:
    """f(x) = slope'x + constant.

    Parameters
    ----------
    slope
        -2 g, shape ``(features,)``.
    constant
        -c.
    value
        The objective.
    iterations, converged
        Newton steps; whether the gradient came down to the tolerance.
    """

    slope: FloatArray = field(repr=False)
    constant: float
    value: float
    iterations: int
    converged: bool

    def scores(self, examples: Examples) -> FloatArray:
        """Return f(x_i), shape ``(m,)``."""
        rows: Any = checked_rows(examples)
        if rows.shape[1] != len(self.slope):
            raise InputError(
                f"examples with {rows.shape[1]} features; the function was trained on "
                f"{len(self.slope)}: give as many"
            )
        return np.asarray(rows @ self.slope + self.constant, dtype=np.float64)
