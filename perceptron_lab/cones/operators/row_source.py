"""Sources of rows that are read in blocks, from a file or from an array."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray

# Default memory in bytes for a pass over the rows
MEMORY = 64_000_000
# With less memory, rows would be read nearly one by one
LEAST_MEMORY = 1_000_000

# Rows in single or double precision, possibly memory-mapped, shape (m, n)
Dense = npt.NDArray[Any]


class RowSource(ABC):
    """Rows, shape ``(m, n)``, of which one block at a time is in memory.

    Parameters
    ----------
    shape
        Number of rows, and of their entries.
    dtype
        float32 or float64.
    memory
        Approximate memory in bytes for a pass over the rows, 1 MB or more: a quarter for a block of
        rows in double precision (at least one row), the rest for results.

    Attributes
    ----------
    name
        Of the rows in messages, as that of their file; empty without one.
    """

    name: str = ""

    def __init__(self, shape: tuple[int, int], dtype: npt.DTypeLike, memory: int = MEMORY) -> None:
        if memory < LEAST_MEMORY:
            raise InputError(
                f"memory={memory} bytes is too little for a pass; give {LEAST_MEMORY} or more"
            )
        if 0 in shape:
            raise InputError(f"the rows have shape {shape}; give a non-empty matrix")
        self.shape, self.dtype, self.memory = shape, np.dtype(dtype), memory

    @property
    def roundings(self) -> int:
        """1 if some numbers were rounded to doubles, else 0; known after one pass over all rows."""
        return 0

    @property
    def step(self) -> int:
        """Largest number of rows in a block."""
        return max(1, self.memory // (4 * 8 * self.shape[1]))

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, Dense]]:
        """Yield all rows once, in their order, at most ``step`` at a time."""

    def signed_blocks(self, signs: Dense, constant: float | None) -> Iterator[tuple[slice, Dense]]:
        """Yield the blocks with rows s_i x_i, or s_i (x_i, constant), of the rows x_i here.

        Parameters
        ----------
        signs
            s_i = +1 or -1, shape ``(m,)``.
        constant
            The value of a constant feature, or None.
        """
        for at, rows in self.blocks():
            yield at, signed_rows(rows, signs[at], constant)

    @abstractmethod
    def __getitem__(self, indices: IntArray) -> Dense:
        """Return the rows at the indices, in this order, shape ``(len(indices), n)``."""

    @cached_property
    def norms(self) -> FloatArray:
        """The Euclidean norms of the rows, shape ``(m,)``, not finite where these are not."""
        norms = np.empty(self.shape[0])
        with np.errstate(over="ignore", invalid="ignore"):
            for at, rows in self.blocks():
                double = np.asarray(rows, dtype=np.float64)
                np.sqrt(np.einsum("ij,ij->i", double, double), out=norms[at])
        return norms


def cached_step(step: int, width: int) -> int:
    """Return at most so many rows as fit into the cache of a processor, or 4096.

    Products with larger blocks take several times as long.
    """
    return min(step, max(4096, 2**18 // width))


class ArrayRows(RowSource):
    """The rows of an array, for example a memory-mapped one, without a copy.

    Parameters
    ----------
    array
        Shape ``(m, n)``, in single or double precision.
    memory
        See :class:`RowSource`.
    roundings
        Number of roundings of its numbers, 0 or 1.
    """

    def __init__(self, array: Dense, memory: int = MEMORY, roundings: int = 0) -> None:
        super().__init__((array.shape[0], array.shape[1]), array.dtype, memory)
        self.array, self._roundings = array, roundings

    @property
    def roundings(self) -> int:
        """Number of roundings of the array's numbers: 0 or 1."""
        return self._roundings

    def blocks(self) -> Iterator[tuple[slice, Dense]]:
        """Yield slices of the array."""
        for start in range(0, self.shape[0], self.step):
            at = slice(start, min(start + self.step, self.shape[0]))
            yield at, self.array[at]

    def __getitem__(self, indices: IntArray) -> Dense:
        """Return the rows at the indices, read in the order of the array."""
        return in_order(indices, self.array.__getitem__)


class LabelledRows(RowSource):
    """Rows s_i x_i, or s_i (x_i, rho), of examples x_i with signs s_i.

    Parameters
    ----------
    examples
        x_i, with the column of the labels if that is one of theirs.
    signs
        s_i = +1 or -1, shape ``(m,)``.
    affine
        Whether to append a constant feature.
    omitted
        The column of the labels, which is no feature, or None.
    augment
        The value of the constant feature.
    """

    def __init__(
        self,
        examples: RowSource,
        signs: FloatArray,
        *,
        affine: bool,
        omitted: int | None = None,
        augment: float = 1.0,
    ) -> None:
        count, width = examples.shape
        shape = count, width + affine - (omitted is not None)
        super().__init__(shape, augmented_precision(examples.dtype, augment), examples.memory)
        self.examples, self.omitted = examples, omitted
        self.name, self.constant = examples.name, augment if affine else None
        # One byte each: they travel to the workers of a cluster in every pass
        self.signs = signs.astype(np.int8)

    @property
    def roundings(self) -> int:
        """Number of roundings of the examples' numbers: 0 or 1."""
        return self.examples.roundings

    def blocks(self) -> Iterator[tuple[slice, Dense]]:
        """Yield the examples' blocks with their signs."""
        if self.omitted is None:
            yield from self.examples.signed_blocks(self.signs, self.constant)
            return
        for at, examples in self.examples.blocks():
            yield at, self._signed(examples, self.signs[at])

    def __getitem__(self, indices: IntArray) -> Dense:
        """Return some examples with their signs."""
        return self._signed(self.examples[indices], self.signs[indices])

    def _signed(self, examples: Dense, signs: Dense) -> Dense:
        if self.omitted is not None:
            examples = np.delete(examples, self.omitted, axis=1)
        return signed_rows(examples, signs, self.constant)


def signed_rows(rows: Dense, signs: Dense, constant: float | None) -> Dense:
    """Return rows s_i x_i, or s_i (x_i, constant), in the layout of the rows x_i."""
    precision, width = augmented_precision(rows.dtype, constant), rows.shape[1]
    shape = len(rows), width + (constant is not None)
    signed = np.empty_like(rows, precision, subok=False, shape=shape)
    factors = signs.astype(precision)
    np.multiply(rows, factors[:, None], out=signed[:, :width])
    if constant is not None:
        np.multiply(factors, constant, out=signed[:, width])
    return signed


def augmented_precision(dtype: npt.DTypeLike, constant: float | None) -> np.dtype[Any]:
    """Return the precision of examples with a constant feature: double if single rounds it."""
    precision = np.dtype(dtype)
    with np.errstate(over="ignore"):
        exact = constant is None or float(np.asarray(constant, precision)) == constant
    return precision if exact else np.dtype(np.float64)


def in_order(indices: IntArray, read: Callable[[IntArray], Dense]) -> Dense:
    """Return rows in the order of the indices; ``read`` receives increasing ones, for the disk."""
    if (indices[1:] > indices[:-1]).all():
        return read(indices)
    order = np.argsort(indices, kind="stable")
    stored = read(indices[order])
    rows = np.empty_like(stored, order="C")
    rows[order] = stored
    return rows
