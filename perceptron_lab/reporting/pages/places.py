"""Texts without places of the machine: pages are sent to others."""

from __future__ import annotations

import re
from pathlib import PurePath, PureWindowsPath
from typing import Any

# An absolute path of two parts or more; not that of an address, and no fraction such as a/b.
_PLACES = re.compile(
    r"(?<![\w.:/\\<])(?:(?:/[\w.@+~-]+){2,}/?|[A-Za-z]:(?:\\[^\s\\/:*?\"<>|,;]+){2,}\\?)"
)


def without_places(text: str) -> str:
    """Return a text in which absolute paths have their last part alone.

    Examples
    --------
    >>> without_places("/srv/data/a.csv, line 3: 1/2 is no number")
    'a.csv, line 3: 1/2 is no number'
    """

    def last(found: re.Match[str]) -> str:
        path: PurePath = PureWindowsPath(found[0])  # it takes both kinds of slashes
        return path.name

    return _PLACES.sub(last, text)


def placeless(tree: Any) -> Any:
    """Return a tree of JSON values whose texts have no absolute paths."""
    if isinstance(tree, dict):
        return {key: placeless(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [placeless(value) for value in tree]
    return without_places(tree) if isinstance(tree, str) else tree
