"""Describe the machine and the software, without host names, user names and secrets.

Results are given to others. A command line may hold passwords, and paths hold the name of whoever
owns them; neither is needed to understand what was run.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from perceptron_lab.core.version import __version__

_PACKAGES = (
    *("clarabel", "cvxpy", "llvmlite", "numba", "numpy", "pandas", "pydantic", "pyyaml"),
    *("scikit-learn", "scipy", "scs", "threadpoolctl"),
)
_TRANSIENT = ("id", "time", "argv")


def environment() -> dict[str, Any]:
    """Describe this machine and the software in use.

    Returns
    -------
    dict
        ``id`` (8 hexadecimal digits of everything but the time and the command line), ``time``
        (UTC), ``argv`` (without user names and secrets), ``cpu``, ``cores``, ``memory_bytes``,
        ``system``, ``python``, ``blas``, ``packages`` and ``git`` (revision, and whether it was
        changed; None outside a clone).
    """
    listed = Path("/proc/cpuinfo")
    text = listed.read_text(encoding="utf-8", errors="replace") if listed.is_file() else ""
    models = re.findall(r"^model name.*?:[ \t]*(.*?)[ \t]*$", text, re.MULTILINE)
    described: dict[str, object] = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "argv": [Path(sys.argv[0]).name, *masked(sys.argv[1:])],
        "cpu": models[0] if models else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "blas": _thread_pools(),
        "packages": packages(),
        "git": revision_of(Path(__file__).resolve().parents[3]),
    }
    return {"id": identity(described)} | described


def identity(described: dict[str, object]) -> str:
    """Return 8 hexadecimal digits that differ where the machine or the software does."""
    lasting = {key: value for key, value in described.items() if key not in _TRANSIENT}
    return hashlib.sha256(json.dumps(lasting, sort_keys=True).encode()).hexdigest()[:8]


def _thread_pools() -> list[dict[str, object]]:
    """Describe the thread pools of BLAS as cells have them; those of numpy and scipy are two.

    Other packages bring further ones, which are there only once those packages are loaded.
    """
    import numpy.linalg  # noqa: F401 - only loaded libraries are listed
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info, threadpool_limits

    keys = ("internal_api", "version", "architecture", "num_threads")
    with threadpool_limits(limits=1):  # whatever this process has: those of cells have one thread
        loaded = [pool for pool in threadpool_info() if pool.get("user_api") == "blas"]
    # Libraries in the folders of numpy or scipy.
    bundled = [
        pool
        for pool in loaded
        if any(part.startswith(("numpy", "scipy")) for part in Path(pool["filepath"]).parts[-3:-1])
    ]
    pools = [{key: pool.get(key) for key in keys} for pool in bundled or loaded]
    return sorted(pools, key=lambda pool: json.dumps(pool, sort_keys=True))


def packages() -> dict[str, str | None]:
    """Return the versions of this package and of those that its numbers depend on."""
    return {"perceptron-lab": __version__} | _versions()


@cache
def _versions() -> dict[str, str | None]:
    versions_of = {
        name: [distribution.version for distribution in distributions(name=name)]
        for name in _PACKAGES
    }
    return {name: versions[0] if versions else None for name, versions in versions_of.items()}


def revision_of(root: Path) -> dict[str, object] | None:
    """Return the revision of a clone, and whether its files were changed; None for no clone."""
    if not (root / ".git").exists():
        return None
    arguments = ["describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
    try:
        completed = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    revision = completed.stdout.strip()
    dirty = revision.endswith("-dirty")
    return {"revision": revision.removesuffix("-dirty"), "dirty": dirty} if revision else None


HIDDEN: Final = "***"
"""In the place of a secret."""
USER: Final = "USER"
"""In the place of the user's name in a path."""

_SECRET = r"(?:pass(?:word|wd|phrase)?|secret|token|credentials?|auth\w*|api[-_]?key|\w*[-_]key)"
_NAMED: Final = re.compile(rf"([\w.-]*{_SECRET}[\w-]*)(\s*[=:]\s*)([^\s&;,]+)", re.IGNORECASE)
_OPTION: Final = re.compile(rf"--?[\w-]*{_SECRET}[\w-]*", re.IGNORECASE)
_IN_ADDRESS: Final = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_TOKEN: Final = re.compile(
    r"\b(?:gh[opsu]_|github_pat_|glpat-|hf_|sk-|xox[abpr]-|AKIA|eyJ)[\w.-]{8,}"
    r"|\b(?=[\w-]*[0-9])(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{40,}"
)


def masked(words: Iterable[str]) -> list[str]:
    """Return the words of a command line without user names and secrets.

    A value is a secret if its option or key is called so (``--token``, ``api_key=``), if it is the
    user information of an address, or if it looks like a token: a known prefix, or 40 or more
    letters and digits without a break.
    """
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # the system has no name for it, as in a container
        user = ""
    homes = sorted({str(Path.home()), str(_home())}, key=len, reverse=True)
    patterns = [(rf"{re.escape(home)}(?=/|$)", "~") for home in homes if len(home) > 1]
    patterns += [(rf"(?<=/){re.escape(user)}(?=/|$)", USER)] if user else []
    masked_texts = []
    secret = False
    for word in words:
        text = word
        for pattern, other in patterns:
            text = re.sub(pattern, other, text)
        text = _NAMED.sub(rf"\1\2{HIDDEN}", _IN_ADDRESS.sub(HIDDEN, text))
        masked_texts.append(HIDDEN if secret else _TOKEN.sub(HIDDEN, text))
        secret = _OPTION.fullmatch(word) is not None
    return masked_texts


def portable(path: Path, start: Path) -> str:
    """Return a path as results hold it: relative, or from the home on; absolute as a last resort.

    Parameters
    ----------
    path
        The path, absolute or relative to the current folder.
    start
        The folder that it is relative to, if both lie in one folder that does not hold the home.
    """
    path, start = path.resolve(), start.resolve()
    home = _home()
    common = Path(os.path.commonpath([path, start]))
    if common == home or not home.is_relative_to(common):
        return os.path.relpath(path, start)
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def resolved(text: str, start: Path) -> Path:
    """Return the path that :func:`portable` has made a text of."""
    if text == "~" or text.startswith("~/"):
        return _home() / text[2:]
    return (start / text).resolve()


def _home() -> Path:
    return Path.home().resolve()
