"""Rows in collections of dask: blocks of an array, or partitions of a frame, are the parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from perceptron_lab.cones.operators.row_parts import (
    DelayedRows,
    RowParts,
    by_dask,
    is_dask,
    numbered_part,
    sentence_of,
)
from perceptron_lab.cones.operators.row_source import (
    ArrayRows,
    LabelledRows,
    RowSource,
    augmented_precision,
)
from perceptron_lab.core.errors import DataError, InputError, PlabError, counted
from perceptron_lab.core.results import AnyArray, IntArray
from perceptron_lab.numerics.class_labels import (
    category_order,
    category_ranks,
    labels_of,
    refuse_all_but_two,
    refuse_mixed,
    unique_labels,
)
from perceptron_lab.numerics.input_checks import doubles_of_rows
from perceptron_lab.numerics.sparse_arrays import dense


def parts_of_dask(data: Any, labels: Any = None) -> RowParts:
    """Return the rows of a collection of dask, or of examples with labels of two classes.

    Sizes that dask does not know are computed, and the distinct labels. With labels a row is
    s_i (x_i, 1), where s_i = 1 for the later label and -1 for the other.

    Parameters
    ----------
    data
        A ``dask.array`` of two dimensions, or a ``dask.dataframe``, of numbers.
    labels
        A ``dask.array`` or a series of dask, of two values and as many entries; or None.
    """
    examples = DaskExamples.of(data)
    if labels is None:
        return examples.parts()
    collected = DaskLabels.of(labels, sum(examples.counts))
    refuse_all_but_two(collected.classes, collected.sizes)
    return examples.signed(collected, collected.classes[-1], affine=True)


@dataclass(frozen=True)
class DaskExamples:
    """Examples in a collection of dask, whose sizes are known.

    Parameters
    ----------
    blocks
        Delayed arrays, or frames of pandas.
    counts
        The number of rows of each.
    width
        The number of columns.
    columns
        The names of the columns of frames; None for arrays.
    """

    blocks: Sequence[Any]
    counts: tuple[int, ...]
    width: int
    columns: list[Any] | None

    @classmethod
    def of(cls, data: Any) -> DaskExamples:
        """Return the examples of an array or a frame."""
        _refuse_others(data)
        if data.ndim != 2:
            raise InputError(
                f"a collection of dask with {counted(data.ndim, 'dimension')}; "
                "give rows, shape (m, dimension)"
            )
        examples = cls._of_frame(data) if is_frame(data) else cls._of_array(data)
        if not (sum(examples.counts) and examples.width):
            shape = sum(examples.counts), examples.width
            raise InputError(f"the rows have shape {shape}; give a non-empty matrix")
        return examples

    @classmethod
    def _of_frame(cls, frame: Any) -> DaskExamples:
        blocks = partitions(frame)
        counts = by_dask(_length, _joined_tuples, [(block,) for block in blocks])
        return cls(blocks, counts, len(frame.columns), list(frame.columns))

    @classmethod
    def _of_array(cls, array: Any) -> DaskExamples:
        array = known_chunks(array).rechunk({1: -1})
        return cls(array.to_delayed().ravel().tolist(), array.chunks[0], array.shape[1], None)

    def parts(self) -> RowParts:
        """Return the examples as rows."""
        return self._parts(_as_rows, self.width)

    def signed(self, labels: DaskLabels, positive: Any, *, affine: bool) -> RowParts:
        """Return rows s_i (x_i, 1), or s_i x_i where these are not affine.

        s_i = 1 for the positive label, and -1 for others.
        """
        task = partial(_as_signed, affine=affine)
        return self._parts(task, self.width + affine, labels.signs(positive, self.counts))

    def _parts(self, task: Any, width: int, *further: Sequence[Any]) -> RowParts:
        from dask.delayed import delayed

        # Pure: a part has one name in all passes, so that a persisted one is reused
        task, starts = delayed(task, pure=True), np.cumsum([0, *self.counts[:-1]]).tolist()
        names = map(numbered_part, range(len(self.counts)), starts, self.counts)
        values = zip(names, self.counts, self.blocks, *further, strict=True)
        return RowParts(
            [
                DelayedRows(task(name, self.columns, *blocks), (count, width), name)
                for name, count, *blocks in values
                if count
            ]
        )


@dataclass(frozen=True)
class DaskLabels:
    """Labels in a collection of dask, of which none is missing.

    Parameters
    ----------
    blocks
        Delayed arrays, or series of pandas.
    counts
        The number of labels in each.
    classes
        The distinct labels: in the order of the categories of an ordered categorical, and in
        sorted order otherwise.
    sizes
        The number of labels of each class.
    """

    blocks: Sequence[Any]
    counts: tuple[int, ...]
    classes: AnyArray
    sizes: IntArray

    @classmethod
    def of(cls, labels: Any, examples: int) -> DaskLabels:
        """Return the labels of so many examples: an array, a series or a frame of one column."""
        _refuse_others(labels)
        if labels.ndim not in (1, 2) or (labels.ndim == 2 and labels.shape[1] != 1):
            raise InputError(f"labels have shape {labels.shape}; give one for each example")
        blocks = partitions(labels) if is_frame(labels) else labels.to_delayed().ravel().tolist()
        names = [f"part {k} of the labels" for k in range(len(blocks))]
        collected: _PartLabels = by_dask(
            _labels_of_part, _joined, [*zip(blocks, names, strict=True)], names
        )
        if (count := sum(collected.counts)) != examples:
            raise InputError(f"labels have shape {(count,)} for {examples} examples; give one each")
        ranks = category_ranks(collected.labels, collected.order)
        return cls(blocks, collected.counts, collected.labels[ranks], collected.sizes[ranks])

    def signs(self, positive: Any, counts: tuple[int, ...]) -> list[Any]:
        """Return +1 for the positive label and -1 for others, in blocks of so many examples."""
        from dask.delayed import delayed

        task = delayed(_signs, pure=True)
        signs = array_of_blocks(
            [task(block, positive) for block in self.blocks], self.counts, np.empty(0, np.int8)
        )
        blocks: list[Any] = signs.rechunk((counts,)).to_delayed(optimize_graph=False).tolist()
        return blocks


class _PartLabels(NamedTuple):
    """The labels in some parts: their number in each, the distinct ones, and their order."""

    counts: tuple[int, ...]
    labels: AnyArray
    sizes: IntArray
    order: list[Any] | None


def _labels_of_part(block: Any, name: str) -> _PartLabels:
    try:
        labels, sizes = unique_labels([labels_of(block, len(block))], return_counts=True)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    return _PartLabels((len(block),), labels, sizes, category_order(block))


def _joined(left: _PartLabels, right: _PartLabels) -> _PartLabels:
    """Return the labels of both; an InputError refuses those of different types."""
    if left.order != right.order:
        raise InputError(
            "the labels have other categories in some parts, or in another order; give "
            "y.cat.as_known()"
        )
    refuse_mixed([*left.labels.tolist(), *right.labels.tolist()])
    filled = [part for part in (left, right) if len(part.labels)] or [left]
    labels, positions = unique_labels([part.labels for part in filled], return_inverse=True)
    sizes = np.zeros(len(labels), np.int64)
    np.add.at(sizes, positions, np.concatenate([part.sizes for part in filled]))
    return _PartLabels(left.counts + right.counts, labels, sizes, left.order)


def _signs(block: Any, positive: Any) -> AnyArray:
    return np.where(labels_of(block, len(block)) == positive, 1, -1).astype(np.int8)


def _as_rows(name: str, columns: list[Any] | None, block: Any) -> RowSource:
    """Return a block of rows, in double or single precision."""
    try:
        if columns is not None and list(block.columns) != columns:
            raise InputError(f"columns {list(block.columns)}, and {columns} were announced")
        doubles = doubles_of_rows(block)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    return ArrayRows(np.ascontiguousarray(dense(doubles.values)), roundings=doubles.roundings)


def _as_signed(
    name: str, columns: list[Any] | None, block: Any, signs: AnyArray, *, affine: bool
) -> RowSource:
    examples = _as_rows(name, columns, block)
    precision = augmented_precision(examples.dtype, 1.0)
    return LabelledRows(examples, signs.astype(precision), affine=affine)


def _length(block: Any) -> tuple[int]:
    return (len(block),)


def _joined_tuples(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    return left + right


def array_of_blocks(blocks: Sequence[Any], counts: Sequence[float], values: AnyArray) -> Any:
    """Return delayed blocks as an array of dask.

    Parameters
    ----------
    blocks, counts
        Delayed arrays, and the number of rows of each, NaN where it is unknown.
    values
        An array without rows like them, shape ``(0,)`` or ``(0, k)``.
    """
    import dask.array

    da: Any = dask.array
    arrays = [
        da.from_delayed(block, (count, *values.shape[1:]), values.dtype, meta=values)
        for block, count in zip(blocks, counts, strict=True)
    ]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def is_frame(data: Any) -> bool:
    """Return whether a collection of dask is a frame or a series, and not an array."""
    return hasattr(data, "to_dask_array")


def partitions(frame: Any) -> list[Any]:
    """Return the partitions of a frame or a series of dask, delayed.

    Not optimised: dask would merge partitions of small files, for other columns others.
    """
    parts: list[Any] = frame.to_delayed(optimize_graph=False)
    return parts


def known_chunks(array: Any) -> Any:
    """Return an array of dask with its chunk sizes computed, if some are unknown."""
    if not any(size != size for sizes in array.chunks for size in sizes):  # NaN: unknown
        return array
    try:
        return array.copy().compute_chunk_sizes()
    except (PlabError, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"the array's chunks cannot be computed ({sentence_of(error)})") from error


def _refuse_others(data: Any) -> None:
    """Refuse what is neither an array nor a frame of dask."""
    if not is_dask(data):
        raise InputError(
            f"a collection of dask was given with {type(data).__name__}; give both as collections "
            "of dask: dask.array.from_array(values)"
        )
    if not all(hasattr(type(data), name) for name in ("ndim", "to_delayed")):
        raise InputError(f"received a {type(data).__name__}; give an array or a frame of dask")
