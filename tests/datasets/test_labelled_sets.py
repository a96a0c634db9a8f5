"""Labelled examples with heavy tails, or mostly zeros: what is told of them, proved."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from pydantic import TypeAdapter, ValidationError

from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.labelled_sets import LabelledSets, flatten
from perceptron_lab.solving.entry import solve


def dataset_of(**parameters: Any) -> LabelledSets:
    return TypeAdapter(LabelledSets).validate_json(json.dumps(parameters))


FAMILIES = [
    {"family": "heavy-tailed", "dimension": 8, "rows": 300},
    {"family": "sparse", "dimension": 60, "rows": 200, "density": 0.05},
]
EACH = pytest.mark.parametrize("parameters", FAMILIES, ids=["heavy-tailed", "sparse"])


@EACH
@pytest.mark.parametrize("seed", range(3))
def test_the_known_point_separates_and_auto_proves_one(
    parameters: dict[str, Any], seed: int
) -> None:
    record = dataset_of(**parameters)
    problem = record.problem(seed)
    sample = record.generate(seed)
    scores = sample.labels * (sample.examples @ sample.point[:-1])
    assert scores.min() > 0.0
    assert problem.facts.margin is not None
    result = solve(problem.system, "auto", seed=seed)
    assert result.status is Status.FEASIBLE
    assert result.margin_lower is not None


@EACH
def test_the_difficulty_multiplies_the_distances_and_keeps_the_labels(
    parameters: dict[str, Any],
) -> None:
    easy, hard = (dataset_of(**parameters, difficulty=f).generate(1) for f in (1.0, 0.1))
    if not isinstance(easy.examples, np.ndarray):
        assert isinstance(hard.examples, sp.csr_array)
        assert np.array_equal(hard.examples.indices, easy.examples.indices)
    normal = easy.point[:-1]
    assert np.allclose(hard.examples @ normal, 0.1 * (easy.examples @ normal), rtol=1e-9)
    assert np.array_equal(hard.labels, easy.labels)


def test_tails_and_correlations_are_as_specified() -> None:
    record = dataset_of(family="heavy-tailed", dimension=5, rows=40_000, tail=5.0, difficulty=1.0)
    examples = record.generate(0).examples
    assert isinstance(examples, np.ndarray)
    correlations = np.corrcoef(examples.T)
    lags = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    assert np.abs(correlations - 0.9**lags).max() < 0.02
    assert scipy.stats.kstest(examples[:, 0], scipy.stats.t(5.0).cdf).pvalue > 1e-3


def test_every_sparse_row_has_the_same_number_of_private_columns() -> None:
    examples = (
        dataset_of(family="sparse", dimension=101, rows=500, density=0.07).generate(2).examples
    )
    assert isinstance(examples, sp.csr_array)
    assert set(np.diff(examples.indptr)) == {7}
    assert examples.has_canonical_format
    counts = np.bincount(examples.indices, minlength=100)
    assert scipy.stats.chisquare(counts).pvalue > 1e-3


def test_moving_along_the_private_columns_scales_the_scores() -> None:
    rows = sp.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, -3.0, 0.0]]))
    flatten(rows, np.array([0.6, 0.8, 0.0]), 0.5)
    assert np.allclose(rows.toarray(), [[0.5, 0.0, 2.0], [0.0, -1.5, 0.0]])


def test_names_seeds_and_refusals() -> None:
    dataset = dataset_of(family="heavy-tailed", dimension=50, rows=20)
    assert dataset.name == "heavy-tailed-50x20-0.3-3-0.9"
    assert dataset_of(family="sparse", dimension=50, rows=20).name == "sparse-50x20-0.3-0.01"
    assert np.array_equal(dataset.generate(4).point, dataset.generate(4).point)
    assert not np.array_equal(dataset.generate(4).point, dataset.generate(5).point)
    with pytest.raises(ValidationError, match="has no density"):
        dataset_of(family="heavy-tailed", density=0.1)
    with pytest.raises(ValidationError, match="rows with 1000000 entries each"):
        dataset_of(family="heavy-tailed", dimension=1_000_000, rows=1000)
