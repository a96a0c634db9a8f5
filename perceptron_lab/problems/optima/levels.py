"""A program with its objective below a level, as a homogenised feasibility problem.

Proposition 6.2 of `Kharechko2009`: find (x_0, x) with x_0 > 0, level x_0 - c'x > 0 and
sum_i x_i F_i - x_0 F_0 positive definite. Then x / x_0 is strictly feasible, and its objective
below the level.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.base import Atom, Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems import ConicSystem, Cut, System
from perceptron_lab.systems.system import Objective

# The objective row as printed, or divided by (a power of two near) its norm
ObjectiveRow = Literal["printed", "unit"]


def objective_of(system: System) -> Objective:
    """Return the objective of a system, or refuse one that has none."""
    if system.objective is None or not system.homogenised:
        raise InputError(
            "the problem has no objective to minimise: it is no semidefinite program; give an SDPA "
            "file (.dat-s), or an instance of the datasets sdplib, sdpa or maxcut (question: "
            "feasibility)"
        )
    return system.objective


def blocks_without_first(system: ConicSystem) -> list[tuple[Cone, slice]]:
    """Return the blocks of F(x) of a homogenised system, with spans that omit x_0."""
    return [(part, slice(span.start - 1, span.stop - 1)) for part, span in system.cone.blocks[1:]]


def coefficients(system: ConicSystem) -> tuple[sp.csr_array, FloatArray]:
    """Return the entries of F_1, ..., F_m by columns, and of F_0, of a homogenised system."""
    data = sp.csr_array(system.matrix.data)[1:]
    return sp.csr_array(data[:, 1:]), -np.asarray(data[:, [0]].toarray()).ravel()


def at_level(
    system: ConicSystem, level: float, row: ObjectiveRow = "printed"
) -> CutRecordingSystem:
    """Return the homogenised system with the row level x_0 - c'x > 0 behind x_0 > 0.

    Parameters
    ----------
    system
        A homogenised system with an objective.
    level
        Finite.
    row
        ``printed``, or ``unit``: multiplied by the power of two that brings its norm into [1, 2).
        Only algorithms whose updates have the length of their cuts see the difference.
    """
    objective, operator, cone = objective_of(system), system.matrix, system.cone
    assert isinstance(cone, Product)
    values = np.concatenate([[level], -objective.values])
    if row == "unit":
        # A power of two scales without rounding, so that both rows describe the same level.
        values = np.ldexp(values, unit_exponent(system, level))
    data = sp.csr_array(operator.data)
    stacked = sp.vstack([data[:1], sp.csr_array(values[None, :]), data[1:]], format="csr")
    roundings = max(operator.roundings, objective.roundings)
    first, *further = cone.parts
    return CutRecordingSystem(
        Matrix(sp.csr_array(stacked), roundings=roundings),
        Product([first, Orthant(1), *further]),
        interior=system.interior,
        homogenised=True,
    )


def unit_exponent(system: ConicSystem, level: float) -> int:
    """Return k such that 2^k times the objective row at a level has a norm in [1, 2)."""
    norm = math.hypot(level, float(np.linalg.norm(objective_of(system).values)))
    return 1 - math.frexp(norm)[1]


@dataclass(frozen=True)
class CutRecordingSystem(ConicSystem):
    """A system that records the directions v of the cuts v'F(x)v > 0 by its matrix blocks.

    ``cut_directions`` holds (first coordinate of the block, v), the latest last.
    """

    cut_directions: deque[tuple[int, FloatArray]] = field(default_factory=deque)

    @classmethod
    def recording(cls, system: ConicSystem) -> CutRecordingSystem:
        """Return a copy of a system that records the directions of its cuts."""
        return cls(**{field.name: getattr(system, field.name) for field in fields(system)})

    def _cut(self, atom: Atom, point: FloatArray) -> Cut:
        if atom.direction is not None:
            self.cut_directions.append((atom.span.start, atom.direction))
        return super()._cut(atom, point)
