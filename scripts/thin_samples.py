"""Thin the stores of samples to what their tables, figures and verification need.

    python -m scripts.thin_samples FOLDER...

Each measure in the traces is left out, replaced by its ranks, or kept at those records alone that
the configuration asks for (the others are NaN), whichever first gives the report of the whole
store: every file of all tables and figures, byte by byte. The store is then packed, pictures are
given a palette, and a runs.csv above :data:`MOST_BYTES` is removed: its rows are in the store.
"""

from __future__ import annotations

import io
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.saved_answers.files import MEASURE, unpacked
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.exports import RUNS
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.stored import sha256_of
from perceptron_lab.reporting.report import make_report
from scripts.stores import edited, ranks_of, replace_row

Arrays = dict[str, npt.NDArray[Any]]
Reduction = Callable[[Arrays, str, Sequence[int]], Arrays]
COLOURS: Final = 64
MOST_BYTES: Final = 300_000
"""Size of the largest runs.csv that is kept beside a store."""


def left_out(arrays: Arrays, name: str, recorded: Sequence[int]) -> Arrays:
    """Return the arrays of a trace without a measure."""
    return {other: array for other, array in arrays.items() if other != name}


def as_ranks(arrays: Arrays, name: str, recorded: Sequence[int]) -> Arrays:
    """Return the arrays with ranks in the place of scores, as learners record them today."""
    if name != f"{MEASURE}scores" or len(arrays[name]) != 1:
        return arrays
    return left_out(arrays, name, recorded) | {f"{MEASURE}ranks": ranks_of(arrays[name])}


def where_recorded(arrays: Arrays, name: str, recorded: Sequence[int]) -> Arrays:
    """Return the arrays with a measure at the last record and at those asked for."""
    mask = np.isin(arrays["updates"], recorded)
    if arrays[name].dtype.kind != "f" or len(mask) != len(arrays[name]):
        return arrays
    mask[-1:] = True
    measure = arrays[name].copy()
    measure[~mask] = np.nan
    return {**arrays, name: measure}


REDUCTIONS: Final[tuple[Reduction, ...]] = (left_out, as_ranks, where_recorded)


def thin(folder: Path) -> None:
    """Thin a sample.

    Raises
    ------
    DataError
        If no report can be made, or that of the packed store is another; nothing is changed then.
    """
    with TemporaryDirectory() as folder_name:
        work = Path(folder_name, folder.name)
        work.mkdir()
        shutil.copy(schema.path_of(folder), work)
        full = _report(work)
        for name in _measures(work):
            for reduction in REDUCTIONS:
                if _reduced(work, name, reduction, full):
                    break
        with edited(work, packed=True) as connection:
            _store_plainly(connection)
        if _report(work) != full:
            raise DataError(f"{folder}: the packed store gives another report")
        packed = (work / schema.PACKED).read_bytes()
    before = schema.path_of(folder)
    replace_file(folder / schema.PACKED, packed)
    if before.name == schema.NAME:
        before.unlink()
    for picture in folder.glob("*.png"):
        replace_file(picture, with_palette(picture.read_bytes()))
    remove_large_rows(folder)


def remove_large_rows(folder: Path) -> None:
    """Remove the runs.csv of a folder with a store if it is larger than :data:`MOST_BYTES`."""
    rows = folder / RUNS
    if schema.is_store(folder) and rows.exists() and rows.stat().st_size > MOST_BYTES:
        rows.unlink()


def _report(folder: Path) -> dict[str, bytes]:
    """Make the report of a store and return its files, which are removed again."""
    with Reader.open(folder) as reader:
        config = reader.config()
    report = make_report(folder, config.report.model_dump(), config.title)
    if report.failed:
        raise DataError("\n".join(report.failed))
    files = {path.name: path.read_bytes() for path in report.files}
    for path in report.files:
        path.unlink()
    return files


def _measures(folder: Path) -> list[str]:
    """Return the names of the measures in the traces of a store."""
    with Reader.open(folder) as reader:
        traces = [reader.trace(planned.cell) for planned, _ in reader.runs()]
    names = {name for trace in traces if trace is not None for name in trace.measures}
    return [f"{MEASURE}{name}" for name in sorted(names)]


def _reduced(folder: Path, name: str, reduction: Reduction, full_report: dict[str, bytes]) -> bool:
    """Reduce a measure, and return whether the report stays; otherwise the store does."""
    path = schema.path_of(folder)
    before = path.read_bytes()
    with Reader.open(folder) as reader:
        recorded = reader.config().record_at
    changed = False
    with edited(folder) as connection:
        for cell, arrays in _traces(connection):
            if name in arrays and (reduced := reduction(arrays, name, recorded)) is not arrays:
                _put_trace(connection, cell, reduced)
                changed = True
    try:
        if changed and _report(folder) == full_report:
            return True
    except (DataError, LookupError, ValueError):
        pass  # a table or figure reads the measure
    path.write_bytes(before)
    return False


def _store_plainly(connection: sqlite3.Connection) -> None:
    """Store traces without compression of their own: packed together they take less."""
    for cell, arrays in _traces(connection):
        _put_trace(connection, cell, arrays)


def _traces(connection: sqlite3.Connection) -> Iterator[tuple[str, Arrays]]:
    query = "SELECT cell, trace FROM run WHERE trace IS NOT NULL"
    for cell, content in connection.execute(query).fetchall():
        yield cell, unpacked(content)


def _put_trace(connection: sqlite3.Connection, cell: str, arrays: Arrays) -> None:
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    trace = content.getvalue()
    connection.execute("UPDATE run SET trace = ? WHERE cell = ?", (trace, cell))
    replace_row(connection, cell, trace=sha256_of(trace))


def with_palette(picture: bytes) -> bytes:
    """Return a PNG with at most 64 colours; its texts stay."""
    with Image.open(io.BytesIO(picture)) as image:
        if image.mode == "P":
            return picture
        few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        texts = PngInfo()
        for name, text in image.info.items():
            if isinstance(text, str):
                texts.add_text(str(name), text)
        content = io.BytesIO()
        few.save(content, "png", optimize=True, dpi=image.info.get("dpi"), pnginfo=texts)
    return content.getvalue()


def main(folders: Sequence[str]) -> None:
    """Thin samples, and print how large their stores were and are."""
    for folder in map(Path, folders):
        before = sum(path.stat().st_size for path in folder.rglob("*"))
        thin(folder)
        after = sum(path.stat().st_size for path in folder.rglob("*"))
        sys.stdout.write(f"{folder}: {before / 1e6:.2f} MB, now {after / 1e6:.2f} MB\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
