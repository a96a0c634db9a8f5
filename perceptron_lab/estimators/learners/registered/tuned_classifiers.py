"""Learners that tune a classifier by cross-validation; the soft classifiers of this package."""

from __future__ import annotations

import hashlib
import math
import time
from abc import abstractmethod
from dataclasses import replace
from typing import Annotated, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from pydantic import AfterValidator, Field
from sklearn.base import ClassifierMixin, clone
from sklearn.svm import SVC

from perceptron_lab.cones.operators.kernels import Polynomial
from perceptron_lab.core.refusals import Count, Positive, Proportion, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.ellipsoid_separation import SoftSeparationClassifier
from perceptron_lab.estimators.learners.features import Components, OnFeatures, extract
from perceptron_lab.estimators.learners.learning import Learned, Learner
from perceptron_lab.estimators.learners.partial_cholesky import kernel_matrix
from perceptron_lab.estimators.learners.precision import average_precision
from perceptron_lab.estimators.learners.tuning import (
    Grid,
    Parameters,
    Trial,
    best,
    choice_slack,
    fitted,
    tune,
)
from perceptron_lab.estimators.soft_ellipsoid import SoftEllipsoidClassifier, SquaredHingeClassifier


def check_distinct(values: tuple[float, ...]) -> tuple[float, ...]:
    """Return the values if they are distinct, or raise a ValueError."""
    if len(set(values)) < len(values):
        raise ValueError(f"the values {list(values)} repeat themselves; give each once")
    return values


Candidates = Annotated[tuple[Positive, ...], Field(min_length=1), AfterValidator(check_distinct)]
"""Candidate values of a parameter: above 0, at least one, distinct."""
Folds = Annotated[int, Field(ge=2)]

REGULARISATIONS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
"""Default candidates, as many as for C."""


class Choice(NamedTuple):
    """The selected candidate of a grid, with details of the selection."""

    parameters: Parameters
    edges: tuple[str, ...]  # which of its parameters lie on an edge of the grid
    folds: int  # of the cross-validation; 0 if nothing was held out
    summary: str  # how it was selected
    figures: dict[str, float]


@parameter_record
class TunedLearner(OnFeatures, Learner):
    """A learner that selects parameters of a scikit-learn classifier by cross-validation.

    Of the candidates whose mean average precision is at most 0.1 percentage points
    (:data:`NEAR_TIE`) below the highest, the most regularised one is selected. Features are
    extracted again from the training part of every fold. Of fewer positives than folds each makes a
    fold; with a single one nothing can be held out, and the candidate in the middle of the grid is
    taken.

    Figures: each chosen parameter; ``validation``, its mean average precision on the folds, and
    ``choice_room``, how far all means may move without another choice (left out where none was held
    out, or there is no choice); ``on_edge``, 1 if a parameter is on the edge of its grid;
    ``candidates``; ``folds``; ``converged``, 1 if the final fit did; ``components``;
    ``cpu_seconds`` of features and final fit, and ``tuning_seconds``, processor times.

    Parameters
    ----------
    regularisations
        What is tried, each above 0 (default 1e-2 to 1e-8), in any order.
    class_weight
        ``balanced``, or None (default).
    folds
        Of the cross-validation, 2 or more (default 3).
    """

    # Parameters of several learners are documented here, and declared by each in its own order.

    @abstractmethod
    def search(self, seed: int) -> tuple[Grid, int]:
        """Return the classifier with its candidates, and the number of folds.

        Each parameter begins with the value that regularises most.
        """

    def trials(self, grid: Grid, task: Task, folds: int, seed: int) -> tuple[Trial, ...]:
        """Return the trial of every candidate on folds of the training examples."""
        features = self.transformer(seed)
        return tune(grid, task.examples, task.labels, features=features, folds=folds, seed=seed)

    def by_metric_name(self, parameters: Parameters) -> Parameters:
        """Return the selected parameters by the names of their metrics, by default unchanged."""
        return parameters

    def convergence_of(self, model: ClassifierMixin) -> tuple[int, bool]:
        """Return the iterations of a fitted classifier, and whether it converged."""
        return int(model.n_iter_), bool(model.converged_)

    def figures_of(self, model: ClassifierMixin) -> dict[str, float]:
        """Return further metrics of the fitted classifier; by default none."""
        return {}

    def choose(self, grid: Grid, folds: int, task: Task, seed: int) -> Choice:
        """Return the choice of cross-validation; the middle of the grid for a single positive."""
        count = min(folds, int((task.labels > 0).sum()))
        if count < 2:
            candidates = list(grid.candidates())
            # No fold could have a positive in both parts.
            middle = candidates[len(candidates) // 2]
            return Choice(middle, (), 0, "the middle of the grid: one positive", {})
        trials = self.trials(grid, task, count, seed)
        best_trial, spare = best(trials), choice_slack(trials)
        figures = {"validation": best_trial.mean}
        figures |= {"choice_room": spare} if math.isfinite(spare) else {}
        edges = grid.edges(best_trial.parameters)
        return Choice(best_trial.parameters, edges, count, f"of {count} folds", figures)

    def learn(self, task: Task, seed: int) -> Learned:
        """Choose on training examples, fit, and score the test examples."""
        return self.learn_by(*self.search(seed), task, seed)

    def learn_by(self, grid: Grid, folds: int, task: Task, seed: int) -> Learned:
        """Choose from a grid, fit, and score the test examples."""
        began, transformer = time.process_time(), self.transformer(seed)
        choice = self.choose(grid, folds, task, seed)
        tuned = time.process_time()
        features = extract(task, transformer)
        model = fitted(grid.with_parameters(choice.parameters), features.training, task.labels)
        scores = model.decision_function(features.test)
        seconds = time.process_time() - tuned
        iterations, converged = self.convergence_of(model)
        parameters = self.by_metric_name(choice.parameters)
        figures = features.figures | {name: float(value) for name, value in parameters.items()}
        count = math.prod(map(len, grid.values.values()))
        figures |= choice.figures | {"on_edge": float(bool(choice.edges))}
        figures |= {"candidates": float(count), "folds": float(choice.folds)}
        figures |= {"converged": float(converged)} | self.figures_of(model)
        words = ", ".join(f"{name} {value:g}" for name, value in parameters.items())
        edges = list(self.by_metric_name(dict.fromkeys(choice.edges)))
        edge = ", on the edge of the grid" if edges else ""
        words += f" ({choice.summary}{edge})"
        return Learned(
            scores,
            message=words if converged else f"{words}; the final fit did not converge",
            seconds=seconds,
            iterations=iterations,
            figures=figures | {"cpu_seconds": seconds, "tuning_seconds": tuned - began},
            certificate={
                "chosen": parameters,
                "edges": list(self.by_metric_name(dict.fromkeys(choice.edges))),
            },
        )


@parameter_record
class TunedSoftEllipsoid(TunedLearner):
    """The soft-margin ellipsoid, its regularisation chosen by cross-validation.

    f(x) = -(|L'x|^2 + 2 g'x + c) with the squared hinge of a margin of 1 and low rank, see
    :class:`~perceptron_lab.estimators.SoftEllipsoidClassifier`. What it has in place of the
    separation ratio of `Kharechko2009`, (7.9), is a slack: it answers for any two classes.

    Parameters
    ----------
    rank
        Columns of L, 0 or more (default 20).
    tolerance
        Of Newton's method, relative to the objective, above 0 (default 1e-4: with steps that gain
        so little the objective is known to about 1e-6 of it).
    """

    rank: Annotated[int, Field(ge=0)] = 20
    regularisations: Candidates = REGULARISATIONS
    class_weight: Literal["balanced"] | None = None
    tolerance: Positive = 1e-4
    folds: Folds = 3

    def search(self, seed: int) -> tuple[Grid, int]:
        """Return the classifier with its candidates, and the number of folds."""
        model = SoftEllipsoidClassifier(
            self.rank,
            class_weight=self.class_weight,
            tol=self.tolerance,
            random_state=np.random.default_rng(seed),
        )
        return Grid(
            model, {"regularisation": sorted(self.regularisations, reverse=True)}
        ), self.folds


@parameter_record
class TunedLinearScorer(TunedLearner):
    """The soft ellipsoid without its quadratic term, its regularisation chosen in the same way.

    f(x) = -(2 g'x + c), see :class:`~perceptron_lab.estimators.SquaredHingeClassifier`: what an
    ellipsoid gains over it is due to the ellipsoid, the rest to loss and regularisation.
    """

    regularisations: Candidates = REGULARISATIONS
    class_weight: Literal["balanced"] | None = None
    folds: Folds = 3

    def search(self, seed: int) -> tuple[Grid, int]:
        """Return the classifier with its candidates, and the number of folds."""
        model = SquaredHingeClassifier(class_weight=self.class_weight)
        return Grid(
            model, {"regularisation": sorted(self.regularisations, reverse=True)}
        ), self.folds


@parameter_record
class TunedSoftSeparation(TunedLearner):
    """Maximal separation ratio with slacks, the penalties chosen by cross-validation.

        maximise    t - P+ mean_+ xi_i - P- mean_- xi_i
        subject to  x^'E^x^ <= 1 + xi_i on positives,  x^'E^x^ >= 1 + t - xi_i on negatives,

    xi >= 0 and E^ >= 0: (7.9) of `Kharechko2009` with slacks, ranking by (8.2), see
    :class:`~perceptron_lab.estimators.SoftSeparationClassifier`.

    Figures: also ``ratio``, t as computed, where it is bounded.

    Parameters
    ----------
    components
        The number of Gram-Schmidt features, 1 or more (default 10: the time grows with its sixth
        power); None for the examples as they are, which must be dense.
    positive_penalties
        The values of P+ that are tried, each above 0 (default 3, 10 and 30); t is unbounded below
        a critical penalty, which is 1 or more.
    negative_penalties
        Of P-, each above 1 (default 2, 5 and 20).
    tolerance
        Clarabel's, between 0 and 1 (default 1e-9).
    """

    components: Components = 10
    positive_penalties: Candidates = (3.0, 10.0, 30.0)
    negative_penalties: Annotated[
        tuple[Annotated[float, Field(gt=1)], ...],
        Field(min_length=1),
        AfterValidator(check_distinct),
    ] = (2.0, 5.0, 20.0)
    tolerance: Proportion = 1e-9
    folds: Folds = 3

    def search(self, seed: int) -> tuple[Grid, int]:
        """Return the classifier with its candidates, and the number of folds."""
        values = {
            "positive_penalty": sorted(self.positive_penalties),
            "negative_penalty": sorted(self.negative_penalties),
        }
        return Grid(SoftSeparationClassifier(tol=self.tolerance), values), self.folds

    def figures_of(self, model: SoftSeparationClassifier) -> dict[str, float]:
        """Return t, where it is bounded."""
        ratio = model.separation_.ratio
        return {"ratio": ratio} if math.isfinite(ratio) else {}


LARGEST_MATRIX = 20_000
"""Largest number of training examples (dense rows, or features) with kernel matrices of folds."""
FASTER = 10
"""Matrices are used if all fits need at least this part of their values: a fit computes the columns
of its support vectors, about as many as the smaller class has examples, one by one, ten times as
slowly as a product of matrices does."""

# Cache of one kernel matrix, which the categories of a collection share, with its processor time
_cached_matrix: dict[tuple[str, int], tuple[FloatArray, float]] = {}


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
        highest average precision on the test examples themselves (the smallest of equal ones). This
        is no selection rule, as it uses the test labels, but an upper bound for any choice among
        these C on this test.
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
            # A large cache: LIBSVM reads the columns of its working set repeatedly.
            cache_size=500.0,
        )
        return Grid(machine, {"C": sorted(self.penalties)}), self.folds

    def by_metric_name(self, parameters: Parameters) -> Parameters:
        """Return LIBSVM's C under the name ``penalty`` of this record."""
        return {"penalty": parameters["C"]} if "C" in parameters else {}

    def convergence_of(self, model: SVC) -> tuple[int, bool]:
        """Return 0, as LIBSVM's iterations are not comparable, and whether it converged."""
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
        """Choose by cross-validation, or by the test examples as an upper bound of any choice."""
        if self.choice == "cross-validation":
            return super().choose(grid, folds, task, seed)
        features = extract(task, self.transformer(seed))
        trials = []
        for parameters in grid.candidates():
            model = fitted(grid.with_parameters(parameters), features.training, task.labels)
            scores = model.decision_function(features.test)
            trials.append(Trial(parameters, (average_precision(task.test_labels, scores),)))
        best_parameters = best(trials, 0.0).parameters
        return Choice(best_parameters, grid.edges(best_parameters), 0, "by test precision", {})

    def learn(self, task: Task, seed: int) -> Learned:
        """Choose on training examples, fit, and score the test examples."""
        if self.components is not None or not sp.issparse(task.examples):
            return super().learn(task, seed)
        # n^2 doubles, cached by the digest of the examples
        both = sp.csr_array(sp.vstack([task.examples, sp.csr_array(task.test_examples)]))
        content = b"".join(part.tobytes() for part in (both.data, both.indices, both.indptr))
        key = (hashlib.sha256(content).hexdigest(), self.degree)
        # Only the last matrix is kept: two may exceed the memory.
        if key not in _cached_matrix:
            _cached_matrix.clear()
            began = time.process_time()
            matrix = kernel_matrix(Polynomial(degree=self.degree, coef0=1.0, gamma=1.0), both)
            _cached_matrix[key] = (matrix, time.process_time() - began)
        matrix, seconds = _cached_matrix[key]
        training = slice(len(task.labels))
        test = slice(training.stop, None)
        features = replace(
            task, examples=matrix[training, training], test_examples=matrix[test, training]
        )
        grid, folds = self.search(seed)
        grid.model.set_params(kernel="precomputed")
        learned = self.learn_by(grid, folds, features, seed)
        kernel_figures = {"components": float(task.examples.shape[1]), "kernel_seconds": seconds}
        return replace(learned, figures=learned.figures | kernel_figures)
