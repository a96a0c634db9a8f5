"""A semidefinite program as arrays and as text, each in one canonical form."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.doubles import LEAST_NORMAL

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
        places = [self.matrix, self.block, self.row, self.column]
        shapes = {array.shape for array in (*places, self.value)}
        if shapes != {(self.value.size,)} or not self.value.size:
            raise InputError(
                f"SDPA entries of shapes {sorted(shapes)}; allowed: one (entries,), nonempty"
            )
        indices = np.column_stack(places)
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
        """Bring entries into canonical form: upper triangle, sorted, without zeros and repeats.

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
        kept: FloatArray = np.array(value, dtype=np.float64)
        upper = _upper(indices)
        if not (_increasing(upper).all() and kept.all()):  # many entries come in order
            # Before zeros go: a position given as 0 and as 1 is a conflict as well
            conflict = first_conflict(indices, value)
            if conflict is not None:
                raise InputError(
                    f"SDPA entries {conflict[0]} and {conflict[1]} give one position two values"
                )
            upper, kept = upper[kept != 0], kept[kept != 0]
            order = np.lexsort(upper.T[::-1])
            order = order[_increasing(upper[order])]
            upper, kept = upper[order], kept[order]
        columns = [np.ascontiguousarray(column) for column in upper.T]
        arrays: list[Any] = [np.array(objective, dtype=np.float64), *columns, kept]
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
    """Return the first entry that cannot belong to the program, and why; None if all can."""
    with np.errstate(invalid="ignore"):
        whole = np.ones(len(indices), dtype=np.bool_)
        if not np.issubdtype(indices.dtype, np.integer):
            whole = (indices == np.floor(indices)).all(axis=1) & np.isfinite(indices).all(axis=1)
        in_range = (indices[:, 0] >= 0) & (indices[:, 0] <= variables)
        block_known = (indices[:, 1] >= 0) & (indices[:, 1] < len(blocks))
    sizes = np.array(blocks, dtype=np.int64)
    size = sizes[np.where(whole & block_known, indices[:, 1], 0).astype(np.int64)]
    inside = ((indices[:, 2:] >= 0) & (indices[:, 2:] < abs(size)[:, None])).all(axis=1)
    off_diagonal = (size < 0) & (indices[:, 2] != indices[:, 3]) & (value != 0)
    good = whole & in_range & block_known & inside & ~off_diagonal & np.isfinite(value)
    if good.all():
        return None
    first = int(np.argmin(good))
    return first, _reason(indices[first], float(value[first]), variables, blocks)


def _reason(at: IntArray | FloatArray, value: float, variables: int, blocks: Sequence[int]) -> str:
    """Return the reason, in the file's own counting (blocks, rows and columns from 1)."""
    matrix, block, row, column = (float(i) + (k > 0) for k, i in enumerate(at))
    for name, number in zip(_INDEX_NAMES, (matrix, block, row, column), strict=True):
        if not number.is_integer():
            return f"the {name} index is {number:g}; allowed: whole numbers"
    if not 0 <= matrix <= variables:
        return f"matrix {matrix:.15g} does not exist; allowed: 0 to m = {variables}"
    if not 1 <= block <= len(blocks):
        return f"block {block:.15g} does not exist; allowed: 1 to {len(blocks)}"
    order = abs(blocks[int(block) - 1])
    place = f"row {row:.15g}, column {column:.15g}"
    if not (1 <= row <= order and 1 <= column <= order):
        return f"{place} lies outside block {block:.15g}; allowed: 1 to {order}"
    if not np.isfinite(value):
        return f"the value is {value}; allowed: finite numbers"
    return (
        f"{place} lies off the diagonal of block {block:.15g}, which is diagonal (order {-order}); "
        f"write the block's order as {order} to allow it"
    )


def _upper(indices: IntArray) -> IntArray:
    """Return a copy with row <= column."""
    row, column = indices[:, 2], indices[:, 3]
    return np.column_stack([indices[:, :2], np.minimum(row, column), np.maximum(row, column)])


def _increasing(indices: IntArray) -> npt.NDArray[np.bool_]:
    """Tell for each row whether it follows its predecessor strictly; the first one does."""
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
    """Return the program as canonical text: equal data give equal text, which reads back as them.

    Numbers have the fewest digits that read back as the same double, subnormal ones all digits.
    """
    return "".join(_parts(data))


def _parts(data: SdpaData) -> Iterator[str]:
    """Yield the canonical text part by part, as the text of a large program takes much memory."""
    yield f"{len(data.objective)}\n{len(data.blocks)}\n{' '.join(map(str, data.blocks))}\n"
    yield " ".join(_printed(data.objective)) + "\n"
    for start in range(0, len(data.value), _LINES):
        some = slice(start, start + _LINES)
        places = data.matrix[some], data.block[some] + 1, data.row[some] + 1, data.column[some] + 1
        lines = zip(*(one.tolist() for one in places), _printed(data.value[some]), strict=True)
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
        Path(path).write_text(format_sdpa(data), encoding="ascii", newline="\n")
    except OSError as error:
        raise DataError(
            f"{path} cannot be written ({error.strerror}); choose another place"
        ) from error


def sha256_of_text(data: SdpaData) -> str:
    """Return the sha256 of the canonical text, the identity of generated data."""
    digest = hashlib.sha256()
    for part in _parts(data):
        digest.update(part.encode("ascii"))
    return digest.hexdigest()
