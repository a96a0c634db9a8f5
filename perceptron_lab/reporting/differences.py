"""Where two configurations, or the environments of two runs, differ: key path by key path."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TRANSIENT = ("id", "time", "argv")
"""Entries of an environment that tell nothing of the machine or of the software."""
OWN = ("git", "packages.perceptron-lab", "core")
"""Entries of this package itself: times compare in spite of them, and mostly they are the point."""
ABSENT = "(absent)"
"""In the place of a value that one side does not have."""


@dataclass(frozen=True)
class Difference:
    """A value that is not the same on both sides, at a path of keys and places joined by dots.

    The values are JSON; several are joined by `` | ``.
    """

    path: str
    first: str
    second: str

    @property
    def own(self) -> bool:
        """Whether it is a difference of this package itself."""
        return any(self.path == name or self.path.startswith(f"{name}.") for name in OWN)


def config_differences(first: object, second: object) -> list[Difference]:
    """Return where two trees of JSON values differ, in the order of their keys."""
    return _different([first], [second])


def environment_differences(
    first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]]
) -> list[Difference]:
    """Return where the environments of two runs differ.

    Parameters
    ----------
    first, second
        The descriptions of every environment that the rows of a run come from.
    """
    lasting = [
        [{key: part for key, part in one.items() if key not in TRANSIENT} for one in side]
        for side in (first, second)
    ]
    return _different(*lasting)


def _different(first: Sequence[object], second: Sequence[object]) -> list[Difference]:
    """Return where two sides differ; the different values of each are named once."""
    sides = [[dict(_leaves(tree)) for tree in side] for side in (first, second)]
    found = []
    for path in dict.fromkeys(path for side in sides for leaves in side for path in leaves):
        a, b = (
            # Sorted: the order of the rows says nothing.
            " | ".join(sorted({leaves.get(path, ABSENT) for leaves in side})) or ABSENT
            for side in sides
        )
        if a != b:
            found.append(Difference(path, a, b))
    return found


def _leaves(tree: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield every leaf's path and value; empty mappings and lists are leaves."""
    if isinstance(tree, Mapping) and tree:
        for key, part in tree.items():
            yield from _leaves(part, (*path, str(key)))
    elif isinstance(tree, list | tuple) and tree:
        for index, part in enumerate(tree):
            yield from _leaves(part, (*path, str(index)))
    else:
        yield ".".join(path), json.dumps(tree, ensure_ascii=False)
