"""Homes of data on this machine, whose answers a test chooses."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Answer(NamedTuple):
    """What is sent: status, body, the length that is claimed (None: the true one), encoding,
    and where it redirects to.
    """

    status: int
    body: bytes
    length: int | None = None
    encoding: str | None = None
    location: str | None = None


class LocalHome:
    """A server on 127.0.0.1; ``answer`` maps a path to what is sent, ``url`` makes addresses."""

    def __init__(self, answer: Callable[[str], Answer]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                response = answer(self.path)
                length = len(response.body) if response.length is None else response.length
                self.send_response(response.status)
                if response.encoding is not None:
                    self.send_header("Content-Encoding", response.encoding)
                if response.location is not None:
                    self.send_header("Location", response.location)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(response.body)

            def log_message(self, format: str, *args: object) -> None:
                """Keep the test output quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/{path}"

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class RawHome:
    """A server on 127.0.0.1 that sends bytes, whether they are HTTP or not, and closes."""

    def __init__(self, pieces: Callable[[], Iterable[bytes]]) -> None:
        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                self.request.recv(2**16)
                with suppress(OSError):  # the client may have had enough
                    for piece in pieces():
                        self.request.sendall(piece)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/{path}"

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
