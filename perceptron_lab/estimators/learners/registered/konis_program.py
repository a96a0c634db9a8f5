"""Konis's linear program as a learner: separation as other packages test it, in doubles."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.linear.floating_rows import INFINITE, HighsProgram, solved_here
from perceptron_lab.core.findings import Finding, SeparationAnswer
from perceptron_lab.core.refusals import Positive, parameter_record
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
        At most.
    """
    count, width = rows.shape
    bounds = np.full(width, -1.0), np.ones(width)
    sides = np.zeros(count), np.full(count, INFINITE)
    program = HighsProgram(-rows.sum(axis=0), bounds, sp.csr_array(rows), sides)
    found = solved_here(program, seconds)
    if not found.optimal:
        return KonisAnswer(False, np.zeros(width), 0.0, found.iterations)
    gain = float((rows @ found.values).sum())
    return KonisAnswer(True, found.values, gain, found.iterations)


@parameter_record
class KonisProgram(Learner):
    """Konis's linear program by HiGHS, in doubles: separated or not, without a proof.

    max sum_i a_i'b subject to a_i'b >= 0, -1 <= b <= 1 for a_i = y_i (x_i, 1): the classes are
    called ``separated`` if an entry of b is above the tolerance, which are then the coefficients
    that diverge, and else ``not separated``; the message begins so. Columns that depend on earlier
    ones are left out before. R's package detectseparation does all this with other solvers.
    Complete and quasi-complete separation are one to it, and so are coefficients that are infinite
    and that are undetermined.

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
        """Solve the program; there is nothing random."""
        began = time.process_time()
        rows = labelled_rows(task, affine=self.affine)
        kept = independent_columns(rows)
        found = konis_program(rows[:, kept])
        seconds = time.process_time() - began
        diverging = int((np.abs(found.direction) > self.tolerance).sum())
        answer = SeparationAnswer.SEPARATED if diverging else SeparationAnswer.NOT_SEPARATED
        finding = Finding(separation=answer if found.solved else SeparationAnswer.NOT_SOLVED)
        b = np.zeros(rows.shape[1])
        b[kept] = found.direction
        features = task.test_examples @ b[: len(b) - self.affine]
        return Learned(
            np.asarray(features + b[-1] * self.affine),
            message=f"{finding.sentence}: optimum {found.gain:.3g} in doubles",
            finding=finding,
            seconds=seconds,
            iterations=found.iterations,
            figures={
                "diverging": float(diverging),
                "gain": found.gain,
                "cpu_seconds": seconds,
            },
        )


def independent_columns(rows: FloatArray) -> list[int]:
    """Return the columns that are independent of earlier ones, up to 1e-7 of their norms, as in R.

    By Gram and Schmidt's process, each column made orthogonal twice.
    """
    basis = np.empty((0, len(rows)))
    kept = []
    for place, column in enumerate(rows.T):
        rest = column - basis.T @ (basis @ column)
        rest -= basis.T @ (basis @ rest)
        norm = float(np.linalg.norm(rest))
        if norm > _DEPENDENT * float(np.linalg.norm(column)):
            basis = np.vstack([basis, rest / norm])
            kept.append(place)
    return kept


def labelled_rows(task: Task, *, affine: bool) -> FloatArray:
    """Return y_i (x_i, 1) of the training examples, dense, shape ``(m, n)``."""
    constant = [np.ones((len(task.labels), 1))] if affine else []
    rows: FloatArray = np.hstack([dense_array(task.examples), *constant]) * task.labels[:, None]
    return rows
