"""Passes over rows in parts, as reductions that dask or this process runs.

A part is a :class:`.RowSource` that a worker reads by itself, small when it is pickled, or a
``dask.delayed.Delayed`` whose value is one. Global row numbers count the rows of all parts in their
order. A pass maps each block of rows to a small value and combines the values in the order of the
rows, in any grouping. With a ``distributed.Client`` in this process, or parts that dask holds, dask
runs the tasks, combines their values in a tree, and repeats those that a dead worker has lost: only
combined values leave a worker. Otherwise the parts are read one after the other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np

from perceptron_lab.cones.operators.base import blocks
from perceptron_lab.cones.operators.parted_rows import PartedRows
from perceptron_lab.cones.operators.row_source import (
    ArrayRows,
    LabelledRows,
    RowSource,
    augmented_precision,
)
from perceptron_lab.core.errors import DataError, InputError, PlabError
from perceptron_lab.core.results import AnyArray, FloatArray, IntArray

Value = TypeVar("Value")

# Values that one task of dask combines
FAN_IN = 8


class Block(NamedTuple):
    """Some rows of a pass.

    Parameters
    ----------
    start
        The global number of the first row.
    rows
        In double precision, shape ``(k, n)``.
    part, number
        The number of the part, and that of the block in it.
    roundings
        1 if some numbers of the part were rounded to doubles, else 0.
    """

    start: int
    rows: FloatArray
    part: int
    number: int
    roundings: int


@dataclass(frozen=True)
class RowParts:
    """Rows in parts.

    Parameters
    ----------
    parts
        Sources of rows, or delayed ones, none of them without rows.
    counts
        Number of rows of each part.
    width
        Number of columns.
    """

    parts: tuple[Any, ...]
    counts: tuple[int, ...]
    width: int

    @classmethod
    def of(cls, source: RowSource) -> RowParts:
        """Return the parts of a source of rows, or of labelled examples in parts."""
        if isinstance(source, LabelledRows):
            examples = cls.of(source.examples)
            ends = np.cumsum(examples.counts)[:-1]
            signs = np.split(source.signs, ends)
            parts: tuple[RowSource, ...] = tuple(
                LabelledRows(
                    part,
                    part_signs,
                    affine=source.affine,
                    omitted=source.omitted,
                    augment=source.augment,
                )
                for part, part_signs in zip(examples.parts, signs, strict=True)
            )
        else:
            parts = source.parts if isinstance(source, PartedRows) else (source,)
        return cls(parts, tuple(part.shape[0] for part in parts), source.shape[1])

    @property
    def count(self) -> int:
        """Number of rows."""
        return sum(self.counts)

    @property
    def starts(self) -> list[int]:
        """The global number of the first row of each part."""
        return [0, *np.cumsum(self.counts)[:-1].tolist()]

    def reduce(
        self, mapped: Callable[[Block], Value], combine: Callable[[Value, Value], Value]
    ) -> Value:
        """Return the values of all blocks combined; both functions are pickled.

        Raises
        ------
        DataError
            If a part cannot be read, or dask cannot end the pass.
        """
        task = _Reduction(mapped, combine)
        value: Value = self.over_parts(task, combine, range(len(self.parts)))
        return value

    def rows(self, indices: IntArray) -> tuple[FloatArray, int]:
        """Return the rows of increasing global numbers, and 1 if their parts rounded numbers.

        Only their parts are read.
        """
        which = np.searchsorted(self.starts, indices, side="right") - 1
        task = partial(_rows_of, indices=indices)
        return self.over_parts(task, _stacked, np.unique(which).tolist())

    def over_parts(
        self, task: Callable[..., Value], combine: Callable[..., Value], which: Sequence[int]
    ) -> Value:
        """Return the values of ``task(part, number, start)`` of some parts, combined."""
        starts = self.starts
        arguments = [(self.parts[k], k, starts[k]) for k in which]
        if not on_dask(self.parts[0]):
            return reduce(combine, (task(*values) for values in arguments))
        value: Value = by_dask(task, combine, arguments)
        return value


@dataclass(frozen=True)
class _Reduction:
    """The task of a part: its blocks mapped and combined."""

    mapped: Callable[[Block], Any]
    combine: Callable[[Any, Any], Any]

    def __call__(self, part: RowSource, number: int, start: int) -> Any:
        values = (
            self.mapped(Block(start + at.start, rows, number, k, part.roundings))
            for k, (at, rows) in enumerate(blocks(part))
        )
        return reduce(self.combine, values)


def _rows_of(
    part: RowSource, number: int, start: int, *, indices: IntArray
) -> tuple[FloatArray, int]:
    local = indices[(indices >= start) & (indices < start + part.shape[0])] - start
    return np.asarray(part[local], dtype=np.float64), part.roundings


def _stacked(
    above: tuple[FloatArray, int], below: tuple[FloatArray, int]
) -> tuple[FloatArray, int]:
    return np.vstack([above[0], below[0]]), max(above[1], below[1])


def on_dask(part: object) -> bool:
    """Return whether dask runs the tasks: it holds the part, or this process has a client."""
    distributed: Any = sys.modules.get("distributed")
    if is_dask(part) or distributed is None:
        return is_dask(part)
    try:
        return distributed.default_client() is not None
    except ValueError:
        return False


def is_dask(data: object) -> bool:
    """Return whether data are a collection of dask, without importing it."""
    return hasattr(data, "__dask_graph__")


def by_dask(task: Any, combine: Any, arguments: Sequence[tuple[Any, ...]]) -> Any:
    """Run a task by dask for each tuple of arguments, and combine the values in a tree.

    Arguments are values, or delayed ones that workers compute.
    """
    from dask.delayed import delayed

    mapped = delayed(task, pure=False, traverse=False)
    folded = delayed(partial(_folded, combine), pure=False)
    level = [
        mapped(*(value if is_dask(value) else delayed(value, traverse=False) for value in values))
        for values in arguments
    ]
    while len(level) > 1:
        level = [folded(level[k : k + FAN_IN]) for k in range(0, len(level), FAN_IN)]
    try:
        return level[0].compute()
    except (PlabError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise DataError(
            f"dask did not end a pass over the rows ({reason}); see that the scheduler and its "
            "workers run and can read the data"
        ) from error


def _folded(combine: Callable[[Value, Value], Value], values: Sequence[Value]) -> Value:
    return reduce(combine, values)


def parts_of_dask(
    data: Any, labels: Any = None, *, affine: bool = True, positive: Any = None
) -> RowParts:
    """Return the rows of a collection of dask: blocks of an array, or partitions of a frame.

    Sizes that dask does not know are computed, the only thing that is. With labels a row is
    s_i (x_i, 1), or s_i x_i where the rows are not affine.

    Parameters
    ----------
    data
        A ``dask.array`` of two dimensions, or a ``dask.dataframe`` of numbers.
    labels
        A ``dask.array`` or a series of dask, of two values and as many entries; or None.
    affine
        Whether rows have a constant feature.
    positive
        The label with s_i = 1, against all others; None for the larger one of two.
    """
    examples = known_chunks(data)
    if examples.ndim != 2:
        raise InputError(f"a dask array of shape {examples.shape}; give rows, shape (m, dimension)")
    examples = examples.rechunk({1: -1})
    counts, width = examples.chunks[0], examples.shape[1]
    if not (sum(counts) and width):
        raise InputError(f"the rows have shape {examples.shape}; give a non-empty matrix")
    delayed_blocks = examples.to_delayed().ravel()
    if labels is None:
        parts = _parts(_as_rows, delayed_blocks)
    else:
        signed = known_chunks(labels)
        if signed.shape not in (examples.shape[:1], (*examples.shape[:1], 1)):
            raise InputError(
                f"labels have shape {signed.shape} for {sum(counts)} examples; give one each"
            )
        signed = signed.ravel().rechunk((counts,))
        positive = _positive_label(signed) if positive is None else positive
        task, width = partial(_as_signed, positive=positive, affine=affine), width + affine
        parts = _parts(task, delayed_blocks, signed.to_delayed().ravel())
    present = [k for k, count in enumerate(counts) if count]
    return RowParts(tuple(parts[k] for k in present), tuple(counts[k] for k in present), width)


def known_chunks(data: Any) -> Any:
    """Return a collection as an array of known chunk sizes."""
    if not is_dask(data):
        raise InputError(
            f"a collection of dask was given with {type(data).__name__}; give both as collections "
            "of dask: dask.array.from_array(values)"
        )
    if hasattr(data, "to_dask_array"):
        return data.to_dask_array(lengths=True)
    if any(size != size for sizes in data.chunks for size in sizes):  # NaN: unknown
        return data.compute_chunk_sizes()
    return data


def _parts(task: Callable[..., RowSource], *columns: Any) -> list[Any]:
    from dask.delayed import delayed

    # Pure: a part has one name in all passes, so that a persisted one is found again
    return [delayed(task, pure=True)(*blocks) for blocks in zip(*columns, strict=True)]


def _as_rows(block: AnyArray) -> RowSource:
    values = np.asarray(block)
    if values.dtype.kind not in "buif":
        raise InputError(f"a block of the rows holds {values.dtype}; give numbers")
    single = values.dtype == np.float32
    doubles = values.astype(np.float32 if single else np.float64, copy=False)
    # Integers beyond 2^53 and extended precision are rounded
    exact = (
        single or values.dtype.kind == "b" or bool((doubles.astype(values.dtype) == values).all())
    )
    return ArrayRows(np.ascontiguousarray(doubles), roundings=0 if exact else 1)


def _as_signed(block: AnyArray, labels: AnyArray, *, positive: Any, affine: bool) -> RowSource:
    examples = _as_rows(block)
    signs = np.where(np.asarray(labels) == positive, 1.0, -1.0)
    signs = signs.astype(augmented_precision(examples.dtype, 1.0))
    return LabelledRows(examples, signs, affine=affine)


def distinct_labels(labels: Any) -> AnyArray:
    """Return the distinct labels of a collection, sorted; they alone leave the workers."""
    import dask.array

    return np.unique(dask.array.unique(known_chunks(labels)).compute())


def _positive_label(labels: Any) -> Any:
    """Return the larger of two labels."""
    from perceptron_lab.numerics.input_checks import two_classes

    classes = distinct_labels(labels)
    two_classes(classes, len(classes))  # refuses all but two
    return classes[-1]
