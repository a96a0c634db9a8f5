"""Rows in parts: several sources of rows as one, which dask or this process reads.

A part is a :class:`.RowSource`. Global row numbers count the rows of all parts in their order. A
pass maps each block of rows to a small value and combines the values in the order of the rows, in
any grouping. With a ``distributed.Client`` in this process, or parts that dask holds, dask runs
the tasks, combines their values in a tree, and repeats those that a dead worker has lost: only
combined values leave a worker. Otherwise the parts are read one after the other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from perceptron_lab.cones.operators.base import blocks
from perceptron_lab.cones.operators.row_source import (
    MEMORY,
    Dense,
    LabelledRows,
    RowSource,
    in_order,
)
from perceptron_lab.core.errors import DataError, InputError, PlabError, RowError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import TimeIsUp, check_time, in_time

Value = TypeVar("Value")

# Values that one task of dask combines
FAN_IN = 8
# Seconds after which the time limit is looked at while workers compute
POLL = 0.1


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


class DelayedRows(RowSource):
    """Rows that dask computes where they are read.

    Parameters
    ----------
    delayed
        A ``dask.delayed.Delayed``, whose value is a source of these rows.
    shape
        Number of rows, and of their entries.
    name
        Of the rows, for messages.
    """

    def __init__(self, delayed: Any, shape: tuple[int, int], name: str) -> None:
        super().__init__(shape, np.float64)
        self.delayed, self.name, self._roundings = delayed, name, 0

    @property
    def roundings(self) -> int:
        """1 once rows were read of which some numbers were rounded, else 0."""
        return self._roundings

    def blocks(self) -> Iterator[tuple[slice, Dense]]:
        """Yield the blocks of the rows, which are computed together."""
        rows: RowSource = _computed(self.delayed, [self.delayed], [self.name])
        yield from rows.blocks()
        self._roundings = max(self._roundings, rows.roundings)

    def __getitem__(self, indices: IntArray) -> Dense:
        """Return the rows at the indices; the others do not leave their worker."""
        return self.rows_of([self], [indices])[0]

    @staticmethod
    def rows_of(parts: Sequence[DelayedRows], indices: Sequence[IntArray]) -> list[Dense]:
        """Return the rows of each part at its indices, computed together."""
        from dask.delayed import delayed

        reading = delayed(_rows_at, pure=False)
        tasks = [reading(part.delayed, at) for part, at in zip(parts, indices, strict=True)]
        values = _computed(delayed(list)(tasks), tasks, [part.name for part in parts])
        for part, (_, roundings) in zip(parts, values, strict=True):
            part._roundings = max(part._roundings, roundings)
        return [rows for rows, _ in values]


def _rows_at(part: RowSource, indices: IntArray) -> tuple[Dense, int]:
    return part[indices], part.roundings


class RowParts(RowSource):
    """The rows of several sources, one after the other.

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

    def signed(self, signs: FloatArray) -> RowParts:
        """Return the rows s_i (x_i, 1) of the examples x_i that these rows are."""
        pairs = zip(self.parts, np.split(signs, self.starts[1:]), strict=True)
        parts = [LabelledRows(part, part_signs, affine=True) for part, part_signs in pairs]
        return RowParts(parts, self.memory)

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
        numbers = np.unique(which).tolist()
        parts: list[Any] = [self.parts[number] for number in numbers]
        inside = [indices[which == number] - self.starts[number] for number in numbers]
        if self.on_dask:
            rows = DelayedRows.rows_of(parts, inside)
        else:
            rows = [part[at] for part, at in zip(in_time(parts), inside, strict=True)]
        return np.concatenate([np.empty((0, self.shape[1]), self.dtype), *rows])

    @property
    def on_dask(self) -> bool:
        """Whether dask holds the parts."""
        return isinstance(self.parts[0], DelayedRows)

    def part_name(self, number: int) -> str:
        """Return the file of a part, or its number and those of its rows."""
        part = self.parts[number]
        return part.name or numbered_part(number, int(self.starts[number]), part.shape[0])

    def named_row(self, error: RowError) -> PlabError:
        """Return an error on a row of all parts with the file of its part, if that has one."""
        if self.on_dask:
            return error
        number = int(np.searchsorted(self.starts, error.row, side="right")) - 1
        return _named_row(error, self.parts[number], int(self.starts[number]))

    def reduce(
        self, mapped: Callable[[Block], Value], combine: Callable[[Value, Value], Value]
    ) -> Value:
        """Return the values of all blocks combined; both functions are pickled.

        Raises
        ------
        DataError
            If a part cannot be read, or dask cannot end the pass.
        TimeIsUp
            At the time limit: between blocks, or while workers compute or are waited for.
        """
        task, parts = _Reduction(mapped, combine), self.parts
        positions = [
            _Position(number, start, part.shape, self.part_name(number))
            for number, (start, part) in enumerate(zip(self.starts.tolist(), parts, strict=True))
        ]
        if not (self.on_dask or has_client()):
            serial: Value = reduce(combine, map(task, parts, positions))
            return serial
        forms = (part.delayed if isinstance(part, DelayedRows) else part for part in parts)
        arguments = [*zip(forms, positions, strict=True)]
        value: Value = by_dask(task, combine, arguments, [position.name for position in positions])
        return value


def numbered_part(number: int, start: int, count: int) -> str:
    """Return a name of a part: its number, and the global ones of its rows."""
    return f"part {number} (rows {start} to {start + count - 1})"


class _Position(NamedTuple):
    """The number of a part, the global one of its first row, its announced shape, and its name."""

    number: int
    start: int
    shape: tuple[int, int]
    name: str


@dataclass(frozen=True)
class _Reduction:
    """The task of a part: its blocks mapped and combined."""

    mapped: Callable[[Block], Any]
    combine: Callable[[Any, Any], Any]

    def __call__(self, part: RowSource, position: _Position) -> Any:
        number, start, shape, name = position
        if part.shape != shape:
            raise DataError(f"{name}: its rows have shape {part.shape}, and {shape} was announced")
        values = (
            self.mapped(Block(start + at.start, rows, number, k, part.roundings))
            for k, (at, rows) in enumerate(in_time(_read(part, name)))
        )
        try:
            return reduce(self.combine, values)
        except RowError as error:
            raise _named_row(error, part, start) from None


def _named_row(error: RowError, part: RowSource, start: int) -> PlabError:
    """Return an error on a global row with the file of its part, if that has one."""
    if not part.name:
        return error
    return DataError(f"{part.name}: row {error.row - start} {error.fault}")


def _read(part: RowSource, name: str) -> Iterator[tuple[slice, Any]]:
    """Yield the blocks of a part; a ``DataError`` names it if they cannot be read."""
    try:
        yield from blocks(part)
    except (PlabError, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"{name} cannot be read ({sentence_of(error)})") from error


def sentence_of(error: Exception) -> str:
    """Return the type and the text of an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def is_dask(data: object) -> bool:
    """Return whether data are a collection of dask, without importing it."""
    return hasattr(data, "__dask_graph__")


def has_client() -> bool:
    """Return whether this process has a client of dask's scheduler."""
    distributed: Any = sys.modules.get("distributed")
    try:
        return distributed is not None and distributed.default_client() is not None
    except ValueError:
        return False


def by_dask(
    task: Any, combine: Any, arguments: Sequence[tuple[Any, ...]], names: Sequence[str] = ()
) -> Any:
    """Run a task by dask for each tuple of arguments, and combine the values in a tree.

    Arguments are values, or delayed ones that workers compute. ``names`` name the parts.
    """
    from dask.delayed import delayed

    mapped = delayed(task, pure=False, traverse=False)
    folded = delayed(partial(_folded, combine), pure=False)
    level = tasks = [
        mapped(*(value if is_dask(value) else delayed(value, traverse=False) for value in values))
        for values in arguments
    ]
    while len(level) > 1:
        level = [folded(level[k : k + FAN_IN]) for k in range(0, len(level), FAN_IN)]
    return _computed(level[0], tasks, names or [f"part {k}" for k in range(len(tasks))])


def _computed(task: Any, tasks: Sequence[Any], names: Sequence[str]) -> Any:
    """Return the value of a task of dask that depends on tasks on named parts."""
    try:
        return _in_time(task)
    except (PlabError, MemoryError, TimeIsUp):
        raise
    except Exception as error:
        raise _failure(error, tasks, names) from error


def _in_time(task: Any) -> Any:
    """Return the value of a task of dask; TimeIsUp ends it at the time limit."""
    from dask import base, callbacks

    local, schedulers = cast(Any, callbacks), cast(Any, base)
    client: Any = getattr(schedulers.get_scheduler(collections=[task]), "__self__", None)
    distributed: Any = sys.modules.get("distributed")
    # A thread of a worker is to leave it before it waits
    if client is None or hasattr(distributed.worker.thread_state, "key"):
        # Threads and processes of dask report to this thread before each task
        with local.Callback(pretask=lambda *_: check_time()):
            return task.compute()
    future = client.compute(task)
    try:
        while not future.done():
            check_time()
            with suppress(TimeoutError):
                distributed.wait(future, POLL)
        return future.result()
    finally:
        future.release()


def _folded(combine: Callable[[Value, Value], Value], values: Sequence[Value]) -> Value:
    return reduce(combine, values)


def _failure(error: Exception, tasks: Sequence[Any], names: Sequence[str]) -> DataError:
    """Return the error of a pass, with the name of the part that fails, if one does."""
    pairs, reason = list(zip(tasks, names, strict=True)), sentence_of(error)
    if isinstance(error, CancelledError) or type(error).__module__.startswith("distributed"):
        # The text is about tasks of dask
        key, reason = getattr(error, "task", None), type(error).__name__
        lost = [name for task, name in pairs if key in task.dask.cull({task.key})]
        reason += f" at {lost[0]}" if len(lost) == 1 else ""
    elif name := next((name for task, name in pairs if _fails(task)), ""):
        return DataError(f"{name} cannot be read ({reason})")
    return DataError(
        f"dask did not end a pass over the rows ({reason}); see that the scheduler and its workers "
        "run and can read the data"
    )


def _fails(task: Any) -> bool:
    try:
        _in_time(task)
    except TimeIsUp:
        return False
    except Exception:
        return True
    return False
