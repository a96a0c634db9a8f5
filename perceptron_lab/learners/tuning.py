"""Parameters of classifiers chosen by cross-validation on training examples, and their learners."""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass as plain_dataclass
from itertools import product
from numbers import Real
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field
from pydantic.dataclasses import dataclass
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import get_tags

from perceptron_lab.datasets.problem import Examples, Task
from perceptron_lab.errors import InputError, did_you_mean
from perceptron_lab.inputs import positive_mask
from perceptron_lab.learners.extraction import CHECKED, OnFeatures, extract
from perceptron_lab.learners.learning import Learned, Learner
from perceptron_lab.learners.precision import average_precision

Parameters = dict[str, Any]


@plain_dataclass(frozen=True)
class Grid:
    """A scikit-learn classifier and the values that some of its parameters may take.

    Parameters
    ----------
    model
        With the other parameters; it is not fitted.
    values
        Parameter -> values, at least one each, each once. Of candidates with equal precision the
        first wins, and the last parameter varies fastest: begin with what is preferred.
    """

    model: ClassifierMixin
    values: Mapping[str, Sequence[Any]]

    def __post_init__(self) -> None:
        name, known = type(self.model).__name__, self.model.get_params()
        for parameter, values in self.values.items():
            if parameter not in known:
                raise InputError(
                    f"{name} has no parameter {parameter!r}{did_you_mean(parameter, known)}; "
                    f"allowed: {', '.join(known)}"
                )
            if not values or any(value in values[:place] for place, value in enumerate(values)):
                raise InputError(
                    f"{name}.{parameter}: values {list(values)}; give at least one, each once"
                )

    def candidates(self) -> Iterator[Parameters]:
        """Yield the parameters of every candidate."""
        for values in product(*self.values.values()):
            yield dict(zip(self.values, values, strict=True))

    def with_parameters(self, chosen: Parameters) -> ClassifierMixin:
        """Return the classifier with these parameters, not fitted."""
        return clone(self.model).set_params(**chosen)

    def edges(self, chosen: Parameters) -> tuple[str, ...]:
        """Return the numeric parameters whose value is the smallest or largest of several."""
        return tuple(
            name
            for name, values in self.values.items()
            if len(values) > 1
            and all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
            and chosen[name] in (min(values), max(values))
        )


@plain_dataclass(frozen=True)
class Trial:
    """A candidate's parameters, and its average precision on each held-out fold."""

    parameters: Parameters
    precisions: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the folds."""
        return float(np.mean(self.precisions))


def fitted(model: ClassifierMixin, examples: Examples, labels: npt.ArrayLike) -> ClassifierMixin:
    """Fit a classifier; whether it converged is left to its attributes, not to a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(examples, labels)


def tune(
    grid: Grid,
    examples: Examples,
    labels: npt.ArrayLike,
    *,
    features: TransformerMixin | None = None,
    folds: int = 3,
    seed: int = 0,
) -> tuple[Trial, ...]:
    """Return the trial of every candidate, in the order of the grid; see :func:`best`.

    Each fold is held out once; a candidate is fitted to the others and judged by its average
    precision on the fold. Features are extracted once per fold, and not per candidate as by
    scikit-learn's ``GridSearchCV`` of a pipeline.

    Parameters
    ----------
    grid
        The candidates.
    examples
        Training examples, shape ``(m, features)``, or their kernel matrix for a classifier of such;
        test examples have no part in a choice.
    labels
        Booleans, or 1 for a positive and -1 or 0 for a negative example, shape ``(m,)``.
    features
        A scikit-learn transformer such as ``GramSchmidtFeatures``, fitted anew to the training
        part of each fold; or None for the examples themselves.
    folds
        2 or more, and at most the examples of the smaller class. Each has its share of positives.
    seed
        0 or more; it determines the folds.

    Raises
    ------
    InputError
        If labels do not fit, or there are too few examples of a class for the folds.
    """
    positive = positive_mask(labels, examples.shape[0])
    smaller = int(min(positive.sum(), (~positive).sum()))
    if not 2 <= folds <= smaller:
        raise InputError(
            f"{folds} folds of {len(positive)} examples, {positive.sum()} of them positive; "
            f"allowed: 2 to {smaller}, so that each fold has a positive and a negative"
        )
    candidates = list(grid.candidates())
    precisions: list[list[float]] = [[] for _ in candidates]
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    for training, held_out in splitter.split(np.zeros(len(positive)), positive):
        if _by_matrix(grid.model):
            known, new = (examples[np.ix_(part, training)] for part in (training, held_out))
        else:
            known, new = examples[training], examples[held_out]
        if features is not None:
            if _by_matrix(features):
                raise InputError(
                    "features of a precomputed kernel cannot be trained within folds; give rows, "
                    "and the kernel by its name"
                )
            transformer = clone(features)
            known = transformer.fit_transform(known, positive[training])
            new = transformer.transform(new)
        for parameters, found in zip(candidates, precisions, strict=True):
            model = fitted(grid.with_parameters(parameters), known, positive[training])
            found.append(average_precision(positive[held_out], model.decision_function(new)))
    return tuple(map(Trial, candidates, map(tuple, precisions)))


def best(trials: Sequence[Trial]) -> Trial:
    """Return the trial with the highest mean, the first of several."""
    return trials[int(np.argmax([trial.mean for trial in trials]))]


def _by_matrix(estimator: BaseEstimator) -> bool:
    """Return whether an estimator takes kernel matrices."""
    return bool(get_tags(estimator).input_tags.pairwise)


def distinct(values: tuple[float, ...]) -> tuple[float, ...]:
    """Return values of which none is another's equal; refuse others."""
    if len(set(values)) < len(values):
        raise ValueError(f"the values {list(values)} repeat themselves; give each once")
    return values


Candidates = Annotated[
    tuple[Annotated[float, Field(gt=0)], ...], Field(min_length=1), AfterValidator(distinct)
]
"""The values of a parameter that are tried: above 0, at least one, each once."""
Folds = Annotated[int, Field(ge=2)]

REGULARISATIONS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
"""Candidates by default: as many as there are of C."""


@dataclass(frozen=True, config=CHECKED)
class TunedLearner(OnFeatures, Learner):
    """A learner that chooses parameters of a scikit-learn classifier.

    Features are extracted anew from the training part of every fold. Of fewer positives than folds
    each makes a fold; with a single one nothing can be held out, and the candidate in the middle of
    the grid is taken.

    Figures: each chosen parameter; ``validation``, its mean average precision on the folds (left
    out where none was held out); ``on_edge``, 1 if a parameter is on the edge of its grid;
    ``candidates``; ``folds``; ``converged``, 1 if the final fit did; ``components``;
    ``cpu_seconds`` of features and final fit, and ``tuning_seconds``, processor times.

    Parameters
    ----------
    regularisations
        What is tried, each above 0 (default 1e-2 to 1e-8); the first is preferred where average
        precisions are equal.
    class_weight
        ``balanced``, or None (default).
    folds
        Of the cross-validation, 2 or more (default 3).
    """

    # Parameters of several learners are documented here, and declared by each in its own order.

    @abstractmethod
    def search(self, seed: int) -> tuple[Grid, int]:
        """Return the classifier with its candidates, and the number of folds."""

    def named(self, parameters: Parameters) -> Parameters:
        """Return chosen parameters by the names of the figures; by default their own."""
        return parameters

    def ending(self, model: ClassifierMixin) -> tuple[int, bool]:
        """Return the iterations of a fitted classifier, and whether it converged."""
        return int(model.n_iter_), bool(model.converged_)

    def figures_of(self, model: ClassifierMixin) -> dict[str, float]:
        """Return further figures of the fitted classifier; by default none."""
        return {}

    def learn(self, task: Task, seed: int) -> Learned:
        """Choose on training examples, fit, and score the test examples."""
        return self.learn_by(*self.search(seed), task, seed)

    def learn_by(self, grid: Grid, folds: int, task: Task, seed: int) -> Learned:
        """Choose from a grid, fit, and score the test examples."""
        began, transformer = time.process_time(), self.transformer(seed)
        candidates = list(grid.candidates())
        used = min(folds, int((task.labels > 0).sum()))
        if used < 2:
            used, chosen = 0, Trial(candidates[len(candidates) // 2], ())
        else:
            parts = task.examples, task.labels
            chosen = best(tune(grid, *parts, features=transformer, folds=used, seed=seed))
        edges = grid.edges(chosen.parameters) if used else ()
        tuned = time.process_time()
        known = extract(task, transformer)
        model = fitted(grid.with_parameters(chosen.parameters), known.training, task.labels)
        scores = model.decision_function(known.test)
        seconds = time.process_time() - tuned
        iterations, converged = self.ending(model)
        parameters = self.named(chosen.parameters)
        figures = known.figures | {name: float(value) for name, value in parameters.items()}
        if used:
            figures["validation"] = chosen.mean
        figures |= {"on_edge": float(bool(edges)), "candidates": float(len(candidates))}
        figures |= {"folds": float(used), "converged": float(converged)} | self.figures_of(model)
        words = ", ".join(f"{name} {value:g}" for name, value in parameters.items())
        words += f" (of {used} folds" if used else " (the middle of the grid: one positive"
        words += ", on the edge of the grid)" if edges else ")"
        return Learned(
            scores,
            message=words if converged else f"{words}; the final fit did not converge",
            seconds=seconds,
            iterations=iterations,
            figures=figures | {"cpu_seconds": seconds, "tuning_seconds": tuned - began},
            certificate={"chosen": parameters, "edges": list(self.named(dict.fromkeys(edges)))},
        )
