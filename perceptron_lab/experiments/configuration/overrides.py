"""Overrides of a configuration, ``-s path.to.key=value``: each replaces one value of its tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.faults import (
    Crumbs,
    dotted,
    received,
    refuse,
    shortened,
)
from perceptron_lab.experiments.configuration.yaml_source import MOST_LEVELS, Source, parse


def texts_of(overrides: Iterable[str]) -> tuple[str, ...]:
    """Return overrides; a single text, and a mapping, are no list of texts."""
    if isinstance(overrides, str | Mapping):
        raise ConfigError(
            f"received {shortened(repr(overrides))} as overrides; give a list of texts, such as "
            "['budget.seconds=5']"
        )
    return tuple(overrides)


def override(source: Source, assignments: Iterable[str]) -> None:
    """Write overrides into a parsed configuration, in their order.

    A missing mapping on the way is made; a list is entered by index, its length as the index
    appends to it.
    """
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        name = f"-s {shortened(assignment)}"
        if not equals or not all(path.split(".")):
            raise ConfigError(
                f"{name}: an override is path.to.key=value, such as budget.seconds=5 "
                "or problems.0.instances=[mcp100]"
            )
        # The same limit as in files, since both end in one tree
        if path.count(".") >= MOST_LEVELS:
            raise ConfigError(f"{name}: a path of more than {MOST_LEVELS} keys; shorten it")
        value = parse(name, text)
        refuse(value.faults, value.place)
        crumbs = _write(source, path.split("."), value.tree, name)
        # Faults, places and origins of the value that was replaced are gone with it; that its own
        # key stands twice in the file is as wrong as before.
        source.values = {at: mark for at, mark in source.values.items() if _outside(at, crumbs)}
        source.keys = {
            at: mark for at, mark in source.keys.items() if _outside(at, crumbs) or at == crumbs
        }
        source.origins = {
            at: origin for at, origin in source.origins.items() if _outside(at, crumbs)
        }
        source.faults = [
            fault
            for fault in source.faults
            if _outside(fault.crumbs, crumbs) or (fault.at_key and fault.crumbs == crumbs)
        ]
        source.origins[crumbs] = name


def _outside(crumbs: Crumbs, around: Crumbs) -> bool:
    return crumbs[: len(around)] != around


def _write(source: Source, steps: list[str], value: object, name: str) -> Crumbs:
    """Set the value and return its crumbs."""
    if not isinstance(source.tree, dict):
        source.tree = {}
    node: Any = source.tree
    crumbs: Crumbs = ()
    for depth, step in enumerate(steps, 1):
        key: str | int = step
        match node:
            case dict():
                absent = node.get(step) is None
            case list():
                # isdecimal alone accepts the digits of other scripts
                is_index = step.isascii() and step.isdecimal() and len(step) < 10
                if not (is_index and int(step) <= len(node)):
                    raise ConfigError(
                        f"{name}: {dotted(crumbs)} is a list of {len(node)}; "
                        f"allowed: an index from 0 to {len(node)} (which appends), not {step!r}"
                    )
                key = int(step)
                absent = key == len(node)
                node += [None] if absent else []
            case _:
                raise ConfigError(
                    f"{name}: {dotted(crumbs)} is {received(node)} and has no part {step!r}; "
                    f"override {dotted(crumbs)} as a whole"
                )
        if absent or depth == len(steps):
            node[key] = value if depth == len(steps) else {}
        node, crumbs = node[key], (*crumbs, key)
    return crumbs


def shadowed(config: ExperimentConfig, overrides: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each override of the budget that some entries do not follow."""
    entries = [
        *(
            (f"problems.{i}", problem.dataset, problem.budget)
            for i, problem in enumerate(config.problems)
        ),
        *(
            (f"algorithms.{i}", algorithm.label or algorithm.name, algorithm.budget)
            for i, algorithm in enumerate(config.algorithms)
        ),
    ]
    for assignment in overrides:
        path = assignment.partition("=")[0]
        one_limit = path.removeprefix("budget.") if path.startswith("budget.") else None
        names = [one_limit] if one_limit else ["updates", "seconds"] if path == "budget" else []
        own_budgets = [
            f"{path}.budget.{name} ({label})"
            for name in names
            for path, label, limits in entries
            if getattr(limits, name) is not None
        ]
        if own_budgets:
            yield f"-s {assignment} does not reach {', '.join(own_budgets)}; override these as well"
