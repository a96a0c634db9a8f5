"""SDPA data as a homogenised conic system (`Kharechko2009`, Proposition 6.2).

Of min c'x subject to F(x) = sum_i x_i F_i - F_0 positive semidefinite, the objective is kept beside
the system and is no part of it: find (x_0, x) with x_0 > 0 and sum_i x_i F_i - x_0 F_0 positive
definite. Then x / x_0 is strictly feasible. The auxiliary variable is coordinate 0 of the point and
one more block, the first.

The other side of the program is max <F_0, Y> subject to <F_i, Y> = c_i, Y positive semidefinite. It
is empty if there is a ray, x with sum_i x_i F_i positive definite and c'x < 0, for then
0 <= <sum_i x_i F_i, Y> = c'x < 0 would hold for a feasible Y.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.cones.spectral import lowest
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.sdpa_data import SdpaData
from perceptron_lab.systems.system import Objective

# Blocks of at most this order hold all their entries, so that weights on them are matrices whose
# definiteness can be proved; beyond it that would cost a sparse block most of its speed
COMPLETE_UP_TO = 64


def homogenised(data: SdpaData) -> ConicSystem:
    """Return the homogenised system of an SDP, data and signs as in SDPA's format.

    The operator is one sparse matrix, entries of the blocks' patterns by variables, so that scores
    are one sparse product.
    """
    variables = len(data.objective) + 1
    auxiliary = sp.csr_array(([1.0], ([0], [0])), shape=(1, variables))
    matrix, cone = _stacked(auxiliary, data, 0)
    operator = Matrix(matrix, roundings=data.roundings)
    return ConicSystem(
        operator,
        cone,
        interior=_interior(operator, cone),
        homogenised=True,
        objective=Objective(data.objective, data.objective_roundings),
    )


def recession(data: SdpaData) -> ConicSystem:
    """Return the system of the rays: -c'x > 0 and sum_i x_i F_i positive definite.

    A feasible point proves that no positive semidefinite Y has <F_i, Y> = c_i for all i.
    """
    matrix, cone = _stacked(sp.csr_array(-data.objective[None, :]), data, 1)
    roundings = max(data.roundings, data.objective_roundings)
    return ConicSystem(Matrix(matrix, roundings=roundings), cone)


def _stacked(row: sp.csr_array, data: SdpaData, first: int) -> tuple[sp.csr_array, Product]:
    """Return a row above the entries of F_first, ..., F_m, one column each, and their cones."""
    blocks = [_block(data, number, size) for number, size in enumerate(data.blocks)]
    matrices = [row, *(sp.csr_array(matrix[:, first:]) for _, matrix in blocks)]
    return (
        sp.csr_array(sp.vstack(matrices, format="csr")),
        Product([Orthant(1), *(cone for cone, _ in blocks)]),
    )


def _block(data: SdpaData, number: int, size: int) -> tuple[Cone, sp.csr_array]:
    here = data.block == number
    matrix, row, column = data.matrix[here], data.row[here], data.column[here]
    value = np.where(matrix == 0, -data.value[here], data.value[here])
    order, width = abs(size), len(data.objective) + 1
    if size < 0 or order == 1:
        entries = sp.csr_array((value, (row, matrix)), shape=(order, width))
        return Orthant(order), entries
    # The keys row * order + column of the pattern, ascending
    if order <= COMPLETE_UP_TO:
        upper = np.triu_indices(order)
        keys: IntArray = upper[0] * order + upper[1]
    else:
        diagonal = np.arange(order) * (order + 1)
        # Sorted and not hashed, which takes ten times as long
        keys = np.sort(np.concatenate([row * order + column, diagonal]))
        keys = keys[np.append(True, keys[1:] > keys[:-1])]
    position = np.searchsorted(keys, row * order + column)
    entries = sp.csr_array((value, (position, matrix)), shape=(len(keys), width))
    return Semidefinite(order, keys // order, keys % order), entries


def _interior(operator: Matrix, cone: Product) -> FloatArray | None:
    """Return d with x_0 = 0 and sum_i d_i F_i = I (or nearly), if there is one; MAXCUT: all ones.

    Adding a multiple of d to a point of the closed cone with x_0 > 0 moves it inside.
    """
    blocks = sp.csr_array(operator.data[1:, 1:])
    target = cone.identity[1:]
    solution = scipy.sparse.linalg.lsqr(blocks, target, atol=1e-15, btol=1e-15, iter_lim=1000)[0]
    # Of integer data, such as MAXCUT's, the rounded solution is exact
    nearest = np.round(solution)
    if np.array_equal(blocks @ nearest, target):
        return np.concatenate([[0.0], nearest])
    if lowest(cone, np.concatenate([[1.0], blocks @ solution])) < 0.5:
        return None
    return np.concatenate([[0.0], solution])
