"""Exact facial reduction of programs whose dual problem has no interior.

Let X = V Z V' in one block, V a matrix of whole numbers with r < n independent columns. Where Z is
positive semidefinite and

    <V'F_i V, Z> = c_i  for all i,

X is positive semidefinite and satisfies <F_i, X> = c_i, as <F_i, VZV'> = <V'F_i V, Z>, and
<F_0, X> = <V'F_0 V, Z>. So every feasible Z of the reduced program bounds the optimum of the
*original* program from below by the objective of Z, whatever V is: no property of V is used. (An x
that is feasible for the original program is so for the reduced one: V'F(x)V inherits from F(x). So
upper bounds go the other way, from the original program to the reduced one.)

Nothing is lost if every feasible X is of the form V Z V'. It is so if <F_i, X> = c_i = 0 with
F_i = vv': then v'Xv = 0, hence X v = 0, and V spans the complement of v. The equation itself is
0 = 0 on the face. Then the optima agree, too, where Z has an interior: V'F(x)V > 0 implies
F(x) + s vv' > 0 for large s (Finsler), at the same objective. So a strictly feasible x of the
reduced program is lifted to one of the original program, with s for the variable of vv'.

All of it is exact: V has whole numbers, and the V'F_i V are computed without any rounding, or the
reduction is refused. Equations that others imply exactly are left out, for G has to be regular.

References
----------
J. M. Borwein, H. Wolkowicz, Regularizing the abstract convex program, Journal of Mathematical
Analysis and Applications 83 (1981) 495-530.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import flint
import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.problems.optima.levels import objective_of
from perceptron_lab.problems.optima.lower_bounds import DualProblem
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.system import Objective

# Largest magnitude of an entry of V
LARGEST_ENTRY = 2.0**20
# Eigenvalues below this part of the largest count as 0, and numbers below this as roundings
_NULL, _ZERO = 1e-5, 1e-3
# Up to this number of entries, dependent equations are found by exact elimination
MOST_ELIMINATED = 200_000


@dataclass(frozen=True, eq=False)
class Face:
    """X = V Z V' in one block.

    Parameters
    ----------
    block
        Index of the block, a matrix block, among all blocks of matrices and rows, from 0.
    basis
        V, whole numbers, shape ``(n, r)``, 1 <= r.
    variable
        Index of the equation <vv', X> = 0 that exposes the face, from 0; or None.
    """

    block: int
    basis: FloatArray
    variable: int | None = None


@dataclass(frozen=True, eq=False)
class Reduction:
    """A program on a face, and its variables as indices of the original ones.

    Parameters
    ----------
    system
        V'F(x)V in place of F(x) in the face's block.
    variables
        Indices of the variables that remain, from 0, shape ``(k,)``: the equations of the others
        are implied by theirs.
    """

    system: ConicSystem
    variables: IntArray


def exposed_face(system: ConicSystem) -> Face | None:
    """Return the face of the first equation <vv', X> = 0 that a program has, or None.

    F_i has to be s vv' in one block and no other, s > 0, with v_p = 1 at the last place p where v
    is not 0 and whole numbers elsewhere: V is the identity without its column p, and with -v in its
    row p.
    """
    objective, operator = objective_of(system), system.matrix
    if operator.roundings or objective.roundings:
        return None
    data = sp.csc_array(operator.data)[1:]
    for variable in np.flatnonzero(objective.values == 0.0):
        column = data[:, [variable + 1]].tocoo()
        positions, values = column.coords[0][column.data != 0.0], column.data[column.data != 0.0]
        for number, (part, span) in enumerate(system.cone.blocks[1:]):
            inside = (positions >= span.start - 1) & (positions < span.stop - 1)
            if isinstance(part, Semidefinite) and len(positions) and inside.all():
                basis = _complement(part, positions - (span.start - 1), values)
                if basis is not None:
                    return Face(number, basis, int(variable))
    return None


def _complement(part: Semidefinite, positions: IntArray, values: FloatArray) -> FloatArray | None:
    """Return V of the face that a matrix vv' exposes, or None if the entries are of another form.

    A rounding error would give V of another face at worst, for which the bounds are valid as well.
    """
    rows, columns = part.rows[positions], part.columns[positions]
    pivot = int(columns.max())
    corner = values[(rows == pivot) & (columns == pivot)]
    if len(corner) != 1 or not corner[0] > 0.0:
        return None
    last, v = columns == pivot, np.zeros(part.rank)
    v[rows[last]] = values[last] / corner[0]
    support = int(np.count_nonzero(v))
    same = np.array_equal(values, corner[0] * v[rows] * v[columns])
    if not same or len(values) != support * (support + 1) // 2:
        return None
    if (v != np.round(v)).any() or np.abs(v).max() > LARGEST_ENTRY:
        return None
    # V'v = 0 column by column: e_j - v_j e_p, as v_p = 1.
    basis = np.delete(np.eye(part.rank), pivot, axis=1)
    basis[pivot] = -np.delete(v, pivot)
    return basis


def face_of_null_space(block: int, matrix: FloatArray) -> Face | None:
    """Return the face of all X in one block with the null space of a given X, or None.

    The null space of a central X, known to a few digits, is that of all feasible X. Where it has a
    integer basis, elimination and rounding find it. (The choice of V decides which bound can be
    proved; every V gives a valid one.)

    Parameters
    ----------
    block, matrix
        Its number among the blocks, and X, shape ``(n, n)``.
    """
    values, vectors = np.linalg.eigh(matrix)
    null = values < _NULL * values[-1]
    if not null.any() or null.all():
        return None
    echelon, pivots = vectors[:, null].T.copy(), list[int]()
    for column in range(len(matrix)):
        row = len(pivots)
        if row == len(echelon):
            break
        # Partial pivoting: the vectors are known to a few digits only.
        best = row + int(np.abs(echelon[row:, column]).argmax())
        if abs(echelon[best, column]) < _ZERO:
            continue
        echelon[[row, best]] = echelon[[best, row]]
        echelon[row] /= echelon[row, column]
        other_rows = np.arange(len(echelon)) != row
        echelon[other_rows] -= np.outer(echelon[other_rows, column], echelon[row])
        pivots.append(column)
    rounded = np.round(echelon)
    if np.abs(echelon - rounded).max() > _ZERO or np.abs(rounded).max() > LARGEST_ENTRY:
        return None
    free = np.setdiff1d(np.arange(len(matrix)), pivots)
    basis = np.zeros((len(matrix), len(free)))
    basis[free, np.arange(len(free))] = 1.0
    basis[pivots] = -rounded[:, free]
    return Face(block, basis)


def restricted(system: ConicSystem, face: Face) -> Reduction:
    """Return the program of Z: V'F(x)V for F(x) in one block, equations that others imply left out.

    Raises
    ------
    InputError
        If it cannot be computed without rounding, or V does not fit.
    """
    objective, operator, blocks = objective_of(system), system.matrix, system.cone.blocks
    if operator.roundings or objective.roundings:
        raise InputError("the program's numbers are rounded decimals: its faces are not exact")
    part = blocks[face.block + 1][0] if 0 <= face.block < len(blocks) - 1 else None
    basis = np.asarray(face.basis, dtype=np.float64)
    if not isinstance(part, Semidefinite) or basis.ndim != 2 or len(basis) != part.rank:
        raise InputError(
            f"a basis of shape {basis.shape} of block {face.block}, which does not fit that block"
        )
    integral = np.isfinite(basis).all() and (basis == np.round(basis)).all()
    if not integral or not basis.size or np.abs(basis).max() > LARGEST_ENTRY:
        raise InputError(f"a basis of whole numbers up to {LARGEST_ENTRY:.0f} is needed")
    data, cones, reduced_data = sp.csr_array(operator.data), list[Cone](), []
    for number, (cone, span) in enumerate(blocks):
        if number == face.block + 1:
            smaller, reduced = _congruent(part, sp.csr_array(data[span]), basis)
            cones.append(smaller)
            reduced_data.append(reduced)
        else:
            cones.append(cone)
            reduced_data.append(sp.csr_array(data[span]))
    stacked = sp.csr_array(sp.vstack(reduced_data))
    return _independent(
        replace(
            system,
            operator=Matrix(stacked),
            cone=Product(cones),
            origin=None,
        )
    )


def lifted(
    system: ConicSystem, face: Face, reduction: Reduction, point: FloatArray, multiple: float
) -> FloatArray:
    """Return (1, x) of the original program with these variables, and 0 for those left out.

    Parameters
    ----------
    point
        x of the reduced program, shape ``(k,)``.
    multiple
        The value of the variable of vv', if the face has one.
    """
    point_of_system = np.zeros(system.unknowns)
    point_of_system[0], point_of_system[1 + reduction.variables] = 1.0, point
    if face.variable is not None:
        point_of_system[1 + face.variable] = multiple
    return point_of_system


def _congruent(
    part: Semidefinite, data: sp.csr_array, basis: FloatArray
) -> tuple[Semidefinite, sp.csr_array]:
    """Return V'FV for the matrices F in the columns of the data, exactly, on all entries."""
    order = basis.shape[1]
    first, second = np.triu_indices(order)
    spread = sp.csr_array(basis)
    left, right = sp.csr_array(spread[part.rows]), sp.csr_array(spread[part.columns])
    # Row k of the product: what entry k of the pattern adds to the entries (a, b), a <= b
    ones = np.flatnonzero(part.rows != part.columns)
    outer = _outer(left, right, order)
    mirrored = _outer(sp.csr_array(right[ones]), sp.csr_array(left[ones]), order)
    pick = sp.csr_array(
        (np.ones(len(ones)), (ones, np.arange(len(ones)))), shape=(part.size, len(ones))
    )
    both = sp.csc_array(outer + pick @ mirrored)[:, first * order + second]
    transform = sp.csr_array(both.T)
    product = sp.csr_array(transform @ data)
    _refuse_rounding(data, sp.csr_array(abs(transform) @ abs(data)))
    product.eliminate_zeros()
    return Semidefinite(order, first, second), product


def _outer(left: sp.csr_array, right: sp.csr_array, order: int) -> sp.csr_array:
    """Return the matrix whose k-th row has all products of entries of the factors' k-th rows."""
    rows, columns, values = [], [], []
    for k in range(left.shape[0]):
        a, b = (factor.indices[factor.indptr[k] : factor.indptr[k + 1]] for factor in (left, right))
        u, w = (factor.data[factor.indptr[k] : factor.indptr[k + 1]] for factor in (left, right))
        columns.append((a[:, None].astype(np.int64) * order + b).ravel())
        values.append((u[:, None] * w).ravel())
        rows.append(np.full(len(columns[-1]), k))
    coordinates = (np.concatenate(rows), np.concatenate(columns))
    shape = (left.shape[0], order * order)
    return sp.csr_array((np.concatenate(values), coordinates), shape=shape)


def _refuse_rounding(data: sp.csr_array, sizes: sp.csr_array) -> None:
    """Refuse data whose sums may exceed 2^53 units in the last place, as these could be rounded.

    All numbers are multiples of that unit, so that no partial sum below 2^53 units is rounded.
    """
    values = data.data[data.data != 0.0]
    if not len(values):
        return
    mantissas, exponents = np.frexp(values)
    integers = np.abs(np.ldexp(mantissas, 53)).astype(np.int64)
    trailing = np.array(
        [(int(integer) & -int(integer)).bit_length() - 1 for integer in np.unique(integers)]
    )
    zeros = trailing[np.searchsorted(np.unique(integers), integers)]
    unit = int((exponents - 53 + zeros).min())
    if not float(sizes.data.max(initial=0.0)) < math.ldexp(1.0, unit + 52):
        raise InputError(
            "the reduced program has numbers of more than 53 bits; its bounds would not be exact"
        )


def _independent(system: ConicSystem) -> Reduction:
    """Return the program without implied equations, or unchanged if it is too large to decide."""
    objective = objective_of(system).values
    data = sp.csc_array(system.matrix.data)
    empty = (np.diff(data.indptr)[1:] == 0) & (objective == 0.0)
    nonempty = np.flatnonzero(~empty)
    system = _with_variables(system, nonempty)  # V'F(d)V = V'F(e)V where d is e without the others
    count = system.unknowns * sum(part.size for part, _ in system.cone.blocks)
    # A positive bound proves independence, and spares the exact elimination.
    if DualProblem.of(system).least > 0.0 or count > MOST_ELIMINATED:
        return Reduction(system, nonempty)
    pivots = _pivots(system)
    return Reduction(replace(_with_variables(system, pivots), interior=None), nonempty[pivots])


def _pivots(system: ConicSystem) -> IntArray:
    """Return a maximal set of variables with independent equations, right sides included."""
    columns = np.asarray(sp.csc_array(system.matrix.data)[1:, 1:].toarray())
    nonzero = columns[(columns != 0.0).any(axis=1)]
    table = np.vstack([nonzero, objective_of(system).values])
    exact = flint.fmpq_mat(
        [[flint.fmpq(*float(value).as_integer_ratio()) for value in row] for row in table]
    )
    reduced, rank = exact.rref()
    width = int(reduced.ncols())
    pivots = [next(j for j in range(width) if reduced[i, j] != 0) for i in range(rank)]
    return np.array(pivots, dtype=np.int64)


def _with_variables(system: ConicSystem, variables: IntArray) -> ConicSystem:
    objective = objective_of(system)
    columns = np.concatenate([[0], 1 + variables])
    return replace(
        system,
        operator=Matrix(sp.csr_array(sp.csc_array(system.matrix.data)[:, columns])),
        objective=Objective(objective.values[variables]),
        interior=None if system.interior is None else system.interior[columns],
    )
