"""Gram-Schmidt features from different first pivots."""

from __future__ import annotations

from collections.abc import Iterator

import numpy.typing as npt
from sklearn.base import clone

from perceptron_lab.datasets.problem import Examples
from perceptron_lab.estimators.learners.features import GramSchmidtFeatures


def pivot_starts(
    transformer: GramSchmidtFeatures, examples: Examples, labels: npt.ArrayLike, most: int
) -> Iterator[GramSchmidtFeatures]:
    """Yield fitted transformers that start at different pivots, to see what ties alone change.

    The starts are spread evenly over the examples that are tied for the first pivot and begin with
    the first of them; if fewer than ``most`` are tied, every one of them starts once.
    """
    first = clone(transformer).set_params(pivot_start=0).fit(examples, labels)
    yield first
    ties = max(1, first.n_first_ties_)
    for start in range(1, min(most, ties)):
        position = start * ties // min(most, ties)
        yield clone(transformer).set_params(pivot_start=position).fit(examples, labels)
