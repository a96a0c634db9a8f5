"""scikit-learn's models as references: SVC (LIBSVM), and linear models with restarts."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.svm import SVC, LinearSVC

from perceptron_lab.algorithms.base import SeesAll, Step, Systems
from perceptron_lab.algorithms.external.base import (
    ExternalAlgorithm,
    Rows,
    TrainedState,
    claimed,
    in_time,
    quiet,
    refuse_other_cones,
    rows_of,
    stacked,
    supported,
)
from perceptron_lab.cones.operators.base import blocks
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.operators.matrix import WRITING, Matrix
from perceptron_lab.cones.operators.row_source import RowSource
from perceptron_lab.core.claims import FeasiblePoint
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray
from perceptron_lab.core.time_limit import TimeIsUp, check_time
from perceptron_lab.numerics.sparse_arrays import dense_array, scaled_rows
from perceptron_lab.systems import ConicSystem

# How LIBSVM receives the inner products: by the rows, or one by one
Kernel = Literal["linear", "precomputed"]


@dataclass(kw_only=True)
class ModelState(TrainedState):
    """A linear model between trainings; iterations are summed over all trainings.

    ``examples`` are s_i a_i, shape ``(m, dimension)``, and ``labels`` the signs s_i, of both kinds:
    a homogeneous model y of these classes has s_i <s_i a_i, y> = <a_i, y>, and separates them if y
    is feasible. ``length`` limits the next training; no training follows the claim ``last``.
    ``model`` is what was trained so far on rows that are read in blocks.
    """

    examples: Rows | Matrix
    labels: FloatArray
    seed: int
    model: SGDClassifier | None = None


class Trained(ExternalAlgorithm[ModelState]):
    """A linear model without a bias, trained with repeatedly doubled iteration limits.

    Each training is one update, and a phase. It ends with a point that separates; where none does,
    the last point is claimed, and not believed: when the model takes itself to be trained, or at
    the largest number of iterations.

    Attributes
    ----------
    first, longest
        Iterations of the first training, and of the longest one.
    """

    first: int
    longest: int

    def start(self, system: ConicSystem, rng: np.random.Generator) -> ModelState:
        """Return the untrained state at 0."""
        refuse_other_cones(self, system)
        examples, labels = self.classes(system)
        return ModelState(
            np.zeros(system.dimension),
            examples=examples,
            labels=labels,
            length=min(self.first, self.longest),
            seed=int(rng.integers(2**31)),
        )

    def step(self, system: ConicSystem, state: ModelState, most: int) -> Step[ModelState]:
        """Train once; claim the point if it is feasible or if this was the last training."""
        if state.trained:
            return state, FeasiblePoint(state.point.copy())
        try:
            point, iterations = in_time(system, _trained, self, state)
        except TimeIsUp:
            return state, None
        if not np.isfinite(point).all():
            raise NumericalError("the coefficients of the linear model are not finite")
        state.point = np.asarray(point, dtype=np.float64)
        state.count(type(self).__name__, iterations, self.longest)
        inside = system.contains(state.point)
        return state, FeasiblePoint(state.point.copy()) if inside or state.trained else None

    def classes(self, system: ConicSystem) -> tuple[Rows | Matrix, FloatArray]:
        """Return the examples and their labels."""
        return two_classes(rows_of(system))

    @abstractmethod
    def train(self, state: ModelState) -> tuple[FloatArray, int]:
        """Train for up to ``length`` iterations; return the coefficients and the iterations made.

        Fewer mean that the model takes itself to be trained.
        """


def _trained(model: Trained, state: ModelState) -> tuple[FloatArray, int]:
    with quiet():
        return model.train(state)


def two_classes(rows: Rows) -> tuple[Rows, FloatArray]:
    """Return s_i a_i and alternating signs s_i; a single row is given with both signs."""
    doubled = stacked(rows, rows) if rows.shape[0] == 1 else rows
    signs = np.where(np.arange(doubled.shape[0]) % 2 == 0, 1.0, -1.0)
    return scaled_rows(doubled, signs), signs


@parameter_record
class LinearSvc(Trained):
    """The linear support vector machine with a hard margin, by dual coordinate descent.

    minimise norm(y)^2 / 2 + C sum_i loss(1 - <a_i, y>), with a large C and no bias. LIBLINEAR
    cannot resume: each training starts from the beginning, with twice as many iterations.

    Parameters
    ----------
    loss
        ``hinge`` (default) or ``squared-hinge``.
    penalty
        C > 0 (default 1e6).
    tolerance
        LIBLINEAR's stopping tolerance, > 0 (default 1e-6).
    first, longest
        Passes over the rows of the first training, and of the longest one (default 1000, scikit-
        learn's own, and 1024000).

    References
    ----------
    C.-J. Hsieh et al., A dual coordinate descent method for large-scale linear SVM, ICML 2008.
    """

    systems: ClassVar[Systems] = {"runs": "rows", "coordinates: runs": "kernel"}

    loss: Literal["hinge", "squared-hinge"] = "hinge"
    penalty: Positive = 1e6
    tolerance: Positive = 1e-6
    first: Count = 1000
    longest: Count = 1_024_000

    def train(self, state: ModelState) -> tuple[FloatArray, int]:
        """Train from the start; fewer passes than allowed mean that LIBLINEAR has converged."""
        machine = LinearSVC(
            loss=self.loss.replace("-", "_"),
            C=self.penalty,
            tol=self.tolerance,
            max_iter=state.length,
            dual=True,
            fit_intercept=False,
            random_state=state.seed,
        )
        machine.fit(state.examples, state.labels)
        return np.asarray(machine.coef_[0]), int(np.max(machine.n_iter_))


@parameter_record
class Sgd(Trained):
    """The linear support vector machine by stochastic gradient descent, without a bias.

    minimise alpha norm(y)^2 / 2 + mean_i loss(<a_i, y>). A training resumes from the coefficients
    of the one before, in another random order; decreasing step sizes start again. Rows that are
    read in blocks are passed to ``partial_fit`` block by block, each in a random order.

    Parameters
    ----------
    loss
        ``hinge``, max(0, 1 - s) (default), or ``perceptron``, max(0, -s).
    regularisation
        alpha, 0 to 1, not 0 (default 1e-9: separation is what counts).
    steps
        ``constant``, of size 1 (default), or ``optimal``, scikit-learn's falling schedule.
    first, longest
        Passes over the rows of the first training, and of the longest one (default 1 and 65536).

    References
    ----------
    L. Bottou, Stochastic Gradient Descent Tricks (2012).
    """

    systems: ClassVar[Systems] = {"runs": "rows", "coordinates: runs": "kernel"}

    loss: Literal["hinge", "perceptron"] = "hinge"
    regularisation: Annotated[float, Field(gt=0, le=1)] = 1e-9
    steps: Literal["constant", "optimal"] = "constant"
    first: Count = 1
    longest: Count = 65536

    def train(self, state: ModelState) -> tuple[FloatArray, int]:
        """Make ``length`` more passes over the rows; the model never counts as converged."""
        parameters = {"loss": self.loss, "alpha": self.regularisation, "learning_rate": self.steps}
        model = SGDClassifier(**parameters, eta0=1.0, fit_intercept=False, random_state=state.seed)
        if not isinstance(state.examples, Matrix):
            return _passed(model, state)
        state.model = state.model or model
        for _ in range(state.length):
            _pass_over_blocks(state.model, state.examples)
        return np.array(state.model.coef_[0]), state.length

    def classes(self, system: ConicSystem) -> tuple[Rows | Matrix, FloatArray]:
        """Return the examples and their labels; of rows in blocks the operator, without labels."""
        operator = system.operator
        if isinstance(operator, Matrix) and isinstance(operator.stored, RowSource):
            return operator, np.empty(0)
        return super().classes(system)


def _pass_over_blocks(model: SGDClassifier, operator: Matrix) -> None:
    """Pass all rows to a model, with alternating signs."""
    for at, rows in blocks(operator.stored):
        check_time(WRITING * rows.size)
        signs = np.where(np.arange(at.start, at.stop) % 2 == 0, 1.0, -1.0)
        scale = 1.0 if operator.scale is None else operator.scale[at]
        model.partial_fit(rows * (signs * scale)[:, None], signs, classes=[-1.0, 1.0])


@parameter_record
class SklearnPerceptron(Trained):
    """The perceptron of unit rows in random order, without a bias.

    A training resumes from the coefficients of the one before, in another random order.

    Parameters
    ----------
    first, longest
        Passes over the rows of the first training, and of the longest one (default 1 and 65536).
    """

    systems: ClassVar[Systems] = {"runs": "rows", "coordinates: runs": "kernel"}

    first: Count = 1
    longest: Count = 65536

    def train(self, state: ModelState) -> tuple[FloatArray, int]:
        """Make ``length`` more passes over the rows; the model never counts as converged."""
        return _passed(Perceptron(), state)


def _passed(model: SGDClassifier | Perceptron, state: ModelState) -> tuple[FloatArray, int]:
    """Return coefficients and passes of a model that resumes from the coefficients of the state."""
    seed = (state.seed + state.updates) % 2**31
    model.set_params(fit_intercept=False, max_iter=state.length, tol=None, random_state=seed)
    model.fit(state.examples, state.labels, coef_init=state.point[None, :])
    return np.asarray(model.coef_[0]), int(model.n_iter_)


@parameter_record
class Svc(SeesAll[TrainedState]):
    """The support vector machine with a hard margin, as scikit-learn's SVC finds it.

    minimise norm(f)^2 / 2 + C sum_i max(0, 1 - <psi_i, f>) over f, with a large C. LIBSVM has
    a bias; on the symmetrised data (psi_i, +1), (-psi_i, -1) it vanishes: the answer is one of
    the homogeneous system. Rows are given to it as they are, with its linear kernel; kernels as
    matrices of inner products. Of two classes whose margin is ``geometric`` it is given the
    examples and the labels, and the bias is its own.

    Each training is one update, and a phase: LIBSVM cannot resume, and is killed when the time is
    up. If it stops at its number of iterations, and neither its point nor its weights prove
    anything, it is trained again for twice as long. The answer is verified like any other, and a
    wrong answer is rejected.

    Parameters
    ----------
    penalty
        C > 0 (default 1e6).
    epsilon
        The bound of the margin that weights are claimed to prove, > 0 (default 1e-6).
    tolerance
        LIBSVM's stopping tolerance, > 0 (default 1e-3).
    first, iterations
        LIBSVM's own iterations at most, in the first training and in the longest one, 1 or more
        (default 1e6 both: one training; on data without a separator it may take hours).

    References
    ----------
    C.-C. Chang and C.-J. Lin, LIBSVM, ACM Transactions on Intelligent Systems and Technology 2
    (2011).
    """

    systems: ClassVar[Systems] = {"runs": "rows kernel"}
    needs_all_entries: ClassVar[bool] = False

    penalty: Positive = 1e6
    epsilon: Positive = 1e-6
    tolerance: Positive = 1e-3
    first: Count = 1_000_000
    iterations: Count = 1_000_000

    def view(self, system: ConicSystem) -> ConicSystem:
        """Return two classes with a free bias unchanged, and the usual view of any other system."""
        return system if system.operator.free_bias else super().view(system)

    def start(self, system: ConicSystem, rng: np.random.Generator) -> TrainedState:
        """Return the untrained state at 0."""
        refuse_other_cones(self, system)
        length = min(self.first, self.iterations)
        nothing, weights = np.zeros(system.dimension), np.zeros(system.cone.size)
        return TrainedState(nothing, weights=weights, length=length)

    def step(self, system: ConicSystem, state: TrainedState, most: int) -> Step[TrainedState]:
        """Train once; claim a separator or a bound, and after the last training the point."""
        if state.trained:
            return state, claimed(system, state, self.epsilon)
        try:
            state.weights, bias, iterations = in_time(system, self._train, system, state.length)
        except TimeIsUp:
            return state, None
        state.point = system.combine(state.weights)
        if isinstance(system.operator, Classes):
            state.point[-1] = bias
        state.count("LIBSVM", iterations, self.iterations)
        answer = claimed if state.trained else supported
        return state, answer(system, state, self.epsilon)

    def _train(self, system: ConicSystem, length: int) -> tuple[FloatArray, float, int]:
        """Return weights, bias and iterations; fewer than ``length`` if it has converged."""
        examples, signs, kernel = training_data(system)
        machine = SVC(
            C=self.penalty, tol=self.tolerance, max_iter=length, kernel=kernel, cache_size=1000.0
        )
        with quiet():
            machine.fit(examples, signs)
        coefficients = dense_array(machine.dual_coef_)
        dual, size = np.zeros(len(signs)), system.cone.size
        dual[machine.support_] = coefficients[0]
        # They are alpha_i times the signs; of symmetrised data both alphas of a feature count
        weights = np.abs(dual) if len(signs) == size else np.maximum(dual[:size] - dual[size:], 0.0)
        if not weights.any():
            raise NumericalError("LIBSVM returned no support vector")
        return weights, float(machine.intercept_[0]), int(machine.n_iter_[0])

    def bound(self, facts: Facts) -> Bound:
        """Return no bound: none is stated for LIBSVM's iterations in these terms."""
        return Bound(None, "LIBSVM", "a reference solver without a bound in these terms")


def training_data(system: ConicSystem) -> tuple[Rows, FloatArray, Kernel]:
    """Return the rows, or the kernel matrix of their features, with both signs; and the signs.

    Of two classes with a free bias: the examples and their signs.
    """
    operator = system.operator
    if isinstance(operator, Classes):
        return operator.features(), operator.signs, "linear"
    signs = np.repeat([1.0, -1.0], operator.size)
    if isinstance(operator, Gram):
        scale = np.ones(operator.size) if operator.scale is None else operator.scale
        signed = operator.signs * scale
        inner = operator.kernel * np.outer(signed, signed)
        return np.block([[inner, -inner], [-inner, inner]]), signs, "precomputed"
    rows = rows_of(system)
    return stacked(rows, -rows), signs, "linear"
