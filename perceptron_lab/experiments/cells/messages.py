"""Messages between a cell's process and the one that watches it: lines of JSON on a socket.

They are small and hold numbers and names only. Whatever comes from a process that is breaking down
is either a message or it is refused; a half one keeps nobody waiting.
"""

from __future__ import annotations

import json
import math
import socket
from typing import Any, Final

from perceptron_lab.results import Trace

LONGEST: Final = 1 << 16
"""Bytes of the longest message."""
SCALARS: Final[dict[str, type]] = {
    "updates": int,
    "iterations": int,
    "queries": int,
    "products": float,
    "seconds": float,
    "phase": str,
    "margin": float,
    "upper": float,
}
"""The lists of a trace that a record has an entry of, and what the entries are."""


class MessageError(Exception):
    """What was received is no message."""


def encoded(kind: str, **content: Any) -> bytes:
    """Return a message of a kind as one line."""
    return json.dumps({"kind": kind} | content).encode() + b"\n"


def record_of(trace: Trace) -> dict[str, Any]:
    """Return the last record of a trace, without its measures."""
    return {name: kind(getattr(trace, name)[-1]) for name, kind in SCALARS.items()}


def add_record(trace: Trace, record: Any) -> None:
    """Append a record that came as a message to a trace."""
    if not isinstance(record, dict) or set(record) != set(SCALARS):
        raise MessageError(f"a record of {record!r}"[:80])
    for name, kind in SCALARS.items():
        if type(record[name]) is not kind:
            raise MessageError(f"a record with {name} = {record[name]!r}"[:80])
    for name in SCALARS:
        getattr(trace, name).append(record[name])


def best_margin(trace: Trace) -> float:
    """Return the greatest margin of a trace, or NaN if it has none."""
    return max((margin for margin in trace.margin if not math.isnan(margin)), default=math.nan)


class Mailbox:
    """What comes through a socket, message by message; it never waits.

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

    def read(self) -> list[dict[str, Any]]:
        """Return the next messages that are there; ``empty`` and ``closed`` say whether there
        may be more now, and ever.
        """
        self.empty = True
        try:
            received = self._channel.recv(LONGEST)
            self.empty = False
        except BlockingIOError:
            return []
        except OSError:
            received = b""
        self.closed = not received
        self.empty |= self.closed
        *lines, self._pending = (self._pending + received).split(b"\n")
        if len(self._pending) > LONGEST:
            raise MessageError(f"more than {LONGEST} bytes without an end")
        return [_decoded(line) for line in lines]


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
        raise MessageError(repr(line[:80]))
    return message
