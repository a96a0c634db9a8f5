"""The features of a task's training and test examples."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from perceptron_lab.datasets.task import Examples, Task
from perceptron_lab.ellipsoids.gram_schmidt import GramSchmidtFeatures

Components = Annotated[int, Field(ge=1)] | None
"""The number of Gram-Schmidt features; None for the examples as they are."""

_START = 2**31


@dataclass(frozen=True)
class Extracted:
    """Features of a task.

    Parameters
    ----------
    training, test
        Shapes ``(m, k)`` and ``(t, k)``.
    figures
        ``components``, k; ``first_ties``, how many examples were tied for the first pivot.
    seconds
        Processor time of the extraction.
    """

    training: Examples
    test: Examples
    figures: dict[str, float]
    seconds: float


def extraction(components: Components, seed: int) -> GramSchmidtFeatures | None:
    """Return the features' transformer, not fitted, or None for the examples as they are.

    Parameters
    ----------
    components
        k.
    seed
        It draws which of the examples tied for the first pivot begins.
    """
    if components is None:
        return None
    start = int(np.random.default_rng(seed).integers(_START))
    return GramSchmidtFeatures(components, pivot_start=start)


def extract(task: Task, features: GramSchmidtFeatures | None) -> Extracted:
    """Return the features of a task; pivots are chosen among its training examples."""
    if features is None:
        known = {"components": float(task.examples.shape[1])}
        return Extracted(task.examples, task.test_examples, known, 0.0)
    began = time.process_time()
    training = features.fit_transform(task.examples, task.labels)
    test = features.transform(task.test_examples)
    figures: dict[str, Any] = {
        "components": float(features.n_components_),
        "first_ties": float(features.n_first_ties_),
    }
    return Extracted(training, test, figures, time.process_time() - began)
