"""Run the cells of some algorithms of a sample again, and put their rows in its store.

    python -m scripts.rerun_cells FOLDER OUTPUT ALGORITHM...

For samples of hours in which few algorithms were changed: the other rows stay, and state the code
that made them. The cells run as by ``plab run``, with the sample's own configuration, and their
results stay in OUTPUT. Rows take the places of those with the same problem, label and seed, whose
data must be the same.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from perceptron_lab import run
from perceptron_lab.core.errors import DataError
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.exports import export
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.stored import checksum
from scripts.stores import edited

Key = tuple[str, str, int]
_PLAN: Final = schema.COLUMNS["plan"]


def rerun(folder: Path, output: Path, algorithms: Collection[str]) -> int:
    """Run the cells of the algorithms again and return how many rows were replaced.

    Raises
    ------
    DataError
        If the cells that ran are not those of the store, or on other data; nothing is changed.
    """
    with Reader.open(folder) as reader:
        config = reader.config().model_dump(mode="json", exclude_unset=True)
    results = run(reduced(config, algorithms), output=output)
    with closing(schema.open_to_read(results.folder)) as new:
        new.row_factory = sqlite3.Row
        with edited(folder) as store:
            count = _replace(store, new, algorithms)
    with Reader.open(folder) as reader:
        export(folder, reader, reader.rows())
    return count


def reduced(config: dict[str, Any], algorithms: Collection[str]) -> dict[str, Any]:
    """Return a configuration with some of its algorithms and without a report."""
    entries = [entry for entry in config["algorithms"] if entry["name"] in algorithms]
    labels = {entry.get("label") or entry["name"] for entry in entries}
    problems = []
    for problem in config["problems"]:
        # Without a list a problem has all algorithms; with an empty one it would have none.
        listed = [label for label in problem.get("algorithms") or () if label in labels]
        if listed or not problem.get("algorithms"):
            problems.append(problem | ({"algorithms": listed} if listed else {}))
    rest = {name: value for name, value in config.items() if name != "report"}
    return rest | {"algorithms": entries, "problems": problems}


def _cells(store: sqlite3.Connection, algorithms: Collection[str]) -> dict[Key, sqlite3.Row]:
    """Return the planned cells of some algorithms by title, label and seed."""
    cells = {}
    for row in store.execute("SELECT * FROM plan"):
        settings = json.loads(row["settings"])
        if settings["algorithm"] in algorithms:
            cells[row["title"], row["label"], settings["seed"]] = row
    return cells


def _replace(
    store: sqlite3.Connection, new: sqlite3.Connection, algorithms: Collection[str]
) -> int:
    """Replace plan entries and rows of a store by those of another one."""
    before, after = _cells(store, algorithms), _cells(new, algorithms)
    if {key: row["sha256"] for key, row in before.items()} != {
        key: row["sha256"] for key, row in after.items()
    }:
        raise DataError(f"the cells of {', '.join(algorithms)} or their data are others now")
    for row in new.execute("SELECT * FROM environment"):
        _put(store, "environment", "name", row["name"], dict(row))
    for key, planned in before.items():
        # A later parameter gives a cell another name, so that its former row has to be removed.
        store.execute("DELETE FROM run WHERE cell = ?", (planned["cell"],))
        cell = after[key]["cell"]
        (row,) = new.execute("SELECT * FROM run WHERE cell = ?", (cell,)).fetchall()
        _put(store, "run", "cell", cell, dict(row))
        entry = dict(after[key]) | {"position": planned["position"]}
        entry["checksum"] = checksum([entry[name] for name in _PLAN])
        _put(store, "plan", "position", planned["position"], entry)
    unused = "name NOT IN (SELECT environment FROM run UNION SELECT environment FROM earlier)"
    store.execute(f"DELETE FROM environment WHERE {unused}")
    return len(before)


def _put(store: sqlite3.Connection, table: str, key: str, value: Any, row: dict[str, Any]) -> None:
    """Put a row into a table in the place of the one with the same key."""
    store.execute(f"DELETE FROM {table} WHERE {key} = ?", (value,))
    marks = ", ".join("?" * len(row))
    store.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))


def main(arguments: Sequence[str]) -> None:
    """Run cells again and print how many rows were replaced."""
    folder, output, *algorithms = arguments
    count = rerun(Path(folder), Path(output), algorithms)
    sys.stdout.write(f"{folder}: {count} rows replaced\n")


if __name__ == "__main__":
    main(sys.argv[1:])
