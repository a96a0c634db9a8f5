"""Generated labelled examples like users' data: heavy-tailed and correlated, or sparse."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator
from pydantic import Field, ValidationInfo, field_validator

from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import AnyArray, FloatArray
from perceptron_lab.datasets.dataset import Defaults, defaulted_with
from perceptron_lab.datasets.generated.generator import GeneratedDataset, plain
from perceptron_lab.datasets.generated.margin_sets import random_unit
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.systems import ConicSystem

# Largest number of generated entries: 4 gigabytes
MOST_ENTRIES = 500_000_000

_DEFAULTS: Defaults = {
    "heavy-tailed": {"tail": 3.0, "correlation": 0.9},
    "sparse": {"density": 0.01},
}


@dataclass(frozen=True)
class LabelledSet:
    """Examples, shape ``(m, n - 1)``, their labels +-1, and (w, 0), a separator of margin > 0."""

    examples: FloatArray | sp.csr_array
    labels: FloatArray
    point: FloatArray


def heavy_tailed(
    rng: Generator, *, features: int, rows: int, tail: float, correlation: float
) -> FloatArray:
    """Rows whose features follow Student's t distribution, each correlated with the next.

    x_1 = t_1 and x_j = r x_{j-1} + sqrt(1 - r^2) t_j with independent t_j of so many degrees of
    freedom: where they have a variance, that of all x_j is the same, and x_i and x_j have the
    correlation r^abs(i - j).
    """
    examples = rng.standard_t(tail, (rows, features))
    # Keeps the variance of all features equal.
    fresh = math.sqrt(1.0 - correlation**2)
    for j in range(1, features):
        examples[:, j] = correlation * examples[:, j - 1] + fresh * examples[:, j]
    return examples


def sparse(rng: Generator, *, features: int, rows: int, density: float) -> sp.csr_array:
    """Rows with density times features standard normal entries each, at least one, at random.

    Shape ``(rows, features)``, as a CSR array.
    """
    each = max(1, round(density * features))
    drawn = [rng.choice(features, each, replace=False, shuffle=False) for _ in range(rows)]
    # Some solvers refuse 64-bit indices, and scipy needs both index arrays of one type
    columns = np.sort(np.array(drawn, dtype=np.int32), axis=1).ravel()
    ends = np.arange(0, rows * each + 1, each, dtype=np.int32)
    values = rng.standard_normal(rows * each)
    return sp.csr_array((values, columns, ends), shape=(rows, features))


def flatten(examples: FloatArray | sp.csr_array, normal: FloatArray, factor: float) -> None:
    """Multiply the inner products of all examples with a unit vector w by a factor, in place.

    Each example x moves along w as far as its own entries reach: by (factor - 1) (x'w) / norm(v)^2
    v, v being w on the entries that x has stored.
    """
    scores = examples @ normal
    if isinstance(examples, np.ndarray):
        for j, part in enumerate(normal):  # in place: the data may fill half of the memory
            examples[:, j] += part * (factor - 1.0) * scores
        return
    # Sparse examples may only change on their stored entries, or they would fill in.
    counts = np.diff(examples.indptr)
    along = normal[examples.indices]
    squares = np.add.reduceat(along**2, examples.indptr[:-1])
    examples.data += np.repeat((factor - 1.0) * scores / squares, counts) * along


@parameter_record
class LabelledSets(GeneratedDataset):
    """Labelled examples that a hyperplane separates by little; one instance per entry.

    Of a random unit vector w and examples x, the labels are the signs of x'w; sought is an affine
    separator, and (w, 0) is one. Then the examples are moved towards the hyperplane, so that x'w is
    multiplied by ``difficulty``. The instance's name holds all its parameters, as in
    ``heavy-tailed-50x20000-0.3-3-0.9`` (dimension x rows, difficulty, tail, correlation); name and
    seed determine it, and those of other difficulties differ in nothing else. A parameter that the
    family does not have is refused.

    ``heavy-tailed``: dense, Student's t with correlated features, so that a few examples are many
    times longer than the others. ``sparse``: a CSR array with the same number of entries in each
    example, as texts have it.

    Parameters
    ----------
    family
        One of the above.
    dimension
        Number of unknowns, one more than features, 3 or more (default 100).
    rows
        Number of examples, 2 or more (default 5000).
    difficulty
        > 0, at most 1000 (default 0.3); smaller is harder, 1 changes nothing.
    tail
        Degrees of freedom of heavy-tailed, 1 or more (default 3): the less, the heavier.
    correlation
        Of neighbouring features of heavy-tailed, 0 to 0.999 (default 0.9).
    density
        Part of the entries of sparse, > 0, at most 1 (default 0.01); at least one in each row.
    """

    family: Literal["heavy-tailed", "sparse"]
    dimension: Annotated[int, Field(ge=3, le=1_000_000)] = 100
    rows: Annotated[int, Field(ge=2)] = 5000
    difficulty: Annotated[float, Field(gt=0, le=1000)] = 0.3
    tail: Annotated[float, Field(ge=1, le=1000)] | None = None
    correlation: Annotated[float, Field(ge=0, le=0.999)] | None = None
    density: Annotated[float, Field(gt=0, le=1)] | None = None

    _of_the_family = defaulted_with("family", _DEFAULTS, "tail", "correlation", "density")

    @field_validator("density")
    @classmethod
    def _check_density(cls, density: float | None, info: ValidationInfo) -> float | None:
        dimension, rows = info.data.get("dimension"), info.data.get("rows")
        if dimension is not None and rows is not None:
            each = dimension if density is None else max(1, round(density * dimension))
            if rows * each > MOST_ENTRIES:
                raise ValueError(
                    f"{rows} rows with {each} entries each; at most {MOST_ENTRIES // each} rows of "
                    "so many are allowed"
                )
        return density

    @property
    def name(self) -> str:
        """The instance's name, which contains its parameters."""
        return self._named(self.difficulty)

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        generated = self.generate(seed)
        system = ConicSystem.from_labelled(generated.examples, generated.labels)
        return self.stated(system, *_arrays(generated), point=generated.point)

    def generate(self, seed: int) -> LabelledSet:
        """Return the examples, their labels and a separator."""
        values, features = self._values(), self.dimension - 1
        size = 8 * self.rows * self.dimension
        if self.density is not None:
            size = math.ceil(16 * self.rows * (1.0 + self.density * features))
        with self.random(seed, size, self._named()) as rng:
            make = heavy_tailed if self.family == "heavy-tailed" else sparse
            examples = make(rng, features=features, rows=self.rows, **values)
            normal = random_unit(rng, features)
            labels = np.where(examples @ normal > 0.0, 1.0, -1.0)
            flatten(examples, normal, self.difficulty)
        return LabelledSet(examples, labels, np.append(normal, 0.0))

    def _named(self, *first: float) -> str:
        """Return the name with the given numbers before the parameters of the family."""
        values = [*first, *self._values().values()]
        return "-".join([self.family, f"{self.dimension}x{self.rows}", *map(plain, values)])

    def _values(self) -> dict[str, float]:
        """Return the parameters of the family."""
        return {name: getattr(self, name) for name in _DEFAULTS[self.family]}


def _arrays(generated: LabelledSet) -> list[AnyArray]:
    """Return the arrays of the examples, and the labels."""
    if isinstance(generated.examples, np.ndarray):
        return [generated.examples, generated.labels]
    return [
        generated.examples.data,
        generated.examples.indices,
        generated.examples.indptr,
        generated.labels,
    ]
