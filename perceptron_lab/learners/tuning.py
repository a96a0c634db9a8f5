"""Choosing parameters by cross-validation on training examples, with equal effort per model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import product
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import get_tags

from perceptron_lab.errors import InputError, did_you_mean
from perceptron_lab.inputs import two_classes
from perceptron_lab.learners.models import BoolArray, Examples, Model
from perceptron_lab.learners.precision import average_precision

Parameters = dict[str, Any]


@dataclass(frozen=True)
class Grid:
    """A model and the values that some of its parameters may take.

    Parameters
    ----------
    model
        A frozen dataclass with the other parameters.
    values
        Parameter -> values, at least one each, each once. Of candidates with equal precision the
        first wins, and the last parameter varies fastest: begin with what is preferred.
    """

    model: Model
    values: Mapping[str, Sequence[Any]]

    def __post_init__(self) -> None:
        name = type(self.model).__name__
        record: Any = self.model
        if not is_dataclass(record):
            raise InputError(f"{name} cannot be tuned; give a dataclass of parameters")
        known = [field.name for field in fields(record)]
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

    def __len__(self) -> int:
        """Return the number of candidates."""
        return int(np.prod([len(values) for values in self.values.values()], dtype=np.int64))

    def candidates(self) -> Iterator[tuple[Parameters, Model]]:
        """Yield parameters and the model with them."""
        for values in product(*self.values.values()):
            chosen = dict(zip(self.values, values, strict=True))
            try:
                record: Any = self.model
                yield chosen, replace(record, **chosen)
            except ValidationError as error:
                raise InputError(
                    f"{type(self.model).__name__} with {chosen}: {error.errors()[0]['msg']}"
                ) from None

    def edges(self, chosen: Parameters) -> tuple[str, ...]:
        """Return the numeric parameters whose value is the smallest or largest of several."""
        return tuple(
            name
            for name, values in self.values.items()
            if len(values) > 1
            and all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
            and chosen[name] in (min(values), max(values))
        )


@dataclass(frozen=True)
class Trial:
    """One candidate.

    Parameters
    ----------
    parameters
        The values from the grid.
    precisions
        Its average precision on each held-out fold.
    """

    parameters: Parameters
    precisions: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the folds."""
        return float(np.mean(self.precisions))


@dataclass(frozen=True)
class Tuned:
    """The outcome of a cross-validation.

    Parameters
    ----------
    model
        The model with the chosen parameters, not trained.
    best
        Its trial.
    trials
        Every candidate, in the order of the grid.
    edges
        Numeric parameters chosen on the edge of their grid: a wider grid might do better.
    """

    model: Model
    best: Trial
    trials: tuple[Trial, ...]
    edges: tuple[str, ...]


def tune(
    grid: Grid,
    examples: Examples,
    labels: npt.ArrayLike,
    *,
    features: Any = None,
    folds: int = 3,
    seed: int = 0,
) -> Tuned:
    """Choose the parameters of one model; see :func:`tune_all`."""
    chosen = tune_all({"": grid}, examples, labels, features=features, folds=folds, seed=seed)
    return chosen[""]


def tune_all(
    grids: Mapping[str, Grid],
    examples: Examples,
    labels: npt.ArrayLike,
    *,
    features: Any = None,
    folds: int = 3,
    seed: int = 0,
) -> dict[str, Tuned]:
    """Choose the parameters of several models on the same folds, with equally many candidates.

    Each fold is held out once; a model is trained on the others and judged by its average
    precision on the fold. The candidate with the highest mean is chosen.

    Parameters
    ----------
    grids
        Name -> grid; all of one size, so that no model is tuned with more effort than another.
    examples
        Training examples, shape ``(m, ...)``; test examples have no part in a choice.
    labels
        As :func:`~perceptron_lab.learners.models.two_classes` describes, shape ``(m,)``.
    features
        A scikit-learn transformer such as ``GramSchmidtFeatures``, trained anew on the training
        part of each fold; or None for the examples themselves.
    folds
        2 or more, and at most the examples of the smaller class. Each has its share of positives.
    seed
        0 or more; it determines the folds.

    Raises
    ------
    InputError
        If grids differ in size, labels do not fit, or there are too few positives for the folds.
    """
    sizes = {name: len(grid) for name, grid in grids.items()}
    if len(set(sizes.values())) != 1:
        raise InputError(f"grids with {sizes} candidates; give every model equally many")
    positive = two_classes(labels, examples.shape[0])
    candidates = {name: list(grid.candidates()) for name, grid in grids.items()}
    precisions: dict[str, list[list[float]]] = {
        name: [[] for _ in candidates[name]] for name in grids
    }
    for training, held_out in _folds(positive, folds, seed):
        known, new = _parts(examples, positive, training, held_out, features)
        for name, tried in candidates.items():
            for place, (_, model) in enumerate(tried):
                scores = model.fit(known, positive[training]).scores(new)
                precisions[name][place].append(average_precision(positive[held_out], scores))
    return {name: _chosen(grids[name], candidates[name], precisions[name]) for name in grids}


def _folds(positive: BoolArray, folds: int, seed: int) -> Iterator[tuple[Any, Any]]:
    most = int(min(positive.sum(), (~positive).sum()))
    if not 2 <= folds <= most:
        raise InputError(
            f"{folds} folds of {len(positive)} examples, {positive.sum()} of them positive; "
            f"allowed: 2 to {most}, so that each fold has a positive and a negative"
        )
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return iter(splitter.split(np.zeros(len(positive)), positive))


def _parts(
    examples: Examples, positive: BoolArray, training: Any, held_out: Any, features: Any
) -> tuple[Examples, Examples]:
    """Return the training and the held-out examples of a fold, or their features."""
    if features is None:
        return examples[training], examples[held_out]
    if get_tags(features).input_tags.pairwise:
        raise InputError(
            "features of a precomputed kernel cannot be trained within folds; give rows, and the "
            "kernel by its name"
        )
    transformer = clone(features)
    known = transformer.fit_transform(examples[training], positive[training])
    return known, transformer.transform(examples[held_out])


def _chosen(
    grid: Grid, candidates: list[tuple[Parameters, Model]], precisions: list[list[float]]
) -> Tuned:
    trials = tuple(
        Trial(parameters, tuple(found))
        for (parameters, _), found in zip(candidates, precisions, strict=True)
    )
    place = int(np.argmax([trial.mean for trial in trials]))
    best = trials[place]
    return Tuned(candidates[place][1], best, trials, grid.edges(best.parameters))
