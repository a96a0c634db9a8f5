"""A store as files for readers: runs.csv, config.json and environment.json."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.core.visible_text import visible
from perceptron_lab.experiments.configuration.rows import PARAMETERS, Row, rendered
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.results_folder import holder

RUNS: Final = "runs.csv"


def export(folder: Path, reader: Reader, rows: Iterable[Row]) -> None:
    """Write the files that are missing or differ, with these rows: equal stores, equal bytes."""
    contents = {
        RUNS: _table(rows),
        "config.json": _readable(json.loads(reader.about("config"))),
        "environment.json": _readable(reader.environments()),
    }
    for name, content in contents.items():
        path = folder / name
        # Equal files are not written again, since each write waits for the disk
        if not path.is_file() or path.read_bytes() != content:
            replace_file(path, content)


def difference(folder: Path, rows: Iterable[Row]) -> str:
    """Return where runs.csv differs from the store; empty if equal, or if a run is writing it."""
    path = folder / RUNS
    # A run exports only every few seconds, so that its file lags behind the store
    if not path.exists() or holder(folder) is not None:
        return ""
    ours = _table(rows)
    try:
        content = path.read_bytes()
        if content == ours:
            return ""
        records = _fields(content)
        named = {row.pop("cell"): _stated_fields(row) for row in records}
    except (OSError, UnicodeDecodeError, csv.Error, KeyError, AttributeError):
        return f"{path} is no table of runs; `plab run` writes it again from the store"
    # A file that was written before these were columns says the same without them.
    names = [name for row in records[:1] for name in row]
    later = [PARAMETERS, ("finding",)]
    left_out = [prefix for prefix in later if not any(name.startswith(prefix) for name in names)]
    stored = {row.pop("cell"): _stated_fields(row, sum(left_out, ())) for row in _fields(ours)}
    # Rows that are not there yet are no difference: a run that was killed leaves such a file.
    other = [f"in the cell {cell!r}" for cell in named if named[cell] != stored.get(cell)]
    if len(named) < len(records):
        other.append("(a cell is there twice)")
    if not other:
        return ""
    more = f" and {len(other) - 1} more" if other[1:] else ""
    return (
        f"{path} differs from the store {other[0]}{more}: it was edited, or left behind by a run "
        "that was killed; `plab run` writes it again"
    )


def _table(rows: Iterable[Row]) -> bytes:
    return rendered(rows).encode()


def _fields(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode()), strict=True))


def _stated_fields(row: dict[str, str], left_out: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the fields that are not empty: later rows may have brought further columns."""
    return {name: value for name, value in row.items() if value and not name.startswith(left_out)}


def _readable(content: object) -> bytes:
    return (visible(json.dumps(content, indent=2)) + "\n").encode()
