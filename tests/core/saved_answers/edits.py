"""Edits of saved answers: every field of a file, by value, type, NaN and absence."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, MutableMapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

Tree = dict[str, Any]


def read(path: Path) -> Tree:
    """Return text and arrays of a file as one tree."""
    with np.load(path, allow_pickle=False) as arrays:
        return json.loads(str(arrays["json"])) | {k: arrays[k] for k in arrays if k != "json"}


def write(path: Path, tree: Tree) -> None:
    """Write a tree as a file of the same format."""
    arrays = {name: value for name, value in tree.items() if isinstance(value, np.ndarray)}
    text = json.dumps({name: value for name, value in tree.items() if name not in arrays})
    path.unlink(missing_ok=True)  # some file systems wait for the disk where a file is truncated
    with path.open("wb") as file:
        np.savez(file, json=np.array(text), **arrays)


def leaves(tree: Mapping[str, Any], begin: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of every leaf of a tree; an empty mapping is one."""
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{begin}{name}.")
        else:
            yield f"{begin}{name}", value


def changed(tree: Tree, path: str, value: Any) -> Tree:
    """Return a copy of a tree with another value at a path; ``...`` stands for its absence."""
    copied = deepcopy(tree)
    parent: MutableMapping[str, Any] = copied
    rest = path
    while rest not in parent:
        name = next(name for name in parent if rest.startswith(f"{name}."))
        parent, rest = parent[name], rest.removeprefix(f"{name}.")
    if value is ...:
        del parent[rest]
    else:
        parent[rest] = value
    return copied


def edits(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the kind of an edit and the edited value."""
    yield "missing", ...
    yield "NaN", _with_nan(value)
    yield "type", 7 if isinstance(value, str | list | dict) else "x"
    yield "boolean", not value if isinstance(value, bool) else True
    yield "long", "1e999999999"
    for other in _other_values(value):
        if not same(other, value):
            yield "value", other


def same(value: Any, other: Any) -> bool:
    """Return whether two values are one, of one type."""
    if isinstance(value, np.ndarray):
        return np.array_equal(value, other)
    return type(value) is type(other) and value == other


def _with_nan(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        spoilt = value.astype(float)
        spoilt.flat[:1] = math.nan
        return spoilt if value.size else np.array([math.nan])
    return [math.nan, *value[1:]] if isinstance(value, list) else math.nan


def _other_values(value: Any) -> Iterator[Any]:
    """Yield other values of the type of one."""
    if isinstance(value, np.ndarray):
        # Other numbers may prove the claims as well: what cannot is told by other tests
        yield from (0.0 * value, value[:-1], np.append(value.ravel(), 1.0))
    elif isinstance(value, bool):
        yield int(value)
    elif isinstance(value, str):
        yield from (f"{value}x", "")
    elif isinstance(value, int | float):
        yield from (2 * value + 1, -value - 1)
    elif value is None:
        yield from (1.5, "x", {})
    elif isinstance(value, list):
        yield from _lists(value)
    else:
        yield {"x": 1}


def _lists(value: list[Any]) -> Iterator[list[Any]]:
    yield from ([*value, *(value[:1] or [0])], [*value, "c2"])
    if value:
        yield value[:-1]
        yield from ([other, *value[1:]] for other in _other_values(value[0]))
