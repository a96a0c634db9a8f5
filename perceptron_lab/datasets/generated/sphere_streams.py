"""Streams of examples uniform on a sphere or an ellipsoid, for learners that ask for labels."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.datasets.generated.generator import GeneratedDataset, plain
from perceptron_lab.datasets.generated.margin_sets import random_unit
from perceptron_lab.datasets.problem import Problem, Task
from perceptron_lab.systems import ConicSystem

MOST_TESTED = 50_000
"""The largest number of test examples."""


@parameter_record
class SphereStreams(GeneratedDataset):
    """Streams of examples x = M z, z uniform on the unit sphere, labelled by a hyperplane.

    The labels are the signs of u'z for a random unit u: the stream is separable through the origin,
    with no margin planted. M is diagonal with entries from 1 to ``stretch`` in geometric
    progression, turned by a random rotation. Test examples are as many others, 50000 at most. The
    instance's name holds all its parameters: ``sphere-10x1000-1`` (dimension x rows, stretch).

    Parameters
    ----------
    dimension
        Features, 2 or more (default 10).
    rows
        Examples, 2 or more (default 100000).
    stretch
        The condition number of M, 1 (default, the sphere itself) to 1e6.
    """

    dimension: Annotated[int, Field(ge=2, le=1000)] = 10
    rows: Annotated[int, Field(ge=2, le=10_000_000)] = 100_000
    stretch: Annotated[float, Field(ge=1, le=1e6)] = 1.0

    @property
    def name(self) -> str:
        """The instance's name, which contains its parameters."""
        return f"sphere-{self.dimension}x{self.rows}-{plain(self.stretch)}"

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        with self.random(seed, 16 * self.dimension * self.rows) as rng:
            direction = random_unit(rng, self.dimension)
            count = self.rows + min(self.rows, MOST_TESTED)
            examples = rng.standard_normal((count, self.dimension))
            examples /= np.linalg.norm(examples, axis=1)[:, None]
            labels = np.where(examples @ direction > 0.0, 1.0, -1.0)
            if self.stretch > 1.0:
                axes = np.linalg.qr(rng.standard_normal((self.dimension, self.dimension)))[0]
                lengths = np.geomspace(1.0, self.stretch, self.dimension)
                examples = examples @ (axes * lengths) @ axes.T
        if abs(labels[: self.rows].sum()) == self.rows:
            raise InputError(f"{self.name}: all labels are equal; give more rows or another seed")
        training, test = slice(0, self.rows), slice(self.rows, None)
        task = Task("positive", examples[training], labels[training], examples[test], labels[test])
        system = ConicSystem.from_labelled(task.examples, task.labels, affine=False)
        return self.stated(system, examples, labels, tasks=(task,))
