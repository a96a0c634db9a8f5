"""Linear matrix inequalities as homogenised conic systems (`Kharechko2009`, Proposition 6.2).

Of min c'x subject to F(x) = sum_i x_i F_i - F_0 positive semidefinite, the objective is stored
separately and is no part of the system: find (x_0, x) with x_0 > 0 and sum_i x_i F_i - x_0 F_0
positive definite. Then x / x_0 is strictly feasible. The auxiliary variable is coordinate 0 of the
point and one more block, the first.

The dual problem is max <F_0, Y> subject to <F_i, Y> = c_i, Y positive semidefinite. It is
infeasible if there is a ray, x with sum_i x_i F_i positive definite and c'x < 0, for then
0 <= <sum_i x_i F_i, Y> = c'x < 0 would hold for a feasible Y.

A semidefinite program as arrays and as text, each in one canonical form.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import scipy.sparse.csgraph

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.cones.spectral import lowest
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.doubles import LEAST_NORMAL
from perceptron_lab.numerics.input_checks import ArrayOrSparse, doubles_of_rows, refuse_not_finite
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.system import Objective

# Of all blocks together; data beyond it are taken to be damaged
LARGEST_ORDER = 1_000_000
_LINES = 65_536  # of the canonical text at a time
_INDEX_NAMES = ("matrix", "block", "row", "column")


@dataclass(frozen=True, eq=False)
class SdpaData:
    """Minimise c'x subject to x_1 F_1 + ... + x_m F_m - F_0 positive semidefinite.

    The matrices are symmetric and block-diagonal; the sign of F_0 is SDPA's. Entries stand in the
    upper triangle, ordered by matrix, block, row, column, each position at most once, none of them
    zero. :meth:`from_entries` brings entries into this form.

    Parameters
    ----------
    objective
        c, shape ``(m,)``, finite, m at least 1.
    blocks
        The order of each block; -k is a diagonal block of order k.
    matrix, block, row, column, value
        Of each entry: i of F_i, 0..m; its place, counted from 0, row <= column; its value, finite
        and not 0. Shapes ``(entries,)``.
    roundings, objective_roundings
        0: the values, and the objective, are doubles; 1: they are doubles nearest to decimals.
    decimals
        Whether the values as given are the shortest decimals of these doubles.
    """

    objective: FloatArray
    blocks: tuple[int, ...]
    matrix: IntArray
    block: IntArray
    row: IntArray
    column: IntArray
    value: FloatArray
    roundings: int = 0
    objective_roundings: int = 0
    decimals: bool = False

    def __post_init__(self) -> None:
        objective, orders = self.objective, [abs(size) for size in self.blocks]
        if objective.ndim != 1 or not objective.size or not np.isfinite(objective).all():
            raise InputError(
                f"the SDPA objective has shape {objective.shape}; allowed: (m,), m >= 1, finite"
            )
        if not orders or not all(orders) or sum(orders) > LARGEST_ORDER:
            raise InputError(
                f"SDPA blocks of orders {shortened(self.blocks)}; allowed: at least one block, no "
                f"order 0, orders of at most {LARGEST_ORDER} in all"
            )
        positions = [self.matrix, self.block, self.row, self.column]
        shapes = {array.shape for array in (*positions, self.value)}
        if shapes != {(self.value.size,)} or not self.value.size:
            raise InputError(
                f"SDPA entries of shapes {sorted(shapes)}; allowed: one (entries,), nonempty"
            )
        indices = np.column_stack(positions)
        fault = entry_fault(indices, self.value, len(objective), self.blocks)
        if fault is not None:
            raise InputError(f"entry {fault[0]} of the SDPA data: {fault[1]}")
        increasing = _increasing(indices).all()
        if not (increasing and (self.row <= self.column).all() and self.value.all()):
            raise InputError(
                "the entries of SDPA data must be nonzero, in the upper triangle and strictly "
                "increasing by (matrix, block, row, column); use SdpaData.from_entries"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SdpaData):
            return NotImplemented
        arrays = ("objective", "matrix", "block", "row", "column", "value")
        return self.blocks == other.blocks and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays
        )

    @classmethod
    def from_entries(
        cls, objective: FloatArray, blocks: Sequence[int], indices: IntArray, value: FloatArray
    ) -> SdpaData:
        """Bring entries into canonical form: upper triangle, sorted, nonzero and distinct.

        Parameters
        ----------
        objective, blocks
            As in the class.
        indices
            Matrix (from 0), block, row and column (all counted from 0), shape ``(entries, 4)``.
            An entry of the lower triangle stands for its mirror image.
        value
            Shape ``(entries,)``. A position may be given twice with the same value.
        """
        if indices.shape != (len(value), 4):
            raise InputError(
                f"SDPA indices of shape {indices.shape}; allowed: ({len(value)}, 4), one row of "
                "matrix, block, row, column per value"
            )
        values: FloatArray = np.array(value, dtype=np.float64)
        upper = _upper(indices)
        if not (_increasing(upper).all() and values.all()):  # many entries come in order
            # Before zeros go: a position given as 0 and as 1 is a conflict as well
            conflict = first_conflict(indices, value)
            if conflict is not None:
                raise InputError(
                    f"SDPA entries {conflict[0]} and {conflict[1]} give one position two values"
                )
            upper, values = upper[values != 0], values[values != 0]
            order = np.lexsort(upper.T[::-1])
            order = order[_increasing(upper[order])]
            upper, values = upper[order], values[order]
        columns = [np.ascontiguousarray(column) for column in upper.T]
        arrays: list[Any] = [np.array(objective, dtype=np.float64), *columns, values]
        # A frozen record of writable arrays would not be one
        for array in arrays:
            array.setflags(write=False)
        return cls(arrays[0], tuple(int(size) for size in blocks), *arrays[1:])


def shortened(blocks: Sequence[int]) -> str:
    """Return the first few block orders, for messages."""
    return ", ".join(map(str, blocks[:5])) + (", ..." if len(blocks) > 5 else "")


def entry_fault(
    indices: IntArray | FloatArray, value: FloatArray, variables: int, blocks: Sequence[int]
) -> tuple[int, str] | None:
    """Return the first invalid entry and why it is invalid, or None."""
    with np.errstate(invalid="ignore"):
        integral = np.ones(len(indices), dtype=np.bool_)
        if not np.issubdtype(indices.dtype, np.integer):
            integral = (indices == np.floor(indices)).all(axis=1) & np.isfinite(indices).all(axis=1)
        in_range = (indices[:, 0] >= 0) & (indices[:, 0] <= variables)
        block_known = (indices[:, 1] >= 0) & (indices[:, 1] < len(blocks))
    sizes = np.array(blocks, dtype=np.int64)
    size = sizes[np.where(integral & block_known, indices[:, 1], 0).astype(np.int64)]
    inside = ((indices[:, 2:] >= 0) & (indices[:, 2:] < abs(size)[:, None])).all(axis=1)
    off_diagonal = (size < 0) & (indices[:, 2] != indices[:, 3]) & (value != 0)
    good = integral & in_range & block_known & inside & ~off_diagonal & np.isfinite(value)
    if good.all():
        return None
    first = int(np.argmin(good))
    return first, _reason(indices[first], float(value[first]), variables, blocks)


def _reason(at: IntArray | FloatArray, value: float, variables: int, blocks: Sequence[int]) -> str:
    """Return the reason in the file's indices (blocks, rows and columns from 1)."""
    matrix, block, row, column = (float(i) + (k > 0) for k, i in enumerate(at))
    for name, number in zip(_INDEX_NAMES, (matrix, block, row, column), strict=True):
        if not number.is_integer():
            return f"the {name} index is {number:g}; allowed: whole numbers"
    if not 0 <= matrix <= variables:
        return f"matrix {matrix:.15g} does not exist; allowed: 0 to m = {variables}"
    if not 1 <= block <= len(blocks):
        return f"block {block:.15g} does not exist; allowed: 1 to {len(blocks)}"
    order = abs(blocks[int(block) - 1])
    entry = f"row {row:.15g}, column {column:.15g}"
    if not (1 <= row <= order and 1 <= column <= order):
        return f"{entry} lies outside block {block:.15g}; allowed: 1 to {order}"
    if not np.isfinite(value):
        return f"the value is {value}; allowed: finite numbers"
    return (
        f"{entry} lies off the diagonal of block {block:.15g}, which is diagonal (order {-order}); "
        f"write the block's order as {order} to allow it"
    )


def _upper(indices: IntArray) -> IntArray:
    """Return a copy with row <= column."""
    row, column = indices[:, 2], indices[:, 3]
    return np.column_stack([indices[:, :2], np.minimum(row, column), np.maximum(row, column)])


def _increasing(indices: IntArray) -> npt.NDArray[np.bool_]:
    """Return for each row whether it follows its predecessor strictly."""
    later = np.zeros(len(indices), dtype=np.bool_)
    later[:1] = True
    for column in indices.T[::-1]:  # the first column that differs decides
        later[1:] &= column[1:] == column[:-1]
        later[1:] |= column[1:] > column[:-1]
    return later


def first_conflict(indices: IntArray, value: FloatArray) -> tuple[int, int] | None:
    """Return two entries that give one position different values, in the order of the file."""
    upper = _upper(indices)
    order = np.lexsort(upper.T[::-1])
    ordered = value[order]
    clashes = np.flatnonzero(~_increasing(upper[order])[1:] & (ordered[1:] != ordered[:-1]))
    if not clashes.size:
        return None
    first, second = sorted(order[clashes[0] : clashes[0] + 2].tolist())
    return first, second


def format_sdpa(data: SdpaData) -> str:
    """Return the program as canonical text; equal data give equal text.

    Numbers have the fewest digits that read back as the same double, subnormal ones all digits.
    """
    return "".join(_parts(data))


def _parts(data: SdpaData) -> Iterator[str]:
    """Yield the canonical text in parts, to limit the memory of large programs."""
    yield f"{len(data.objective)}\n{len(data.blocks)}\n{' '.join(map(str, data.blocks))}\n"
    yield " ".join(_printed(data.objective)) + "\n"
    for start in range(0, len(data.value), _LINES):
        span = slice(start, start + _LINES)
        positions = (
            data.matrix[span],
            data.block[span] + 1,
            data.row[span] + 1,
            data.column[span] + 1,
        )
        lines = zip(
            *(array.tolist() for array in positions), _printed(data.value[span]), strict=True
        )
        yield "".join([f"{i} {b} {r} {c} {text}\n" for i, b, r, c, text in lines])


def _printed(values: FloatArray) -> list[str]:
    if ((values == 0.0) | (np.abs(values) >= LEAST_NORMAL)).all():
        return [repr(value) for value in values.tolist()]
    return [
        repr(value) if value == 0.0 or abs(value) >= LEAST_NORMAL else str(Decimal(value))
        for value in values.tolist()
    ]


def write_sdpa(data: SdpaData, path: str | Path) -> None:
    """Write the program as canonical text; see :func:`format_sdpa`."""
    try:
        # The same bytes on every system, as their sha256 requires
        Path(path).write_text(format_sdpa(data), encoding="ascii", newline="\n")
    except OSError as error:
        raise DataError(
            f"{path} cannot be written ({error.strerror}); choose another path"
        ) from error


def sha256_of_text(data: SdpaData) -> str:
    """Return the sha256 of the canonical text, the identity of generated data."""
    digest = hashlib.sha256()
    for part in _parts(data):
        digest.update(part.encode("ascii"))
    return digest.hexdigest()


# Blocks of at most this order hold all their entries, so that weights on them are matrices whose
# definiteness can be proved; beyond it that would cost a sparse block most of its speed
COMPLETE_UP_TO = 64


def homogenised(data: SdpaData) -> ConicSystem:
    """Return the homogenised system of an SDP, data and signs as in SDPA's format.

    The operator is one sparse matrix, entries of the blocks' patterns by variables, so that scores
    are one sparse product.
    """
    objective = Objective(data.objective, data.objective_roundings)
    return replace(_feasibility(data), objective=objective, closed_rows=True)


def of_matrices(constant: ArrayOrSparse, matrices: Sequence[ArrayOrSparse]) -> ConicSystem:
    """Return the system of a linear matrix inequality; see :meth:`.ConicSystem.from_matrices`.

    Rows and columns that no matrix connects belong to separate blocks; the same permutation of rows
    and columns brings all matrices into this form, and changes no eigenvalue.
    """
    if not isinstance(matrices, Sequence | np.ndarray) or isinstance(matrices, str):
        kind = type(matrices).__name__
        raise InputError(f"the matrices after F_0 are a {kind}; give a list [F_1, ..., F_m]")
    if not len(matrices):
        raise InputError("there is only F_0; give one matrix per unknown")
    symmetric = [_symmetric(matrix, f"F_{i}") for i, matrix in enumerate([constant, *matrices])]
    order = symmetric[0][0].shape[0]
    for i, (values, _) in enumerate(symmetric):
        if values.shape[0] != order:
            raise InputError(f"F_{i} has order {values.shape[0]}, F_0 has {order}; give one order")
    entries = [sp.coo_array(sp.triu(values)) for values, _ in symmetric]
    row = np.concatenate([matrix_entries.coords[0] for matrix_entries in entries])
    column = np.concatenate([matrix_entries.coords[1] for matrix_entries in entries])
    if not len(row):
        raise InputError("all matrices are zero; give at least one nonzero matrix")
    blocks, block, position = _connected(row, column, order)
    matrix = np.repeat(
        np.arange(len(symmetric)), [matrix_entries.nnz for matrix_entries in entries]
    )
    value = np.concatenate([matrix_entries.data for matrix_entries in entries])
    indices = np.column_stack([matrix, block[row], position[row], position[column]])
    data = SdpaData.from_entries(np.zeros(len(matrices)), blocks, indices, value)
    system = _feasibility(replace(data, roundings=max(roundings for _, roundings in symmetric)))
    numbers = [np.flatnonzero(block == b) + 1 for b in range(len(blocks))]
    named = [rows for size, rows in zip(blocks, numbers, strict=True) if size > 1]
    named += list(numbers[-1][:, None]) if blocks[-1] < 0 else []
    return replace(
        system,
        names=tuple(f"row{'s' * (len(rows) > 1)} {', '.join(map(str, rows))}" for rows in named),
    )


def _connected(row: IntArray, column: IntArray, order: int) -> tuple[list[int], IntArray, IntArray]:
    """Return orders of blocks as in SDPA's format, and the block and place of each row."""
    graph = sp.csr_array((np.ones(len(row)), (row, column)), shape=(order, order))
    count, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    sizes = np.bincount(label, minlength=count)
    larger, alone = sizes > 1, int((sizes == 1).sum())
    # A row alone is an inequality: these make one diagonal block, the last
    block = np.where(larger[label], np.cumsum(larger)[label] - 1, larger.sum())
    position = np.zeros(order, dtype=np.int64)
    for number in range(int(block.max()) + 1):
        position[block == number] = np.arange((block == number).sum())
    return [*sizes[larger].tolist(), *([-alone] if alone else [])], block, position


def _symmetric(matrix: ArrayOrSparse, name: str) -> tuple[sp.csr_array, int]:
    """Return a symmetric matrix, and how often its numbers were rounded."""
    try:
        doubles = doubles_of_rows(matrix)
        refuse_not_finite(doubles.values)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    values = sp.csr_array(doubles.values.astype(float, copy=False))
    if values.shape[0] != values.shape[1] or not values.shape[0]:
        raise InputError(f"{name} has shape {values.shape}; give a square matrix")
    if (difference := abs(values - values.T)).max() > 0.0:
        i, j = np.unravel_index(difference.tocsr().toarray().argmax(), values.shape)
        raise InputError(
            f"{name} is not symmetric: {values[i, j]} in row {i + 1}, column {j + 1}, and "
            f"{values[j, i]} in row {j + 1}, column {i + 1}; give ({name} + {name}') / 2"
        )
    return values, doubles.roundings


def _feasibility(data: SdpaData) -> ConicSystem:
    """Return x_0 > 0 and sum_i x_i F_i - x_0 F_0 positive definite."""
    auxiliary = sp.csr_array(([1.0], ([0], [0])), shape=(1, len(data.objective) + 1))
    matrix, cone = _stacked(auxiliary, data, 0)
    operator = Matrix(matrix, roundings=data.roundings)
    inside = _interior(operator, cone)
    return ConicSystem(operator, cone, interior=inside, homogenised=True, decimals=data.decimals)


def recession(data: SdpaData) -> ConicSystem:
    """Return the system of the rays: -c'x > 0 and sum_i x_i F_i positive definite.

    A feasible point proves that no positive semidefinite Y has <F_i, Y> = c_i for all i.
    """
    matrix, cone = _stacked(sp.csr_array(-data.objective[None, :]), data, 1)
    roundings = max(data.roundings, data.objective_roundings)
    return ConicSystem(Matrix(matrix, roundings=roundings), cone)


def _stacked(row: sp.csr_array, data: SdpaData, first: int) -> tuple[sp.csr_array, Product]:
    """Return a row above the entries of F_first, ..., F_m (one column each), and the cones."""
    blocks = [_block(data, number, size) for number, size in enumerate(data.blocks)]
    matrices = [row, *(sp.csr_array(matrix[:, first:]) for _, matrix in blocks)]
    return (
        sp.csr_array(sp.vstack(matrices, format="csr")),
        Product([Orthant(1), *(cone for cone, _ in blocks)]),
    )


def _block(data: SdpaData, number: int, size: int) -> tuple[Cone, sp.csr_array]:
    in_block = data.block == number
    matrix, row, column = data.matrix[in_block], data.row[in_block], data.column[in_block]
    value = np.where(matrix == 0, -data.value[in_block], data.value[in_block])
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
    """Return d with d_0 = 0 and sum_i d_i F_i = I (or nearly), or None; MAXCUT: all ones.

    Adding a multiple of d to a point of the closed cone with x_0 > 0 moves it inside.
    """
    from scipy.sparse.linalg import lsqr

    blocks = sp.csr_array(operator.data[1:, 1:])
    target = cone.identity[1:]
    solution = lsqr(blocks, target, atol=1e-15, btol=1e-15, iter_lim=1000)[0]
    # Of integer data, such as MAXCUT's, the rounded solution is exact
    nearest = np.round(solution)
    if np.array_equal(blocks @ nearest, target):
        return np.concatenate([[0.0], nearest])
    if lowest(cone, np.concatenate([[1.0], blocks @ solution])) < 0.5:
        return None
    return np.concatenate([[0.0], solution])
