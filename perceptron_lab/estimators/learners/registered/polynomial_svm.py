"""The support vector machine with a polynomial kernel as a learner."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from typing import Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.svm import SVC

from perceptron_lab.cones.operators.kernels import Polynomial
from perceptron_lab.core.refusals import Count, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.learners.extraction import extract
from perceptron_lab.estimators.learners.learning import Learned
from perceptron_lab.estimators.learners.partial_cholesky import kernel_matrix
from perceptron_lab.estimators.learners.precision import average_precision
from perceptron_lab.estimators.learners.registered.tuned_classifiers import (
    Candidates,
    Choice,
    Folds,
    TunedLearner,
)
from perceptron_lab.estimators.learners.tuning import Grid, Parameters, Trial, best, fitted, tune

LARGEST_MATRIX = 20_000
"""Of so many training examples at most (dense rows, or features) folds have kernel matrices ..."""
FASTER = 10
"""... if all fits need more of its values than this part of them: a fit needs the columns of its
support vectors, which are as many as the smaller class or more, and computes them one by one, about
ten times as slowly as a product of matrices does."""

# The one kernel matrix that is kept, which the categories of a collection share, and its seconds
_kept: dict[tuple[str, int], tuple[FloatArray, float]] = {}


@parameter_record
class TunedPolynomialSvm(TunedLearner):
    """The soft-margin machine with the kernel (1 + x'z)^degree, C chosen by cross-validation.

        minimise norm(h)^2 / 2 + C sum_i w_i max(0, 1 - y_i (h(x_i) + b))

    over h in the kernel's function space and b, by scikit-learn's ``SVC`` (LIBSVM). With degree 2,
    h ranges over all quadratic functions: it may draw any ellipsoid, and other quadrics. In
    cross-validation all C share one kernel matrix of each fold, where that is faster (up to 20 000
    examples). Sparse examples are known by one kernel matrix of training and test examples, n^2
    doubles, which is kept for the next task with the same examples.

    Figures: for sparse examples also ``kernel_seconds``, processor time of that matrix (computed
    once), which is no part of ``cpu_seconds``. Chosen by the test examples: ``folds`` 0, and no
    ``validation`` or ``choice_room``.

    Parameters
    ----------
    penalties
        The values of C that are tried, each above 0 (default 1e-2 to 1e4).
    degree
        Of the machine's own kernel, 1 or more (default 2).
    iterations
        LIBSVM's at most in one fit, 1 or more (default 10 million).
    choice
        ``cross-validation`` (default); or ``test-precision``: of the values of C, the one with the
        highest average precision on the test examples themselves (of equals, the smallest). That is
        no rule of selection, as the answers have a part in it. It is an upper bound of what any
        choice among these C can reach on this test.
    """

    penalties: Candidates = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4)
    degree: Count = 2
    class_weight: Literal["balanced"] | None = None
    folds: Folds = 3
    iterations: Count = 10_000_000
    choice: Literal["cross-validation", "test-precision"] = "cross-validation"

    def search(self, seed: int) -> tuple[Grid, int]:
        """Return the machine with the penalties that are tried, and the number of folds."""
        machine = SVC(
            kernel="poly",
            degree=self.degree,
            gamma=1.0,
            coef0=1.0,
            class_weight=self.class_weight,
            max_iter=self.iterations,
            cache_size=500.0,
        )
        return Grid(machine, {"C": sorted(self.penalties)}), self.folds

    def named(self, parameters: Parameters) -> Parameters:
        """Call LIBSVM's C the penalty, as this record does."""
        return {"penalty": parameters["C"]} if "C" in parameters else {}

    def ending(self, model: SVC) -> tuple[int, bool]:
        """Return 0, as LIBSVM's iterations are no solver's, and whether its tolerance was met."""
        return 0, int(model.n_iter_[0]) < self.iterations

    def trials(self, grid: Grid, task: Task, folds: int, seed: int) -> tuple[Trial, ...]:
        """Return the trial of every penalty; of dense rows by one kernel matrix per fold."""
        if grid.model.kernel == "precomputed":  # the examples are their kernel matrix already
            return super().trials(grid, task, folds, seed)
        features, count = self.transformer(seed), len(task.labels)
        positives = int((task.labels > 0).sum())
        columns = min(positives, count - positives) * len(self.penalties)
        dense = features is not None or isinstance(task.examples, np.ndarray)
        if not dense or count > LARGEST_MATRIX or FASTER * columns < count:
            return super().trials(grid, task, folds, seed)
        kernel = Polynomial(degree=self.degree, coef0=1.0, gamma=1.0)
        by_matrix = replace(grid, model=clone(grid.model).set_params(kernel="precomputed"))
        parts = task.examples, task.labels
        return tune(by_matrix, *parts, features=features, kernel=kernel, folds=folds, seed=seed)

    def choose(self, grid: Grid, folds: int, task: Task, seed: int) -> Choice:
        """Choose by cross-validation, or by the test examples as the bound of any choice."""
        if self.choice == "cross-validation":
            return super().choose(grid, folds, task, seed)
        known = extract(task, self.transformer(seed))
        trials = []
        for parameters in grid.candidates():
            model = fitted(grid.with_parameters(parameters), known.training, task.labels)
            scores = model.decision_function(known.test)
            trials.append(Trial(parameters, (average_precision(task.test_labels, scores),)))
        chosen = best(trials, 0.0).parameters
        return Choice(chosen, grid.edges(chosen), 0, "by test precision", {})

    def learn(self, task: Task, seed: int) -> Learned:
        """Choose on training examples, fit, and score the test examples."""
        if self.components is not None or not sp.issparse(task.examples):
            return super().learn(task, seed)
        # n^2 doubles, known again by the examples' digest
        both = sp.csr_array(sp.vstack([task.examples, sp.csr_array(task.test_examples)]))
        content = b"".join(part.tobytes() for part in (both.data, both.indices, both.indptr))
        key = (hashlib.sha256(content).hexdigest(), self.degree)
        if key not in _kept:
            _kept.clear()
            began = time.process_time()
            matrix = kernel_matrix(Polynomial(degree=self.degree, coef0=1.0, gamma=1.0), both)
            _kept[key] = (matrix, time.process_time() - began)
        matrix, seconds = _kept[key]
        training = slice(len(task.labels))
        test = slice(training.stop, None)
        known = replace(
            task, examples=matrix[training, training], test_examples=matrix[test, training]
        )
        grid, folds = self.search(seed)
        grid.model.set_params(kernel="precomputed")
        learned = self.learn_by(grid, folds, known, seed)
        own = {"components": float(task.examples.shape[1]), "kernel_seconds": seconds}
        return replace(learned, figures=learned.figures | own)
