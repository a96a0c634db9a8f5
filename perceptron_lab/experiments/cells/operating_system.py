"""Memory limits of processes, and processes that end with their parent.

Nothing that takes time is imported here.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from perceptron_lab.core.errors import ConfigError

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_STATUS = Path("/proc/self/status")
LINUX = sys.platform.startswith("linux")


def require_limited_processes() -> None:
    """Raise ConfigError where no cell can run: its process needs POSIX."""
    if not resource:
        raise ConfigError(
            f"experiments run each cell in a limited process, which {sys.platform} cannot do; run "
            "them on Linux or macOS (on Windows: in WSL)"
        )


def end_with_parent(parent: int) -> None:
    """Have Linux kill this process as soon as its parent dies; end it if the parent is gone."""
    # SIGKILL, since no cell can block or ignore it
    _prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    # The parent may have died before the request, which then never fires
    if os.getppid() != parent:
        os._exit(1)


def outlive_parent() -> None:
    """Undo :func:`end_with_parent`."""
    _prctl(1, 0)


def adopt_orphans() -> None:
    """Make this process the parent of the orphans of its children (Linux only)."""
    _prctl(36, 1)  # PR_SET_CHILD_SUBREAPER


def _prctl(option: int, value: int) -> None:
    if LINUX:
        ctypes.CDLL(None).prctl(option, value)


def isolate(parent: int) -> None:
    """Put this process in a new process group, ended with its parent, without core files."""
    # One signal to the group then ends a cell with all that it has started
    os.setpgid(0, 0)
    end_with_parent(parent)
    with suppress(OSError):  # where memory runs out, Linux shall end cells first
        Path("/proc/self/oom_score_adj").write_text("500")
    # A sweep with many crashing cells would fill the disk with core files
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory(memory: int | None) -> None:
    """Limit the further memory of this process in bytes; larger allocations fail.

    Counted is private writable memory as it is asked for, used or not (Linux's RLIMIT_DATA), but
    not files that are mapped to be read. Elsewhere than on Linux nothing is limited.

    Parameters
    ----------
    memory
        Bytes, more than 0; None lifts the limit.
    """
    # macOS accepts such a limit without enforcing it
    if not LINUX:
        return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    allowed = hard
    if memory is not None:
        # What the forked interpreter has already is not charged to the cell
        allowed = 1024 * _number(_STATUS, "VmData:") + memory
        # A soft limit above the hard one is refused by the kernel
        allowed = allowed if hard == resource.RLIM_INFINITY else min(allowed, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))


@contextmanager
def unlimited_memory() -> Iterator[None]:
    """Lift the limit of memory; what is allocated meanwhile does not count."""
    if not LINUX:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    left = soft - 1024 * _number(_STATUS, "VmData:")
    limit_memory(None)
    yield
    # Equal limits mean that none was set here
    if soft != hard:
        limit_memory(max(left, 1))


def _number(path: Path, name: str) -> int:
    """Return the number after a name in one of the kernel's files; 0 without the name."""
    lines = (line.split() for line in path.read_text().splitlines())
    return next((int(words[1]) for words in lines if words and words[0] == name), 0)


def machine_memory() -> int:
    """Return the bytes of memory of the machine, or of the container if that has fewer."""
    if not resource:  # nor os.sysconf; no cell runs there
        return 0
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        # A container's own limit: the kernel kills there long before the machine is full
        granted = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return physical
    return min(physical, int(granted)) if granted.isdigit() else physical


def memory_of(limit: int | None, workers: int = 1) -> int:
    """Return the memory in bytes for each of a number of parallel processes."""
    return machine_memory() // workers if limit is None else limit


def kernel_kills() -> int:
    """Return how many processes the kernel has killed for lack of memory; 0 if it does not say."""
    try:
        return _number(Path("/proc/vmstat"), "oom_kill")
    except OSError:
        return 0


def in_words(memory: int) -> str:
    """Return a number of bytes for readers: ``1.5 GiB``."""
    size, units = float(memory), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return f"{size:.4g} {units[0]}"
