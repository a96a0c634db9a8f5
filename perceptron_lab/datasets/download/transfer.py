"""One transfer over http(s), from its first byte to its last, with limits on all that it may do.

A home that answers https is never followed to plain http: who reads and changes that is anybody.
Other redirects are followed, since only the sha256 decides what a file is.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import requests

from perceptron_lab.datasets.download.archives import CappedWriter
from perceptron_lab.datasets.download.watch import Watch, WatchedAdapter

# Bytes of one file, as of the largest program that is read
LARGEST_FILE = 2**30
# Seconds to wait for a connection, and for the next bytes
TIMEOUT = (5.0, 60.0)
# Seconds of which each so many must have had the least speed, in bytes per second, on average
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
    """A transfer that gave nothing; an ``unreachable`` host should be left alone for a while."""

    def __init__(self, reason: str, *, unreachable: bool = False) -> None:
        super().__init__(reason)
        self.unreachable = unreachable


def transfer(url: str, sink: CappedWriter) -> None:
    """Write to a sink, as they come, the bytes that an http(s) address holds; its errors pass."""
    with Watch(PATIENCE, LEAST_SPEED * PATIENCE) as watch:
        for piece in _pieces(url, watch):
            sink.write(piece)
            watch.receive(len(piece))


def host_of(url: str) -> str:
    """Return host and port of an address, without a password that may stand before them."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is no http(s) address")
    port = f":{parts.port}" if parts.port is not None else ""
    return parts.hostname + port


def _pieces(url: str, watch: Watch) -> Iterator[bytes]:
    """Yield the body of the answer; every failure of the network is a ``TransferError``."""
    connected = False
    try:
        with _session(url, watch) as session, session.get(url, stream=True, timeout=TIMEOUT) as got:
            connected = True
            got.raise_for_status()
            yield from got.iter_content(_PIECE)
    except Exception as error:
        # The layers below raise errors of a dozen kinds on answers that are none.
        if watch.expired:
            raise _too_slow() from error
        if isinstance(error, requests.HTTPError) and error.response is not None:
            raise TransferError(f"HTTP {error.response.status_code}") from error
        found = [words for kind, words in _REASONS if isinstance(error, kind)]
        reason = found[0] if found else "the transfer broke off"
        lost = isinstance(error, requests.ConnectionError)
        # After the first byte requests says so of a time-out, and of nothing else.
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
    for scheme in ("https",) if urlsplit(url).scheme == "https" else ("https", "http"):
        session.mount(f"{scheme}://", WatchedAdapter(watch))
    return session


def _leave_body_of_redirect(response: requests.Response, **_: object) -> None:
    # requests would read it as a whole, whatever its length
    if response.is_redirect:
        response.close()


def _too_slow() -> TransferError:
    return TransferError(f"sent less than {LEAST_SPEED:g} bytes per second")
