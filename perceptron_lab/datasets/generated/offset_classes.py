"""Two labelled classes whose geometric and directional margins are known for every augmentation."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.generator import GeneratedDataset, plain
from perceptron_lab.datasets.generated.margin_sets import random_unit
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.systems import ConicSystem


@parameter_record
class OffsetClasses(GeneratedDataset):
    """Examples in the unit ball on both sides of a slab, with an appended feature rho.

    With a random unit vector w the positive examples have x'w >= c + gamma, the negative ones
    x'w <= c - gamma; (c + gamma) w, (c - gamma) w and w itself are among them. So the geometric
    margin is gamma, the longest example has norm R_x = 1, and the rows y (x, rho) have the largest
    norm R with R^2 = rho^2 + 1 and the directional margin

        gamma_d = gamma / sqrt(1 + c^2 / rho^2),

    reached by (w, -c / rho) over its norm, and by the point of least norm between the first two
    examples. Hence gamma / gamma_d <= R / rho, (2.67) of `TsampoukaShaweTaylor`, and gamma_d tends
    to gamma as rho grows, (2.68). Name and seed determine the examples; they are the same for all
    rho.

    Parameters
    ----------
    dimension
        Number of unknowns, one more than features, 3 or more (default 10).
    rows
        Number of examples, 4 or more (default 1000).
    margin
        gamma, 1e-6 to 0.4 (default 0.05).
    offset
        c >= 0 (default 0.8), with c + gamma < 1.
    augment
        rho > 0 (default 1).

    References
    ----------
    `TsampoukaShaweTaylor`, section 2.3.
    """

    dimension: Annotated[int, Field(ge=3, le=10_000)] = 10
    rows: Annotated[int, Field(ge=4, le=10_000_000)] = 1000
    margin: Annotated[float, Field(ge=1e-6, le=0.4)] = 0.05
    offset: Annotated[float, Field(ge=0, lt=1)] = 0.8
    augment: Positive = 1.0

    @field_validator("offset")
    @classmethod
    def _within_the_ball(cls, offset: float, info: ValidationInfo) -> float:
        margin = info.data.get("margin")
        if margin is not None and offset + margin >= 1.0:
            raise ValueError(f"offset + margin = {offset + margin:g}; allowed: below 1")
        return offset

    @property
    def name(self) -> str:
        """The instance's name, which contains its parameters."""
        return f"{self._examples_name}-{plain(self.augment)}"

    @property
    def _examples_name(self) -> str:
        return f"offset-{self.dimension}x{self.rows}-{plain(self.margin)}-{plain(self.offset)}"

    @property
    def directional_margin(self) -> float:
        """gamma_d."""
        return self.margin / math.hypot(1.0, self.offset / self.augment)

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        examples, labels, normal = self.generate(seed)
        system = ConicSystem.from_labelled(
            examples, labels, margin="directional", augment=self.augment
        )
        point = np.append(normal, -self.offset / self.augment)
        return self.stated(system, examples, labels, np.array([self.augment]), point=point)

    def generate(self, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the examples, shape ``(rows, dimension - 1)``, their labels +-1, and w."""
        features = self.dimension - 1
        with self.random(seed, 16 * self.rows * self.dimension, self._examples_name) as rng:
            normal = random_unit(rng, features)
            labels = np.where(rng.random(self.rows) < 0.5, 1.0, -1.0)
            labels[:3] = 1.0, -1.0, 1.0
            room = np.where(labels > 0.0, 1.0 - self.offset, 1.0 + self.offset) - self.margin
            heights = self.offset + labels * (self.margin + room * rng.random(self.rows))
            heights[:3] = self.offset + self.margin, self.offset - self.margin, 1.0
            sides = rng.standard_normal((self.rows, features))
            sides -= np.outer(sides @ normal, normal)
            lengths = np.sqrt(np.maximum(0.0, 1.0 - heights**2)) * rng.random(self.rows)
            lengths[:3] = 0.0
            sides *= (lengths / np.linalg.norm(sides, axis=1))[:, None]
        return sides + np.outer(heights, normal), labels, normal
