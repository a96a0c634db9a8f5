"""What a store is for readers: runs.csv, config.json and environment.json."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from perceptron_lab.experiments.storage.durable_files import replace_file
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.rows import Row, rendered


def export(folder: Path, reader: Reader, rows: Iterable[Row]) -> None:
    """Write what is not there yet: equal stores give equal bytes.

    Parameters
    ----------
    folder
        Where.
    reader
        Of the store.
    rows
        Those of runs.csv, in its order.

    Raises
    ------
    OSError
        If a file cannot be written; the earlier one is intact then.
    """
    contents = {
        "runs.csv": rendered(rows).encode(errors="backslashreplace"),
        "config.json": _readable(json.loads(reader.about("config"))),
        "environment.json": _readable(reader.environments()),
    }
    for name, content in contents.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            replace_file(path, content)


def _readable(content: Any) -> bytes:
    return (json.dumps(content, indent=2) + "\n").encode()
