"""The linear models of scikit-learn, trained for longer and longer."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.svm import LinearSVC

from perceptron_lab.algorithms.base import Step, Systems
from perceptron_lab.algorithms.external.base import (
    Peer,
    Rows,
    TrainedState,
    in_time,
    quiet,
    refuse_other_cones,
    rows_of,
    stacked,
)
from perceptron_lab.core.claims import FeasiblePoint
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import TimeIsUp
from perceptron_lab.systems import ConicSystem


@dataclass(kw_only=True)
class ModelState(TrainedState):
    """A linear model under training; its iterations are the model's own, of all trainings.

    ``examples`` are s_i a_i, shape ``(m, dimension)``, and ``labels`` the signs s_i, of both kinds:
    a homogeneous model y of these classes has s_i <s_i a_i, y> = <a_i, y>, and separates them if y
    is feasible. ``length`` limits the next training; after the claim ``last`` there is none.
    """

    examples: Rows
    labels: FloatArray
    seed: int


class Trained(Peer[ModelState]):
    """A linear model without a bias: trained, tested, trained for twice as long, and so on.

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
        examples, labels = two_classes(rows_of(system))
        return ModelState(
            np.zeros(system.dimension),
            examples=examples,
            labels=labels,
            length=min(self.first, self.longest),
            seed=int(rng.integers(2**31)),
        )

    def step(self, system: ConicSystem, state: ModelState, most: int) -> Step[ModelState]:
        """Train once; claim the point if it lies inside, or if it is the last."""
        if state.trained:
            return state, FeasiblePoint(state.point.copy())
        try:
            point, made = in_time(system, _trained, self, state)
        except TimeIsUp:
            return state, None
        if not np.isfinite(point).all():
            raise NumericalError("the coefficients of the linear model are not finite")
        state.point = np.asarray(point, dtype=np.float64)
        state.count(type(self).__name__, made, self.longest)
        scores = system.scores(state.point)
        inside = system.inside(system.lowest(scores), scores)
        return state, FeasiblePoint(state.point.copy()) if inside or state.trained else None

    @abstractmethod
    def train(self, state: ModelState) -> tuple[FloatArray, int]:
        """Train for ``length`` iterations at most; return the coefficients, and how many it made.

        Fewer mean that the model takes itself to be trained.
        """


def _trained(model: Trained, state: ModelState) -> tuple[FloatArray, int]:
    with quiet():
        return model.train(state)


def two_classes(rows: Rows) -> tuple[Rows, FloatArray]:
    """Return s_i a_i and s_i, the signs in turn; a single row comes with both signs."""
    given = stacked(rows, rows) if rows.shape[0] == 1 else rows
    signs = np.where(np.arange(given.shape[0]) % 2 == 0, 1.0, -1.0)
    if isinstance(given, np.ndarray):
        return given * signs[:, None], signs
    return sp.csr_array(sp.diags_array(signs) @ given), signs


@parameter_record
class LinearSvc(Trained):
    """The linear support vector machine with a hard margin, by dual coordinate descent.

    minimise norm(y)^2 / 2 + C sum_i loss(1 - <a_i, y>), with a large C and no bias. LIBLINEAR
    cannot go on from where it stopped: each training begins anew, with twice as many iterations.

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

    minimise alpha norm(y)^2 / 2 + mean_i loss(<a_i, y>). A training goes on from the coefficients
    of the one before, in another random order; falling steps begin anew.

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
        """Pass over the rows ``length`` times more; never takes itself to be trained."""
        own = {"loss": self.loss, "alpha": self.regularisation, "learning_rate": self.steps}
        return _passed(SGDClassifier(**own, eta0=1.0), state)


@parameter_record
class SklearnPerceptron(Trained):
    """The perceptron of unit rows in random order, without a bias.

    A training goes on from the coefficients of the one before, in another random order.

    Parameters
    ----------
    first, longest
        Passes over the rows of the first training, and of the longest one (default 1 and 65536).
    """

    systems: ClassVar[Systems] = {"runs": "rows", "coordinates: runs": "kernel"}

    first: Count = 1
    longest: Count = 65536

    def train(self, state: ModelState) -> tuple[FloatArray, int]:
        """Pass over the rows ``length`` times more; never takes itself to be trained."""
        return _passed(Perceptron(), state)


def _passed(model: SGDClassifier | Perceptron, state: ModelState) -> tuple[FloatArray, int]:
    """Return the coefficients and the passes of a model that goes on from those of the state."""
    seed = (state.seed + state.updates) % 2**31
    model.set_params(fit_intercept=False, max_iter=state.length, tol=None, random_state=seed)
    model.fit(state.examples, state.labels, coef_init=state.point[None, :])
    return np.asarray(model.coef_[0]), int(model.n_iter_)
