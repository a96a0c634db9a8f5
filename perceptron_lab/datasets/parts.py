"""Data in parts: the files of a folder, or those that match a pattern, in one order."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from perceptron_lab.core.errors import DataError, MissingDataError
from perceptron_lab.datasets.regular_files import names_in, sha256_of

_WILD: Final = re.compile(r"[*?\[]")


def is_parts(path: Path) -> bool:
    """Return whether a path stands for several files: a folder, or a pattern that is no file."""
    return path.is_dir() or (_WILD.search(path.name) is not None and not path.exists())


def parts_of(path: Path) -> tuple[Path, ...]:
    """Return the files of a folder, or those whose names match a pattern, in their order.

    Names are sorted, numbers in them by their values: ``part-9`` comes before ``part-10``. Names
    that begin with ``.`` or ``_`` are no parts, such as ``_SUCCESS``.

    Parameters
    ----------
    path
        A folder, or a path whose last component is a pattern (``*``, ``?``, ``[abc]``).

    Raises
    ------
    MissingDataError
        If there are none.
    DataError
        If one is a folder.
    """
    folder, pattern = (path, "*") if path.is_dir() else (path.parent, path.name)
    names = [name for name in names_in(folder) if fnmatchcase(name, pattern)]
    names = sorted((name for name in names if name[0] not in "._"), key=_natural)
    if not names:
        raise MissingDataError(
            f"{path}: no file matches",
            f"{folder} is no folder" if not folder.is_dir() else "give a folder or pattern of data",
        )
    inner = next((name for name in names if (folder / name).is_dir()), None)
    if inner is not None:
        raise DataError(
            f"{folder / inner} is a folder; parts are files of one folder: give a pattern of their "
            "names, or move them"
        )
    return tuple(folder / name for name in names)


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the parts that a path stands for, or the path itself."""
    return parts_of(path) if is_parts(path) else (path,)


def _natural(name: str) -> tuple[list[tuple[str, int]], str]:
    """Return the sort key of a name, in which numbers count by their values."""
    pairs = re.findall(r"([^0-9]*)([0-9]*)", name)
    return [(text, int(digits or -1)) for text, digits in pairs], name


def part_digests(path: Path) -> dict[str, str]:
    """Return the name of each part -> its sha256, in the order of the parts."""
    return {part.name: sha256_of(part) for part in parts_of(path)}


def digest_of_parts(digests: Mapping[str, str]) -> str:
    """Return the sha256 of the listing that ``sha256sum`` prints of the parts, in their order."""
    listing = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    return hashlib.sha256(listing.encode()).hexdigest()


def sha256_of_data(path: Path) -> str:
    """Return the sha256 of a file, or of the listing of its parts."""
    return digest_of_parts(part_digests(path)) if is_parts(path) else sha256_of(path)


def recorded_digests(path: Path) -> dict[str, object]:
    """Return what an answer records of its data: ``sha256``, and of parts ``parts`` as well."""
    if not is_parts(path):
        return {"sha256": sha256_of(path)}
    digests = part_digests(path)
    return {"sha256": digest_of_parts(digests), "parts": digests}


def difference(recorded: Mapping[str, str], digests: Mapping[str, str]) -> str:
    """Return how parts differ from recorded ones, with their names; empty if they are the same."""
    names = [*recorded, *(name for name in digests if name not in recorded)]
    for name in names:
        if name not in digests:
            return f"the part {name!r} is missing"
        if name not in recorded:
            return f"the part {name!r} is additional"
        if digests[name] != recorded[name]:
            return f"the part {name!r} has another sha256"
    return ""
