"""Calls of external solvers in a process that is killed at the time limit.

HiGHS's presolve, one factorisation of an interior-point method or a loop of LIBLINEAR may run for
minutes without a look at a clock or at signals. Large programs are therefore handed to a worker: a
process of Python that is started at the first such call, and again after it was killed.
"""

from __future__ import annotations

import atexit
import io
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any, Final, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.external_programs import end_programs
from perceptron_lab.core.time_limit import TimeIsUp, check_time, time_is_up

_Value = TypeVar("_Value")

_PAUSE: Final = 0.05  # Seconds between two looks at the clock
_LENGTH: Final = 8  # Bytes that say how long a message is
# The path of modules comes first: the worker imports what its parent could
_MAIN: Final = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from perceptron_lab.core.killable_calls import serve; serve()"
)
_IDLE: list[_Worker] = []
_DIRECT: list[bool] = []  # Not empty where calls are made in this process


def call_directly() -> None:
    """Run all calls in this process, because another process already kills it in time.

    So the times that are compared are those of the solvers alone.
    """
    _DIRECT.append(True)


def killable(function: Callable[..., _Value], *arguments: object) -> _Value:
    """Call a function in another process until the time is up, and return its value.

    Parameters
    ----------
    function
        Of a module; it and its arguments are pickled, arrays of a mapped file as their places in
        the file. It has no time limit there: hand it ``seconds_left()``.

    Raises
    ------
    TimeIsUp
        If a time limit ends first: the process is killed.
    NumericalError
        If the process ends by itself. Exceptions of the function are raised again.
    """
    if _DIRECT or not sys.executable:  # or Python is embedded in another program
        return function(*arguments)
    # Not even a process is started once the time is up
    check_time()
    worker = _worker()
    try:
        succeeded, value = worker.answer((function, arguments))
    # KeyboardInterrupt too: the worker would go on computing
    except BaseException:
        worker.kill()
        raise
    # Kept, since starting Python and importing a solver takes longer than many calls
    _IDLE.append(worker)
    # After the worker is idle again: an error of the function is no fault of the worker
    if not succeeded:
        raise value
    return value  # type: ignore[no-any-return]


def _worker() -> _Worker:
    """Return an idle worker of this process, or a new one."""
    while _IDLE:
        worker = _IDLE.pop()
        if worker.usable:
            return worker
        worker.kill()
    return _Worker()


class _Worker:
    """A process that executes function calls one after the other."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _MAIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout
        pickle.dump(sys.path, self._requests)
        self._requests.flush()

    @property
    def usable(self) -> bool:
        """Whether the worker is alive and belongs to this process, not to its parent."""
        # A fork shares the parent's pipes, and replies would reach the wrong process
        return self._owner == os.getpid() and self._process.poll() is None

    def answer(self, request: object) -> tuple[bool, Any]:
        """Return whether a call succeeded, and its value or its exception."""
        # A queue per call: a reply that is late cannot be taken for that of the next call
        replies: Queue[bytes | None] = Queue()
        # Pickled here, so that an error is raised to the caller and not in the thread
        content = _pickled(request)
        # Reading a pipe has no time limit; a daemon thread does not delay the end of Python
        Thread(target=self._exchange, args=(content, replies), daemon=True).start()
        while True:
            try:
                reply = replies.get(timeout=_PAUSE)
            except Empty:
                if time_is_up():
                    raise TimeIsUp from None
                continue
            # As after a crash of the solver, or when the system runs out of memory
            if reply is None:
                raise NumericalError("the process of the solver ended without an answer")
            return pickle.loads(reply)  # type: ignore[no-any-return]

    def _exchange(self, content: bytes, replies: Queue[bytes | None]) -> None:
        try:
            _write(self._requests, content)
            replies.put(_read(self._replies))
        except (OSError, ValueError):  # killed, or closed
            replies.put(None)

    def kill(self) -> None:
        """End the process."""
        # A fork must not kill the worker of its parent
        if self._owner != os.getpid():
            return
        try:
            # A program that it runs has to end first; within a solver it does not hear this
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_PAUSE)
        finally:
            self._process.kill()
        # Without it the killed process remains as a zombie
        self._process.wait()
        for pipe in (self._requests, self._replies):
            with suppress(OSError):  # what was not written yet
                pipe.close()


class _Pickler(pickle.Pickler):
    """A pickler that writes an array in a mapped file as the file's path and offset."""

    def reducer_override(self, value: Any) -> Any:
        """Return the reconstruction of a view of a mapped file, and pickle's default otherwise."""
        mapped = mapping(value)
        # Mode "c" has private changes that the file does not show
        if mapped is None or mapped.mode == "c" or not os.path.isfile(mapped.filename or ""):
            return NotImplemented
        # The view may begin anywhere in the mapped part
        offset = mapped.offset + value.ctypes.data - mapped.ctypes.data
        return _remap, (mapped.filename, offset, value.dtype, value.shape, value.strides)


def mapping(data: object) -> np.memmap[Any, Any] | None:
    """Return the mapped file that an array is a view of, or None."""
    mapped = None
    while isinstance(data, np.ndarray):
        mapped = data if isinstance(data, np.memmap) else None
        # The last memmap of the chain is the one that opened the file
        data = data.base
    return mapped


def _remap(
    name: str, offset: int, kind: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]
) -> npt.NDArray[Any]:
    # Bytes, since the view need not begin at a multiple of the size of its type
    content = np.memmap(name, np.uint8, "r")
    return np.ndarray(shape, kind, content, offset, strides)


def _pickled(value: object) -> bytes:
    content = io.BytesIO()
    _Pickler(content, pickle.HIGHEST_PROTOCOL).dump(value)
    return content.getvalue()


@atexit.register
def _kill_idle() -> None:
    while _IDLE:
        _IDLE.pop().kill()


def _write(file: IO[bytes], content: bytes) -> None:
    file.write(len(content).to_bytes(_LENGTH, "little"))
    file.write(content)
    file.flush()


def _read(file: IO[bytes]) -> bytes | None:
    """Return the next message; None at the end of the file."""
    length = int.from_bytes(head := file.read(_LENGTH), "little")
    content = file.read(length)
    # A process that was killed may leave half a message
    return content if len(head) == _LENGTH and len(content) == length else None


def serve() -> NoReturn:
    """Serve the calls that arrive on standard input until it ends: the worker's main loop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which kills us
    signal.signal(signal.SIGTERM, _end)
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what solvers print is no reply
    requests: Queue[bytes] = Queue()
    # While the main thread is inside a solver, only another one notices the end of input
    Thread(target=_receive, args=(requests,), daemon=True).start()
    while True:
        function, arguments = pickle.loads(requests.get())
        try:
            reply = True, function(*arguments)
        except Exception as error:
            reply = False, error
        _write(replies, pickle.dumps(reply))


def _receive(requests: Queue[bytes]) -> None:
    """Queue requests; if the parent has ended, end this process even within a call."""
    while (content := _read(sys.stdin.buffer)) is not None:
        requests.put(content)
    _end()


def _end(*_: object) -> NoReturn:
    end_programs()
    # sys.exit would end one thread alone
    os._exit(0)
