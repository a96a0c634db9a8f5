"""Tables whose rows are spread over several files of one format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.operators.row_parts import RowParts
from perceptron_lab.cones.operators.row_source import Dense
from perceptron_lab.core.errors import DataError, counted
from perceptron_lab.core.results import AnyArray, IntArray
from perceptron_lab.datasets.formats.columns import Contents
from perceptron_lab.datasets.formats.row_files import FileRows, opened
from perceptron_lab.numerics.doubles import Doubles, of_short_decimals

Read = Callable[[Path], Contents]
"""Reads one part; it can be pickled, as workers call it."""
_SHOWN: Final = 8  # Names of columns in a message


class ReadRows(FileRows):
    """The rows of a text, ``.npz`` or svmlight file, which is read completely in each pass.

    Blocks are dense; of a sparse file only one block at a time is.

    Parameters
    ----------
    path, memory
        See :class:`.FileRows`.
    read
        Reads the file.
    contents
        What it reads now.
    width
        The number of columns, which may be more than the indices of a sparse file show.
    """

    def __init__(
        self, path: Path, read: Read, contents: Contents, memory: int, *, width: int
    ) -> None:
        rows = contents.in_memory()
        super().__init__(path, (rows.values.shape[0], width), rows.values.dtype, memory)
        self._read, self._roundings = read, rows.roundings
        self._labelled = contents.classes is not None

    def _blocks(self) -> Iterator[tuple[slice, Dense]]:
        """Yield consecutive rows, dense."""
        rows = self._rows()
        for start in range(0, self.shape[0], self.step):
            at = slice(start, min(start + self.step, self.shape[0]))
            yield at, _dense(rows[at])

    def in_file_order(self, increasing: IntArray) -> Dense:
        """Return some rows, in the file's order."""
        return _dense(self._rows()[increasing])

    @property
    def labelled(self) -> bool:
        """Whether the file has labels."""
        return self._labelled

    def labels(self) -> AnyArray:
        """Return the label of each row, shape ``(m,)``."""
        return np.asarray(self._read(self.path).classes)

    def _rows(self) -> Any:
        return _widened(self._read(self.path).in_memory().values, self.shape[1])


def _dense(rows: Any) -> Dense:
    return np.asarray(rows.toarray() if _is_sparse(rows) else rows)


def _is_sparse(rows: Any) -> bool:
    return bool(sp.issparse(rows))


def _widened(rows: Any, width: int) -> Any:
    """Return sparse rows with columns of zeros added, and others as they are."""
    if rows.shape[1] == width:
        return rows
    parts = rows.data, rows.indices, rows.indptr
    return sp.csr_array(parts, shape=(rows.shape[0], width))


def with_rows(parts: Sequence[Path]) -> list[Path]:
    """Return the Parquet files that hold rows, or the first one.

    A ``DataError`` names the first file whose columns have other names or types than the first's.
    """
    schema, filled = None, []
    for part in parts:
        with opened(part) as file:
            present, count = file.schema_arrow, file.metadata.num_rows
        schema = schema or present
        _require_same(part, parts[0], present.names, schema.names)
        for name, kind, expected in zip(present.names, present.types, schema.types, strict=True):
            if kind != expected:
                raise DataError(
                    f"{part}: column {name!r} holds {kind}, and {expected} in {parts[0].name}; "
                    "write all parts with the same types"
                )
        filled += [part] * (count > 0)
    return filled or [parts[0]]


def joined(parts: dict[Path, Contents], width: int) -> Contents:
    """Return the contents of files as those of one, in memory.

    Parameters
    ----------
    parts
        File -> its contents, in the order of the rows.
    width
        The number of columns.
    """
    rows = joined_doubles([contents.in_memory() for contents in parts.values()], width)
    table = described(parts, rows)
    first = next(iter(parts.values()))
    if first.classes is not None:
        table.classes = np.concatenate([contents.classes for contents in parts.values()])
    table.variables = {
        role: np.concatenate([contents.variables[role] for contents in parts.values()])
        for role in first.variables
    }
    return table


def described(parts: dict[Path, Contents], rows: Any) -> Contents:
    """Return rows with the names that the contents of their parts have in common, and all notes."""
    sources: Any = rows.parts if isinstance(rows, RowParts) else ()
    longest = max(parts.values(), key=lambda contents: len(contents.features or ()))
    names = [part.name for part in parts]
    between = f", {names[0]} to {names[-1]}" if len(names) > 1 else ""
    return Contents(
        rows,
        labels_of_parts(sources),
        features=longest.features,
        label=longest.label,
        notes=_notes(parts),
        reference_levels=longest.reference_levels,
        reading=f"a table of {len(names)} part{'s'[: len(names) - 1]} with rows{between}",
    )


def _notes(parts: dict[Path, Contents]) -> list[str]:
    """Return the notes on all parts, then those on some, of which the first ones with the part."""
    first, *later = parts.values()
    notes = [note for note in first.notes if all(note in contents.notes for contents in later)]
    named = [
        f"{part.name}: {note}"
        for part, contents in parts.items()
        for note in contents.notes
        if note not in notes
    ]
    more = counted(len(named) - _SHOWN, "further note")
    return notes + named[:_SHOWN] + [f"and {more}"] * (len(named) > _SHOWN)


def labels_of_parts(parts: Sequence[FileRows]) -> AnyArray | None:
    """Return the labels of all rows, or None if there are none."""
    if not parts or not parts[0].labelled:
        return None
    return np.concatenate([part.labels() for part in parts])


def common_width(parts: dict[Path, Contents]) -> int:
    """Return the number of columns of files; a ``DataError`` names one with others than the first.

    The largest index of a sparse file does not determine the number of its columns. Files
    without rows have names of columns alone.
    """
    filled = {part: contents for part, contents in parts.items() if contents.rows is not None}
    first, expected = next(iter(filled.items()))
    for part, contents in parts.items():
        _require_same(part, first, _columns(contents), _columns(expected))
    texts = {part: np.asarray(c.classes).dtype.kind in "US" for part, c in filled.items()}
    for part, is_text in texts.items():
        if is_text != texts[first]:
            words = [("numbers", "texts")[kind] for kind in (is_text, texts[first])]
            raise DataError(
                f"{part}: the labels are {words[0]}, and {words[1]} in {first.name}; "
                "write all parts with the same labels"
            )
    return int(max(contents.in_memory().values.shape[1] for contents in filled.values()))


def _columns(contents: Contents) -> list[str]:
    """Return the names of columns, or their numbers; of svmlight's rows, where indices begin."""
    if contents.rows is None:
        rows: Any = np.empty((0, len(contents.features or ())))
    else:
        rows = contents.in_memory().values
    names = contents.features
    if _is_sparse(rows) and contents.reading:
        return ["indices from 0 on" if names else "indices from 1 on"]
    names = [str(j + 1) for j in range(rows.shape[1])] if names is None else names
    kind = ["stored sparse"] * _is_sparse(rows)
    return [*names, *kind, *([] if contents.label is None else [contents.label])]


def _require_same(part: Path, first: Path, names: list[str], expected: list[str]) -> None:
    if names != expected:
        listed = (", ".join(x[:_SHOWN]) + ", ..." * (len(x) > _SHOWN) for x in (names, expected))
        columns, first_columns = listed
        raise DataError(
            f"{part}: {len(names)} columns ({columns}), and in {first.name} {len(expected)} "
            f"({first_columns}); write all parts with the same columns in the same order"
        )


def joined_doubles(parts: Sequence[Doubles], width: int) -> Doubles:
    """Return the rows of all parts; whole multiples of decimals have a common denominator."""
    rows = [_widened(part.values, width) for part in parts]
    stack: Any = sp.vstack(rows, format="csr") if _is_sparse(rows[0]) else np.vstack(rows)
    if not any(part.roundings for part in parts):
        return Doubles(stack)
    flat = [row.data if _is_sparse(row) else row.ravel() for row in rows]
    if not all(map(_are_short, parts, flat)):
        return Doubles(stack, 1)
    decimals = of_short_decimals(np.concatenate(flat))
    integers: Any = decimals.integers
    if integers is None:
        return Doubles(stack, 1)
    if _is_sparse(stack):
        integers = sp.csr_array((integers, stack.indices, stack.indptr), shape=stack.shape)
    else:
        integers = integers.reshape(stack.shape)
    return Doubles(stack, 1, integers, decimals.multiple)


def _are_short(part: Doubles, values: AnyArray) -> bool:
    """Return whether the numbers of a part are the short decimals that its doubles stand for."""
    if part.roundings:
        return part.integers is not None
    return not of_short_decimals(values).roundings
