"""The parent's end of the fork server: start it, ask it, hear from it, end it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Final

from perceptron_lab.errors import PlabError
from perceptron_lab.experiments.cells.requests import (
    CORE,
    KILL,
    LAUNCH,
    READY,
    REPORT,
    REQUEST,
)

THREADS: Final = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")
} | {"VECLIB_MAXIMUM_THREADS": "1"}
"""Environment of the server: a process that has several threads cannot be forked safely."""

_START = (
    "import json, sys; given = json.loads(sys.argv[1]); sys.path[:] = given.pop('path'); "
    "from perceptron_lab.experiments.cells.parentage import end_with_parent; "
    "end_with_parent(given['parent']); "
    "from perceptron_lab.experiments.cells.fork_server import serve; serve(**given)"
)
_STARTS = 3  # that may fail in a row by a signal, which may be somebody else's
_PATIENCE = 5.0  # seconds to end by itself


@dataclass(frozen=True)
class Report:
    """What the server tells: kind, number of the cell's process, and two more numbers."""

    kind: int
    number: int
    first: int
    second: int


class ForkServer:
    """A fork server, started when it is first needed, and again if it has died.

    It forks processes for cells (see :mod:`perceptron_lab.experiments.cells.fork_server`). It
    belongs to one thread, and ends, with every process that it has forked, when it is closed or
    this process ends in whatever way. Environment, folder and search path are those at its start.

    Parameters
    ----------
    modules
        What cells need, beside the numerical core of the package: imported once, for all.
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self._modules = list(modules)
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._words: IO[bytes] | None = None
        self._pending = b""
        self._was_ready = False
        self._failures = 0
        self._numbers = 0

    def has_loaded(self, modules: Iterable[str]) -> bool:
        """Return whether cells that need these modules find them in the server's processes."""
        core = tuple(f"perceptron_lab.{part}." for part in CORE)
        return all(name.startswith(core) or name in self._modules for name in modules)

    @property
    def channel(self) -> socket.socket:
        """The socket, to be waited for; the server is started if there is none."""
        self.start()
        assert self._channel is not None
        return self._channel

    @property
    def process_id(self) -> int | None:
        """The id of the server's process; None if it does not run."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the server now, so that the first cell need not wait."""
        if self._channel is not None:
            return
        here, there = socket.socketpair()
        given = {"handle": there.fileno(), "parent": os.getpid(), "path": list(map(str, sys.path))}
        arguments = json.dumps(given | {"packages": CORE, "modules": self._modules})
        with there:
            try:
                self._words = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the server
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _START, arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=self._words,
                    stderr=self._words,
                    env=os.environ | THREADS,
                    pass_fds=[there.fileno()],
                    start_new_session=True,
                )
            except OSError as error:
                here.close()
                raise PlabError(_refusal(f"({error})")) from None
        here.setblocking(False)
        self._channel, self._pending, self._was_ready = here, b"", False

    def launch(self, memory: int, handles: tuple[int, int, int]) -> int:
        """Ask for a process of a cell and return its number, by which reports refer to it.

        Parameters
        ----------
        memory
            Bytes that it may have, more than 0.
        handles
            File descriptors: its channel, its output, its parcel; duplicated, not taken over.
        """
        self._numbers += 1
        request, channel = REQUEST.pack(LAUNCH, self._numbers, memory), self.channel
        with suppress(OSError):  # a server that is dead will be noticed when it is heard
            socket.send_fds(channel, [request], handles)
        return self._numbers

    def kill(self, number: int) -> None:
        """Ask for the end of a cell's process and of those that it has started."""
        if self._channel is None:
            return
        with suppress(OSError):
            self._channel.send(REQUEST.pack(KILL, number, 0))

    def hear(self) -> tuple[list[Report], str]:
        """Return the reports that are there, and why the server is dead; an empty text if it lives.

        A server that is dead is started again when it is next needed.
        """
        received, open_ = _received(self.channel)
        data = self._pending + received
        whole = len(data) - len(data) % REPORT.size
        self._pending = data[whole:]
        reports = [Report(*content) for content in REPORT.iter_unpack(data[:whole])]
        if any(report.kind == READY for report in reports):
            self._was_ready, self._failures = True, 0
        return [one for one in reports if one.kind != READY], "" if open_ else self._close_dead()

    def _close_dead(self) -> str:
        """Close what is left of a dead server and return how it died."""
        words, was_ready = self._words, self._was_ready
        code = self._end()
        text = b""
        if words is not None:
            with words:
                words.seek(0)
                text = words.read()
        self._failures += 1
        if not was_ready and (code >= 0 or self._failures >= _STARTS):
            said = " ".join(text.decode(errors="replace")[-600:].split())
            raise PlabError(_refusal(f"(exit code {code}; {said or 'it says nothing'})"))
        return f"the fork server died (exit code {code})"

    def _end(self) -> int:
        """Close the socket and wait for the end, which that brings about; return the exit code."""
        channel, process = self._channel, self._process
        self._channel = self._process = self._words = None
        if channel is not None:
            channel.close()
        if process is None:
            return 0
        try:
            return process.wait(_PATIENCE)
        except BaseException as error:
            process.kill()
            code = process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                return code
            raise

    def close(self) -> None:
        """End the server and all processes that it has forked, if it runs."""
        words = self._words
        if not self._was_ready:  # it is loading: it has forked nothing, and does not listen yet
            self.abandon()
        self._end()
        if words is not None:
            words.close()

    def abandon(self) -> None:
        """Kill a server that does not do what it is asked; :meth:`hear` will find it dead."""
        if self._process is not None:
            self._process.kill()


def _refusal(reason: str) -> str:
    return f"{sys.executable}, the interpreter that runs the cells, cannot be started {reason}"


def _received(channel: socket.socket) -> tuple[bytes, bool]:
    """Return what there is to be read, and whether there may be more."""
    chunks = []
    try:
        while chunk := channel.recv(1 << 16):
            chunks.append(chunk)
    except BlockingIOError:
        return b"".join(chunks), True
    except OSError:
        pass
    return b"".join(chunks), False
