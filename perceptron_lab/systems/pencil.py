"""Linear matrix inequalities as homogenised conic systems (`Kharechko2009`, Proposition 6.2).

Of min c'x subject to F(x) = sum_i x_i F_i - F_0 positive semidefinite, the objective is kept beside
the system and is no part of it: find (x_0, x) with x_0 > 0 and sum_i x_i F_i - x_0 F_0 positive
definite. Then x / x_0 is strictly feasible. The auxiliary variable is coordinate 0 of the point and
one more block, the first.

The other side of the program is max <F_0, Y> subject to <F_i, Y> = c_i, Y positive semidefinite. It
is empty if there is a ray, x with sum_i x_i F_i positive definite and c'x < 0, for then
0 <= <sum_i x_i F_i, Y> = c'x < 0 would hold for a feasible Y.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph
import scipy.sparse.linalg

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.cones.spectral import lowest
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.input_checks import (
    ArrayOrSparse,
    doubles_of_rows,
    refuse_not_finite,
)
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
    objective = Objective(data.objective, data.objective_roundings)
    return replace(_feasibility(data), objective=objective)


def of_matrices(constant: ArrayOrSparse, matrices: Sequence[ArrayOrSparse]) -> ConicSystem:
    """Return the system of a linear matrix inequality; see :meth:`.ConicSystem.from_matrices`.

    Rows and columns that no matrix connects make blocks of their own; the same permutation of rows
    and columns brings all matrices into this form, and changes no eigenvalue.
    """
    if not isinstance(matrices, Sequence | np.ndarray) or isinstance(matrices, str):
        kind = type(matrices).__name__
        raise InputError(f"the matrices beside F_0 are a {kind}; give a list [F_1, ..., F_m]")
    if not len(matrices):
        raise InputError("no matrix beside F_0; give one matrix per unknown")
    given = [_symmetric(matrix, f"F_{i}") for i, matrix in enumerate([constant, *matrices])]
    order = given[0][0].shape[0]
    for i, (values, _) in enumerate(given):
        if values.shape[0] != order:
            raise InputError(f"F_{i} has order {values.shape[0]}, F_0 has {order}; give one order")
    entries = [sp.coo_array(sp.triu(values)) for values, _ in given]
    row = np.concatenate([one.coords[0] for one in entries])
    column = np.concatenate([one.coords[1] for one in entries])
    if not len(row):
        raise InputError("all matrices are zero; give one that is not")
    blocks, block, place = _connected(row, column, order)
    matrix = np.repeat(np.arange(len(given)), [one.nnz for one in entries])
    value = np.concatenate([-entries[0].data, *(one.data for one in entries[1:])])
    indices = np.column_stack([matrix, block[row], place[row], place[column]])
    data = SdpaData.from_entries(np.zeros(len(matrices)), blocks, indices, value)
    return _feasibility(replace(data, roundings=max(roundings for _, roundings in given)))


def _connected(row: IntArray, column: IntArray, order: int) -> tuple[list[int], IntArray, IntArray]:
    """Return orders of blocks as in SDPA's format, and the block and place of each row."""
    graph = sp.csr_array((np.ones(len(row)), (row, column)), shape=(order, order))
    count, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    sizes = np.bincount(label, minlength=count)
    larger, alone = sizes > 1, int((sizes == 1).sum())
    # A row alone is an inequality: these make one diagonal block, the last
    block = np.where(larger[label], np.cumsum(larger)[label] - 1, larger.sum())
    place = np.zeros(order, dtype=np.int64)
    for number in range(int(block.max()) + 1):
        place[block == number] = np.arange((block == number).sum())
    return [*sizes[larger].tolist(), *([-alone] if alone else [])], block, place


def _symmetric(matrix: ArrayOrSparse, name: str) -> tuple[sp.csr_array, int]:
    """Return a symmetric matrix, and how often its numbers were rounded."""
    try:
        found = doubles_of_rows(matrix)
        refuse_not_finite(found.values)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    values = sp.csr_array(found.values.astype(float, copy=False))
    if values.shape[0] != values.shape[1] or not values.shape[0]:
        raise InputError(f"{name} has shape {values.shape}; give a square matrix")
    if (difference := abs(values - values.T)).max() > 0.0:
        i, j = np.unravel_index(difference.tocsr().toarray().argmax(), values.shape)
        raise InputError(
            f"{name} is not symmetric: {values[i, j]} in row {i + 1}, column {j + 1}, and "
            f"{values[j, i]} in row {j + 1}, column {i + 1}; give ({name} + {name}') / 2"
        )
    return values, found.roundings


def _feasibility(data: SdpaData) -> ConicSystem:
    """Return x_0 > 0 and sum_i x_i F_i - x_0 F_0 positive definite."""
    auxiliary = sp.csr_array(([1.0], ([0], [0])), shape=(1, len(data.objective) + 1))
    matrix, cone = _stacked(auxiliary, data, 0)
    operator = Matrix(matrix, roundings=data.roundings)
    return ConicSystem(operator, cone, interior=_interior(operator, cone), homogenised=True)


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
