"""What every ranking model of this package offers: it is trained, and then scores examples."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

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
        """Train on examples of two classes, labelled as :func:`.positive_mask` describes."""
        ...
