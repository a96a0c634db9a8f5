"""Normal examples in a ball, and their inversions, in rescaled coordinates."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from scipy.special import gammaincinv

from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.ellipsoid_sets import AffineMap, Count
from perceptron_lab.datasets.generated.generator import GeneratedDataset
from perceptron_lab.datasets.problem import Problem, Task
from perceptron_lab.systems import ConicSystem

# The part of the normal distribution that the unit ball holds
INSIDE = 0.978
# The metric's half-axes lie between 1 / SPREAD and SPREAD
SPREAD = 4.0


@parameter_record
class InvertedBalls(GeneratedDataset):
    """Normal points in the unit ball against their inversions; an ellipsoid separates them.

    Positives x are normal with mean 0 and covariance sigma^2 I, such that the unit ball holds
    97.8 % of them; those outside are drawn again. Negatives are x / norm(x)^2, the same points with
    inverted distances from the centre. Both are mapped by a random positive definite metric and a
    shift of the origin, and then one or all coordinates are multiplied by 10^exponent: the data of
    Figure 7.4 of `Kharechko2009`. The seed determines everything but the factor, so that all
    factors see the same examples.

    An instance has several repetitions, tasks with maps and examples of their own; algorithms,
    which seek an affine separator, get the first one's training examples. Its name holds all
    parameters, as in ``all-2x50-500x25-1e-6``.

    Parameters
    ----------
    dimension
        1 to 100 (default 2).
    training, test
        Positive examples of each repetition, and as many negatives (default 50 and 500).
    repetitions
        The number of tasks (default 1).
    rescaled
        ``all`` coordinates (default), or the first ``one``.
    exponent
        Of the factor, -12 to 12 (default 0).
    """

    dimension: Annotated[int, Field(ge=1, le=100)] = 2
    training: Count = 50
    test: Count = 500
    repetitions: Annotated[int, Field(ge=1, le=10_000)] = 1
    rescaled: Literal["all", "one"] = "all"
    exponent: Annotated[int, Field(ge=-12, le=12)] = 0

    @property
    def name(self) -> str:
        """The instance's name, which holds its parameters."""
        return f"{self.rescaled}-{self._sizes()}-1e{self.exponent}"

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        tasks = self.tasks(seed)
        system = ConicSystem.from_labelled(tasks[0].examples, tasks[0].labels)
        arrays = [part for task in tasks for part in (task.examples, task.test_examples)]
        return self.stated(system, *map(np.asarray, arrays), tasks=tasks)

    def tasks(self, seed: int) -> tuple[Task, ...]:
        """Return the repetitions."""
        examples = 2 * self.repetitions * (self.training + self.test)
        factors = np.ones(self.dimension)
        factors[: None if self.rescaled == "all" else 1] = 10.0**self.exponent
        # Labels are shared by all tasks, which may be many.
        labels, test_labels = (np.repeat([1.0, -1.0], k) for k in (self.training, self.test))
        tasks = []
        with self.random(seed, 8 * self.dimension * examples, self._sizes()) as rng:
            for number in range(self.repetitions):
                mapped = AffineMap.random(rng, self.dimension, SPREAD)
                parts = [
                    mapped.of(both_classes(normal_in_ball(rng, count, self.dimension))) * factors
                    for count in (self.training, self.test)
                ]
                tasks.append(Task(f"inside-{number}", parts[0], labels, parts[1], test_labels))
        return tuple(tasks)

    def _sizes(self) -> str:
        return f"{self.dimension}x{self.training}-{self.test}x{self.repetitions}"


def deviation(dimension: int) -> float:
    """Return sigma such that the unit ball holds :data:`INSIDE` of the normal distribution."""
    # norm(x)^2 / sigma^2 has the chi-squared distribution of so many degrees of freedom.
    return 1.0 / math.sqrt(2.0 * float(gammaincinv(dimension / 2.0, INSIDE)))


def normal_in_ball(rng: np.random.Generator, count: int, dimension: int) -> FloatArray:
    """Return normal points, those outside the unit ball drawn again, shape ``(count, n)``."""
    sigma = deviation(dimension)
    points = sigma * rng.standard_normal((count, dimension))
    while len(outside := np.flatnonzero(np.linalg.norm(points, axis=1) >= 1.0)):
        points[outside] = sigma * rng.standard_normal((len(outside), dimension))
    return points


def both_classes(positives: FloatArray) -> FloatArray:
    """Return the points and after them their inversions x / norm(x)^2."""
    squares = np.sum(positives * positives, axis=1)
    return np.vstack([positives, positives / squares[:, None]])
