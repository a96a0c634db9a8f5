"""Verification of the bounds of an optimum from the arrays of a result, without any algorithm."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Bound, FloatArray
from perceptron_lab.problems.optima.faces import Face, restricted
from perceptron_lab.problems.optima.levels import at_level
from perceptron_lab.problems.optima.lower_bounds import DualProblem
from perceptron_lab.problems.optima.maxcut.bounds import proved_lower, proved_upper
from perceptron_lab.problems.optima.maxcut.cuts import cut_of
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram
from perceptron_lab.problems.optima.upper_bounds import prove_upper
from perceptron_lab.systems import ConicSystem

NO_BOUND = Bound(None, "", "no theorem bounds the updates of a sequence of programs")
FACE, FACE_BLOCK = "face", "face_block"
"""Names of the arrays stored with a Z on a face: V, and the index of its block."""
DUAL, LEVEL, VECTORS = "dual", "level", "vectors"
"""Names of arrays that prove a lower bound: X, weights that no point is below the level, or V."""
SIGNS = "signs"
"""Name of the sides of a cut, +1 or -1 each."""


def prove_level(system: ConicSystem, level: float, weights: FloatArray) -> bool:
    """Return whether weights prove that every strictly feasible point has an objective >= a level.

    The weights are those of the system of :func:`.at_level` with the row ``unit``.
    """
    below: ConicSystem = at_level(system, level, "unit")
    if weights.shape != (below.cone.size,):
        below = below.completed(required=False)
    if weights.shape != (below.cone.size,):
        return False
    return below.prove_weights(weights) == 0.0 or below.prove_infeasible(weights) is not None


def reverified_bounds(
    system: ConicSystem, point: FloatArray, proof: Mapping[str, FloatArray], lower: float | None
) -> tuple[float | None, float | None]:
    """Return the lower and the upper bound that the arrays of a result prove, or None each.

    Parameters
    ----------
    system, point, proof
        The program; point and arrays of the result.
    lower
        The claimed lower bound, which is the level where weights of a level prove it.
    """
    if VECTORS in proof:
        return _around_maxcut(system, point, proof[VECTORS])
    upper, bound = prove_upper(system, point), None
    if DUAL in proof:
        bound = _prove_dual(system, proof)
    elif LEVEL in proof and lower is not None and upper is not None:
        bound = lower if prove_level(system, lower, proof[LEVEL]) else None
    return bound, upper


def reverified_cut(system: ConicSystem, proof: Mapping[str, FloatArray]) -> float | None:
    """Return the proved value of the cut that the arrays of a result contain, or None."""
    program, signs = MaxCutProgram.of_system(system), proof.get(SIGNS)
    if program is None or signs is None or not (np.abs(signs) == 1.0).all():
        return None
    try:
        return cut_of(program, signs.astype(np.int8)).value
    except InputError:
        return None


def _prove_dual(system: ConicSystem, proof: Mapping[str, FloatArray]) -> float | None:
    """Return the lower bound that X, or Z on a face, proves; None if the face is invalid."""
    if FACE in proof:
        number = proof.get(FACE_BLOCK, np.array([-1.0]))
        if number.shape != (1,) or not float(number[0]).is_integer():
            return None
        try:
            system = restricted(system, Face(int(number[0]), proof[FACE])).system
        except InputError:
            return None
    return DualProblem.of(system).prove(proof[DUAL])


def _around_maxcut(
    system: ConicSystem, point: FloatArray, vectors: FloatArray
) -> tuple[float | None, float | None]:
    """Return the bounds that V and x prove for a program of MAXCUT's form."""
    program = MaxCutProgram.of_system(system)
    if program is None or not (np.isfinite(point).all() and point[0] > 0.0):
        return None, None
    lower, upper = proved_lower(program, vectors), proved_upper(program, point[1:] / point[0])[0]
    return lower if math.isfinite(lower) else None, upper if math.isfinite(upper) else None
