"""scikit-learn's SVC (LIBSVM) as a reference for rows and kernels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass as plain_dataclass
from typing import Annotated

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from perceptron_lab.algorithms.base import SeesAll, State
from perceptron_lab.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.spectral import lowest
from perceptron_lab.errors import InputError, NumericalError
from perceptron_lab.facts import Facts
from perceptron_lab.goals import STRICT
from perceptron_lab.operators.gram import Gram
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import Bound, FloatArray
from perceptron_lab.system import ConicSystem


@plain_dataclass(kw_only=True)
class SvcState(State):
    """The point, and whether the machine has been trained."""

    trained: bool = False


@dataclass(frozen=True, config=STRICT)
class Svc(SeesAll):
    """The support vector machine with a hard margin, as scikit-learn's SVC finds it.

    minimise norm(f)^2 / 2 + C sum_i max(0, 1 - <psi_i, f>) over f, with a large C. LIBSVM has
    a bias; on the symmetrised data (psi_i, +1), (-psi_i, -1) it vanishes: the answer is one of
    the homogeneous system. One update; the answer is proved like any other, and one that does not
    separate is not believed.

    Parameters
    ----------
    penalty
        C > 0 (default 1e6).
    tolerance
        LIBSVM's stopping tolerance, > 0 (default 1e-3).
    iterations
        LIBSVM's own at most (default 1e6): it cannot be interrupted, and on data without a
        separator it may take hours.

    References
    ----------
    C.-C. Chang and C.-J. Lin, LIBSVM, ACM Transactions on Intelligent Systems and Technology 2
    (2011).
    """

    penalty: Annotated[float, Field(gt=0)] = 1e6
    tolerance: Annotated[float, Field(gt=0)] = 1e-3
    iterations: Annotated[int, Field(ge=1)] = 1_000_000

    def start(self, system: ConicSystem, rng: np.random.Generator) -> SvcState:
        """Return the untrained state at 0.

        Raises
        ------
        InputError
            If the system is not one of rows.
        """
        if not isinstance(system.cone, Orthant):
            raise InputError("svc separates rows and kernels only; choose another algorithm")
        return SvcState(np.zeros(system.dimension), weights=np.zeros(system.cone.size))

    def step(
        self, system: ConicSystem, state: SvcState, most: int
    ) -> tuple[SvcState, Claim | None]:
        """Train once; claim the answer, or where it does not separate the bound of its weights."""
        if state.trained:
            return state, FeasiblePoint(state.point.copy())
        inner = inner_products(system)
        machine = SVC(
            C=self.penalty,
            tol=self.tolerance,
            max_iter=self.iterations,
            kernel="precomputed",
            cache_size=1000.0,
        )
        symmetrised = np.block([[inner, -inner], [-inner, inner]])
        with warnings.catch_warnings():  # the proof says whether it has converged
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(symmetrised, np.repeat([1.0, -1.0], len(inner)))
        dual = np.zeros(2 * len(inner))
        dual[machine.support_] = machine.dual_coef_[0]
        state.weights = dual[: len(inner)] - dual[len(inner) :]
        if not state.weights.any():
            raise NumericalError("LIBSVM returned no support vector")
        state.weights = np.maximum(state.weights, 0.0)
        state.point = system.combine(state.weights)
        state.updates, state.iterations, state.trained = 1, 1, True
        if lowest(system.cone, system.scores(state.point)) > 0.0:
            return state, FeasiblePoint(state.point.copy())
        bound = system.upper(state.weights)
        return state, MarginBelow(state.weights.copy(), (1.0 + 1e-9) * bound + system.resolution)

    def bound(self, facts: Facts) -> Bound:
        """Return no bound: none is stated for LIBSVM's iterations in these terms."""
        return Bound(None, "LIBSVM", "a reference solver without a bound in these terms")


def inner_products(system: ConicSystem) -> FloatArray:
    """Return <a_i, a_j> of the rows as the system sees them, shape ``(m, m)``."""
    operator = system.operator
    scale = np.ones(operator.size) if operator.scale is None else operator.scale
    if isinstance(operator, Gram):
        signed = operator.signs * scale
        return np.asarray(operator.kernel * np.outer(signed, signed))
    assert isinstance(operator, Matrix)
    data = operator.data if isinstance(operator.data, np.ndarray) else operator.data.toarray()
    rows = data * scale[:, None]
    return np.asarray(rows @ rows.T)
