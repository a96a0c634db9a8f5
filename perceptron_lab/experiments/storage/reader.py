"""A store as reports and ``plab status`` read it: nothing is locked, nothing is written."""

from __future__ import annotations

import json
import re
import sqlite3
import warnings
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Self

from pydantic import ValidationError

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.findings import NOTHING, Finding, SeparationAnswer
from perceptron_lab.core.results import Bound, Status, Trace
from perceptron_lab.experiments.configuration.components import faults_of, validated
from perceptron_lab.experiments.configuration.config import KNOWN_KEYS, ExperimentConfig
from perceptron_lab.experiments.configuration.faults import refuse
from perceptron_lab.experiments.configuration.loader import taken_from_report
from perceptron_lab.experiments.configuration.rows import (
    Row,
    finding_text,
    ordered,
    parameter_columns,
)
from perceptron_lab.experiments.configuration.variants import SELECTORS
from perceptron_lab.experiments.configuration.yaml_source import Source
from perceptron_lab.experiments.provenance.code_digest import shown_digest
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.certificate_files import path_of
from perceptron_lab.experiments.storage.stored import (
    Planned,
    Stored,
    checksum,
    decoded_lists,
    decoded_trace,
    record_in,
    sha256_of,
    stored_of,
)

_RUN: Final = ", ".join((*schema.COLUMNS["run"], "checksum"))


class Reader(AbstractContextManager["Reader"]):
    """A store that is read, and may be written to meanwhile; a context manager.

    Parameters
    ----------
    folder
        The experiment's.
    connection
        To its database.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._connection = connection

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Return the reader of a folder's store."""
        return cls(folder, schema.open_to_read(folder))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def plan(self) -> list[Planned]:
        """Return the cells of the latest run, in their order."""
        rows = self._checked("plan")
        return [record_in(Planned, values) for values in rows]

    def rows(self) -> list[Row]:
        """Return the rows of the planned cells that have one, in the order of the plan.

        Problems and algorithms are called as in the plan, whatever they were called when they ran.
        """
        return [shown(planned, stored) for planned, stored in self.whole_runs()]

    def whole_runs(self) -> list[tuple[Planned, Stored]]:
        """Return the planned cells that have a row, each with it; damaged ones are refused."""
        runs = self.runs()
        for planned, stored in runs:
            if stored.fault:
                name = f"{planned.title}, {planned.label} ({planned.cell})"
                # Refused and not left out: a table without the row would look complete
                raise self._unusable(f"the cell {name}: {stored.fault}")
        return runs

    def runs(self) -> list[tuple[Planned, Stored]]:
        """Return the planned cells that have a row, each with it; damaged ones have a fault."""
        # One moment is read, and quickly: a writer may wait for it.
        with schema.reading(self._path), self._connection:
            self._connection.execute("SAVEPOINT moment")
            rows = self._select(f"SELECT {_RUN} FROM run WHERE cell IN (SELECT cell FROM plan)")
            planned = self.plan()
        # Outside the transaction: checksums of many rows take time, and a writer may wait
        stored = {values["cell"]: stored_of(values) for values in rows}
        return [(cell, stored[cell.cell]) for cell in planned if cell.cell in stored]

    def stored_of(self, cells: Iterable[str], *, certificates: bool = True) -> dict[str, Stored]:
        """Return cell -> its row, of those that have one; a fault of it tells of damage.

        Without ``certificates`` these are not looked at.
        """
        requested = set(cells)
        with schema.reading(self._path):
            rows = self._connection.execute(f"SELECT {_RUN}, trace FROM run")
            return {
                row["cell"]: self._stored(row, certificates)
                for row in rows
                if row["cell"] in requested
            }

    def failed_again(self) -> frozenset[str]:
        """Return the cells whose latest run failed, and that have an earlier result."""
        return frozenset(values["cell"] for values in self._select("SELECT cell FROM earlier"))

    def _stored(self, values: sqlite3.Row, certificates: bool) -> Stored:
        """Return a row, with a fault if it, its trace or its certificate has changed.

        The trace is hashed, and decoded when it is used.
        """
        stored = stored_of(values)
        if stored.fault:
            return stored
        if stored.trace is not None and _hashed(values["trace"]) != stored.trace:
            return replace(stored, fault="its trace is damaged")
        # A cell that ended without a result has no certificate
        if stored.certificate is None or not certificates:
            return stored
        try:
            content = path_of(self.folder, stored.cell).read_bytes()
        except OSError as error:
            return replace(stored, fault=f"its certificate cannot be read ({error.strerror})")
        if sha256_of(content) != stored.certificate:
            return replace(stored, fault="its certificate is not the one that was written")
        return stored

    def trace(self, cell: str) -> Trace | None:
        """Return the course of a cell, as far as it came; None if nothing is known of it."""
        content = self._trace(cell)
        return None if content is None else decoded_trace(content, self._trace_of(cell))

    def lists(self, cell: str, *names: str) -> list[list[Any]] | None:
        """Return the lists of these names of a cell's course, such as ``updates``; or None."""
        content = self._trace(cell)
        return None if content is None else decoded_lists(content, self._trace_of(cell), names)

    def _trace(self, cell: str) -> bytes | None:
        """Return the stored trace of a cell, or None."""
        rows = self._select("SELECT trace, trace_sha256 FROM run WHERE cell = ?", cell)
        if not rows or rows[0]["trace_sha256"] is None:
            return None
        content: bytes = rows[0]["trace"]
        if _hashed(content) != rows[0]["trace_sha256"]:
            raise DataError(f"{self._trace_of(cell)}: damaged; `plab run` computes it again")
        return content

    def _trace_of(self, cell: str) -> str:
        return f"{self._path}: the trace of the cell {cell}"

    def bound(self, cell: str) -> Bound | None:
        """Return the guarantee that a cell's algorithm gave; None without a result."""
        rows = self._select(f"SELECT {_RUN} FROM run WHERE cell = ?", cell)
        if not rows or rows[0]["bound"] is None:
            return None
        stored = stored_of(rows[0])
        if stored.fault:
            raise self._unusable(f"the cell {cell}: {stored.fault}")
        return stored.bound

    def config(self) -> ExperimentConfig:
        """Return the configuration of the latest run.

        What was run need not be registered any more; tables and figures of the report that are not
        are left out, with a warning.
        """
        tree = json.loads(self.about("config"))
        for fault in taken_from_report(tree):
            warnings.warn(
                f"{self._path}: the {fault.unregistered} of its report is registered no more; it "
                "is left out",
                stacklevel=2,
            )
        try:
            return validated(ExperimentConfig, tree)
        except ValidationError as error:
            locate = Source(f"the configuration in {self._path}").place
            refuse(faults_of(error, tree, KNOWN_KEYS), locate)
            raise

    def environments(self) -> dict[str, Any]:
        """Return name -> description of the environments that the planned cells ran in."""
        query = "SELECT DISTINCT environment FROM run WHERE cell IN (SELECT cell FROM plan)"
        environments = {values["environment"] for values in self._select(query)}
        rows = self._checked("environment")
        return {
            row["name"]: json.loads(row["description"])
            for row in rows
            if row["name"] in environments
        }

    def running(self) -> dict[str, str]:
        """Return cell -> when it was started, of the cells that have not ended."""
        rows = self._select("SELECT cell, started FROM running")
        return {values["cell"]: values["started"] for values in rows}

    def problems(self) -> dict[str, str]:
        """Return problem key -> sha256 of the data, as they were loaded last."""
        rows = self._checked("problem")
        return {values["problem_key"]: values["sha256"] for values in rows}

    def about(self, name: str) -> str:
        """Return a value of the table ``about``."""
        about = {values["name"]: values["value"] for values in self._checked("about")}
        if name not in about:
            raise schema.absent(self.folder, " yet")
        return str(about[name])

    @property
    def _path(self) -> Path:
        return schema.path_of(self.folder)

    def _select(self, query: str, *values: str) -> list[sqlite3.Row]:
        with schema.reading(self._path):
            return self._connection.execute(query, values).fetchall()

    def _checked(self, table: str) -> list[sqlite3.Row]:
        """Return the rows of a table in the order of its first column; they fit their checksums."""
        columns = ", ".join(schema.COLUMNS[table])
        rows = self._select(f"SELECT {columns}, checksum FROM {table} ORDER BY 1")
        for values in rows:
            if values["checksum"] != checksum(values[:-1]):
                raise schema.damaged(self._path, f"a row of {table} does not fit its checksum")
        return rows

    def _unusable(self, fault: str) -> DataError:
        return DataError(f"{self._path}: {fault}; `plab run` computes it again")


def read_config_of(folder: Path) -> ExperimentConfig:
    """Return the configuration that the results in a folder were made with."""
    with Reader.open(folder) as reader:
        return reader.config()


def shown(planned: Planned, stored: Stored) -> Row:
    """Return a stored row as runs.csv shows it for a planned cell."""
    parameters = stored.settings.get("dataset_parameters", {})
    problem = {name: value for name, value in parameters.items() if name not in SELECTORS}
    # Rows that were written before parameters were columns have them in their settings alone.
    row = parameter_columns(problem, stored.settings.get("parameters", {})) | stored.row
    # Rows written before the column existed have these facts in their message alone
    if "finding" not in row:
        finding = former_finding(str(row.get("status")), str(row.get("message")))
        row["finding"] = finding_text(finding)
    # Titles and labels may change from run to run; the plan has those of today
    row |= {"problem": planned.title, "label": planned.label, "core": shown_digest(stored.core)}
    return {name: row[name] for name in ordered(row)}


def _hashed(content: object) -> str:
    """Return the sha256 of a blob, which may be of any type if it is damaged."""
    return sha256_of(content if isinstance(content, bytes) else b"")


# The wordings of earlier versions; messages of today are not parsed
_RELAXED: Final = re.compile(r"relaxed answer: a margin of at least (\S+) is proved")
_SHIFTED: Final = re.compile(r"boundary answer, .* interior shift of ([\d.e-]+)")
_CLAIMED: Final = re.compile(r"HiGHS calls it (feasible|infeasible)\b")
_RESCALED: Final = re.compile(r"rescaled (\d+) and (\d+) times")
_ANSWER: Final = re.compile(f"({'|'.join(SeparationAnswer)}): ")
_MEMORY: Final = re.compile(r"(.*?); (run it on|its memory is limited)", re.DOTALL)


def former_finding(status: str, message: str) -> Finding:
    """Return the facts that a message tells of a run with this status."""
    finding = NOTHING
    if match := _RELAXED.match(message):
        finding |= Finding(relaxed_margin=float(match[1]))
    if match := _SHIFTED.match(message):
        finding |= Finding(interior_shift=float(match[1]))
    if status == Status.UNVERIFIED and (match := _CLAIMED.match(message)):
        finding |= Finding(claimed_feasible=match[1] == "feasible")
    if match := _RESCALED.search(message):
        finding |= Finding(rescalings=(int(match[1]), int(match[2])))
    if match := _ANSWER.match(message):
        finding |= Finding(separation=SeparationAnswer(match[1]))
    if status == Status.OUT_OF_MEMORY and (match := _MEMORY.match(message)):
        finding |= Finding(out_of_memory=match[1])
    return finding
