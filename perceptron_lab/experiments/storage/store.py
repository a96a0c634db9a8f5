"""The store of an experiment's results and its one writer: ``results/<experiment>/``.

``runs.sqlite`` holds all but the certificates (:mod:`perceptron_lab.experiments.storage.schema`
documents it), ``certificates/CELL.npz`` those; runs.csv, config.json and environment.json are made
from it, for readers. Every finished cell is one transaction, on the disk before the next one: a
process that is killed, or a machine that stops, loses the cells that ran and nothing else.

A cell that is run again replaces its row. One that fails then is shown as failed, since that is
the truth about today's program, and what was there before is kept in the table ``earlier`` until
there is a newer result.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from perceptron_lab.core.atomic_files import remove_partial_files, sync_folder
from perceptron_lab.core.errors import StoreError, counted
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.configuration.config import ExperimentConfig, ProcessLimits
from perceptron_lab.experiments.configuration.rows import Row, as_json
from perceptron_lab.experiments.provenance.environment import portable
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.certificate_files import (
    FOLDER,
    certificate_of,
    exchanged,
    path_of,
)
from perceptron_lab.experiments.storage.exports import export
from perceptron_lab.experiments.storage.reader import Reader, shown
from perceptron_lab.experiments.storage.results_folder import StoreLock, reason_of, unwritable
from perceptron_lab.experiments.storage.stored import (
    Planned,
    Stored,
    checksum,
    encoded,
    encoded_trace,
    sha256_of,
)

if TYPE_CHECKING:
    from perceptron_lab.experiments.cells.cell_run import Outcome

_FAILURES: Final = frozenset(status.value for status in Status if status.failed)
# Endings of the files of a database; the one that counts as a store is renamed last.
_BESIDE: Final = ("-wal", "-shm", "-journal", "")


class Store(AbstractContextManager["Store"]):
    """The writer of an experiment's results, made by :meth:`open`; a context manager.

    Parameters
    ----------
    folder, connection
        The experiment's folder, and a connection to its database.
    lock
        The right to write there.
    """

    def __init__(self, folder: Path, lock: StoreLock, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._lock = lock
        self._connection = connection
        self.reader = Reader(folder, connection)
        self._base = Path()

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the store of a folder, which is made if it is missing, and lock it for others."""
        try:
            (folder / FOLDER).mkdir(parents=True, exist_ok=True)
            with ExitStack() as opened:
                lock = opened.enter_context(StoreLock(folder))
                # Only under the lock: another run's temporary files are no leftovers
                remove_partial_files(folder)
                remove_partial_files(folder / FOLDER)
                store = cls(folder, lock, schema.open_to_write(folder))
                # The lock is the store's from here on; an error above releases it
                opened.pop_all()
                return store
        except (*schema.FAILURES, OSError) as error:
            raise unwritable(folder, error) from None

    def begin(
        self,
        config: ExperimentConfig,
        base: Path,
        environment: Mapping[str, object],
        planned: Sequence[Planned],
    ) -> None:
        """Store the plan of a run; rows of cells that are no longer planned are kept.

        Parameters
        ----------
        config, base
            The configuration, and the folder that its relative paths start from.
        environment
            Where it is run; ``id`` is its name.
        planned
            The cells, in the order of rows.
        """
        self._base = base.resolve()
        about = {
            "config": as_json(config.model_dump(mode="json")),
            "base": portable(self._base, self.folder),
            "environment": str(environment["id"]),
        }
        with self._writing("the plan of the run"), schema.transaction(self._connection):
            # What an earlier run left in "running" was cut off, since this process holds the lock
            for table in ("plan", "running"):
                self._connection.execute(f"DELETE FROM {table}")
            for name, value in about.items():
                self._insert_values("about", name, value)
            for position, cell in enumerate(planned):
                self._insert_values("problem", cell.problem_key, cell.sha256)
                self._insert_values("plan", position, *encoded(cell))
            self._put_environment(environment)

    def running(self, cell: str) -> None:
        """Mark a cell as running, for ``plab status``."""
        with self._writing(f"that the cell {cell} runs"):
            # It means nothing after a loss of power: no need to wait for the disk.
            self._connection.execute("PRAGMA synchronous = NORMAL")
            try:
                with schema.transaction(self._connection):
                    self._insert("running", cell, _now())
            finally:
                self._connection.execute("PRAGMA synchronous = FULL")

    def add(
        self, planned: Planned, row: Row, outcome: Outcome, *, core: str, limits: ProcessLimits
    ) -> Row:
        """Store a finished cell: its certificate, and then its row and its trace in one go.

        Parameters
        ----------
        planned
            What was run.
        row
            The values of runs.csv; ``environment`` is the name of the one given to :meth:`begin`,
            or of the outcome's own.
        outcome
            How it ended.
        core
            Digest of the code version that ran it, 64 hexadecimal digits.
        limits
            Of the process, as they were in force: ``memory`` is a number where it was derived.

        Returns the row as runs.csv shows it.
        """
        result, failed = outcome.result, outcome.status.failed
        trace = outcome.partial if result is None else result.trace
        content = None if trace is None else encoded_trace(trace)
        subject = f"the row of {planned.title}, {planned.label} (cell {planned.cell})"
        new = None if result is None else certificate_of(planned, result, self._base)
        path = path_of(self.folder, planned.cell)
        with self._writing(subject):
            # A failure must not be the end of the only result, which moves to "earlier"
            keep = failed and self._succeeded(planned.cell)
            # The file before the row: a row must never name a certificate that is not on the disk
            with exchanged(path, new, keep=keep, forget=not failed) as certificate:
                ended = _now()
                stored = Stored(
                    cell=planned.cell,
                    status=outcome.status,
                    row=json.loads(as_json(row)),
                    core=core,
                    budget=planned.budget,
                    recorded=planned.recorded,
                    limits=limits,
                    limit=outcome.limit,
                    environment=row["environment"],
                    started=self.reader.running().get(planned.cell, ended),
                    ended=ended,
                    attempts=outcome.attempts,
                    stderr=outcome.stderr,
                    peak_memory=outcome.peak_memory,
                    settings=planned.settings,
                    sha256=planned.sha256,
                    bound=None if result is None else result.bound,
                    certificate=certificate,
                    trace=None if content is None else sha256_of(content),
                )
                with schema.transaction(self._connection):
                    self._replace(stored, content, keep)
                    # A worker's environment, in the transaction of the row that refers to it
                    if outcome.environment is not None:
                        self._put_environment(outcome.environment)
        return shown(planned, stored)

    def rows(self) -> list[Row]:
        """Return the rows of the planned cells, in the order of the plan, as runs.csv shows them.

        A damaged row, which the run is about to replace, is left out.
        """
        runs = self.reader.runs()
        return [shown(planned, stored) for planned, stored in runs if not stored.fault]

    def export(self, rows: Iterable[Row] | None = None) -> None:
        """Write runs.csv, config.json and environment.json: the same store gives the same bytes.

        ``rows`` are those of :meth:`rows`, where they are known.
        """
        with self._writing("runs.csv, config.json and environment.json"):
            export(self.folder, self.reader, self.rows() if rows is None else rows)

    def close(self) -> None:
        """Close the store, release its lock and leave a single file."""
        schema.close(self._connection)
        self._lock.release()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _succeeded(self, cell: str) -> bool:
        """Return whether a cell has a stored row whose status is no failure."""
        query = "SELECT status FROM run WHERE cell = ?"
        row = self._connection.execute(query, (cell,)).fetchone()
        return row is not None and row["status"] not in _FAILURES

    def _replace(self, stored: Stored, trace: bytes | None, keep: bool) -> None:
        """Replace the row of a cell; the earlier row is kept in ``earlier`` or forgotten."""
        cell, values = (stored.cell,), encoded(stored)
        if keep:
            copy = "INSERT OR REPLACE INTO earlier SELECT * FROM run WHERE cell = ?"
            self._connection.execute(copy, cell)
        # Failures that follow on a failure leave the earlier result where it is.
        elif not stored.status.failed:
            self._connection.execute("DELETE FROM earlier WHERE cell = ?", cell)
        self._insert("run", *values, checksum(values), trace)
        # In the same transaction, so that no cell is shown as both running and finished
        self._connection.execute("DELETE FROM running WHERE cell = ?", cell)

    def _put_environment(self, described: Mapping[str, object]) -> None:
        # The first description is kept: later ones differ in the time alone.
        values = (described["id"], as_json(dict(described)))
        statement = "INSERT OR IGNORE INTO environment VALUES (?, ?, ?)"
        self._connection.execute(statement, (*values, checksum(values)))

    def _insert_values(self, table: str, *values: object) -> None:
        """Put a row into a table whose last column is the checksum."""
        self._insert(table, *values, checksum(values))

    def _insert(self, table: str, *values: object) -> None:
        marks = ", ".join("?" * len(values))
        self._connection.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", values)

    @contextmanager
    def _writing(self, subject: str) -> Iterator[None]:
        """Add to an error of writing which rows are saved."""
        try:
            yield
        except (*schema.FAILURES, OSError) as error:
            raise StoreError(
                f"{self.folder}: {subject} cannot be written ({reason_of(error)}); {self._safe()}; "
                "free space on the disk, or remove the cause named here, and run the same command "
                "to resume"
            ) from error

    def _safe(self) -> str:
        """Return a sentence on the rows that the next run will find."""
        query = "SELECT count(*) FROM run WHERE cell IN (SELECT cell FROM plan)"
        try:
            count = self._connection.execute(query).fetchone()[0]
        # The database may be what failed; the message must not depend on it
        except schema.FAILURES:
            return "the cells that were finished before are safe there"
        cells = counted(count, "cell that was", "cells that were")
        return f"the {cells} finished before {'is' if count == 1 else 'are'} safe there"


def set_aside(folder: Path) -> Path | None:
    """Rename a store and its certificates, so that a new one begins; nothing is deleted.

    Returns the new path, ``runs-<UTC time>.sqlite``; None if there was no store.
    """
    store, time = schema.path_of(folder), datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    if not store.exists():
        return None
    # All endings stay, since a packed store is runs.sqlite.xz
    aside = folder / "".join([f"runs-{time}", *store.suffixes])
    names = {folder / FOLDER: folder / f"{FOLDER}-{time}"}
    names |= {Path(f"{store}{end}"): Path(f"{aside}{end}") for end in _BESIDE}
    try:
        with StoreLock(folder), ExitStack() as undone:
            # The latest rows go into the one file; a damaged database stays as it is.
            with suppress(*schema.FAILURES):
                schema.close(sqlite3.connect(store, isolation_level=None))
            for path, other in names.items():
                if path.exists():
                    path.rename(other)
                    # If a later rename fails, this is undone: no store without its certificates
                    undone.callback(other.rename, path)
            sync_folder(folder)
            undone.pop_all()
    except OSError as error:
        raise unwritable(folder, error) from None
    return aside


def _now() -> str:
    """Return the time as ISO 8601, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
