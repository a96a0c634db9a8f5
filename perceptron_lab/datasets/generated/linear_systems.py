"""Random linear inequalities, equations and bounds with known feasibility."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import AnyArray
from perceptron_lab.datasets.generated.generator import GeneratedDataset
from perceptron_lab.datasets.problem import Problem, sha256_of_arrays
from perceptron_lab.systems import ConicSystem

# Largest magnitude of the integer part of the random decimals
LARGEST = 9

Integers = AnyArray  # Python integers


@parameter_record
class LinearSystems(GeneratedDataset):
    """Systems A x >= b, C x = d with bounds on half of the x_j, in decimals, around a random x.

    Rows are sparse, with whole numbers from -9 to 9 over 10^digits. The last row of A is
    minus the sum of the others, multiplied by 1 to 3, unless the kind is ``feasible``: so the slack
    of all of them together is fixed.

    - ``feasible``: x is strictly inside of all inequalities.
    - ``tight``: the rows of A are tight at every point, and some bounds at x.
    - ``dependent``: as tight, and half the equations are combinations of the others.
    - ``infeasible``: as dependent, and the right side of the last row is too large by 10^-gap.

    Parameters
    ----------
    kind
        ``feasible`` (default), ``tight``, ``dependent`` or ``infeasible``.
    variables
        1 to 200 (default 10).
    inequalities
        The rows of A, 2 to 1000 (default 20).
    equations
        The rows of C, 0 to 200 (default 4); those that are independent are fewer than variables.
    digits
        Decimal digits of the numbers, 0 (default) to 9.
    gap
        Of an infeasible system, 0 (default) to 40: far below the resolution of doubles.
    """

    kind: Literal["feasible", "tight", "dependent", "infeasible"] = "feasible"
    variables: Annotated[int, Field(ge=1, le=200)] = 10
    inequalities: Annotated[int, Field(ge=2, le=1000)] = 20
    equations: Annotated[int, Field(ge=0, le=200)] = 4
    digits: Annotated[int, Field(ge=0, le=9)] = 0
    gap: Annotated[int, Field(ge=0, le=40)] = 0

    @property
    def name(self) -> str:
        """The name of the instance: its kind, sizes, digits and gap."""
        size = f"{self.variables}x{self.inequalities}x{self.equations}"
        name = f"{self.kind}-{size}-{self.digits}"
        return f"{name}-{self.gap}" if self.kind == "infeasible" else name

    @property
    def feasible(self) -> bool:
        """Whether a point exists, by construction."""
        return self.kind != "infeasible"

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        size = (self.inequalities + self.equations + 4) * (self.variables + 1)
        with self.random(seed, 64 * size) as rng:
            parts = self._parts(rng)
        unit = Fraction(1, 10**self.digits)
        rows, right, equations, values, point, room = parts
        last = Fraction(1, 10**self.gap) if self.kind == "infeasible" else Fraction(0)
        limits = [unit**2 * limit for limit in right.tolist()]
        # Only the last right side changes, by 10^-gap, which no double of this size resolves for a
        # large gap.
        limits[-1] += last
        bounded = self.variables // 2
        at = [unit * coordinate for coordinate in point.tolist()]
        slack = [unit * gap for gap in room.tolist()]
        free = [None] * (self.variables - bounded)
        pairs = list(zip(at[:bounded], slack[:bounded], strict=True))
        system = ConicSystem.from_linear(
            rows * unit,
            np.array(limits),
            (equations * unit, np.array([unit**2 * value for value in values.tolist()])),
            [*(x - s for x, s in pairs), *free],
            [*(x + s + unit for x, s in pairs), *free],
        )
        numbers = [np.array(part.tolist(), dtype=np.int64) for part in parts]
        return Problem(self.name, system, sha256_of_arrays(*numbers), system.facts())

    def _parts(
        self, rng: Generator
    ) -> tuple[Integers, Integers, Integers, Integers, Integers, Integers]:
        """Return A, b, C, d, x and its distances from its bounds, in multiples of 10^-digits.

        b and d are multiples of 10^-(2 digits). x is a point with A x >= b and C x = d.
        """
        scale = 10**self.digits
        point = self._sparse_integers(rng, (self.variables,), scale)
        rows = self._sparse_integers(rng, (self.inequalities, self.variables), scale)
        equations = self._sparse_integers(rng, (self.equations, self.variables), scale)
        if self.kind in ("dependent", "infeasible") and self.equations > 1:
            half = self.equations // 2
            mix = rng.integers(-2, 3, (half, self.equations - half)).astype(object)
            # Exact combinations: elimination has to find them redundant, not nearly so.
            equations[-half:] = mix.dot(equations[:-half])
        slack = rng.integers(1, 2 * scale + 1, self.inequalities).astype(object) * scale
        if self.kind != "feasible":
            weights = rng.integers(1, 4, self.inequalities - 1).astype(object)
            # A positive combination of all rows is 0, so that their slacks add up to a constant: 0
            # here.
            rows[-1] = -weights.dot(rows[:-1])
            slack[:] = 0
        room = rng.integers(0 if self.kind != "feasible" else 1, scale + 1, self.variables)
        return (
            rows,
            rows.dot(point) - slack,
            equations,
            equations.dot(point),
            point,
            room.astype(object),
        )

    def _sparse_integers(self, rng: Generator, shape: tuple[int, ...], scale: int) -> Integers:
        """Return random Python integers, a third of them 0."""
        drawn = rng.integers(-LARGEST * scale, LARGEST * scale + 1, shape)
        # Object arrays: products of 64-bit integers would overflow for 9 digits.
        sparse: Integers = np.where(rng.random(shape) < 2 / 3, drawn, 0).astype(object)
        return sparse
