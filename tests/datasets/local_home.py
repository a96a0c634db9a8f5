"""A home of data on this machine, whose answers a test chooses."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Answer(NamedTuple):
    """What is sent: status, body, the length that is claimed (None: the true one), encoding."""

    status: int
    body: bytes
    length: int | None = None
    encoding: str | None = None


class LocalHome:
    """A server on 127.0.0.1; ``answer`` maps a path to what is sent, ``url`` makes addresses."""

    def __init__(self, answer: Callable[[str], Answer]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                given = answer(self.path)
                length = len(given.body) if given.length is None else given.length
                self.send_response(given.status)
                if given.encoding is not None:
                    self.send_header("Content-Encoding", given.encoding)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(given.body)

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
