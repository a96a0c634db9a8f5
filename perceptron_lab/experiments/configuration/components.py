"""A registered algorithm, oracle or dataset, chosen by name; its parameters, given and in words.

Pydantic's errors become faults: place, value received, values allowed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, PlabError, UnknownNameError, did_you_mean
from perceptron_lab.core.records import fault_of
from perceptron_lab.core.refusals import allowed_values
from perceptron_lab.experiments.configuration.faults import Crumbs, Fault, received, shortened

Record = TypeVar("Record")


def validated(kind: type[Record], tree: object) -> Record:
    """Return the record that a tree of YAML values describes.

    It is checked in the strict mode of JSON: lists do for tuples, as they must, but no value is
    converted otherwise.
    """
    return TypeAdapter(kind).validate_json(json.dumps(tree))


def faults_of(
    error: ValidationError,
    tree: object,
    known_keys: Mapping[tuple[str, ...], Iterable[str]],
    kind: object = None,
) -> list[Fault]:
    """Return the faults that a validation error of a tree reports, one per value.

    Parameters
    ----------
    error
        The error.
    tree
        What was validated.
    known_keys
        The keys of each mapping, by its crumbs without the indices of lists.
    kind
        The class of the record whose parameters are the tree; None where it is none.
    """
    faults: dict[Crumbs, Fault] = {}
    allowed: dict[Crumbs, list[str]] = {}
    for details in error.errors(include_url=False):
        crumbs = _crumbs(details, tree)
        if details["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            names = known_keys.get(tuple(step for step in crumbs[:-1] if isinstance(step, str)), ())
            faults[crumbs] = unknown_key(crumbs, names)
        elif details["type"] == "missing":
            faults[crumbs] = Fault(crumbs, "missing; add it")
        elif details["type"] == "value_error":
            message = details["msg"].removeprefix("Value error, ")
            if message.startswith("allowed: "):  # validators of ours need not say what they had
                message = f"received {received(details['input'])}; {message}"
            faults[crumbs] = Fault(crumbs, message)
        else:
            # The members of a union report one by one; the reader wants them in one sentence.
            choices = allowed.setdefault(crumbs, [])
            choices.append(allowed_values(kind, crumbs[0] if crumbs else "", details))
            value, words = details["input"], re.findall(r"'([^']*)'", " ".join(choices))
            remedy = did_you_mean(value, words) if isinstance(value, str) else ""
            text = f"received {received(value)}; allowed: {', or '.join(dict.fromkeys(choices))}"
            faults[crumbs] = Fault(crumbs, text + remedy)
    return list(faults.values())


def unknown_key(crumbs: Crumbs, known_keys: Iterable[str]) -> Fault:
    """Return the fault of an unknown key."""
    key, names = str(crumbs[-1]), list(known_keys)
    remedy = f"allowed: {', '.join(names)}{did_you_mean(key, names)}" if names else "delete it"
    return Fault(crumbs, f"unknown key {shortened(key)!r}; {remedy}", at_key=True)


def _crumbs(details: ErrorDetails, tree: Any) -> Crumbs:
    """Follow the error's location through the tree, past the names of union members."""
    crumbs: Crumbs = ()
    node = tree
    for step in details["loc"]:
        steps = range(len(node)) if isinstance(node, list) else node
        if isinstance(steps, dict | range) and step in steps:
            node, crumbs = node[step], (*crumbs, step)
    if details["type"] == "missing":
        crumbs = (*crumbs, details["loc"][-1])
    return crumbs


_LIMITS = {
    "minimum": ">= {:g}",
    "exclusiveMinimum": "> {:g}",
    "maximum": "<= {:g}",
    "exclusiveMaximum": "< {:g}",
    "minItems": "at least {}",
}
_TYPES = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "null": "nothing",
    "object": "mapping",
    "array": "list",
}


@dataclass(frozen=True)
class Component:
    """A name of the registry with its record.

    Parameters
    ----------
    kind
        ``algorithm``, ``oracle`` or ``dataset``.
    name
        The registered name.
    record
        The object: a frozen dataclass of parameters.
    """

    kind: str
    name: str
    record: Any

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Every parameter, defaults among them, as JSON values; not to be changed.

        Parameters that a class lists as ``added_later`` are left out where they are None, so that
        cells of before keep their names.
        """
        later = getattr(type(self.record), "added_later", ())
        values = TypeAdapter(type(self.record)).dump_python(self.record, mode="json")
        return {k: v for k, v in values.items() if v is not None or k not in later}

    @property
    def asks_oracles(self) -> bool:
        """Whether it asks separation oracles; learners and some algorithms do not."""
        # numpy, which `plab list` leaves out
        from perceptron_lab.algorithms.base import Algorithm
        from perceptron_lab.problems.optima.optimiser import Optimiser

        return isinstance(self.record, Algorithm | Optimiser) and self.record.uses_oracle

    def __str__(self) -> str:
        """The name, followed by the parameters that are not the defaults."""
        changed = []
        for field in fields(self.record):
            default = getattr(field.default, "default", field.default)  # pydantic's Field(...)
            if field.default_factory is not MISSING:
                default = field.default_factory()
            if getattr(self.record, field.name) != default:
                changed.append(f"{field.name}={self.parameters[field.name]}")
        return f"{self.name}({', '.join(changed)})" if changed else self.name


def build(
    kind: str,
    name: str,
    at: Crumbs,
    parameters: Mapping[str, object],
    key_paths: Mapping[str, Crumbs],
    faults: list[Fault],
) -> Component | None:
    """Return the component that a configuration chooses, or None after adding to ``faults``.

    ``at`` are the crumbs of its name, ``key_paths`` those of its parameters.
    """
    try:
        record = registry.load(kind, name)
        if reason := fault_of(record):
            raise ConfigError(f"the {kind} {name!r} cannot be used: {reason}")
        names = [field.name for field in fields(record) if field.init]
        unknown = [key for key in parameters if key not in names]
        for key in unknown:
            faults.append(Fault(key_paths[key], unknown_key((key,), names).message, at_key=True))
        arguments = {key: value for key, value in parameters.items() if key in names}
        record_made = validated(record, arguments)
        return None if unknown else Component(kind, name, record_made)
    except ValidationError as error:
        # Faults of parameters stand in the configuration that holds them.
        for fault in faults_of(error, arguments, {}, record):
            key, rest = str(fault.crumbs[0]) if fault.crumbs else "", fault.crumbs[1:]
            if key in key_paths:
                faults.append(Fault((*key_paths[key], *rest), fault.message, fault.at_key))
            else:
                needed = f"{kind} {name!r} needs {key}: " if key else ""
                faults.append(Fault(at, needed + fault.message))
    except PlabError as error:
        named = "" if name in registry.names(kind) else f"{kind} {name!r}"
        suggests = isinstance(error, UnknownNameError) and error.suggests
        faults.append(Fault(at, str(error), unregistered=named, suggests=suggests))
    return None


def parameters_of(record: Any) -> list[dict[str, str]]:
    """Return the parameters of a class of records, a frozen dataclass of pydantic's.

    Each has ``parameter``, ``allowed``, ``default`` and ``meaning``, in words; an empty meaning
    where the docstring alone tells it.
    """
    schema = TypeAdapter(record).json_schema()
    defined = schema.get("$defs", {})
    # Not in the schema: a default that is constructed for each record
    defaults = {
        field.name: field.default_factory()
        for field in fields(record)
        if field.default_factory is not MISSING
    }
    described = []
    for key, entry in schema.get("properties", {}).items():
        default = entry.get("default", defaults.get(key))
        text = default if isinstance(default, str) else json.dumps(default)
        described.append(
            {
                "parameter": key,
                "allowed": allowed(entry, defined),
                "default": text if "default" in entry or key in defaults else "(needed)",
                "meaning": " ".join(entry.get("description", "").split()),
            }
        )
    return described


def allowed(schema: dict[str, Any], defined: dict[str, Any]) -> str:
    """Return the values that a JSON schema allows, in words; it may refer to ``defined`` ones."""
    if "$ref" in schema:
        return allowed(defined[schema["$ref"].rpartition("/")[2]], defined)
    if "anyOf" in schema:
        return " or ".join(allowed(choice, defined) for choice in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return " | ".join(map(str, schema.get("enum", [schema.get("const")])))
    kind = _TYPES.get(schema.get("type", ""), "any value")
    if "items" in schema:
        kind += f" of {allowed(schema['items'], defined)}"
    limits = [words.format(schema[key]) for key, words in _LIMITS.items() if key in schema]
    return f"{kind} {', '.join(limits)}" if limits else kind
