"""scikit-learn's SVC (LIBSVM) as a reference for rows and kernels."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from sklearn.svm import SVC

from perceptron_lab.algorithms.base import SeesAll, Step, Systems
from perceptron_lab.algorithms.external.base import (
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
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray
from perceptron_lab.core.time_limit import TimeIsUp
from perceptron_lab.numerics.sparse_arrays import dense_array
from perceptron_lab.systems import ConicSystem

# How LIBSVM is told the inner products: by the rows, or one by one
Kernel = Literal["linear", "precomputed"]


@parameter_record
class Svc(SeesAll[TrainedState]):
    """The support vector machine with a hard margin, as scikit-learn's SVC finds it.

    minimise norm(f)^2 / 2 + C sum_i max(0, 1 - <psi_i, f>) over f, with a large C. LIBSVM has
    a bias; on the symmetrised data (psi_i, +1), (-psi_i, -1) it vanishes: the answer is one of
    the homogeneous system. Rows are given to it as they are, with its linear kernel; kernels as
    matrices of inner products. Of two classes whose margin is ``geometric`` it is given the
    examples and the labels, and the bias is its own.

    Each training is one update, and a phase: LIBSVM cannot go on from where it stopped, and is
    killed when the time is up. If it stops at its number of iterations, and neither its point nor
    its weights prove anything, it is trained anew for twice as long. The answer is proved like any
    other, and one that is wrong is not believed.

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
    needs_whole: ClassVar[bool] = False

    penalty: Positive = 1e6
    epsilon: Positive = 1e-6
    tolerance: Positive = 1e-3
    first: Count = 1_000_000
    iterations: Count = 1_000_000

    def view(self, system: ConicSystem) -> ConicSystem:
        """Return two classes with a free bias as they are, and any other system likewise."""
        return system if isinstance(system.operator, Classes) else super().view(system)

    def start(self, system: ConicSystem, rng: np.random.Generator) -> TrainedState:
        """Return the untrained state at 0."""
        refuse_other_cones(self, system)
        length = min(self.first, self.iterations)
        nothing, weights = np.zeros(system.dimension), np.zeros(system.cone.size)
        return TrainedState(nothing, weights=weights, length=length)

    def step(self, system: ConicSystem, state: TrainedState, most: int) -> Step[TrainedState]:
        """Train once; claim a separator or a bound, after the last training the point anyway."""
        if state.trained:
            return state, claimed(system, state, self.epsilon)
        try:
            state.weights, bias, made = in_time(system, self._train, system, state.length)
        except TimeIsUp:
            return state, None
        state.point = system.combine(state.weights)
        if isinstance(system.operator, Classes):
            state.point[-1] = bias
        state.count("LIBSVM", made, self.iterations)
        answer = claimed if state.trained else supported
        return state, answer(system, state, self.epsilon)

    def _train(self, system: ConicSystem, length: int) -> tuple[FloatArray, float, int]:
        """Return weights, the bias, and the iterations made: fewer if the machine converged."""
        examples, signs, kernel = training_data(system)
        machine = SVC(
            C=self.penalty, tol=self.tolerance, max_iter=length, kernel=kernel, cache_size=1000.0
        )
        with quiet():
            machine.fit(examples, signs)
        found = dense_array(machine.dual_coef_)
        dual, size = np.zeros(len(signs)), system.cone.size
        dual[machine.support_] = found[0]
        # They are alpha_i times the signs; of symmetrised data both alphas of a feature count
        weights = np.abs(dual) if len(signs) == size else np.maximum(dual[:size] - dual[size:], 0.0)
        if not weights.any():
            raise NumericalError("LIBSVM returned no support vector")
        return weights, float(machine.intercept_[0]), int(machine.n_iter_[0])

    def bound(self, facts: Facts) -> Bound:
        """Return no bound: none is stated for LIBSVM's iterations in these terms."""
        return Bound(None, "LIBSVM", "a reference solver without a bound in these terms")


def training_data(system: ConicSystem) -> tuple[Rows, FloatArray, Kernel]:
    """Return the rows, or the inner products of the features, with both signs; and the signs.

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
