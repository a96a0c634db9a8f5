"""The folder of an experiment's results: ``results/<experiment>/``.

``runs.csv`` is rewritten whole and at once after every cell, so that a reader, or a machine that
stops, never sees half of it. The rows of an earlier run stay until the first new row is there, and
as ``runs.previous.csv`` after that.
"""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from perceptron_lab.errors import ConfigError, DataError
from perceptron_lab.experiments.config import KNOWN_KEYS, ExperimentConfig
from perceptron_lab.experiments.faults import refuse
from perceptron_lab.experiments.validation import faults_of, validated
from perceptron_lab.experiments.yaml_source import Source

if TYPE_CHECKING:
    import pandas as pd

    from perceptron_lab.results import Result

Row = dict[str, Any]
"""Column -> value; None is an empty field."""

COLUMNS: Final = (
    "cell",
    "problem",
    "constraints",
    "dimension",
    "algorithm",
    "label",
    "oracle",
    "parameters",
    "seed",
    "status",
    "proved",
    "margin_lower",
    "margin_upper",
    "updates",
    "queries",
    "iterations",
    "products",
    "seconds",
    "proof_seconds",
    "total_seconds",
    "bound",
    "message",
    "environment",
)
"""The columns of runs.csv; ``measure.*`` follow."""

_COUNTS = ("constraints", "dimension", "updates", "queries", "iterations")
_CLOCKS = ("seconds", "proof_seconds", "total_seconds")
_REALS = ("margin_lower", "margin_upper", "products", *_CLOCKS, "bound")


class Store:
    """The results of one experiment, on disk.

    Parameters
    ----------
    folder
        Its folder; made if it is missing.
    config
        What is run: written beside the rows, so that reports can be rebuilt.
    environment
        Where it is run.

    Raises
    ------
    ConfigError
        If the folder cannot be written to.
    """

    def __init__(
        self, folder: Path, config: ExperimentConfig, environment: Mapping[str, Any]
    ) -> None:
        self.folder = folder
        self._config = config
        self._environment = environment
        self._rows: dict[int, Row] = {}
        try:
            (folder / "cells").mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise ConfigError(
                f"{folder}: results cannot be written there ({error.strerror}); "
                "choose another folder with --output"
            ) from None

    @property
    def rows(self) -> list[Row]:
        """The rows so far, in the order of the plan."""
        return [self._rows[position] for position in sorted(self._rows)]

    def add(self, position: int, row: Row, result: Result | None) -> None:
        """Keep the row of a finished cell, and its result.

        Parameters
        ----------
        position
            The cell's place in the plan, which orders the rows.
        row
            Its row.
        result
            Its result, if it has one.
        """
        if result is not None:
            path = self.folder / "cells" / f"{row['cell']}.npz"
            partial = path.with_suffix(".partial")
            result.save(partial)
            os.replace(partial, path)
        if not self._rows:
            self._write_once()
        self._rows[position] = row
        replace_file(self.folder / "runs.csv", rendered(self.rows).encode())

    def _write_once(self) -> None:
        earlier = self.folder / "runs.csv"
        if earlier.exists():
            replace_file(self.folder / "runs.previous.csv", earlier.read_bytes())
        replace_file(self.folder / "environment.json", _json(dict(self._environment)))
        replace_file(self.folder / "config.json", _json(self._config.model_dump(mode="json")))


def rendered(rows: Iterable[Row]) -> str:
    """Return rows as the text of runs.csv."""
    rows = list(rows)
    measures = sorted({key for row in rows for key in row if key not in COLUMNS})
    text = io.StringIO()
    writer = csv.DictWriter(text, [*COLUMNS, *measures], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _field(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def parsed(text: str) -> pd.DataFrame:
    """Return the text of runs.csv as a frame.

    Text stays text (a cell ``1234e567`` is no number), counts are nullable integers.
    """
    import pandas as pd

    frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    for column in frame.columns:
        if column in _COUNTS:
            frame[column] = pd.to_numeric(frame[column].replace("", None)).astype("Int64")
        elif column in _REALS or column.startswith("measure."):
            frame[column] = pd.to_numeric(frame[column].replace("", None)).astype("float64")
    frame["seed"] = frame["seed"].astype("int64")
    frame["proved"] = frame["proved"] == "true"
    return frame


def read_config_of(folder: Path) -> ExperimentConfig:
    """Return the configuration that the results in a folder were made with.

    It is not held against the registries: what was run need not be registered any more.

    Raises
    ------
    DataError
        If there are no results.
    ConfigError
        If the configuration is damaged, or of another version.
    """
    path = folder / "config.json"
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
        return validated(ExperimentConfig, tree)
    except OSError:
        raise DataError(f"{folder}: no results there; `plab run CONFIG` makes them") from None
    except ValidationError as error:
        faults = faults_of(error, tree, KNOWN_KEYS)
        refuse(faults, Source(str(path)).place)
        raise
    except ValueError as error:
        raise ConfigError(f"{path}: damaged ({error}); run the experiment again") from None


def _field(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else value


def _json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=2) + "\n").encode()


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that it is either the old one or the new one, whatever happens."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
