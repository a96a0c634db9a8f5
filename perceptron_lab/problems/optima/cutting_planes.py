"""Dual points from the cuts of a search, by linear programming.

Cuts v_k'F(x)v_k >= 0 relax the program to a linear one, whose dual has a solution alpha >= 0:

    max sum_k alpha_k v_k'F_0 v_k  subject to  sum_k alpha_k v_k'F_i v_k = c_i for all i.

X = sum_k alpha_k v_k v_k' is positive semidefinite and satisfies the equations, to rounding; its
objective is the optimum of the linear program. (Kelley's bound, from any method's cuts.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp

from perceptron_lab.algorithms.linear.highs import QUICK
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import seconds_left
from perceptron_lab.problems.optima.lower_bounds import DualProblem

Directions = Mapping[int, FloatArray]
"""Number of a matrix block -> directions v of cuts, one per row, not 0."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Cuts as rows of norm 1: the dual has alpha'normals = c and the objective alpha'sides.

    All constraints of blocks of rows, and e_i'F(x)e_i >= 0 of all matrix blocks, come first.
    """

    dual: DualProblem
    directions: Directions
    normals: FloatArray
    sides: FloatArray
    lengths: FloatArray

    @classmethod
    def of(cls, dual: DualProblem, directions: Directions) -> Cuts:
        """Return the cuts with the given directions."""
        on = np.flatnonzero(dual.system.cone.identity[1:])
        normals, sides = [np.asarray(dual.rows[on].toarray())], [dual.constant[on]]
        for block, vectors in directions.items():
            atoms, rows, constant = _atoms(dual, block, vectors)
            normals.append(np.asarray(atoms @ rows))
            sides.append(atoms @ constant)
        stacked, right = np.vstack(normals), np.concatenate(sides)
        lengths = np.linalg.norm(stacked, axis=1)
        # Rows of norm 1, whose multipliers HiGHS computes to comparable accuracy.
        lengths[lengths == 0.0] = 1.0
        return cls(dual, directions, stacked / lengths[:, None], right / lengths, lengths)

    @property
    def finite(self) -> bool:
        """Whether all numbers are finite."""
        return bool(np.isfinite(self.normals).all() and np.isfinite(self.sides).all())

    def weights(self, shares: FloatArray) -> FloatArray:
        """Return sum_k alpha_k v_k v_k' as dual weights."""
        dual, shares = self.dual, shares / self.lengths
        on = np.flatnonzero(dual.system.cone.identity[1:])
        weights, at = np.zeros(dual.size), len(on)
        weights[on] = shares[:at]
        for block, directions in self.directions.items():
            part, span = dual.blocks[block]
            assert isinstance(part, Semidefinite)
            part_shares = shares[at : at + len(directions)]
            at += len(directions)
            active = directions[part_shares > 0.0]
            matrix = (active.T * part_shares[part_shares > 0.0]) @ active
            weights[span] += matrix[part.rows, part.columns] * part.multiplicity
        return weights


def relaxed_dual(cuts: Cuts) -> FloatArray | None:
    """Return the dual weights X of the linear program over cuts, or None if it has no optimum."""
    if not cuts.finite:
        return None
    solution = _solved(
        cuts.normals.size,
        cuts.dual.objective,
        A_ub=-cuts.normals,
        b_ub=-cuts.sides,
        bounds=(None, None),
    )
    if solution.status != 0:
        return None
    return cuts.weights(np.maximum(-np.asarray(solution.ineqlin.marginals), 0.0))


def central_dual(cuts: Cuts) -> FloatArray | None:
    """Return weights X with alpha_k >= t for the largest t <= 1, or None if t > 0 is impossible.

    Where the cuts span the matrices, X is positive definite.
    """
    if not cuts.finite:
        return None
    count = len(cuts.normals)
    equations = np.column_stack([cuts.normals.T, cuts.normals.sum(axis=0)])
    worth = np.zeros(count + 1)
    worth[count] = -1.0
    solution = _solved(
        equations.size,
        worth,
        A_eq=equations,
        b_eq=cuts.dual.objective,
        bounds=[(0.0, None)] * count + [(0.0, 1.0)],
    )
    if solution.status != 0 or solution.x is None or not solution.x[count] > 0.0:
        return None
    return cuts.weights(solution.x[:count] + solution.x[count])


def _solved(size: int, costs: FloatArray, **conditions: object) -> Any:
    """Return HiGHS's answer to a linear program with ``size`` entries, within the time limit."""
    left = seconds_left()
    options = {"time_limit": left} if math.isfinite(left) else {}
    program = partial(scipy.optimize.linprog, costs, method="highs", options=options, **conditions)
    return program() if size <= QUICK else killable(program)


def _atoms(
    dual: DualProblem, block: int, directions: FloatArray
) -> tuple[FloatArray, sp.csr_array, FloatArray]:
    """Return vv', F_1, ..., F_m and F_0 at those entries of a block that occur in some F_i."""
    part, span = dual.blocks[block]
    assert isinstance(part, Semidefinite)
    rows, constant = sp.csr_array(dual.rows[span]), dual.constant[span]
    occurring = np.flatnonzero((np.diff(rows.indptr) > 0) | (constant != 0.0))
    first, second = part.rows[occurring], part.columns[occurring]
    atoms = directions[:, first] * directions[:, second] * part.multiplicity[occurring]
    return atoms, sp.csr_array(rows[occurring]), constant[occurring]
