"""No category of real documents is separable by an ellipsoid in 30 features: proved by few."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from perceptron_lab.core.results import Status
from perceptron_lab.datasets.collections.reuters import Reuters
from perceptron_lab.estimators.learners.features import GramSchmidtFeatures
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation
from tests.repetitions import repeated


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "conflicting"), repeated([("trade", True), ("corn", False)], kept=1)
)
def test_few_documents_prove_inseparability(
    categories: Reuters, name: str, conflicting: bool, tmp_path: Path
) -> None:
    task = categories.task(name, seed=0, base=tmp_path)
    features = GramSchmidtFeatures(30).fit_transform(task.examples, task.labels)
    inner, outer = features[task.labels > 0], features[task.labels < 0]
    separation = maximal_separation(inner, outer, solver="constraint-generation", tolerance=1e-8)
    assert separation.status is Status.INFEASIBLE
    assert separation.proved
    support = np.count_nonzero(separation.positive_weights) + np.count_nonzero(
        separation.negative_weights
    )
    assert support < 1000
    assert separation.inseparability is not None
    assert (separation.inseparability.rows is not None) == conflicting
