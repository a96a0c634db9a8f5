"""X of the other side of a program, block by block, from the arrays of a result."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.exact.dual_points import DualBlock
from perceptron_lab.problems.optima.faces import Face, restricted
from perceptron_lab.problems.optima.levels import at_level, unit_exponent
from perceptron_lab.problems.optima.proofs import DUAL, FACE, FACE_BLOCK, LEVEL
from perceptron_lab.systems import ConicSystem


def dual_blocks(
    system: ConicSystem, proof: Mapping[str, FloatArray], lower: float
) -> list[DualBlock]:
    """Return the blocks of X near a feasible one; none where a result has no such array.

    Weights that no strictly feasible point is below a level, with w of the objective's row, are w
    times such an X.

    Parameters
    ----------
    system
        Homogenised, with an objective, as given.
    proof, lower
        The arrays of a result, and its lower bound.
    """
    if DUAL in proof:
        if FACE not in proof:
            return _blocks(system.completed(), proof[DUAL])
        face = Face(int(proof[FACE_BLOCK][0]), proof[FACE])
        return _blocks(restricted(system, face).system.completed(), proof[DUAL], face)
    if LEVEL not in proof:
        return []
    weights = proof[LEVEL]
    _, row, *rest = np.split(weights, [1, 2])
    if not row[0] > 0.0:
        return []
    below: ConicSystem = at_level(system, lower, "unit")
    whole = system if weights.shape == (below.cone.size,) else system.completed()
    return _blocks(whole, rest[0] / np.ldexp(row[0], unit_exponent(system, lower)))


def _blocks(system: ConicSystem, weights: FloatArray, face: Face | None = None) -> list[DualBlock]:
    """Return the blocks of flat weights of all but x_0."""
    found = []
    for number, (part, span) in enumerate(system.cone.blocks[1:]):
        basis = face.basis if face is not None and face.block == number else None
        at = slice(span.start - 1, span.stop - 1)
        found.append(DualBlock(number + 1, part, weights[at], basis))
    return found
