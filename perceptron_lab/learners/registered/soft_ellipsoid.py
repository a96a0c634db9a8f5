"""The soft-margin ellipsoid as a learner."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from perceptron_lab.datasets.problem import Task
from perceptron_lab.ellipsoids.soft.ellipsoid import SoftEllipsoid
from perceptron_lab.learners.learning import Learned
from perceptron_lab.learners.registered.extraction import CHECKED, OnFeatures
from perceptron_lab.learners.registered.tuned import (
    REGULARISATIONS,
    Candidates,
    Folds,
    learn_tuned,
)
from perceptron_lab.learners.tuning import Grid


@dataclass(frozen=True, config=CHECKED)
class TunedSoftEllipsoid(OnFeatures):
    """The soft-margin ellipsoid, its regularisation chosen by cross-validation.

    f(x) = -(|L'x|^2 + 2 g'x + c) with the squared hinge of a margin of 1 and low rank, see
    :class:`~perceptron_lab.ellipsoids.soft.ellipsoid.SoftEllipsoid`. What it has in place of the
    separation ratio of `Kharechko2009`, (7.9), is a slack: it answers for any two classes.

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
    rank
        Columns of L, 0 or more (default 20).
    regularisations
        What is tried, each above 0 (default 1e-2 to 1e-8); the first is preferred where average
        precisions are equal.
    class_weight
        ``balanced``, or None (default).
    tolerance
        Of L-BFGS, above 0 (default 1e-6).
    folds
        Of the cross-validation, 2 or more (default 3).
    """

    rank: Annotated[int, Field(ge=0)] = 20
    regularisations: Candidates = REGULARISATIONS
    class_weight: Literal["balanced"] | None = None
    tolerance: Annotated[float, Field(gt=0)] = 1e-6
    folds: Folds = 3

    def learn(self, task: Task, seed: int) -> Learned:
        """Choose on training examples, fit, and score the test examples."""
        model = SoftEllipsoid(
            rank=self.rank, class_weight=self.class_weight, tolerance=self.tolerance, seed=seed
        )
        grid = Grid(model, {"regularisation": self.regularisations})
        return learn_tuned(grid, task, self.transformer(seed), self.folds, seed)
