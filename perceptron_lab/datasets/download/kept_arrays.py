"""Arrays that take seconds to compute, kept in a folder by a hash of all that they depend on.

The name of a file, ``STEM-KEY-SHA256.npz``, holds that hash and the sha256 of its bytes. A file
whose bytes are others, damaged or cut off, is never read as arrays but computed again and
replaced. Where the folder cannot be written, arrays are computed every time.

Whoever writes other arrays into the folder, under the sha256 of their bytes, is believed here: that
is what ``plab data verify`` is for, which computes them again, and ``plab verify``, which uses none
that were kept.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_lab.durable_files import replace_file

Arrays = Mapping[str, npt.NDArray[Any]]


def key_of(*parts: str) -> str:
    """Return a hash of texts, in this order, as 16 hexadecimal digits."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def kept_arrays(folder: Path, stem: str, key: str, make: Callable[[], Arrays]) -> Arrays:
    """Return the arrays kept under a key of :func:`key_of`, or make and keep them.

    The folder need not exist; the stem, of letters, digits and hyphens, names the kind of arrays.
    """
    found = found_arrays(folder, stem, key)
    if found is not None:
        return found
    arrays = make()
    content = BytesIO()
    np.savez(content, **dict(arrays))  # type: ignore[arg-type]
    data = content.getvalue()
    # An unwritable folder costs time, and changes no result.
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        for damaged in folder.glob(f"{stem}-{key}-*.npz"):
            damaged.unlink(missing_ok=True)
        replace_file(folder / f"{stem}-{key}-{hashlib.sha256(data).hexdigest()}.npz", data)
    return arrays


def found_arrays(folder: Path, stem: str, key: str) -> Arrays | None:
    """Return the arrays kept under a key, or None; arguments as in :func:`kept_arrays`."""
    for path in sorted(folder.glob(f"{stem}-{key}-*.npz")):
        try:
            content = path.read_bytes()
        except OSError:
            continue
        if hashlib.sha256(content).hexdigest() == path.stem.rpartition("-")[2]:
            with np.load(BytesIO(content), allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
    return None
