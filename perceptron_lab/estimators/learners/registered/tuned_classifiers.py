"""Learners that tune a classifier by cross-validation; the soft classifiers of this package."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import AfterValidator, Field
from sklearn.base import ClassifierMixin

from perceptron_lab.core.refusals import Positive, Proportion, parameter_record
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.ellipsoid_separation import SoftSeparationClassifier
from perceptron_lab.estimators.learners.extraction import Components, OnFeatures, extract
from perceptron_lab.estimators.learners.learning import Learned, Learner
from perceptron_lab.estimators.learners.tuning import (
    Grid,
    Parameters,
    Trial,
    best,
    fitted,
    room,
    tune,
)
from perceptron_lab.estimators.soft_ellipsoid import SoftEllipsoidClassifier, SquaredHingeClassifier


def distinct(values: tuple[float, ...]) -> tuple[float, ...]:
    """Return values of which none is another's equal; refuse others."""
    if len(set(values)) < len(values):
        raise ValueError(f"the values {list(values)} repeat themselves; give each once")
    return values


Candidates = Annotated[tuple[Positive, ...], Field(min_length=1), AfterValidator(distinct)]
"""The values of a parameter that are tried: above 0, at least one, each once."""
Folds = Annotated[int, Field(ge=2)]

REGULARISATIONS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
"""Candidates by default: as many as there are of C."""


class Choice(NamedTuple):
    """The chosen candidate of a grid, and how it was chosen."""

    parameters: Parameters
    edges: tuple[str, ...]  # which of its parameters lie on an edge of the grid
    folds: int  # of the cross-validation; 0 if nothing was held out
    words: str  # how, in a few words
    figures: dict[str, float]


@parameter_record
class TunedLearner(OnFeatures, Learner):
    """A learner that chooses parameters of a scikit-learn classifier.

    Chosen is what regularises most of the candidates whose mean average precision is at most 0.1
    percentage points (:data:`NEAR_TIE`) below the highest. Features are extracted anew from the
    training part of every fold. Of fewer positives than folds each makes a fold; with a single one
    nothing can be held out, and the candidate in the middle of the grid is taken.

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

    def named(self, parameters: Parameters) -> Parameters:
        """Return chosen parameters by the names of the figures; by default their own."""
        return parameters

    def ending(self, model: ClassifierMixin) -> tuple[int, bool]:
        """Return the iterations of a fitted classifier, and whether it converged."""
        return int(model.n_iter_), bool(model.converged_)

    def figures_of(self, model: ClassifierMixin) -> dict[str, float]:
        """Return further figures of the fitted classifier; by default none."""
        return {}

    def choose(self, grid: Grid, folds: int, task: Task, seed: int) -> Choice:
        """Return what cross-validation chooses; the middle of the grid for a single positive."""
        used = min(folds, int((task.labels > 0).sum()))
        if used < 2:
            candidates = list(grid.candidates())
            middle = candidates[len(candidates) // 2]
            return Choice(middle, (), 0, "the middle of the grid: one positive", {})
        trials = self.trials(grid, task, used, seed)
        chosen, spare = best(trials), room(trials)
        figures = {"validation": chosen.mean}
        figures |= {"choice_room": spare} if math.isfinite(spare) else {}
        edges = grid.edges(chosen.parameters)
        return Choice(chosen.parameters, edges, used, f"of {used} folds", figures)

    def learn(self, task: Task, seed: int) -> Learned:
        """Choose on training examples, fit, and score the test examples."""
        return self.learn_by(*self.search(seed), task, seed)

    def learn_by(self, grid: Grid, folds: int, task: Task, seed: int) -> Learned:
        """Choose from a grid, fit, and score the test examples."""
        began, transformer = time.process_time(), self.transformer(seed)
        chosen = self.choose(grid, folds, task, seed)
        tuned = time.process_time()
        known = extract(task, transformer)
        model = fitted(grid.with_parameters(chosen.parameters), known.training, task.labels)
        scores = model.decision_function(known.test)
        seconds = time.process_time() - tuned
        iterations, converged = self.ending(model)
        parameters = self.named(chosen.parameters)
        figures = known.figures | {name: float(value) for name, value in parameters.items()}
        count = math.prod(map(len, grid.values.values()))
        figures |= chosen.figures | {"on_edge": float(bool(chosen.edges))}
        figures |= {"candidates": float(count), "folds": float(chosen.folds)}
        figures |= {"converged": float(converged)} | self.figures_of(model)
        words = ", ".join(f"{name} {value:g}" for name, value in parameters.items())
        edges = list(self.named(dict.fromkeys(chosen.edges)))
        edge = ", on the edge of the grid" if edges else ""
        words += f" ({chosen.words}{edge})"
        return Learned(
            scores,
            message=words if converged else f"{words}; the final fit did not converge",
            seconds=seconds,
            iterations=iterations,
            figures=figures | {"cpu_seconds": seconds, "tuning_seconds": tuned - began},
            certificate={
                "chosen": parameters,
                "edges": list(self.named(dict.fromkeys(chosen.edges))),
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
    """The soft ellipsoid without its quadratic term, its regularisation chosen likewise.

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
        tuple[Annotated[float, Field(gt=1)], ...], Field(min_length=1), AfterValidator(distinct)
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
