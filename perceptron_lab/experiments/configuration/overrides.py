"""``-s path.to.key=value``: one value of a configuration, replaced under the same validation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from perceptron_lab.errors import ConfigError
from perceptron_lab.experiments.configuration.faults import (
    Crumbs,
    dotted,
    received,
    refuse,
    shortened,
)
from perceptron_lab.experiments.configuration.yaml_source import MOST_LEVELS, Source, parse


def override(source: Source, assignments: Iterable[str]) -> None:
    """Write overrides into a parsed configuration, in their order.

    A missing mapping on the way is made; a list is entered by index, its length as the index
    appends to it.

    Parameters
    ----------
    source
        The configuration; its tree and origins are changed.
    assignments
        ``path.to.key=value`` each, the value in YAML.
    """
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        name = f"-s {shortened(assignment)}"
        if not equals or not all(path.split(".")):
            raise ConfigError(
                f"{name}: an override is path.to.key=value, such as budget.seconds=5 "
                "or problems.0.instances=[mcp100]"
            )
        if path.count(".") >= MOST_LEVELS:
            raise ConfigError(f"{name}: a path of more than {MOST_LEVELS} keys; shorten it")
        value = parse(name, text)
        refuse(value.faults, value.place)
        crumbs = _write(source, path.split("."), value.tree, name)
        _forget(source, crumbs)
        source.origins[crumbs] = name


def _write(source: Source, steps: list[str], value: Any, name: str) -> Crumbs:
    """Set the value and return its crumbs."""
    if not isinstance(source.tree, dict):
        source.tree = {}
    node: Any = source.tree
    crumbs: Crumbs = ()
    for step in steps[:-1]:
        key = _key(node, step, crumbs, name)
        if isinstance(node, list) and key == len(node):
            node.append({})
        elif isinstance(node, dict) and node.get(step) is None:
            node[step] = {}
        node = node[key]
        crumbs = (*crumbs, key)
    key = _key(node, steps[-1], crumbs, name)
    if isinstance(node, list) and key == len(node):
        node.append(value)
    else:
        node[key] = value
    return (*crumbs, key)


def _key(node: Any, step: str, crumbs: Crumbs, name: str) -> str | int:
    """Return the step as a key of the node, which must have room for it."""
    if isinstance(node, dict):
        return step
    if not isinstance(node, list):
        raise ConfigError(
            f"{name}: {dotted(crumbs)} is {received(node)} and has no part {step!r}; "
            f"override {dotted(crumbs)} as a whole"
        )
    if not (step.isascii() and step.isdecimal() and len(step) < 10 and int(step) <= len(node)):
        raise ConfigError(
            f"{name}: {dotted(crumbs)} is a list of {len(node)}; "
            f"allowed: an index from 0 to {len(node)} (which appends), not {step!r}"
        )
    return int(step)


def _forget(source: Source, crumbs: Crumbs) -> None:
    """Drop faults, places and origins of a value that was replaced."""

    def outside(other: Crumbs) -> bool:
        return other[: len(crumbs)] != crumbs

    source.values = {other: mark for other, mark in source.values.items() if outside(other)}
    source.keys = {
        other: mark for other, mark in source.keys.items() if outside(other) or other == crumbs
    }
    source.origins = {other: name for other, name in source.origins.items() if outside(other)}
    # That its own key stands twice in the file is as wrong as before.
    source.faults = [
        fault
        for fault in source.faults
        if outside(fault.crumbs) or (fault.at_key and fault.crumbs == crumbs)
    ]
