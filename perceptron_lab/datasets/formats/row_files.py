"""Rows in files, read block by block: numpy's format, and Parquet."""

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from perceptron_lab.cones.operators.row_source import (
    MEMORY,
    Dense,
    RowSource,
    augmented_precision,
    cached_step,
    in_order,
)
from perceptron_lab.core.errors import DataError, PlabError
from perceptron_lab.core.results import AnyArray, FloatArray, IntArray
from perceptron_lab.datasets.regular_files import unreadable
from perceptron_lab.numerics.doubles import doubles_of

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile


class FileRows(RowSource):
    """Rows of a file, read in blocks or one by one, each number as the nearest double.

    Parameters
    ----------
    path
        The file, whose size and time of change have to stay as they are.
    shape, dtype, memory
        See :class:`~perceptron_lab.cones.operators.row_source.RowSource`.
    """

    def __init__(
        self, path: Path, shape: tuple[int, int], dtype: npt.DTypeLike, memory: int
    ) -> None:
        super().__init__(shape, dtype, memory)
        self.path, self.name = path, str(path)
        self._roundings, self._state = 0, _state_of(path)

    @property
    def step(self) -> int:
        """Largest number of rows in a block, which fits into the cache of a processor."""
        return cached_step(self.most_rows, self.shape[1])

    @property
    def most_rows(self) -> int:
        """Largest number of rows that the memory allows to read at once."""
        return super().step

    @property
    def roundings(self) -> int:
        """1 once a number was read that is not exactly a double, else 0."""
        return self._roundings

    def blocks(self) -> Iterator[tuple[slice, Dense]]:
        """Yield consecutive rows; a ``DataError`` if the file changed since it was opened first."""
        self._require_unchanged()
        yield from self._blocks()
        self._require_unchanged()

    def __getitem__(self, indices: IntArray) -> Dense:
        """Return the rows at the indices, in this order, reading as few others as possible."""
        self._require_unchanged()
        return in_order(indices, self.in_file_order)

    @abstractmethod
    def _blocks(self) -> Iterator[tuple[slice, Dense]]:
        """Yield consecutive rows."""

    @abstractmethod
    def in_file_order(self, increasing: IntArray) -> Dense:
        """Return some rows, in the file's order."""

    @property
    @abstractmethod
    def labelled(self) -> bool:
        """Whether the file has labels."""

    @abstractmethod
    def labels(self) -> AnyArray:
        """Return the label of each row, shape ``(m,)``, where the file has labels."""

    def _require_unchanged(self) -> None:
        if _state_of(self.path) != self._state:
            raise DataError(
                f"{self.path}: it changed while it was in use; run again on data that do not change"
            )

    def _doubles(self, numbers: AnyArray) -> FloatArray:
        doubles = doubles_of(numbers)
        self._roundings = max(self._roundings, doubles.roundings)
        return np.asarray(doubles.values)


def _state_of(path: Path) -> tuple[int, int]:
    """Return size and time of change of a file; a ``DataError`` if it cannot be found any more."""
    try:
        status = path.stat()
    except OSError as error:
        raise unreadable(path, error) from None
    return status.st_size, status.st_mtime_ns


class NumpyRows(FileRows):
    """The rows of a .npy file, which are read and not mapped: so they never fill the memory.

    Parameters
    ----------
    path
        A matrix of real numbers in C order, shape ``(m, n)``. Single precision stays single; other
        numbers become the nearest doubles.
    memory
        See :class:`~perceptron_lab.cones.operators.row_source.RowSource`.
    label
        The column of labels, from 0 on, which is no coordinate, or None.
    """

    def __init__(self, path: Path, memory: int = MEMORY, *, label: int | None = None) -> None:
        # Mapped first: so shape and type are known without reading it
        try:
            with path.open("rb") as file:
                # Of others np.load leaves files open, whether it can read them or not.
                if file.read(len(np.lib.format.MAGIC_PREFIX)) != np.lib.format.MAGIC_PREFIX:
                    raise ValueError("it does not begin as such files do")
            with warnings.catch_warnings():
                # Of files that Python 2 wrote, which are as good as others.
                warnings.simplefilter("ignore", UserWarning)
                mapped: AnyArray = np.load(path, mmap_mode="r", allow_pickle=False)
        except Exception as error:
            # On damaged headers numpy ends in anything, such as TokenError.
            reason = " ".join(str(error).split())
            raise DataError(f"{path}: not a .npy file that can be read ({reason})") from None
        if not isinstance(mapped, np.memmap) or mapped.ndim != 2 or mapped.dtype.kind not in "buif":
            raise DataError(f"{path}: it holds something else than a matrix of real numbers")
        if not mapped.flags.c_contiguous:
            raise DataError(
                f"{path}: its numbers are stored column by column; save np.ascontiguousarray(rows)"
            )
        self._begin, self._kind = int(mapped.offset), mapped.dtype
        self._width, self._label = mapped.shape[1], label
        single = mapped.dtype.newbyteorder("=") == np.float32
        shape = mapped.shape[0], self._width - (label is not None)
        super().__init__(path, shape, np.float32 if single else np.float64, memory)

    def _blocks(self) -> Iterator[tuple[slice, Dense]]:
        """Yield consecutive rows, read one after the other."""
        for at, rows in self._labelled_rows():
            yield at, self._features(rows)

    @property
    def labelled(self) -> bool:
        """Whether the file has labels."""
        return self._label is not None

    def labels(self) -> AnyArray:
        """Return the label of each row, shape ``(m,)``."""
        assert self._label is not None
        return np.concatenate([rows[:, self._label] for _, rows in self._labelled_rows()])

    def _labelled_rows(self) -> Iterator[tuple[slice, Dense]]:
        """Yield consecutive rows with their labels."""
        with self.path.open("rb") as file:
            file.seek(self._begin)
            for start in range(0, self.shape[0], self.step):
                at = slice(start, min(start + self.step, self.shape[0]))
                yield at, self._read(file, at.stop - at.start)

    def _features(self, rows: Dense) -> Dense:
        return rows if self._label is None else np.delete(rows, self._label, axis=1)

    def in_file_order(self, increasing: IntArray) -> Dense:
        """Return some rows, in the file's order."""
        rows = np.empty((len(increasing), self._width), self.dtype)
        size = self._kind.itemsize * self._width
        with self.path.open("rb", buffering=0) as file:
            for position, index in enumerate(increasing.tolist()):
                file.seek(self._begin + index * size)
                rows[position] = self._read(file, 1)[0]
        return self._features(rows)

    def _read(self, file: BinaryIO, count: int) -> Dense:
        rows = np.fromfile(file, self._kind, count * self._width)
        if len(rows) < count * self._width:
            raise DataError(f"{self.path}: it became shorter while it was read; write it again")
        doubles = self._doubles(rows.reshape(count, self._width))
        return np.asarray(doubles, dtype=self.dtype)


class ParquetRows(FileRows):
    """The rows of a Parquet file; its columns are the coordinates. Needs pyarrow.

    Row groups are read a batch of rows at a time. Where pages or row groups are larger than the
    memory, so is what is read.

    Parameters
    ----------
    path
        Columns of integers, decimals and floating-point numbers without nulls. If all are in single
        (or half) precision, or integers of at most 16 bits, so are the rows; otherwise they are the
        nearest doubles.
    memory
        See :class:`~perceptron_lab.cones.operators.row_source.RowSource`.
    names
        The columns that are coordinates; None for all of them.
    label
        The column of labels, if there is one.
    """

    def __init__(
        self,
        path: Path,
        memory: int = MEMORY,
        *,
        names: Sequence[str] | None = None,
        label: str = "",
    ) -> None:
        with opened(path) as file:
            from pyarrow.types import is_decimal, is_floating, is_integer

            schema, count = file.schema_arrow, file.metadata.num_rows
            groups = range(file.metadata.num_row_groups)
            sizes = [file.metadata.row_group(group).num_rows for group in groups]
        self._ends: IntArray = np.cumsum(sizes, dtype=np.int64)  # of each row group
        self._names = schema.names if names is None else list(names)
        if not self._names or not count:
            raise DataError(f"{path}: it holds no rows of numbers; give one column and row or more")
        columns = [schema.field(name).type for name in self._names]
        for name, column in zip(self._names, columns, strict=True):
            if not (is_integer(column) or is_floating(column) or is_decimal(column)):
                raise DataError(
                    f"{path}: column {name!r} holds {column}; give numbers, say that it holds the "
                    f"labels if it does, or leave it out: --drop {quote(name)}"
                )
        single = all(np.can_cast(type_.to_pandas_dtype(), np.float32) for type_ in columns)
        self._label = label
        super().__init__(path, (count, len(columns)), np.float32 if single else np.float64, memory)

    def _blocks(self) -> Iterator[tuple[slice, Dense]]:
        """Yield the file's batches of rows, one after the other."""
        with opened(self.path) as file:
            yield from self._batches(file, None, 0)

    @property
    def labelled(self) -> bool:
        """Whether the file has labels."""
        return bool(self._label)

    def labels(self) -> AnyArray:
        """Return the label of each row, shape ``(m,)``; nulls become None."""
        return parquet_column(self.path, self._label)

    def signed_blocks(self, signs: Dense, constant: float | None) -> Iterator[tuple[slice, Dense]]:
        """Yield the signed rows; each number is written once, and not copied before."""
        self._require_unchanged()
        with opened(self.path) as file:
            yield from self._batches(file, None, 0, signs, constant)
        self._require_unchanged()

    def _batches(
        self,
        file: ParquetFile,
        groups: list[int] | None,
        start: int,
        signs: Dense | None = None,
        constant: float | None = None,
    ) -> Iterator[tuple[slice, Dense]]:
        """Yield the rows of the given row groups, or of all, starting from row ``start``.

        A block is in Fortran order, with the columns of the file.
        """
        precision = augmented_precision(self.dtype, constant)
        # As many rows as the memory allows: Arrow reads them faster than in many batches
        batches = file.iter_batches(
            batch_size=self.most_rows, row_groups=groups, columns=self._names, use_threads=False
        )
        for batch in batches:
            columns = [self._column(batch.column(name), name, start) for name in self._names]
            if constant is not None:
                columns.append(np.broadcast_to(np.float64(constant), batch.num_rows))
            for first in range(0, batch.num_rows, self.step):
                inside = slice(first, min(first + self.step, batch.num_rows))
                at = slice(start + inside.start, start + inside.stop)
                rows = np.empty((len(columns), at.stop - at.start), precision)
                factors = 1.0 if signs is None else signs[at].astype(precision)
                for column, row in zip(columns, rows, strict=True):
                    np.multiply(column[inside], factors, out=row)
                yield at, rows.T
            start += batch.num_rows

    def _column(self, column: Any, name: str, start: int) -> FloatArray:
        """Return a column of a batch that begins with row ``start``; a view if it has doubles."""
        if column.null_count:
            empty = column.is_null().to_numpy(zero_copy_only=False)
            row = start + int(np.flatnonzero(empty)[0])
            raise DataError(
                f"{self.path}: column {name!r} has no value in row {row}; fill it, or "
                "remove the row"
            )
        return self._doubles(column.to_numpy(zero_copy_only=False))

    def in_file_order(self, increasing: IntArray) -> Dense:
        """Return some rows, in the file's order."""
        groups = np.searchsorted(self._ends, increasing, side="right")
        rows = np.empty((len(increasing), self.shape[1]), self.dtype)
        with opened(self.path) as file:
            for group in np.unique(groups).tolist():
                first = int(self._ends[group - 1]) if group else 0
                for at, batch in self._batches(file, [group], first):
                    low, high = np.searchsorted(increasing, (at.start, at.stop))
                    rows[low:high] = batch[increasing[low:high] - at.start]
        return rows


def parquet_column(path: Path, name: str) -> AnyArray:
    """Return a column of a Parquet file, shape ``(m,)``; nulls become None."""
    with opened(path) as file:
        from pyarrow.types import is_floating, is_integer

        column = file.read(columns=[name]).column(0)
        # Numbers without nulls need no Python objects, of which there might be too many
        plain = column.null_count == 0 and (is_integer(column.type) or is_floating(column.type))
        return np.asarray(column) if plain else np.array(column.to_pylist())


def parquet_names(path: Path) -> tuple[list[str], list[str]]:
    """Return the distinct names of the columns, and the names of the row index.

    pandas writes the index of a frame as columns unless it counts the rows.
    """
    with opened(path) as file:
        names: list[str] = file.schema_arrow.names
        index = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(f"{path}: column {repeated[0]!r} occurs more than once; rename one")
    return names, [name for name in index if name in names]


@contextmanager
def opened(path: Path) -> Iterator[ParquetFile]:
    """Open a Parquet file for reading."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise DataError(
            f"{path}: reading Parquet takes pyarrow, which is not installed; run "
            "`pip install 'perceptron-lab[arrow]'`"
        ) from None
    try:
        with ParquetFile(os.fspath(path), pre_buffer=False, buffer_size=2**16) as file:
            yield file
    except PlabError:
        raise
    except Exception as error:
        # Damaged bytes end in anything, from ArrowInvalid to ArrowMemoryError.
        reason = " ".join(str(error).split())
        raise DataError(f"{path}: not a Parquet file that can be read ({reason})") from None
