"""Everything that has a name, from algorithms to figures and shipped configurations."""

from __future__ import annotations

import inspect
from dataclasses import is_dataclass
from typing import Any, Final

from perceptron_lab import registry
from perceptron_lab.errors import ConfigError, did_you_mean
from perceptron_lab.experiments.configuration.declared import declared
from perceptron_lab.experiments.configuration.gallery import gallery
from perceptron_lab.experiments.configuration.yaml_source import read_source

_REGISTERED: Final = ("algorithm", "learner", "oracle", "dataset", "table", "figure")
KINDS: Final = (*(f"{kind}s" for kind in _REGISTERED), "experiments")
"""The kinds of names that can be listed."""


def list_names(kind: str) -> list[dict[str, Any]]:
    """Return the registered names of a kind; ``plab list KIND --json`` prints them.

    Parameters
    ----------
    kind
        One of :data:`KINDS`.

    Returns
    -------
    list of dict
        ``name`` and ``summary`` each; for algorithms that declare it also ``systems``: kind of
        system -> what holds there (see ``plab list algorithms``).

    Raises
    ------
    ConfigError
        If there is no such kind.

    Examples
    --------
    >>> from perceptron_lab import list_names
    >>> [one["summary"] for one in list_names("experiments") if one["name"] == "quickstart"]
    ['Rescaled perceptron against the ellipsoid method on generated MAXCUT instances']
    """
    if kind not in KINDS:
        raise ConfigError(
            f"nothing is listed as {kind!r}{did_you_mean(kind, KINDS)}; known: {', '.join(KINDS)}"
        )
    items: list[dict[str, Any]] = []
    if kind == "experiments":
        for name, path in gallery().items():
            tree = read_source(path).tree
            title = str(tree.get("title", "")) if isinstance(tree, dict) else ""
            items.append({"name": name, "summary": title})
        return items
    singular = kind.removesuffix("s")
    for name in registry.names(singular):
        known = declared(singular, name)
        items.append({"name": name, "summary": known.summary})
        if known.systems is not None:
            items[-1]["systems"] = known.systems
    return items


def show(name: str) -> list[dict[str, Any]]:
    """Return the meanings of a name, one entry each; ``plab show NAME --json`` prints them.

    Parameters
    ----------
    name
        Of something registered, or of a shipped configuration.

    Returns
    -------
    list of dict
        ``kind`` and ``name``; for a configuration (kind ``experiment``) its ``text``, otherwise
        ``documentation`` and ``parameters`` (none of tables and figures): ``parameter``,
        ``allowed``, ``default`` and ``meaning`` each, in words.

    Raises
    ------
    ConfigError
        If nothing is called so; the message suggests the closest name.

    Examples
    --------
    >>> from perceptron_lab import show
    >>> [one["parameter"] for one in show("perceptron")[0]["parameters"]]
    ['normalized']
    """
    kinds = [kind for kind in _REGISTERED if name in registry.names(kind)]
    shipped = gallery()
    if not kinds and name not in shipped:
        named = [*(known for kind in _REGISTERED for known in registry.names(kind)), *shipped]
        known = list(dict.fromkeys(named))
        raise ConfigError(
            f"nothing is called {name!r}{did_you_mean(name, known)}; known: {', '.join(known)}"
        )
    meanings = []
    for kind in kinds:
        # Imported here: lists need no pydantic.
        from perceptron_lab.experiments.configuration.parameters import (
            documentation_of,
            parameters_of,
        )

        record = registry.load(kind, name)
        documentation, parameters = inspect.getdoc(record) or "", []
        if isinstance(record, type) and is_dataclass(record):
            documentation, parameters = documentation_of(record), parameters_of(record)
        explained = {"documentation": documentation, "parameters": parameters}
        meanings.append({"kind": kind, "name": name} | explained)
    if name in shipped:
        text = shipped[name].read_text(encoding="utf-8")
        meanings.append({"kind": "experiment", "name": name, "text": text})
    return meanings
