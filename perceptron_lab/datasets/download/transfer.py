"""Downloads over http(s), with limits on time, size and connections.

A home that answers https is never followed to plain http: who reads and changes that is anybody.
Other redirects are followed, since only the sha256 decides what a file is.

Connections end by the clock: one that brings too little is shut down, wherever it hangs. Time-outs
of sockets restart with every byte, so that a server which drips its headers, its body or endless
``100 Continue`` would never meet one. A thread looks at the clock instead.

Why not pooch, which this package uses for the name of the cache: its downloader limits neither the
time nor the bytes of a transfer, and follows redirects to plain http; tests/robustness has servers
that do each of these.

Archives (.tar.gz, or one inside a .zip) are read member by member into memory. Nothing is
extracted: a member counts only if its whole name is one that is asked for (a leading ``./`` aside),
so that no path in an archive is ever followed, and all sizes are capped before memory is taken.
"""

from __future__ import annotations

import gzip
import socket
import tarfile
import zipfile
from collections.abc import Container, Iterator
from contextlib import suppress
from threading import Event, Lock, Thread
from types import TracebackType
from typing import IO, Any, Final, Self
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager

# Largest sizes in bytes: of an archive, of its unpacked content, and of a member
LARGEST_ARCHIVE = 32 * 2**20
LARGEST_CONTENT = 64 * 2**20
LARGEST_MEMBER = 4 * 2**20
# Largest number of members of an archive, requested or not
MOST_MEMBERS = 1000

# Name and content
Member = tuple[str, bytes]

_ZIP, _ZIP_ENTRY, _GZIP = b"PK\x03\x04", b"PK\x01\x02", b"\x1f\x8b"
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ArchiveError(ValueError):
    """The received file is not the requested archive."""


class CappedWriter:
    """A writable file that raises an ``ArchiveError`` beyond a number of bytes."""

    def __init__(self, file: IO[bytes], most: int = LARGEST_ARCHIVE) -> None:
        self._file, self._most, self._left = file, most, most

    def write(self, data: bytes) -> int:
        """Write the data."""
        # Counted before writing, so that no byte beyond the limit reaches the disk.
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError(f"sent more than {self._most} bytes")
        return self._file.write(data)


class _CappedReader:
    """A readable stream that raises an error beyond a number of bytes."""

    def __init__(self, file: IO[bytes] | gzip.GzipFile, most: int) -> None:
        self._file, self._most, self._left = file, most, most

    def read(self, size: int = -1) -> bytes:
        # One byte beyond the limit distinguishes an archive that ends here from a longer one
        data = self._file.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError(f"sent an archive of more than {self._most} bytes when unpacked")
        return data


def read_members(archive: IO[bytes], inner: str, names: Container[str]) -> Iterator[Member]:
    """Yield name and content of the requested members, in the archive's order.

    Parameters
    ----------
    archive
        A .tar.gz, or a .zip that holds one called ``inner``; it must be possible to seek in it. A
        bare .tar does as well: some servers call the compression a transfer encoding, and clients
        undo it.
    """
    start = archive.read(4)
    archive.seek(0)
    try:
        if start.startswith(_GZIP):
            yield from _from_gzip(archive, names)
        elif start == _ZIP:
            # Opening a .zip makes objects of all its entries; hence they are counted before
            _check_count(archive.read().count(_ZIP_ENTRY))
            archive.seek(0)
            with zipfile.ZipFile(archive) as packed:
                members = [entry for entry in packed.infolist() if entry.filename == inner]
                if len(members) != 1 or members[0].compress_type not in _ZIP_METHODS:
                    raise ArchiveError(f"sent a .zip without {inner}")
                with packed.open(members[0]) as file:
                    yield from _from_gzip(file, names)
        else:
            yield from _from_tar(archive, names)
    except ArchiveError:
        raise
    except Exception as error:
        # Readers of tar, zip and gzip raise errors of a dozen kinds on damaged archives.
        raise ArchiveError("sent a damaged archive") from error


def _from_gzip(packed: IO[bytes], names: Container[str]) -> Iterator[Member]:
    # Capped as well: what a .zip inflates to may be endless padding, which gzip passes over.
    capped: Any = _CappedReader(packed, LARGEST_ARCHIVE)
    with gzip.GzipFile(fileobj=capped) as unpacked:
        yield from _from_tar(unpacked, names)


def _from_tar(unpacked: IO[bytes] | gzip.GzipFile, names: Container[str]) -> Iterator[Member]:
    capped: Any = _CappedReader(unpacked, LARGEST_CONTENT)
    try:
        # A stream: members are read in order, and nothing is unpacked that is not requested.
        archive = tarfile.open(fileobj=capped, mode="r|")  # noqa: SIM115 - closed below
    except tarfile.ReadError as error:  # not even a first header
        raise ArchiveError("sent no archive") from error
    with archive as tar:
        for count, member in enumerate(tar, 1):
            _check_count(count)
            name = member.name.removeprefix("./")
            if name in names and member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
                if member.size > LARGEST_MEMBER:
                    raise ArchiveError(f"sent {member.name} of {member.size} bytes")
                file = tar.extractfile(member)
                assert file is not None
                yield name, file.read()


def _check_count(count: int) -> None:
    if count > MOST_MEMBERS:
        raise ArchiveError(f"sent an archive of more than {MOST_MEMBERS} members")


_POOLS: Final = {"http": HTTPConnectionPool, "https": HTTPSConnectionPool}


class Watch:
    """Shuts down all connections of a transfer that falls below a least speed.

    Used as a context: the watch ends with it.

    Parameters
    ----------
    seconds
        Length of a period, > 0; the first begins at once.
    least
        Bytes that every period has to bring.

    Attributes
    ----------
    expired
        Whether the connections were shut down.
    """

    def __init__(self, seconds: float, least: float) -> None:
        self.expired = False
        self._seconds, self._least = seconds, least
        self._received = 0
        self._sockets: list[socket.socket] = []
        self._lock, self._ended = Lock(), Event()
        self._thread = Thread(target=self._run, name="transfer-watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Ends the thread before the sockets are closed, which it might shut down otherwise.
        self._ended.set()
        self._thread.join()
        for connection in self._sockets:
            connection.close()

    def receive(self, count: int) -> None:
        """Count received bytes."""
        self._received += count

    def add(self, connection: socket.socket) -> None:
        """Add a connection to those that are watched."""
        with self._lock:
            # A second descriptor: encryption takes the first away from its socket
            self._sockets.append(connection.dup())
            if self.expired:
                _shut_down(self._sockets[-1])

    def _run(self) -> None:
        before = 0
        # requests' time-outs restart with each byte: only this thread stops a server that sends
        # very slowly.
        while not self._ended.wait(self._seconds):
            received = self._received
            if received - before < self._least:
                self._expire()
                return
            before = received

    def _expire(self) -> None:
        with self._lock:
            self.expired = True
            for connection in self._sockets:
                _shut_down(connection)


class WatchedAdapter(HTTPAdapter):
    """An adapter of requests whose connections, including those to proxies, are watched."""

    def __init__(self, watch: Watch) -> None:
        self._pools = {scheme: _watched(pool, watch) for scheme, pool in _POOLS.items()}
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Create the manager of watched connections."""
        super().init_poolmanager(*arguments, **options)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: str, **options: object) -> PoolManager:
        """Return the manager of connections by a proxy."""
        manager: PoolManager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = self._pools
        return manager


def _watched(pool: type[HTTPConnectionPool], watch: Watch) -> type[HTTPConnectionPool]:
    """Return a class of connection pools that registers each new connection with a watch."""
    plain: Any = pool.ConnectionCls

    class Connection(plain):  # type: ignore[misc]
        def _new_conn(self) -> socket.socket:
            connection: socket.socket = super()._new_conn()
            watch.add(connection)
            return connection

    return type(pool.__name__, (pool,), {"ConnectionCls": Connection})


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):  # it may have ended by itself
        connection.shutdown(socket.SHUT_RDWR)


# Largest size of a file in bytes, that of the largest readable program
LARGEST_FILE = 2**30
# Seconds to wait for a connection, and for the next bytes
TIMEOUT = (5.0, 60.0)
# Period in seconds over which the average speed must not fall below the least, in bytes per second
PATIENCE = 60.0
LEAST_SPEED = 1000.0
_MOST_REDIRECTS = 10
_PIECE = 2**12
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (requests.exceptions.InvalidSchema, "redirects to an address that is not as safe"),
    (requests.exceptions.TooManyRedirects, "redirects without end"),
    (requests.exceptions.SSLError, "no trusted certificate"),
    (requests.exceptions.ConnectTimeout, "no connection"),
    (requests.exceptions.Timeout, "no answer in time"),
    (requests.exceptions.ConnectionError, "no connection"),
)


class TransferError(ValueError):
    """A failed transfer; an ``unreachable`` host should not be tried again for a while."""

    def __init__(self, reason: str, *, unreachable: bool = False) -> None:
        super().__init__(reason)
        self.unreachable = unreachable


def transfer(url: str, sink: CappedWriter) -> None:
    """Write the bytes of an http(s) address to a sink as they arrive."""
    with Watch(PATIENCE, LEAST_SPEED * PATIENCE) as watch:
        for piece in _pieces(url, watch):
            sink.write(piece)
            watch.receive(len(piece))


def host_of(url: str) -> str:
    """Return the host and port of an address, without credentials."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is no http(s) address")
    port = f":{parts.port}" if parts.port is not None else ""
    return parts.hostname + port


def _pieces(url: str, watch: Watch) -> Iterator[bytes]:
    """Yield the body of the response; network failures become a ``TransferError``."""
    connected = False
    try:
        with (
            _session(url, watch) as session,
            session.get(url, stream=True, timeout=TIMEOUT) as response,
        ):
            connected = True
            response.raise_for_status()
            # Small pieces: the watch sees progress even on slow connections.
            yield from response.iter_content(_PIECE)
    except Exception as error:
        # The layers below raise a dozen kinds of errors on invalid responses.
        if watch.expired:
            raise _too_slow() from error
        if isinstance(error, requests.HTTPError) and error.response is not None:
            raise TransferError(f"HTTP {error.response.status_code}") from error
        reasons = [words for kind, words in _REASONS if isinstance(error, kind)]
        reason = reasons[0] if reasons else "the transfer broke off"
        lost = isinstance(error, requests.ConnectionError)
        # After the first byte requests reports a time-out in this way, and nothing else.
        if lost and connected:
            reason = "no answer in time"
        raise TransferError(reason, unreachable=lost and not connected) from error
    if watch.expired:  # an answer without a length ends where its connection does
        raise _too_slow()


def _session(url: str, watch: Watch) -> requests.Session:
    session = requests.Session()
    session.max_redirects = _MOST_REDIRECTS
    session.hooks["response"].append(_leave_body_of_redirect)
    session.adapters.clear()
    # An https address must not be redirected to plain http.
    for scheme in ("https",) if urlsplit(url).scheme == "https" else ("https", "http"):
        session.mount(f"{scheme}://", WatchedAdapter(watch))
    return session


def _leave_body_of_redirect(response: requests.Response, **_: object) -> None:
    # requests would read the whole body, of any length
    if response.is_redirect:
        response.close()


def _too_slow() -> TransferError:
    return TransferError(f"sent less than {LEAST_SPEED:g} bytes per second")
