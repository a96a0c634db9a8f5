"""Messages between the processes of a run: requests to the fork server, its reports, and records.

The server and its parent exchange fixed numbers. The process of a cell sends lines of JSON, small
ones with numbers and names only: if it breaks down, a line is either a message or refused, and half
a line blocks no reader. Nothing that takes time is imported here.
"""

from __future__ import annotations

import json
import math
import socket
import struct
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from perceptron_lab.core.results import Trace

LAUNCH, KILL = range(2)
"""Kinds of requests."""
READY, STARTED, ENDED, REFUSED = range(4)
"""Kinds of reports."""
REQUEST: Final = struct.Struct("=3q")
"""Kind, number of the cell's process, bytes of memory; a launch comes with three open files."""
REPORT: Final = struct.Struct("=4q")
"""The fields of a :class:`ServerReport`."""
LONGEST: Final = 1 << 16
"""Bytes of the longest line."""
SCALARS: Final[dict[str, type]] = {
    **dict.fromkeys(("updates", "iterations", "queries"), int),
    **dict.fromkeys(("products", "seconds"), float),
    "phase": str,
    **dict.fromkeys(("margin", "upper"), float),
}
"""The lists of a trace that a record has an entry of, and the types of these entries.

Stored traces hold them in this order.
"""


class ServerReport(NamedTuple):
    """A report of the server: kind, number of the cell's process, and two more numbers.

    STARTED: its process id, 0. ENDED: its wait status, the most bytes of memory that it has held.
    REFUSED, if no process could be started: the number of the error, 0. READY: all 0.
    """

    kind: int
    number: int
    first: int
    second: int


class MessageError(Exception):
    """A line is no message."""


def received(channel: socket.socket) -> bytes | None:
    """Return the next bytes, empty if the socket is closed; None if none are available now."""
    try:
        return channel.recv(LONGEST)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def encoded(kind: str, **content: object) -> bytes:
    """Return a message of a kind as one line."""
    return json.dumps({"kind": kind} | content).encode() + b"\n"


def record_of(trace: Trace) -> dict[str, object]:
    """Return the last record of a trace, without its measures."""
    return {name: kind(getattr(trace, name)[-1]) for name, kind in SCALARS.items()}


def add_record(trace: Trace, record: object) -> None:
    """Append a record that came as a message to a trace."""
    # Checked whole before anything is appended: the lists of a trace must keep equal lengths
    if not isinstance(record, dict) or set(record) != set(SCALARS):
        raise MessageError(f"a record of {record!r}"[:80])
    for name, kind in SCALARS.items():
        # Not isinstance: True is an int in Python, and no number of updates
        if type(record[name]) is not kind:
            raise MessageError(f"a record with {name} = {record[name]!r}"[:80])
    for name in SCALARS:
        getattr(trace, name).append(record[name])


def best_margin(trace: Trace) -> float:
    """Return the greatest margin of a trace, or NaN if it has none."""
    return max((margin for margin in trace.margin if not math.isnan(margin)), default=math.nan)


class Mailbox:
    """The messages that come through a socket; reading never waits.

    Parameters
    ----------
    channel
        A stream socket that does not block.
    """

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._pending = b""
        self.closed = False
        self.empty = False

    def read(self) -> list[dict[str, object]]:
        """Return the next messages; ``empty`` and ``closed``: no more now, and never again."""
        content = received(self._channel)
        # None is "nothing yet", and only b"" is "closed"
        self.empty, self.closed = not content, content == b""
        *lines, self._pending = (self._pending + (content or b"")).split(b"\n")
        # A cell that sends without a line end must not fill the parent's memory
        if len(self._pending) > LONGEST:
            raise MessageError(f"more than {LONGEST} bytes without an end")
        messages = []
        for line in lines:
            try:
                message = json.loads(line)
            # Brackets nested deeply enough exhaust the recursion of the JSON decoder
            except (ValueError, RecursionError):
                message = None
            if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
                raise MessageError(repr(line[:80]))
            messages.append(message)
        return messages
