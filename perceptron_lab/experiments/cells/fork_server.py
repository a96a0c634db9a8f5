"""The fork server: a process with all modules loaded, which forks a process for each cell.

It runs alone in its own session with one thread, reads requests from a socket and reports on the
same. It dies with the process that started it, and all of its cells die with it.
"""

from __future__ import annotations

import gc
import os
import pkgutil
import select
import signal
import socket
import traceback
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import scipy.linalg

from perceptron_lab.experiments.cells import messages, operating_system
from perceptron_lab.experiments.cells.cell_run import Handles, run_job, thread_pools
from perceptron_lab.numerics.compiled.kernel import load_kernels

# What the numerical core imports where it is used
_LATE = (
    *("scipy.optimize", "scipy.sparse.linalg", "scipy.spatial.distance", "scipy.special"),
    "perceptron_lab.systems.exact_solutions",
)
_PATIENCE = 1.0  # seconds between looks at whether the parent is still there


def serve(handle: int, parent: int, packages: Iterable[str], modules: Iterable[str]) -> None:
    """Load all modules and serve until the parent exits.

    Parameters
    ----------
    handle
        The file descriptor of the socket.
    parent
        The process id of the parent.
    packages
        The folders of the package that make up its numerical core.
    modules
        Further modules that cells need.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Otherwise processes that a cell leaves behind go to init, out of the reach of end_orphans
    operating_system.adopt_orphans()
    operating_system.end_with_parent(parent)  # as long as it does not look for its parent itself
    # Slow, so it happens before the socket is read: the kernel queues the first requests
    preload(packages, modules)
    operating_system.outlive_parent()  # to Linux the parent is the thread that has started this
    with socket.socket(fileno=handle) as channel:
        _Server(channel).serve(parent)
    os._exit(0)


def preload(packages: Iterable[str], modules: Iterable[str]) -> None:
    """Import the numerical core and further modules, so that no forked process has to.

    Kernels that have been compiled before are loaded as well. A module that cannot be imported is
    left to the cell that needs it, which will say why.
    """
    for part in packages:
        package = import_module(f"perceptron_lab.{part}")
        for module in pkgutil.iter_modules(package.__path__):
            import_module(f"{package.__name__}.{module.name}")
    for name in (*_LATE, *modules):
        with suppress(Exception, SystemExit):
            import_module(name)
    # Compiling here would delay all cells; the cell that needs a kernel compiles it
    load_kernels(compiling=False)
    # Found once and inherited, since the search takes as long as a small cell
    thread_pools()
    # OpenBLAS takes 32 MB at its first call, in numpy and in scipy. Where a limit of memory leaves
    # no room for them it does not fail, but asks for ever; a forked process has those taken here.
    matrix = np.eye(2)
    np.linalg.cholesky(matrix)
    scipy.linalg.cholesky(matrix)
    # Garbage is collected before, because frozen objects are never collected
    gc.collect()
    gc.freeze()  # what is shared with the forked processes stays shared


class _Server:
    """The loop: requests from the socket, ends of processes from the kernel."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.numbers: dict[int, int] = {}  # of the running cells, by process id
        self.woken, waker = os.pipe()
        # A signal handler must never block on a full pipe, nor the loop on an empty one
        os.set_blocking(self.woken, False)
        os.set_blocking(waker, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # as long as a handler is set,
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)  # the end of a process wakes us

    def serve(self, parent: int) -> None:
        """Serve until the socket is closed or the parent has changed."""
        sources: list[socket.socket | int] = [self.channel, self.woken]
        try:
            self.report(messages.READY)
            # Not by the socket alone: another child of the parent may hold its end open
            while os.getppid() == parent:
                readable, _, _ = select.select(sources, [], [], _PATIENCE)
                if self.woken in readable:
                    os.read(self.woken, 4096)
                    self.reap()
                if self.channel in readable and not self.answer():
                    break
        except OSError:
            pass  # the socket broke: the parent is gone
        finally:
            self.end_all()

    def report(self, kind: int, *content: int) -> None:
        """Send a report to the parent."""
        self.channel.sendall(messages.REPORT.pack(kind, *content, *[0] * (3 - len(content))))

    def answer(self) -> bool:
        """Process the next request; return False after the last one."""
        size = messages.REQUEST.size
        received, handles, _, _ = socket.recv_fds(self.channel, size, len(Handles._fields))
        # Requests are sent whole: less than one means that the parent has closed its end
        if len(received) < size:
            return False
        kind, number, memory = messages.REQUEST.unpack(received)
        if kind == messages.LAUNCH:
            self.launch(number, memory, Handles(*handles))
        else:
            self.kill(number)
        return True

    def launch(self, number: int, memory: int, handles: Handles) -> None:
        """Fork a process for a cell."""
        for handle in handles:
            # A program started by a cell must not keep its socket open after its end
            os.set_inheritable(handle, False)
        server = os.getpid()
        try:
            child = os.fork()
        # Too many processes or too little memory: only this cell is refused, the server continues
        except OSError as error:
            self.report(messages.REFUSED, number, error.errno or 0)
            child = -1
        if child == 0:
            self.become(handles, memory, server)
        for handle in handles:
            # The server's copies would keep the pipes open after the end of the cell
            os.close(handle)
        if child > 0:
            with suppress(OSError):  # whichever of the two is first
                os.setpgid(child, child)
            self.numbers[child] = number
            self.report(messages.STARTED, number, child)

    def become(self, handles: Handles, memory: int, server: int) -> None:
        """Run a cell in this forked process, which must never continue as a second server."""
        try:
            # A cell must not be able to read requests or to send reports as the server
            self.channel.close()
            os.close(self.woken)
            run_job(handles, memory, server)
        # run_job never returns; whatever escapes from it goes to the cell's output for its row
        except BaseException:
            with suppress(BaseException):
                os.write(2, traceback.format_exc().encode())
        finally:
            # Not sys.exit: it could be caught above, and two servers would answer on one socket
            os._exit(1)

    def kill(self, number: int) -> None:
        """Kill a cell with all processes that it has started, if it still runs."""
        for child, running in self.numbers.items():
            if running == number:
                _kill_group(child)

    def reap(self) -> None:
        """Report the cells that have ended, and end the processes that they have left behind."""
        # One wake-up may stand for several ended processes: pending signals of a kind are merged
        while True:
            try:  # found, but not reaped
                # A process that is not reaped keeps its id and its group
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None:
                return
            if ended.si_pid in self.numbers:
                _kill_group(ended.si_pid)  # before its id is given back, to be used again
            # wait4 alone reports the peak memory of this one process
            _, status, usage = os.wait4(ended.si_pid, 0)
            number = self.numbers.pop(ended.si_pid, None)
            if number is not None:
                self.end_orphans()
                # Linux counts in KiB, macOS in bytes
                peak = usage.ru_maxrss * (1024 if operating_system.LINUX else 1)
                self.report(messages.ENDED, number, status, peak)

    def end_orphans(self) -> None:
        """Kill the children that are no cells: processes that a cell has started and left."""
        me = os.getpid()
        try:  # on Linux, where it adopts the children of its cells
            children = Path(f"/proc/{me}/task/{me}/children").read_text().split()
        except OSError:
            return
        for child in map(int, children):
            if child not in self.numbers:
                with suppress(OSError):
                    os.kill(child, signal.SIGKILL)

    def end_all(self) -> None:
        """Kill every cell and wait for it."""
        for child in self.numbers:
            _kill_group(child)
        # All are killed before the first wait, so that none runs on while another one ends
        for child in self.numbers:
            with suppress(OSError):
                os.waitpid(child, 0)
        self.end_orphans()


def _kill_group(leader: int) -> None:
    """Kill a process and those that it has started, unless they left its group."""
    # The leader by its own id too: it may not have made its group yet, or have left it
    for kill in (os.killpg, os.kill):
        with suppress(OSError):
            kill(leader, signal.SIGKILL)
