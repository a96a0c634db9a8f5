"""The database ``runs.sqlite`` of an experiment, schema version 1.

Everything that a run leaves behind is in it, but the certificates: runs.csv, tables and figures are
made from it alone. It is an SQLite 3 file (application_id :data:`APPLICATION`, user_version
:data:`VERSION`) that anybody may read with ``sqlite3``. While it is written to, the latest rows are
in ``runs.sqlite-wal`` next to it; a store that was closed is one file.

Every table but ``running`` has a column ``checksum``: the sha256 of the columns before it, as one
array of JSON. A row that does not fit its checksum is damaged and never shown.

``about`` -- name, value: ``config``, the configuration (JSON); ``base``, the folder that its
relative paths start from, as seen from the experiment's; ``environment``, the name of the latest
run's.

``plan`` -- the cells of the latest run, in their order. position; cell, 16 hexadecimal digits of
everything that determines its course; title and label, what rows call problem and algorithm;
problem_key, known before the data are; sha256, of the data; settings, what is run (JSON); budget
(JSON: updates, seconds); recorded (JSON: record_at, trace_measures, trace_cuts).

``problem`` -- problem_key, sha256 of the data as they were loaded last.

``environment`` -- name, description (JSON) of each machine and software that rows refer to.

``running`` -- cell, started: those that the process that holds ``.lock`` works on. Where no process
holds it, they are what was cut off.

``run`` -- one row per cell that has ended, also of cells that are in the plan no more. cell;
status; row, the values of runs.csv (JSON, every digit); core, digest of the numeric code; budget
and recorded, as above, and limits (JSON: grace and loading in seconds, memory in bytes), what it
ran under; stopped, which of these limits ended its process (``seconds``, ``loading``, ``memory``),
or empty; environment; started and ended (UTC, ISO 8601); attempts; stderr, its last characters;
peak_memory (bytes, or null); settings and sha256, as above; bound (JSON, or null); certificate,
sha256 of the bytes of ``certificates/CELL.npz``, or null; trace_sha256, that of the bytes of trace,
or null; checksum; trace, compressed arrays (``.npz``), or null.

``earlier`` -- the same columns: the last row with a result of a cell whose latest run failed. The
failure is what ``run`` and the reports show, since it is the truth about today's program; the
result is kept here until there is a newer one, its certificate as ``CELL.earlier.npz``.

``runs.sqlite.xz`` is the same file, compressed, for stores that are published: whatever reads a
store reads it as well, and a run that writes to it unpacks it first.
"""

from __future__ import annotations

import lzma
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.experiments.storage.stored import Planned, Stored, declaration_of, names_of

NAME: Final = "runs.sqlite"
PACKED: Final = f"{NAME}.xz"
APPLICATION: Final = 0x706C6162
"""``plab`` in ASCII."""
VERSION: Final = 1

COLUMNS: Final = {
    "about": ("name", "value"),
    "plan": ("position", *names_of(Planned)),
    "problem": ("problem_key", "sha256"),
    "environment": ("name", "description"),
    "run": names_of(Stored),
}
"""Table -> the columns that its checksum covers; in ``run``, ``trace`` follows on the checksum."""

_CHECKED: Final = "checksum TEXT NOT NULL"
_RUN: Final = f"{declaration_of(Stored)}, {_CHECKED}, trace BLOB"
_TABLES: Final = (
    *(
        f"CREATE TABLE {table} ({' TEXT PRIMARY KEY NOT NULL, '.join(COLUMNS[table])} "
        f"TEXT NOT NULL, {_CHECKED})"
        for table in ("about", "problem", "environment")
    ),
    f"CREATE TABLE plan (position INTEGER PRIMARY KEY, {declaration_of(Planned)}, {_CHECKED})",
    "CREATE TABLE running (cell TEXT PRIMARY KEY NOT NULL, started TEXT NOT NULL)",
    f"CREATE TABLE run ({_RUN})",
    f"CREATE TABLE earlier ({_RUN})",
)
# Without blanks: statements are broken into lines in one way or another.
_CREATED: Final = sorted("".join(statement.split()) for statement in _TABLES)
# The text of an error of SQLite that quotes damaged text may be no text itself.
FAILURES: Final = (sqlite3.Error, UnicodeDecodeError, lzma.LZMAError)
# Errors that tell nothing of the file; all others do.
_OF_THE_SYSTEM: Final = (
    *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED),
    *(sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_IOERR),
    sqlite3.SQLITE_CANTOPEN,
)
_FRESH: Final = "`plab run --fresh` keeps it under another name and starts over"
# In seconds; another connection holds the file for milliseconds.
_PATIENCE: Final = 10.0


def path_of(folder: Path) -> Path:
    """Return where the store of a folder is, or would be; it may be packed."""
    # An unpacked store is newer: a run that writes unpacks first
    path, packed = folder / NAME, folder / PACKED
    return packed if packed.is_file() and not path.exists() else path


def is_store(folder: Path) -> bool:
    """Return whether a folder has a store."""
    return path_of(folder).is_file()


def folders_below(root: Path, pattern: str = "*") -> list[Path]:
    """Return the folders in a folder that have a store, sorted."""
    return sorted(filter(is_store, root.glob(pattern)))


def unpack(folder: Path) -> None:
    """Put the database in the place of a packed one; the caller holds the folder's lock."""
    path = path_of(folder)
    if path.name == PACKED:
        with reading(path):
            # The packed file is removed last, so that the rows are always in one of the two
            replace_file(folder / NAME, lzma.decompress(path.read_bytes()))
        path.unlink()


def open_to_write(folder: Path) -> sqlite3.Connection:
    """Open the database of a folder, made if it is missing; the caller holds the folder's lock."""
    unpack(folder)
    path = folder / NAME
    connection = _connect(path, "rwc")
    try:
        if not _is_empty(connection):
            _refuse_foreign(connection, path)
            # Writing into a damaged database could destroy the rows that can still be read
            (first, *_) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if first != "ok":
                raise sqlite3.DatabaseError(" ".join(str(first).split()))
        # Readers continue while rows are added, and a row that was committed is on the disk.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        # In one transaction, for whoever opens the file just then.
        if _is_empty(connection):
            with transaction(connection):
                for statement in _TABLES:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException as error:
        connection.close()
        if isinstance(error, FAILURES) and _is_damage(error, path):
            raise damaged(path, error) from None
        raise
    return connection


def open_to_read(folder: Path) -> sqlite3.Connection:
    """Open the database of a folder to be read; nothing is written, no writer has to wait."""
    path = path_of(folder)
    if not path.is_file():
        raise absent(folder)
    with reading(path), ExitStack() as opened:
        connect = _in_memory if path.name == PACKED else _connect
        # A file that is no database is noticed only at the first query, and is then closed
        connection = opened.enter_context(closing(connect(path)))
        if _is_empty(connection):
            raise absent(folder, " yet")
        _refuse_foreign(connection, path)
        opened.pop_all()
    return connection


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise a DataError with advice where a database cannot be read."""
    try:
        yield
    except FAILURES as error:
        if _is_damage(error, path):
            raise damaged(path, error) from None
        raise DataError(
            f"{path}: cannot be read ({error}); try again; if it stays so, {_FRESH}"
        ) from None


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit all that is executed within, or leave everything as it was."""
    with connection:
        # The lock for writing at once: one taken later can fail in the middle of a transaction
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")


def close(connection: sqlite3.Connection) -> None:
    """Close a database after writing; a single file remains unless another process is reading."""
    # If another process reads it, or the disk is full, the rows are safe in two files as well.
    with closing(connection), suppress(*FAILURES):
        # No waiting for readers at the end of a run
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA journal_mode = DELETE")


def absent(folder: Path, yet: str = "") -> DataError:
    """Return the error of a folder without results; it tells of those in its folders."""
    below = [path.name for path in folders_below(folder)]
    if below:
        text = f"{folder}: no results there, but in its folders; name one: {', '.join(below)}"
        return DataError(text)
    return DataError(f"{folder}: no results there{yet}; `plab run CONFIG` makes them")


def damaged(path: Path, reason: object) -> DataError:
    """Return the error of a database that cannot be read."""
    return DataError(f"{path}: damaged ({reason}); {_FRESH}, or put back a copy")


def _connect(path: Path, mode: str = "ro") -> sqlite3.Connection:
    log = path.with_name(f"{path.name}-wal")
    if mode == "ro" and not os.access(path.parent, os.W_OK):
        # SQLite cannot make its own files here, and needs none where no rows are in the log.
        mode += "" if log.is_file() and log.stat().st_size else "&immutable=1"
    return _connected(f"{path.absolute().as_uri()}?mode={mode}")


def _in_memory(path: Path) -> sqlite3.Connection:
    """Open a packed database."""
    content = _unpacked(path, path.stat().st_mtime_ns)  # raises before anything is open
    connection = _connected(":memory:")
    connection.deserialize(content)
    return connection


@lru_cache(maxsize=1)  # reports open a store once per trace
def _unpacked(path: Path, changed: int) -> bytes:
    return lzma.decompress(path.read_bytes())


def _connected(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        address, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    # Damaged text is detected by its checksum, row by row; SQLite would refuse the whole table.
    connection.text_factory = lambda content: content.decode(errors="replace")
    return connection


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Return whether nothing was ever put into the file, as when its making was cut off."""
    objects = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    # Another program's database may be without tables, but it has an application_id
    return not objects and _number(connection, "application_id") == 0


def _is_damage(error: Exception, path: Path) -> bool:
    # Extended codes have the primary one in their lowest byte
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if code == sqlite3.SQLITE_READONLY:
        # A file says of itself that it is read-only, if the system does not.
        return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    return code not in _OF_THE_SYSTEM


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    application = _number(connection, "application_id")
    version = _number(connection, "user_version")
    # Before the version, which means nothing in the database of another program
    if application != APPLICATION:
        raise ConfigError(
            f"{path}: not a store of plab (application_id {application:#x}); move it away, or "
            f"{_FRESH}"
        )
    if version != VERSION:
        raise ConfigError(
            f"{path}: a store of schema {version}, this plab reads and writes schema {VERSION}; "
            f"use the plab that made it, or {_FRESH}"
        )
    statements = connection.execute(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
    ).fetchall()
    if sorted("".join(row["sql"].split()) for row in statements) != _CREATED:
        raise sqlite3.DatabaseError("its tables are not those of this schema")
