"""A model tuned by cross-validation on the training examples, fitted to all of them, and scored."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from perceptron_lab.datasets.problem import Task
from perceptron_lab.learners.features.gram_schmidt import GramSchmidtFeatures
from perceptron_lab.learners.learning import Learned
from perceptron_lab.learners.models import Examples, Model
from perceptron_lab.learners.registered.extraction import extract
from perceptron_lab.learners.tuning import Grid, Trial, tune
from perceptron_lab.results import FloatArray


def _distinct(values: tuple[float, ...]) -> tuple[float, ...]:
    if len(set(values)) < len(values):
        raise ValueError(f"the values {list(values)} repeat themselves; give each once")
    return values


Candidates = Annotated[
    tuple[Annotated[float, Field(gt=0)], ...], Field(min_length=1), AfterValidator(_distinct)
]
"""The values of a parameter that are tried: above 0, at least one, each once."""
Folds = Annotated[int, Field(ge=2)]

REGULARISATIONS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
"""Candidates by default: as many as there are of C."""


@dataclass(frozen=True)
class Choice:
    """A model with the parameters that were chosen.

    Parameters
    ----------
    model
        The model, not trained.
    parameters
        Their values.
    validation
        The mean average precision on the held-out folds; None where nothing was held out.
    edges
        Parameters on the edge of their grid.
    folds
        How many were held out.
    """

    model: Model
    parameters: dict[str, Any]
    validation: float | None
    edges: tuple[str, ...]
    folds: int


def learn_tuned(
    grid: Grid, task: Task, features: GramSchmidtFeatures | None, folds: int, seed: int
) -> Learned:
    """Tune, fit and score.

    Features are extracted anew from the training part of every fold. Of fewer positives than folds
    each makes a fold; with a single one nothing can be held out, and the candidate in the middle of
    the grid is taken.

    Figures: each chosen parameter; ``validation``, its mean average precision on the folds (left
    out where none was held out); ``on_edge``, 1 if a parameter is on the edge of its grid;
    ``candidates``; ``folds``; ``converged``, 1 if the final fit did; ``components``;
    ``cpu_seconds`` of features and final fit, and ``tuning_seconds``, processor times.

    Parameters
    ----------
    grid
        The candidates.
    task
        What is learnt.
    features
        Not fitted; None for the examples as they are.
    folds
        2 or more.
    seed
        It draws the folds.
    """
    began = time.process_time()
    choice = choose(grid, task.examples, task.labels, features, folds, seed)
    tuned = time.process_time()
    known = extract(task, features)
    scores, fitted = _fit(choice.model, known.training, task.labels, known.test)
    seconds = time.process_time() - tuned
    figures = known.figures | _figures(grid, choice) | {"converged": float(fitted.converged)}
    return Learned(
        scores,
        message=_message(choice, fitted),
        seconds=seconds,
        iterations=int(getattr(fitted, "iterations", 0)),
        figures=figures | {"cpu_seconds": seconds, "tuning_seconds": tuned - began},
        certificate={"chosen": choice.parameters, "edges": list(choice.edges)},
    )


def choose(
    grid: Grid,
    examples: Examples,
    labels: FloatArray,
    features: GramSchmidtFeatures | None,
    folds: int,
    seed: int,
) -> Choice:
    """Return the best candidate on held-out folds, as :func:`learn_tuned` describes."""
    positives = int((labels > 0).sum())
    used = min(folds, positives)
    if used < 2:
        candidates = list(grid.candidates())
        parameters, model = candidates[len(candidates) // 2]
        return Choice(model, parameters, None, (), 0)
    tuned = tune(grid, examples, labels, features=features, folds=used, seed=seed)
    best: Trial = tuned.best
    return Choice(tuned.model, best.parameters, best.mean, tuned.edges, used)


def _fit(
    model: Model, training: Examples, labels: FloatArray, test: Examples
) -> tuple[FloatArray, Any]:
    fitted = model.fit(training, labels)
    return fitted.scores(test), fitted


def _figures(grid: Grid, choice: Choice) -> dict[str, float]:
    figures = {name: float(value) for name, value in choice.parameters.items()}
    if choice.validation is not None:
        figures["validation"] = choice.validation
    return figures | {
        "on_edge": float(bool(choice.edges)),
        "candidates": float(len(grid)),
        "folds": float(choice.folds),
    }


def _message(choice: Choice, fitted: Any) -> str:
    chosen = ", ".join(f"{name} {value:g}" for name, value in choice.parameters.items())
    how = f"of {choice.folds} folds" if choice.folds else "the middle of the grid: one positive"
    edge = ", on the edge of the grid" if choice.edges else ""
    ending = "" if fitted.converged else "; the final fit did not converge"
    return f"{chosen} ({how}{edge}){ending}"
