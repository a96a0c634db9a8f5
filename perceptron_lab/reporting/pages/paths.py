"""Texts without absolute paths: pages are sent to others."""

from __future__ import annotations

import re
from pathlib import PureWindowsPath
from typing import Any

# An absolute path of two parts or more; not that of an address, and no fraction such as a/b.
_PATHS = re.compile(
    r"(?<![\w.:/\\<])(?:(?:/[\w.@+~-]+){2,}/?|[A-Za-z]:(?:\\[^\s\\/:*?\"<>|,;]+){2,}\\?)"
)


def without_paths(tree: Any) -> Any:
    """Return a text, or a tree of JSON values, in which absolute paths have their last part alone.

    Examples
    --------
    >>> without_paths("/srv/data/a.csv, line 3: 1/2 is no number")
    'a.csv, line 3: 1/2 is no number'
    >>> without_paths({"file": ["/srv/data/a.csv", 1]})
    {'file': ['a.csv', 1]}
    """
    if isinstance(tree, dict):
        return {key: without_paths(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [without_paths(value) for value in tree]
    if not isinstance(tree, str):
        return tree
    # A path of Windows takes both kinds of slashes
    return _PATHS.sub(lambda found: PureWindowsPath(found[0]).name, tree)
