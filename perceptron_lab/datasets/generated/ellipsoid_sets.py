"""Examples of two classes for ellipsoids: sets of known separation ratio, and inverted balls.

In coordinates in which the ellipsoid is the unit ball, the n + 1 vertices of a regular simplex are
positives, and those of another one, at distance rho from the centre, negatives. For rho > 1 let
lambda_i = rho^2 / (n + 1) for the former and 1 / (n + 1) for the latter: both classes have the
moments sum lambda x = 0 and sum lambda xx' = rho^2 / n I, so that Z of (7.21) of `Kharechko2009` is
(rho^2 - 1) e e', which is positive semidefinite. Hence t <= sum_+ lambda - 1 = rho^2 - 1, and the
ball attains it; as Z E^ = 0, so do only ellipsoids about the same centre, and for n <= 3 almost
surely no other.

For rho < 1 equal weights give equal means and
sum_+ lambda xx' - sum_- lambda xx' = (1 - rho^2) / n I, positive definite: t = 0.
All other positives are farther inside, all other negatives farther outside.

The data are equal on all machines. A BLAS library sums in an order that depends on the processor,
and may fuse products with additions. Here every product is rounded separately, and numpy adds them
in an order that depends on the length alone. This is slow, but the data are small. numpy's powers
depend on the processor as well; those of Python are the C library's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal, Self

import numpy as np
import numpy.typing as npt
import scipy.linalg
from pydantic import AfterValidator, Field, ValidationInfo
from scipy.special import gammaincinv

from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.generator import GeneratedDataset, plain
from perceptron_lab.datasets.problem import Problem, Task
from perceptron_lab.systems import ConicSystem


def product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the product of matrices of shapes ``(m, k)`` and ``(k, n)``."""
    # No BLAS: its order of summation, and with it the last digit, depends on the processor.
    return np.stack([np.sum(left * column, axis=1) for column in right.T], axis=1)


def unit(rows: FloatArray) -> FloatArray:
    """Return rows x / norm(x), shape ``(m, n)``."""
    return np.asarray(rows / np.sqrt(np.sum(rows * rows, axis=1, keepdims=True)))


def orthogonalised(matrix: FloatArray) -> FloatArray:
    """Return Q of the factorisation QR of a regular matrix, R with a positive diagonal.

    By Gram and Schmidt's method, every row of Q' made orthogonal to those before it twice: so Q is
    orthogonal to rounding, unless the matrix is singular to rounding.
    """
    rows = np.array(matrix.T)
    for index in range(len(rows)):
        current, before = rows[index : index + 1], rows[:index]
        for _ in range(2 if index else 0):
            current = unit(current - product(product(current, before.T), before))
        rows[index] = unit(current)[0]
    return rows.T


def powers(base: npt.ArrayLike, exponent: npt.ArrayLike) -> FloatArray:
    """Return x^p for positive x, entry by entry; one of both may be a number."""
    # math.pow is the C library's; numpy's vectorised power differs between processors.
    pairs = np.broadcast(np.asarray(base, dtype=np.float64), exponent)
    return np.array([math.pow(x, p) for x, p in pairs])


# The ellipsoid's half-axes lie between 1 / SPREAD and SPREAD
SPREAD = 2.0
# The other positives lie in the ellipsoid scaled by this factor
INNER = 0.95
# The other negatives lie between these multiples of max(1, rho)
OUTER = (1.05, 2.0)


def check_ratio(ratio: float) -> float:
    """Return a ratio other than 1."""
    if ratio == 1.0:
        raise ValueError(
            "ratio 1 puts both classes on one ellipsoid; choose a ratio above 1, which an "
            "ellipsoid attains, or below 1, where none separates the classes"
        )
    return ratio


Ratio = Annotated[float, Field(ge=0.01, le=100.0), AfterValidator(check_ratio)]
Dimension = Annotated[int, Field(ge=1, le=50)]
Count = Annotated[int, Field(ge=1, le=100_000)]


def check_training(training: int, info: ValidationInfo) -> int:
    """Return the number of examples of each class, dimension + 1 or more."""
    dimension = info.data.get("dimension", 1)
    if training <= dimension:
        raise ValueError(
            f"{training} examples of each class in dimension {dimension}; give "
            f"{dimension + 1} or more"
        )
    return training


@dataclass(frozen=True)
class AffineMap:
    """x -> matrix x + shift.

    Parameters
    ----------
    matrix
        Symmetric positive definite, shape ``(n, n)``.
    shift
        Shape ``(n,)``.
    """

    matrix: FloatArray
    shift: FloatArray

    @classmethod
    def random(cls, rng: np.random.Generator, dimension: int, spread: float) -> Self:
        """Return V diag(lambda) V', V uniform among rotations and reflections, and a normal shift.

        log lambda_i is uniform between -log spread and log spread, spread > 1.
        """
        axes = orthogonal(rng, dimension)
        lengths = powers(spread, rng.uniform(-1.0, 1.0, dimension))
        return cls(product(axes * lengths, axes.T), rng.standard_normal(dimension))

    def images(self, points: FloatArray) -> FloatArray:
        """Return the images of rows, shape ``(m, n)``."""
        return product(points, self.matrix) + self.shift


@dataclass(frozen=True)
class Sample:
    """The examples, and the ellipsoid {c + A u : norm(u) <= 1}.

    Parameters
    ----------
    task
        Positives come first; the n + 1 vertices come first in either class.
    ellipsoid
        A as matrix and c as shift.
    """

    task: Task
    ellipsoid: AffineMap


@parameter_record
class EllipsoidSets(GeneratedDataset):
    """Two classes of known separation ratio, or inseparable by ellipsoids.

    ``ratio`` is the largest ratio of the half-axes of two concentric, similar ellipsoids, one with
    all positives inside, the other with all negatives outside (`Kharechko2009`, chapter 7): for a
    ratio above 1 it is exact but for rounding, and dimension + 1 examples of each class, the first,
    are its support examples. Below 1 no ellipsoid separates the classes, as dimension + 1 negatives
    lie inside, around the centre; all else is as with the ratio 1. The axes and the centre are
    random.

    Test examples are drawn as the other training examples are: inside and outside the ellipsoids.
    Algorithms seek an affine separator. The instance's name holds its parameters, as in
    ``ellipsoid-2x30-200-1.5``. The seed determines all else, so that sets of two ratios share the
    ellipsoid and the positives.

    Parameters
    ----------
    ratio
        rho, 0.01 to 100, not 1 (default 1.5).
    dimension
        n, 1 to 50 (default 2).
    training
        Examples of each class, n + 1 or more (default 30).
    test
        Test examples of each class (default 200).
    """

    ratio: Ratio = 1.5
    dimension: Dimension = 2
    training: Annotated[Count, AfterValidator(check_training)] = 30
    test: Count = 200

    @property
    def squared_excess(self) -> float:
        """The t of (7.9), ratio^2 - 1 or 0."""
        return max(self.ratio * self.ratio - 1.0, 0.0)

    @property
    def name(self) -> str:
        """The instance's name, which contains its parameters."""
        return f"ellipsoid-{self._sizes()}-{plain(self.ratio)}"

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        task = self.sample(seed).task
        system = ConicSystem.from_labelled(task.examples, task.labels)
        arrays = map(np.asarray, (task.examples, task.test_examples))
        return self.stated(system, *arrays, tasks=(task,))

    def sample(self, seed: int) -> Sample:
        """Return the examples and the ellipsoid."""
        # Sets of two ratios share the ellipsoid and the positives, hence one stream for all ratios
        size = 16 * self.dimension * (self.training + self.test)
        with self.random(seed, size, self._sizes()) as rng:
            ellipsoid = AffineMap.random(rng, self.dimension, SPREAD)
            training = self._inner_and_outer(rng, self.training - self.dimension - 1)
            # The support examples: they alone determine the ratio, see the module's docstring.
            tight = [simplex(rng, self.dimension), self.ratio * simplex(rng, self.dimension)]
            test = self._inner_and_outer(rng, self.test)
            rows = np.vstack([tight[0], training[0], tight[1], training[1]])
            task = Task(
                "inside",
                ellipsoid.images(rows),
                np.repeat([1.0, -1.0], self.training),
                ellipsoid.images(np.vstack(test)),
                np.repeat([1.0, -1.0], self.test),
            )
        return Sample(task, ellipsoid)

    def _sizes(self) -> str:
        return f"{self.dimension}x{self.training}-{self.test}"

    def _inner_and_outer(
        self, rng: np.random.Generator, count: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return points uniform in a ball, and points at distances uniform between two."""
        inner = INNER * powers(rng.uniform(size=count), 1.0 / self.dimension)
        outer = max(1.0, self.ratio) * rng.uniform(*OUTER, size=count)
        return (
            inner[:, None] * directions(rng, count, self.dimension),
            outer[:, None] * directions(rng, count, self.dimension),
        )


def directions(rng: np.random.Generator, count: int, dimension: int) -> FloatArray:
    """Return uniform unit vectors as rows."""
    return unit(rng.standard_normal((count, dimension)))


def simplex(rng: np.random.Generator, dimension: int) -> FloatArray:
    """Return the vertices of a regular simplex on the unit sphere, turned at random, as rows."""
    corners = scipy.linalg.helmert(dimension + 1).T * math.sqrt((dimension + 1) / dimension)
    return product(corners, orthogonal(rng, dimension))


def orthogonal(rng: np.random.Generator, dimension: int) -> FloatArray:
    """Return an orthogonal matrix, uniform by Haar's measure."""
    return orthogonalised(rng.standard_normal((dimension, dimension)))


# Probability of the unit ball under the normal distribution
INSIDE = 0.978
# The metric's half-axes lie between 1 / METRIC_SPREAD and METRIC_SPREAD
METRIC_SPREAD = 4.0


@parameter_record
class InvertedBalls(GeneratedDataset):
    """Normal points in the unit ball against their inversions; an ellipsoid separates them.

    Positives x are normal with mean 0 and covariance sigma^2 I, such that the unit ball holds
    97.8 % of them; those outside are drawn again. Negatives are x / norm(x)^2, the same points with
    inverted distances from the centre. Both are mapped by a random positive definite metric and a
    shift of the origin, and then one or all coordinates are multiplied by 10^exponent: the data of
    Figure 7.4 of `Kharechko2009`. The seed determines everything but the factor, so that all
    factors see the same examples.

    An instance has several repetitions, tasks with separate maps and examples; algorithms,
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
        """The instance's name, which contains its parameters."""
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
                mapped = AffineMap.random(rng, self.dimension, METRIC_SPREAD)
                parts = [
                    mapped.images(both_classes(normal_in_ball(rng, count, self.dimension)))
                    * factors
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
    # Rejection keeps the distribution normal given the ball; about 2 % are drawn again.
    while len(outside := np.flatnonzero(np.linalg.norm(points, axis=1) >= 1.0)):
        points[outside] = sigma * rng.standard_normal((len(outside), dimension))
    return points


def both_classes(positives: FloatArray) -> FloatArray:
    """Return the points, followed by their inversions x / norm(x)^2."""
    squares = np.sum(positives * positives, axis=1)
    return np.vstack([positives, positives / squares[:, None]])
