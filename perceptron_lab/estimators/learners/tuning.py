"""Selection of classifiers' parameters by cross-validation on training examples."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import get_tags

from perceptron_lab.cones.operators.kernels import Kernel
from perceptron_lab.core.errors import InputError, did_you_mean
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.estimators.learners.precision import average_precision
from perceptron_lab.numerics.class_labels import positive_mask

Parameters = dict[str, Any]

NEAR_TIE = 1e-3
"""Mean average precisions that differ by no more than this, 0.1 percentage points, are tied.

It is the last digit of a precision that tables print, and far below the standard errors of the
means, a point or so with three folds; choosing within one of these (the usual rule) would cost
points of precision. Another order of summation, as by another BLAS kernel, changes the means by far
less.
"""


@dataclass(frozen=True)
class Grid:
    """A scikit-learn classifier and the values that some of its parameters may take.

    Parameters
    ----------
    model
        The classifier with all other parameters, not fitted.
    values
        Parameter -> values, at least one each, each once. Of candidates with nearly equal
        precision the first wins, and the last parameter varies fastest: begin with what
        regularises most.
    """

    model: ClassifierMixin
    values: Mapping[str, Sequence[Any]]

    def __post_init__(self) -> None:
        name, parameters = type(self.model).__name__, self.model.get_params()
        for parameter, values in self.values.items():
            if parameter not in parameters:
                raise InputError(
                    f"{name} has no parameter {parameter!r}{did_you_mean(parameter, parameters)}; "
                    f"allowed: {', '.join(parameters)}"
                )
            if not values or any(value in values[:index] for index, value in enumerate(values)):
                raise InputError(
                    f"{name}.{parameter}: values {list(values)}; give at least one, each once"
                )

    def candidates(self) -> Iterator[Parameters]:
        """Yield the parameters of every candidate."""
        for values in product(*self.values.values()):
            yield dict(zip(self.values, values, strict=True))

    def with_parameters(self, parameters: Parameters) -> ClassifierMixin:
        """Return the classifier with these parameters, not fitted."""
        return clone(self.model).set_params(**parameters)

    def edges(self, parameters: Parameters) -> tuple[str, ...]:
        """Return the numeric parameters whose value is the smallest or largest of several."""
        return tuple(
            name
            for name, values in self.values.items()
            if len(values) > 1
            and all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
            and parameters[name] in (min(values), max(values))
        )


@dataclass(frozen=True)
class Trial:
    """A candidate's parameters, and its average precision on each held-out fold."""

    parameters: Parameters
    precisions: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the folds."""
        return float(np.mean(self.precisions))


def fitted(model: ClassifierMixin, examples: Examples, labels: npt.ArrayLike) -> ClassifierMixin:
    """Fit a classifier without convergence warnings, which its attributes replace."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(examples, labels)


def tune(
    grid: Grid,
    examples: Examples,
    labels: npt.ArrayLike,
    *,
    features: TransformerMixin | None = None,
    kernel: Kernel | None = None,
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
        A scikit-learn transformer such as ``GramSchmidtFeatures``, fitted again to the training
        part of each fold; or None for the examples themselves.
    kernel
        For a classifier that takes kernel matrices: their kernel, and one matrix of each fold's
        features serves all candidates. None if ``examples`` are such a matrix, or the classifier
        takes rows.
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
    # Stratified, since average precision is undefined on a fold without a positive.
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    for training, held_out in splitter.split(np.zeros(len(positive)), positive):
        if _takes_kernel_matrix(grid.model) and kernel is None:
            fitted_rows, new = (examples[np.ix_(part, training)] for part in (training, held_out))
        else:
            fitted_rows, new = examples[training], examples[held_out]
        if features is not None:
            if _takes_kernel_matrix(features):
                raise InputError(
                    "features of a precomputed kernel cannot be trained within folds; give rows, "
                    "and the kernel by its name"
                )
            # Fitted to the training part alone: held-out examples must not choose pivots.
            transformer = clone(features)
            fitted_rows = transformer.fit_transform(fitted_rows, positive[training])
            new = transformer.transform(new)
        if kernel is not None:
            fitted_rows, new = (
                kernel.matrix(fitted_rows, fitted_rows),
                kernel.matrix(new, fitted_rows),
            )
        for parameters, scores in zip(candidates, precisions, strict=True):
            model = fitted(grid.with_parameters(parameters), fitted_rows, positive[training])
            scores.append(average_precision(positive[held_out], model.decision_function(new)))
    return tuple(map(Trial, candidates, map(tuple, precisions)))


def best(trials: Sequence[Trial], tolerance: float = NEAR_TIE) -> Trial:
    """Return the first trial whose mean is at most the tolerance below the highest.

    Where a grid begins with what regularises most, no candidate wins that is less regularised than
    one with nearly the same mean: near ties are not left to rounding errors.

    Examples
    --------
    >>> trials = [Trial({"C": 1.0}, (0.8995,)), Trial({"C": 10.0}, (0.9,))]
    >>> best(trials).parameters, best(trials, 0.0).parameters
    ({'C': 1.0}, {'C': 10.0})
    """
    # The first near tie, in the order of the grid, is the most regularised one.
    highest = max(trial.mean for trial in trials)
    return next(trial for trial in trials if highest - trial.mean <= tolerance)


def choice_slack(trials: Sequence[Trial], tolerance: float = NEAR_TIE) -> float:
    """Return the slack of a choice: smaller changes of all means do not alter it.

    The chosen mean is at most the tolerance below those after it, and those before it are further
    below the highest. The slack is half of the least distance of these differences from the
    tolerance, as both means may change; infinity for a single candidate.
    """
    means, index = [trial.mean for trial in trials], trials.index(best(trials, tolerance))
    after = [tolerance - (mean - means[index]) for mean in means[index + 1 :]]
    before = [max(means) - mean - tolerance for mean in means[:index]]
    return 0.5 * min(after + before, default=math.inf)


def _takes_kernel_matrix(estimator: BaseEstimator) -> bool:
    """Return whether an estimator takes kernel matrices in place of examples."""
    return bool(get_tags(estimator).input_tags.pairwise)
