"""Detection of separation in floating point, without proofs: logistic regression and Konis's LP."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from perceptron_lab.algorithms.linear.highs import INFINITE, HighsProgram, solved_here
from perceptron_lab.core.findings import Finding, SeparationAnswer
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.learners.learning import Learned, Learner
from perceptron_lab.numerics.sparse_arrays import dense_array

_DEPENDENT: Final = 1e-7


@dataclass(frozen=True, eq=False)
class KonisAnswer:
    """The optimum of Konis's program in doubles.

    Parameters
    ----------
    solved
        Whether HiGHS calls it optimal.
    direction
        b, shape ``(n,)``, each entry from -1 to 1.
    gain
        sum_i a_i'b.
    iterations
        Of the simplex method.
    """

    solved: bool
    direction: FloatArray
    gain: float
    iterations: int


def konis_program(rows: FloatArray, seconds: float = 1e6) -> KonisAnswer:
    """Maximise sum_i a_i'b subject to A b >= 0 and -1 <= b <= 1, by HiGHS.

    If the optimum is 0 the classes overlap, and else they are separated (K. Konis, Linear
    programming algorithms for detecting separated data in binary logistic regression models, DPhil
    thesis, Oxford 2007, chapter 4). HiGHS has tolerances of 1e-7: its answer is no proof.

    Parameters
    ----------
    rows
        A, of rows a_i = y_i (x_i, 1), shape ``(m, n)``.
    seconds
    Time limit.
    """
    count, width = rows.shape
    bounds = np.full(width, -1.0), np.ones(width)
    sides = np.zeros(count), np.full(count, INFINITE)
    program = HighsProgram(-rows.sum(axis=0), bounds, sp.csr_array(rows), sides)
    solution = solved_here(program, seconds)
    if not solution.optimal:
        return KonisAnswer(False, np.zeros(width), 0.0, solution.iterations)
    gain = float((rows @ solution.values).sum())
    return KonisAnswer(True, solution.values, gain, solution.iterations)


@parameter_record
class KonisProgram(Learner):
    """Konis's linear program by HiGHS, in doubles: separated or not, without a proof.

    max sum_i a_i'b subject to a_i'b >= 0, -1 <= b <= 1 for a_i = y_i (x_i, 1): the classes are
    called ``separated`` if an entry of b is above the tolerance (the coefficients that diverge),
    and ``not separated`` otherwise; the message begins with this answer. Columns that depend on
    earlier ones are omitted first. R's package detectseparation does the same with other solvers.
    The program does not distinguish complete from quasi-complete separation, nor infinite from
    undetermined coefficients.

    Nothing is proved: FITTED. It needs no test examples.

    Figures: ``diverging``, the entries of b above the tolerance, and ``gain``, sum_i a_i'b;
    ``cpu_seconds``.

    Parameters
    ----------
    affine
        Whether there is an intercept (default true).
    tolerance
        Of the entries of b, above 0 (default 1e-4, as in detectseparation).

    References
    ----------
    K. Konis, Linear programming algorithms for detecting separated data in binary logistic
    regression models, DPhil thesis, University of Oxford, 2007.
    """

    judged: ClassVar[bool] = False
    affine: bool = True
    tolerance: Positive = 1e-4

    def learn(self, task: Task, seed: int) -> Learned:
        """Solve the program for the training examples; nothing is random."""
        began = time.process_time()
        rows = labelled_rows(task, affine=self.affine)
        independent = independent_columns(rows)
        answer_of_program = konis_program(rows[:, independent])
        seconds = time.process_time() - began
        diverging = int((np.abs(answer_of_program.direction) > self.tolerance).sum())
        answer = SeparationAnswer.SEPARATED if diverging else SeparationAnswer.NOT_SEPARATED
        finding = Finding(
            separation=answer if answer_of_program.solved else SeparationAnswer.NOT_SOLVED
        )
        # Dependent columns have coefficient 0, as in R.
        b = np.zeros(rows.shape[1])
        b[independent] = answer_of_program.direction
        features = task.test_examples @ b[: len(b) - self.affine]
        return Learned(
            np.asarray(features + b[-1] * self.affine),
            message=f"{finding.sentence}: optimum {answer_of_program.gain:.3g} in doubles",
            finding=finding,
            seconds=seconds,
            iterations=answer_of_program.iterations,
            figures={
                "diverging": float(diverging),
                "gain": answer_of_program.gain,
                "cpu_seconds": seconds,
            },
        )


def independent_columns(rows: FloatArray) -> list[int]:
    """Return the columns that are independent of earlier ones, up to 1e-7 of their norms, as in R.

    By Gram and Schmidt's process, each column made orthogonal twice.
    """
    basis = np.empty((0, len(rows)))
    independent = []
    for index, column in enumerate(rows.T):
        rest = column - basis.T @ (basis @ column)
        # Twice is enough: the second pass removes the rounding errors of the first (Kahan and
        # Parlett).
        rest -= basis.T @ (basis @ rest)
        norm = float(np.linalg.norm(rest))
        if norm > _DEPENDENT * float(np.linalg.norm(column)):
            basis = np.vstack([basis, rest / norm])
            independent.append(index)
    return independent


def labelled_rows(task: Task, *, affine: bool) -> FloatArray:
    """Return y_i (x_i, 1) of the training examples, dense, shape ``(m, n)``."""
    constant = [np.ones((len(task.labels), 1))] if affine else []
    rows: FloatArray = np.hstack([dense_array(task.examples), *constant]) * task.labels[:, None]
    return rows


_RIDGE = 1e-10  # On the diagonal of the Hessian of the mean log-likelihood, in statsmodels
_PERFECT = 1e-8  # Probabilities so near to the labels are called perfect


@dataclass(frozen=True, eq=False)
class NewtonHistory:
    """The convergence history of Newton's method.

    Parameters
    ----------
    answer
        ``converged``, ``perfect prediction``, ``not converged`` or ``singular``.
    coefficients
        After each step, shape ``(steps, n)``.
    errors
        Standard errors at the end, roots of the diagonal of the inverse information, shape
        ``(n,)``; NaN where it is missing.
    """

    answer: SeparationAnswer
    coefficients: FloatArray
    errors: FloatArray


def newton_history(rows: FloatArray, steps: int = 35, tolerance: float = 1e-8) -> NewtonHistory:
    """Run Newton's method on sum_i log(1 + exp(-a_i'b)) from b = 0, as statsmodels' Logit does.

    The method ends after ``steps`` steps, or has ``converged`` when no coefficient changes by more
    than the tolerance. As in statsmodels, 1e-10 is added to the diagonal of the Hessian of the mean
    log-likelihood, whose eigenvalues are below 0. The prediction is ``perfect`` (a warning in
    statsmodels) if after some step all probabilities of the wrong label are below 1e-8.

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
        errors: FloatArray = expit(-(rows @ b))
        curved = -(rows.T @ ((errors * (1.0 - errors))[:, None] * rows)) / count
        try:
            move = np.linalg.solve(curved + _RIDGE * np.eye(width), rows.T @ errors / count)
        except np.linalg.LinAlgError:
            answer = SeparationAnswer.SINGULAR
            break
        b = b - move
        along.append(b)
        # statsmodels warns of perfect prediction and continues, so the iteration does not stop
        # here.
        perfect |= bool((expit(-(rows @ b)) <= _PERFECT).all())
        if np.abs(move).max() <= tolerance:
            answer = SeparationAnswer.CONVERGED
            break
    steps_taken = np.array(along).reshape(-1, width)
    answer = SeparationAnswer.PERFECT if perfect else answer
    return NewtonHistory(answer, steps_taken, _standard_errors(rows, b))


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

    Full steps from 0 until no coefficient changes by more than the tolerance: ``converged``, or
    else ``not converged``. ``perfect prediction`` takes precedence over both, as does ``singular``
    (an exception in statsmodels) if the information has no inverse. The message begins with this
    answer. Separated classes have no estimates: the coefficients are those of the last step.

    Nothing is proved: FITTED. It needs no test examples.

    Figures: ``largest_coefficient``, in absolute value, and ``largest_error``, of the standard
    errors, where there are any; ``steps``; ``cpu_seconds``. The array ``coefficients``, steps x
    coefficients, is their history.

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
        """Run Newton's method on the training examples; nothing is random."""
        began = time.process_time()
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            rows = labelled_rows(task, affine=self.affine)
            history = newton_history(rows, self.steps, self.tolerance)
        seconds = time.process_time() - began
        count = len(history.coefficients)
        b = history.coefficients[-1] if count else np.zeros(history.coefficients.shape[1])
        values = {
            "largest_coefficient": float(np.abs(b).max()),
            "largest_error": float(history.errors.max()),
        }
        figures = {name: value for name, value in values.items() if math.isfinite(value)}
        features = task.test_examples @ b[: len(b) - self.affine]
        return Learned(
            np.asarray(features + b[-1] * self.affine),
            message=f"{history.answer}: largest coefficient {np.abs(b).max():.3g}",
            finding=Finding(separation=history.answer),
            seconds=seconds,
            iterations=count,
            figures=figures | {"steps": float(count), "cpu_seconds": seconds},
            arrays={"coefficients": history.coefficients},
        )


@parameter_record
class SklearnLogisticRegression(Learner):
    """scikit-learn's LogisticRegression, without a penalty or with that of its defaults.

    Without a penalty (``C=inf``) it computes the maximum likelihood estimates: ``converged`` unless
    it issues a ConvergenceWarning. With a penalty, ``penalised``, estimates always exist and are
    inconclusive about separation. The message begins with this answer.

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
        """Fit scikit-learn's model; nothing is random."""
        # Imported here: Konis's program and Newton's steps need none of it, and it takes a second.
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        began = time.process_time()
        model = LogisticRegression(C=1.0 if self.penalised else np.inf, max_iter=self.iterations)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(task.examples, task.labels)
        seconds = time.process_time() - began
        warned = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
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
