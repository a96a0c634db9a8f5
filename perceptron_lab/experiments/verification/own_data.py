"""The user's own file that an answer is about: found by its name, compared before it is parsed.

An answer may come from anybody, and names a file to read. Nothing of a file is told, neither its
hash nor a line that cannot be parsed, unless it is the one that the answer is of.
"""

from __future__ import annotations

from pathlib import Path

from perceptron_lab.datasets.regular_files import sha256_of
from perceptron_lab.errors import DataError

MEND = "if the data have moved, name the folder that they are in: --base DIR"


class ChangedDataError(DataError):
    """The data are not those that an answer is about."""


def file_in(folder: Path, name: str, *, named: bool) -> Path:
    """Return a file of a folder, without opening it.

    Parameters
    ----------
    folder
        Of the data.
    name
        The file's, as an answer states it.
    named
        Whether the user has named the folder: then links that lead out of it are followed.

    Raises
    ------
    DataError
        If the name is none of a file in this folder, or a link that leads out of it.
    """
    if not name or name != Path(name).name or name == ".." or "\0" in name:
        raise DataError(f"{name[:80]!r} is no name of a file in the folder of the data; {MEND}")
    path = folder / name
    if not named and not path.resolve().is_relative_to(folder.resolve()):
        raise DataError(f"{name[:80]!r} is a link to a file in another folder; {MEND}")
    return path


def check_own_file(path: Path, sha256: str) -> None:
    """Raise a ``ChangedDataError`` unless a file has this sha256; an absent one is for its reader.

    A ``DataError`` refuses what is no regular file: reading it might never end.
    """
    if not path.is_file():
        if path.exists():
            raise DataError(f"{path.name[:80]!r} is no regular file; {MEND}")
        return
    if sha256_of(path) != sha256:
        raise ChangedDataError(f"the file has another sha256, the claims are of {sha256[:16]}...")
