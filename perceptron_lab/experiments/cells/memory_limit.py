"""How much memory a process may have, and whether the kernel ends processes for lack of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from perceptron_lab.errors import ConfigError

try:
    import resource
except ImportError:
    raise ConfigError(
        f"experiments run each cell in a limited process, which {sys.platform} cannot do; run them "
        "on Linux or macOS (on Windows: in WSL)"
    ) from None

LINUX = sys.platform.startswith("linux")
_UNLIMITED = resource.RLIM_INFINITY


def limit_memory(memory: int) -> None:
    """Let this process allocate at most so many bytes more; beyond them allocations fail.

    Counted is private writable memory as it is asked for, used or not (Linux's RLIMIT_DATA), but
    not files that are mapped to be read. Elsewhere than on Linux nothing is limited.

    Parameters
    ----------
    memory
        Bytes, more than 0.
    """
    if LINUX:
        _set_limit(_data_bytes() + memory)


def lift_memory_limit() -> None:
    """Let this process allocate what it wants to again."""
    if LINUX:
        _set_limit(_UNLIMITED)


def dump_no_memory() -> None:
    """Let a crash of this process leave no file with its memory behind."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _set_limit(allowed: int) -> None:
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if hard != _UNLIMITED and (allowed == _UNLIMITED or allowed > hard):
        allowed = hard
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))


def _data_bytes() -> int:
    """Return the private writable memory that this process has now."""
    return 1024 * _number(Path("/proc/self/status"), "VmData:")


def _number(path: Path, name: str) -> int:
    """Return the number after a name in one of the kernel's files; 0 without the name."""
    lines = (line.split() for line in path.read_text().splitlines())
    return next((int(words[1]) for words in lines if words and words[0] == name), 0)


def machine_memory() -> int:
    """Return the bytes of memory of the machine, or of the container if that has fewer."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        granted = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return physical
    return min(physical, int(granted)) if granted.isdigit() else physical


def kernel_kills() -> int:
    """Return how many processes the kernel has killed for lack of memory since it was started.

    0 where it does not say.
    """
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
