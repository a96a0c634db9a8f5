"""Where results were made: the machine and the software, without names of hosts or users."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from perceptron_lab.core.version import __version__
from perceptron_lab.experiments.provenance.privacy import masked

_PACKAGES = (
    "clarabel",
    "cvxpy",
    "llvmlite",
    "numba",
    "numpy",
    "pandas",
    "pydantic",
    "pyyaml",
    "scikit-learn",
    "scipy",
    "scs",
    "threadpoolctl",
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
    described: dict[str, Any] = {
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


def identity(described: dict[str, Any]) -> str:
    """Return 8 hexadecimal digits that differ where the machine or the software does."""
    lasting = {key: value for key, value in described.items() if key not in _TRANSIENT}
    return hashlib.sha256(json.dumps(lasting, sort_keys=True).encode()).hexdigest()[:8]


def _thread_pools() -> list[dict[str, Any]]:
    """Describe the thread pools of BLAS as cells have them; those of numpy and scipy are two.

    Other packages bring further ones, which are there only once those packages are loaded.
    """
    import numpy.linalg  # noqa: F401 - only loaded libraries are listed
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info, threadpool_limits

    keys = ("internal_api", "version", "architecture", "num_threads")
    with threadpool_limits(limits=1):  # whatever this process has: those of cells have one thread
        loaded = [pool for pool in threadpool_info() if pool.get("user_api") == "blas"]
    # Those that lie beside numpy's or scipy's own files.
    bundled = [
        pool
        for pool in loaded
        if any(part.startswith(("numpy", "scipy")) for part in Path(pool["filepath"]).parts[-3:-1])
    ]
    pools = [{key: pool.get(key) for key in keys} for pool in bundled or loaded]
    return sorted(pools, key=lambda pool: json.dumps(pool, sort_keys=True))


def packages() -> dict[str, str | None]:
    """Return the versions of this package and of those that its numbers depend on."""
    found = {name: [one.version for one in distributions(name=name)] for name in _PACKAGES}
    ours = {"perceptron-lab": __version__}
    return ours | {name: versions[0] if versions else None for name, versions in found.items()}


def revision_of(root: Path) -> dict[str, Any] | None:
    """Return the revision of a clone, and whether its files were changed; None for no clone."""
    if not (root / ".git").exists():
        return None
    asked = ["describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *asked], capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = done.stdout.strip()
    dirty = found.endswith("-dirty")
    return {"revision": found.removesuffix("-dirty"), "dirty": dirty} if found else None
