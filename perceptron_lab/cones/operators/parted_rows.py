"""Rows in parts: several sources of rows as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from perceptron_lab.cones.operators.row_source import MEMORY, Dense, RowSource, in_order
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import IntArray


class PartedRows(RowSource):
    """The rows of several sources, one after the other; global numbers count through the parts.

    Parameters
    ----------
    parts
        Sources of rows of one width; single precision stays single if all of them have it.
    memory
        See :class:`.RowSource`.
    """

    def __init__(self, parts: Sequence[RowSource], memory: int = MEMORY) -> None:
        widths = sorted({part.shape[1] for part in parts})
        if len(widths) != 1:
            raise InputError(f"parts of widths {widths}; give one part or more, of one width")
        counts = [part.shape[0] for part in parts]
        dtype = np.result_type(*(part.dtype for part in parts))
        super().__init__((sum(counts), widths[0]), dtype, memory)
        self.parts = tuple(parts)
        self.starts: IntArray = np.cumsum([0, *counts[:-1]])

    @property
    def roundings(self) -> int:
        """1 if some numbers of a part were rounded to doubles, else 0."""
        return max(part.roundings for part in self.parts)

    def blocks(self) -> Iterator[tuple[slice, Dense]]:
        """Yield the blocks of all parts."""
        for part, start in zip(self.parts, self.starts.tolist(), strict=True):
            for at, rows in part.blocks():
                yield slice(start + at.start, start + at.stop), rows.astype(self.dtype, copy=False)

    def __getitem__(self, indices: IntArray) -> Dense:
        """Return the rows at the indices, in this order; only their parts are read."""
        return in_order(indices, self._increasing)

    def _increasing(self, indices: IntArray) -> Dense:
        which = np.searchsorted(self.starts, indices, side="right") - 1
        rows = np.empty((len(indices), self.shape[1]), self.dtype)
        for number in np.unique(which).tolist():
            inside = which == number
            rows[inside] = self.parts[number][indices[inside] - self.starts[number]]
        return rows
