"""Strictly feasible points of both sides of a program, from the solver that is asked to solve it.

Of the program with F_0 + s I for F_0 every feasible x has F(x) >= s I; of that with c_i - s tr F_i
for c_i every feasible Y makes X = Y + s I one of the program itself, X >= s I. Solutions of these
are strictly feasible where there is such a point, and nearly optimal where s is small. Each side is
asked for alone: the other one may have no interior, and a program without an interior on one side
is a delicate one for solvers.

References
----------
C. Jansson, D. Chaykin, C. Keil, Rigorous error bounds for the optimal value in semidefinite
programming, SIAM Journal on Numerical Analysis 46 (2007) 180-200, where bounds come from solutions
of programs perturbed in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from perceptron_lab.algorithms.external.sdpa_format import Blocks
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.optima.asked_solvers import Approximation
from perceptron_lab.problems.optima.given_program import GivenProgram
from perceptron_lab.problems.optima.lower_bounds import OtherSide
from perceptron_lab.systems import ConicSystem

Ask = Callable[[GivenProgram], Approximation]
"""A solver: the answer for a program, or a NumericalError."""

Inner = tuple[FloatArray, float]
"""A point, or weights, and their lowest eigenvalue, > 0."""

FRACTIONS = (1e-3, 1e-5, 1e-7)
"""Parts s of the mean eigenvalue of an answer that are asked for, one after another."""


def inner_point(
    system: ConicSystem, program: GivenProgram, answer: Approximation, ask: Ask
) -> Inner | None:
    """Return a point (1, x) with F(x) positive definite, and its lowest eigenvalue as computed."""
    size = _mean(answer.slack)
    if system.interior is not None:
        point = np.concatenate([[1.0], answer.point]) + size * system.interior
        lowest = _lowest(program, point)
        if lowest > 0.0:
            return point, lowest
    for slack in _tried(size):
        found = _asked(ask, program.moved(slack=slack))
        if found is None:
            continue
        point = np.concatenate([[1.0], found.point])
        lowest = _lowest(program, point)
        if lowest > 0.0:
            return point, lowest
    return None


def inner_weights(
    other: OtherSide, program: GivenProgram, answer: Approximation, ask: Ask
) -> Inner | None:
    """Return weights that satisfy the equations, with a proved lowest eigenvalue > 0; or None."""
    if other.inner is not None or other.least <= 0.0:
        return other.inner
    for multiplier in _tried(_mean(answer.multipliers)):
        found = _asked(ask, program.moved(multiplier=multiplier))
        if found is None:
            continue
        inside = other.interior(program.weights(found.multipliers) + multiplier * program.identity)
        if inside is not None:
            return inside
    return None


def _tried(size: float) -> Iterator[float]:
    return (fraction * size for fraction in FRACTIONS if size > 0.0)


def _mean(blocks: Blocks) -> float:
    total = sum(float(block.trace() if block.ndim == 2 else block.sum()) for block in blocks)
    return total / sum(len(block) for block in blocks)


def _lowest(program: GivenProgram, point: FloatArray) -> float:
    entries = program.slack(point[1:] / point[0])
    return min(float(part.lowest(entries[span])) for part, span in program.blocks)


def _asked(ask: Ask, program: GivenProgram) -> Approximation | None:
    try:
        return ask(program)
    except NumericalError:
        return None
