"""Where datasets write, and how much they may make: a verification keeps them in a folder.

A certificate names a dataset with all its parameters, folders and sizes among them. Whoever proves
it again has not chosen them, so that within :func:`confined` nothing is written anywhere but below
one folder, and nothing larger is generated than was allowed. Files are read from where they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from perceptron_lab.core.errors import DataError

# Bytes that a verification generates for one problem unless more are allowed
GENERATED: Final = 500_000_000

_CONFINED: ContextVar[tuple[Path, int] | None] = ContextVar("_CONFINED", default=None)


@contextmanager
def confined(folder: Path, most: int) -> Iterator[None]:
    """Let datasets within write below an existing folder only, and generate ``most`` bytes."""
    token = _CONFINED.set((folder, most))
    try:
        yield
    finally:
        _CONFINED.reset(token)


def written(folder: Path) -> Path:
    """Return where files of a folder are written: there, unless writing is confined."""
    held = _CONFINED.get()
    if held is None:
        return folder
    # A hash, since its own name may be `..`
    return held[0] / hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:16]


def check_generated(size: int, what: str) -> None:
    """Raise a ``DataError`` if so many bytes are more than may be generated under a name."""
    held = _CONFINED.get()
    if held is not None and size > held[1]:
        needed = f"{-(-size // 10**6)}MB"
        raise DataError(
            f"{what} would have to be generated, {size / 1e6:.1f} MB; a verification generates "
            f"{held[1] / 1e6:g} MB unasked, `plab verify --generate {needed}` this as well"
        )
