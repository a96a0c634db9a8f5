"""A configuration that is given in Python: a mapping, whose values are those that YAML has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.configuration.faults import Crumbs, Fault, dotted, shortened
from perceptron_lab.experiments.configuration.yaml_source import MOST_LEVELS, Source


def source_of(config: Mapping[str, Any]) -> Source:
    """Return a mapping as if it had been read from a file without a name.

    It is copied: nothing that is done to the source reaches the caller's mapping. Tuples and
    arrays are lists, numpy's scalars are numbers, paths are text. What else is no value of YAML is
    a fault.
    """
    source = Source("")
    source.tree = _value(config, (), source.faults)
    return source


def _value(value: Any, crumbs: Crumbs, faults: list[Fault]) -> Any:
    """Return a value as YAML has it; None after a fault."""
    if len(crumbs) > MOST_LEVELS:
        raise ConfigError(f"{dotted(crumbs[:3])}: nested deeper than {MOST_LEVELS} levels")
    if hasattr(value, "tolist"):  # arrays and scalars of numpy, which need not be loaded
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return _mapping(value, crumbs, faults)
    if isinstance(value, list | tuple | range):
        return [_value(one, (*crumbs, index), faults) for index, one in enumerate(value)]
    text = f"received {shortened(repr(value))} ({type(value).__name__})"
    faults.append(Fault(crumbs, f"{text}; allowed: text, numbers, truth values, lists, mappings"))
    return None


def _mapping(given: Mapping[Any, Any], crumbs: Crumbs, faults: list[Fault]) -> dict[str, Any]:
    found = {}
    for key, value in given.items():
        if isinstance(key, str):
            found[key] = _value(value, (*crumbs, key), faults)
        else:
            text = f"a key must be text, received {shortened(repr(key))}"
            faults.append(Fault((*crumbs, str(key)), text, at_key=True))
    return found
