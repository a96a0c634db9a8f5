"""Files that are never seen half written."""

from __future__ import annotations

import tempfile
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place, and move it there once it is complete.

    Parameters
    ----------
    path
        Its place, in a folder that exists; a file that is there is replaced.
    content
        Its bytes.

    Raises
    ------
    OSError
        If it cannot be written; then nothing is left behind.
    """
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
        aside = Path(file.name)
        try:
            file.write(content)
            file.close()
            aside.replace(path)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
