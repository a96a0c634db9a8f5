"""The parent's handle of the fork server: start it, send requests, read reports, end it.

Nothing that takes time is imported here: the server loads its modules while its parent loads its
own. Both take one or two seconds; one after the other they are most of a short experiment.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from typing import IO, Final, NamedTuple

from perceptron_lab.core import registry
from perceptron_lab.core.errors import PlabError
from perceptron_lab.experiments.cells import messages
from perceptron_lab.experiments.cells.messages import ServerReport
from perceptron_lab.experiments.configuration.yaml_source import Source, mapping_in

CORE: Final = ("cones", "cones.oracles", "cones.operators", "certificates")
"""The packages that every server has loaded, since any cell may need them.

Algorithms, learners and datasets are named by configurations, and come one by one.
"""
THREADS: Final = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")
} | {"VECLIB_MAXIMUM_THREADS": "1"}
"""Environment of the server: a process that has several threads cannot be forked safely."""

_START = (
    "import json, sys; given = json.loads(sys.argv[1]); sys.path[:] = given.pop('path'); "
    "from perceptron_lab.experiments.cells.operating_system import end_with_parent; "
    "end_with_parent(given['parent']); "
    "from perceptron_lab.experiments.cells.fork_server import serve; serve(**given)"
)
_STARTS = 3  # Starts in a row that may fail by a signal, which may come from outside
_PATIENCE = 5.0  # seconds to end by itself


class _Running(NamedTuple):
    process: subprocess.Popen[bytes]
    channel: socket.socket
    output: IO[bytes]


class ForkServer:
    """A process that has everything loaded and forks a process for each cell.

    It is started when it is first needed, again if it died, and ends with every process that it
    has forked, when it is closed or this process ends in whatever way. Environment, folder and
    search path are those at its start.

    Parameters
    ----------
    modules
        Modules that cells need in addition to the numerical core; imported once for all cells.
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self._modules = list(modules)
        self._running: _Running | None = None
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
        """The socket to wait for; the server is started if it does not run."""
        self.start()
        assert self._running is not None
        return self._running.channel

    @property
    def process_id(self) -> int | None:
        """The id of the server's process; None if it does not run."""
        return None if self._running is None else self._running.process.pid

    def start(self) -> None:
        """Start the server now, so that the first cell need not wait."""
        if self._running is not None:
            return
        parent_end, there = socket.socketpair()
        # sys.path is passed on: a notebook or script may have changed it since the start
        settings = {
            "handle": there.fileno(),
            "parent": os.getpid(),
            "path": list(map(str, sys.path)),
        }
        arguments = json.dumps(settings | {"packages": CORE, "modules": self._modules})
        with there, ExitStack() as opened:
            opened.enter_context(parent_end)
            try:
                # A file and not a pipe: nobody reads it, and a full pipe would stop the server
                output = opened.enter_context(tempfile.TemporaryFile())
                process = subprocess.Popen(
                    [sys.executable, "-c", _START, arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env=os.environ | THREADS,
                    pass_fds=[there.fileno()],
                    # Ctrl-C in a terminal then reaches the parent alone, which ends the cells
                    start_new_session=True,
                )
            except OSError as error:
                raise PlabError(_refusal(f"({error})")) from None
            # Only now are the files the server's; a failed start closes them
            opened.pop_all()
        parent_end.setblocking(False)
        self._running = _Running(process, parent_end, output)
        self._pending, self._was_ready = b"", False

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
        request = messages.REQUEST.pack(messages.LAUNCH, self._numbers, memory)
        channel = self.channel
        with suppress(OSError):  # a server that is dead will be noticed when it is heard
            socket.send_fds(channel, [request], handles)
        return self._numbers

    def kill(self, number: int) -> None:
        """Ask for the end of a cell's process and of those that it has started."""
        if self._running is not None:
            # A broken socket means that the server is gone, and its cells with it
            with suppress(OSError):
                self._running.channel.send(messages.REQUEST.pack(messages.KILL, number, 0))

    def hear(self) -> tuple[list[ServerReport], str]:
        """Return the next reports, and why the server is dead; an empty text if it lives.

        A server that is dead is started again when it is next needed.
        """
        content = messages.received(self.channel)
        data = self._pending + (content or b"")
        # The socket is a stream: a report may arrive in two parts
        complete = len(data) - len(data) % messages.REPORT.size
        self._pending = data[complete:]
        reports = [ServerReport(*values) for values in messages.REPORT.iter_unpack(data[:complete])]
        # READY resets the count: only deaths in a row, before anything was loaded, are hopeless
        if any(report.kind == messages.READY for report in reports):
            self._was_ready, self._failures = True, 0
            reports = [report for report in reports if report.kind != messages.READY]
        # None means that nothing has arrived, and only b"" that the socket is closed
        if content != b"":
            return reports, ""
        code, output = self._end()
        self._failures += 1
        # A server that exits by itself has an error to report; one that was killed is started again
        if not self._was_ready and (code >= 0 or self._failures >= _STARTS):
            explanation = " ".join(output.decode(errors="replace")[-600:].split())
            raise PlabError(_refusal(f"(exit code {code}; {explanation or 'it says nothing'})"))
        return reports, f"the fork server died (exit code {code})"

    def _end(self) -> tuple[int, bytes]:
        """Close the socket, which ends the server; return its exit code and output."""
        if self._running is None:
            return 0, b""
        # Cleared first, so that an interrupt below cannot lead to a second wait
        (process, channel, output), self._running = self._running, None
        channel.close()
        with output:
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                pass
            finally:
                # Also after an interrupt of the wait; it does nothing to a process that has ended
                process.kill()
                code = process.wait()
            output.seek(0)
            return code, output.read()

    def close(self) -> None:
        """End the server and all processes that it has forked, if it runs."""
        if not self._was_ready:  # it is loading: it has forked nothing, and does not listen yet
            self.abandon()
        self._end()

    def abandon(self) -> None:
        """Kill a server that does not respond; :meth:`hear` then reports its death."""
        if self._running is not None:
            self._running.process.kill()


def started_ahead(sources: Iterable[Source]) -> ForkServer | None:
    """Return a server that has begun to load the modules of the components of configurations.

    Components are found by any text in the entries, since nothing is checked yet.

    Parameters
    ----------
    sources
        Configurations, as far as they can be read.

    Returns
    -------
    ForkServer or None
        None where it cannot be started: whoever needs one says why.
    """
    trees = [mapping_in(source.tree) for source in sources]
    entries = [tree.get(key) for tree in trees for key in ("problems", "algorithms")]
    named = registry.named_in(entries, ("dataset", *registry.METHODS))
    modules = {registry.module_of(registry.target(kind, name)) for kind, name in named}
    server = ForkServer(sorted(modules))
    try:
        server.start()
    # Not an error yet: all cells may be stored already, and no server needed
    except PlabError:
        return None
    return server


def _refusal(reason: str) -> str:
    return f"{sys.executable}, the interpreter that runs the cells, cannot be started {reason}"
