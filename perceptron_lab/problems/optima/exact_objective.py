"""The objective of an exact point, rounded up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.numerics.exact_texts import read_exact
from perceptron_lab.numerics.roundoff import UNIT_ROUNDOFF
from perceptron_lab.problems.optima.levels import objective_of
from perceptron_lab.systems import ConicSystem


def boundary_objective(system: ConicSystem, x: Sequence[str]) -> float | None:
    """Return c'x of an exact x, rounded up; None without x, or beyond the doubles."""
    objective = objective_of(system)
    pairs = list(zip(map(Fraction, objective.values.tolist()), map(read_exact, x), strict=bool(x)))
    value = sum((c * entry for c, entry in pairs), Fraction())
    size = sum((abs(c * entry) for c, entry in pairs), Fraction())
    upper = to_double(value + objective.roundings * Fraction(UNIT_ROUNDOFF) * size, rounding="up")
    return upper if x and math.isfinite(upper) else None
