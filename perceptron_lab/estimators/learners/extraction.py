"""The features of a task's training and test examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import ValidationInfo, field_validator

from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.datasets.dataset import chosen_with
from perceptron_lab.datasets.problem import Examples, Task
from perceptron_lab.estimators.learners.gram_schmidt import GramSchmidtFeatures

Components = Count | None
"""The number of Gram-Schmidt features; None for the examples as they are."""

_OF_KERNEL: dict[str, dict[str, Any]] = {
    "linear": {},
    "polynomial": {"gamma": None, "polynomial_degree": 2},
    "rbf": {"gamma": None},
}


@parameter_record
class OnFeatures:
    """The features that a learner is given: Gram-Schmidt features of a kernel, or the examples.

    Parameters
    ----------
    components
        The number of Gram-Schmidt features, 1 or more (default 30); None for the examples as they
        are, dense or sparse.
    feature_kernel
        Of these features: ``linear`` (default) x'z, ``polynomial``
        (1 + gamma x'z)^polynomial_degree, or ``rbf`` exp(-gamma norm(x - z)^2).
    gamma, polynomial_degree
        Of that kernel: > 0 (default 1 / columns of the examples); 1 or more (default 2).
    """

    components: Components = 30
    feature_kernel: Literal["linear", "polynomial", "rbf"] = "linear"
    gamma: Positive | None = None
    polynomial_degree: Count | None = None

    @field_validator("feature_kernel")
    @classmethod
    def _of_components(cls, kernel: str, info: ValidationInfo) -> str:
        if kernel != "linear" and info.data.get("components", 1) is None:
            raise ValueError(
                f"{kernel} has as many features as components says, and that is null; give a "
                "number, or delete feature_kernel"
            )
        return kernel

    _of_the_kernel = chosen_with("feature_kernel", _OF_KERNEL, "gamma", "polynomial_degree")

    def transformer(self, seed: int) -> GramSchmidtFeatures | None:
        """Return the features' transformer, not fitted, or None for the examples as they are."""
        if self.components is None:
            return None
        return GramSchmidtFeatures(
            self.components,
            kernel="poly" if self.feature_kernel == "polynomial" else self.feature_kernel,
            gamma=self.gamma,
            degree=self.polynomial_degree or 2,  # without effect on other kernels
            pivot_start=int(np.random.default_rng(seed).integers(2**31)),
        )


@dataclass(frozen=True)
class Extracted:
    """Features of a task."""

    training: Examples  # shapes (m, k) and (t, k)
    test: Examples
    # components, k; first_ties, how many examples were tied for the first pivot
    figures: dict[str, float]


def extract(task: Task, features: GramSchmidtFeatures | None) -> Extracted:
    """Return the features of a task; pivots are chosen among its training examples."""
    if features is None:
        known = {"components": float(task.examples.shape[1])}
        return Extracted(task.examples, task.test_examples, known)
    training = features.fit_transform(task.examples, task.labels)
    test = features.transform(task.test_examples)
    counts = {"components": features.n_components_, "first_ties": features.n_first_ties_}
    return Extracted(training, test, {name: float(count) for name, count in counts.items()})
