"""Proved upper bounds of the optimum: the objective of points that are proved feasible."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from perceptron_lab.certificates.rounding import exact_dot, float_below
from perceptron_lab.programs.levels import objective_of
from perceptron_lab.results import FloatArray
from perceptron_lab.roundoff import UNIT_ROUNDOFF
from perceptron_lab.system import ConicSystem

# Parts of a point's size by which one on the boundary is moved towards a known interior direction
_SHIFTS = (0.0, *(10.0**k for k in range(-15, -8)))


def objective_above(system: ConicSystem, point: FloatArray) -> float:
    """Return the least double that c'x / x_0 of a point (x_0, x), x_0 > 0, is proved not to exceed.

    c may be any numbers whose nearest doubles are stored, where the objective says so.
    """
    objective, x = objective_of(system), point[1:]
    total = exact_dot(objective.values, x)
    if objective.roundings:
        size = exact_dot(np.abs(objective.values), np.abs(x))
        total += objective.roundings * Fraction(UNIT_ROUNDOFF) * size
    return -float_below(-total / Fraction(float(point[0])))


def prove_upper(system: ConicSystem, point: FloatArray) -> float | None:
    """Return the proved objective of a point (x_0, x) that is proved feasible, or else None."""
    if not (np.isfinite(point).all() and point[0] > 0.0):
        return None
    return objective_above(system, point) if system.prove_point(point).feasible else None


def mended(system: ConicSystem, point: FloatArray) -> tuple[FloatArray, float] | None:
    """Return a point that is proved feasible with its objective: this one, or one beside it."""
    direction = system.interior
    for shift in _SHIFTS[: None if direction is not None else 1]:
        moved = point
        if direction is not None and shift:
            moved = point + shift * float(np.abs(point).max()) * direction
        upper = prove_upper(system, moved)
        if upper is not None and math.isfinite(upper):
            return moved, upper
    return None
