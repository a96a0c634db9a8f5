"""Connections that end by the clock: one that brings too little is shut down, wherever it hangs.

Time-outs of sockets begin anew with every byte, so that a server which drips its headers, its body
or endless ``100 Continue`` would never meet one. A thread looks at the clock instead.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Final, Self

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager

_POOLS: Final = {"http": HTTPConnectionPool, "https": HTTPSConnectionPool}


class Watch:
    """Shut down all connections of a transfer once a period brings too little.

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
        self._ended.set()
        self._thread.join()
        for connection in self._sockets:
            connection.close()

    def receive(self, count: int) -> None:
        """Count bytes that came."""
        self._received += count

    def add(self, connection: socket.socket) -> None:
        """Watch a connection as well."""
        with self._lock:
            # A second descriptor: encryption takes the first away from its socket
            self._sockets.append(connection.dup())
            if self.expired:
                _shut_down(self._sockets[-1])

    def _run(self) -> None:
        before = 0
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
    """The adapter of requests whose connections, also those to proxies, are watched."""

    def __init__(self, watch: Watch) -> None:
        self._pools = {scheme: _watched(pool, watch) for scheme, pool in _POOLS.items()}
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Make the manager of connections."""
        super().init_poolmanager(*arguments, **options)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: str, **options: Any) -> PoolManager:
        """Return the manager of connections by a proxy."""
        manager: PoolManager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = self._pools
        return manager


def _watched(pool: type[HTTPConnectionPool], watch: Watch) -> type[HTTPConnectionPool]:
    """Return a class of connection pools that gives each new connection to a watch."""
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
