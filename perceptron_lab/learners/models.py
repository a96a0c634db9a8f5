"""What every ranking model of this package offers: it is trained, and then scores examples."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from perceptron_lab.errors import InputError

BoolArray = npt.NDArray[np.bool_]

Examples = Any
"""Rows, one per example: a dense or a CSR matrix, or anything else with a ``shape`` that can be
indexed by an array of integers and that the model understands."""


class Scorer(Protocol):
    """A trained model."""

    def scores(self, examples: Examples) -> npt.NDArray[np.float64]:
        """Return f(x_i), larger for what is more likely positive, shape ``(m,)``."""
        ...


class Model(Protocol):
    """The parameters of a model: a frozen dataclass, so that a grid can replace them."""

    def fit(self, examples: Examples, labels: npt.ArrayLike) -> Scorer:
        """Train on examples of two classes, labelled as :func:`positive_mask` describes."""
        ...


def positive_mask(labels: npt.ArrayLike, count: int) -> BoolArray:
    """Return which labels are positive.

    Parameters
    ----------
    labels
        Shape ``(count,)``: booleans, or numbers 1 for a positive and -1 or 0 for a negative.
    count
        The number of examples.
    """
    given = np.asarray(labels)
    if given.shape != (count,):
        raise InputError(
            f"{count} examples, but labels of shape {given.shape}; give one label for each"
        )
    if given.dtype.kind not in "biuf" or not np.isin(given, (-1, 0, 1)).all():
        raise InputError(
            f"labels with values {np.unique(given)[:5].tolist()}; allowed: booleans, or 1 for a "
            "positive and -1 or 0 for a negative example"
        )
    if {-1, 0} <= set(np.unique(given).tolist()):
        raise InputError("labels with values -1 and 0 both; give negatives one of them")
    return np.asarray(given > 0)


def two_classes(labels: npt.ArrayLike, count: int) -> BoolArray:
    """Return which labels are positive, as :func:`positive_mask`; both kinds must occur."""
    positive = positive_mask(labels, count)
    found = int(positive.sum())
    if found in (0, count):
        raise InputError(
            f"{found} positive examples of {count}; a model needs positive and negative examples"
        )
    return positive
