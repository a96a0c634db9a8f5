"""Maximum likelihood of logistic regression as other packages take it, with what they say of it."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from perceptron_lab.core.findings import Finding, SeparationAnswer
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.learners.learning import Learned, Learner
from perceptron_lab.estimators.learners.registered.konis_program import labelled_rows

_RIDGE = 1e-10  # On the diagonal of the Hessian of the mean log-likelihood, in statsmodels
_PERFECT = 1e-8  # Probabilities so near to the labels are called perfect


@dataclass(frozen=True, eq=False)
class NewtonCourse:
    """The course of Newton's steps.

    Parameters
    ----------
    answer
        ``converged``, ``perfect prediction``, ``not converged`` or ``singular``.
    coefficients
        After each step, shape ``(steps, n)``.
    errors
        Standard errors at the end, roots of the diagonal of the inverse information, shape
        ``(n,)``; NaN where there is none.
    """

    answer: SeparationAnswer
    coefficients: FloatArray
    errors: FloatArray


def newton_course(rows: FloatArray, steps: int = 35, tolerance: float = 1e-8) -> NewtonCourse:
    """Take Newton's steps for sum_i log(1 + exp(-a_i'b)) from b = 0, as statsmodels' Logit does.

    They end after so many, or when no coefficient moves by more than the tolerance, and that is
    ``converged``. As there, 1e-10 is added to the diagonal of the Hessian of the mean
    log-likelihood, whose eigenvalues are below 0; and, a warning there, the prediction is
    ``perfect`` where after some step all probabilities of the wrong label are below 1e-8.

    Parameters
    ----------
    rows
        A, of rows a_i = y_i (x_i, 1), shape ``(m, n)``.
    steps, tolerance
        As above.
    """
    count, width = rows.shape
    b, along, perfect = np.zeros(width), [], False
    answer = SeparationAnswer.NOT_CONVERGED
    for _ in range(steps):
        wrong: FloatArray = expit(-(rows @ b))
        curved = -(rows.T @ ((wrong * (1.0 - wrong))[:, None] * rows)) / count
        try:
            move = np.linalg.solve(curved + _RIDGE * np.eye(width), rows.T @ wrong / count)
        except np.linalg.LinAlgError:
            answer = SeparationAnswer.SINGULAR
            break
        b = b - move
        along.append(b)
        perfect |= bool((expit(-(rows @ b)) <= _PERFECT).all())
        if np.abs(move).max() <= tolerance:
            answer = SeparationAnswer.CONVERGED
            break
    shown = np.array(along).reshape(-1, width)
    answer = SeparationAnswer.PERFECT if perfect else answer
    return NewtonCourse(answer, shown, _standard_errors(rows, b))


def _standard_errors(rows: FloatArray, b: FloatArray) -> FloatArray:
    weights: FloatArray = expit(rows @ b) * expit(-(rows @ b))
    try:
        inverse = np.linalg.inv(rows.T @ (weights[:, None] * rows))
    except np.linalg.LinAlgError:
        return np.full(rows.shape[1], np.nan)
    with np.errstate(invalid="ignore"):
        return np.sqrt(np.diagonal(inverse))


@parameter_record
class NewtonSteps(Learner):
    """Newton's steps of maximum likelihood, as statsmodels' ``Logit(y, X).fit()`` takes them.

    From 0, each a whole step, until no coefficient moves by more than the tolerance: they have
    ``converged``. Without an end they are ``not converged``; a warning of ``perfect prediction``
    stands above both, and ``singular``, an exception there, where the information has no inverse.
    The message begins so. On separated classes there are no estimates: the coefficients are those
    at which the steps ended.

    Nothing is proved: FITTED. It needs no test examples.

    Figures: ``largest_coefficient``, in absolute value, and ``largest_error``, of the standard
    errors, where there are any; ``steps``; ``cpu_seconds``. The array ``coefficients``, steps x
    coefficients, is their course.

    Parameters
    ----------
    affine
        Whether there is an intercept, whose coefficient is the last (default true).
    steps
        1 or more (default 35, that of statsmodels).
    tolerance
        Above 0 (default 1e-8, that of statsmodels).
    """

    judged: ClassVar[bool] = False
    affine: bool = True
    steps: Count = 35
    tolerance: Positive = 1e-8

    def learn(self, task: Task, seed: int) -> Learned:
        """Take the steps; there is nothing random."""
        began = time.process_time()
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            rows = labelled_rows(task, affine=self.affine)
            found = newton_course(rows, self.steps, self.tolerance)
        seconds = time.process_time() - began
        count = len(found.coefficients)
        b = found.coefficients[-1] if count else np.zeros(found.coefficients.shape[1])
        known = {
            "largest_coefficient": float(np.abs(b).max()),
            "largest_error": float(found.errors.max()),
        }
        figures = {name: value for name, value in known.items() if math.isfinite(value)}
        features = task.test_examples @ b[: len(b) - self.affine]
        return Learned(
            np.asarray(features + b[-1] * self.affine),
            message=f"{found.answer}: largest coefficient {np.abs(b).max():.3g}",
            finding=Finding(separation=found.answer),
            seconds=seconds,
            iterations=count,
            figures=figures | {"steps": float(count), "cpu_seconds": seconds},
            arrays={"coefficients": found.coefficients},
        )


@parameter_record
class SklearnLogisticRegression(Learner):
    """scikit-learn's LogisticRegression, without a penalty or with that of its defaults.

    Without a penalty (``C=inf``) it looks for the estimates of maximum likelihood: ``converged``
    unless it warns that it did not. With one, ``penalised``, there are always estimates, and it
    says nothing about separation. The message begins so.

    Nothing is proved: FITTED. It needs no test examples.

    Figures: ``largest_coefficient``, in absolute value; ``cpu_seconds``.

    Parameters
    ----------
    penalised
        Whether C = 1, scikit-learn's default (default false: none).
    iterations
        Of L-BFGS, 1 or more (default 100, that of scikit-learn).
    """

    judged: ClassVar[bool] = False
    penalised: bool = False
    iterations: Count = 100

    def learn(self, task: Task, seed: int) -> Learned:
        """Fit it; there is nothing random."""
        began = time.process_time()
        model = LogisticRegression(C=1.0 if self.penalised else np.inf, max_iter=self.iterations)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(task.examples, task.labels)
        seconds = time.process_time() - began
        warned = any(issubclass(one.category, ConvergenceWarning) for one in caught)
        answer = SeparationAnswer.NOT_CONVERGED if warned else SeparationAnswer.CONVERGED
        answer = SeparationAnswer.PENALISED if self.penalised else answer
        largest = float(np.abs(np.append(model.coef_, model.intercept_)).max())
        tested = len(task.test_labels) > 0
        return Learned(
            model.decision_function(task.test_examples) if tested else np.zeros(0),
            message=f"{answer}: largest coefficient {largest:.3g}",
            finding=Finding(separation=answer),
            seconds=seconds,
            iterations=int(model.n_iter_[0]),
            figures={"largest_coefficient": largest, "cpu_seconds": seconds},
        )
