"""The parameters of a record, in words: name, allowed values, default and meaning of each."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import fields
from typing import Any

from pydantic import TypeAdapter

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

_SECTION = "Parameters\n----------\n"


def documentation_of(record: type[Any]) -> str:
    """Return the docstring of a class of records, with the parameters that only bases document."""
    names = {field.name for field in fields(record)}
    entries: dict[str, str] = {}
    for kind in reversed(record.__mro__):
        # Each docstring in three parts, of which the record's own are the last.
        before, _, rest = inspect.cleandoc(kind.__doc__ or "").partition(_SECTION)
        section, *after = re.split(r"\n\n(?=\S)", rest, maxsplit=1)
        for entry in re.split(r"\n(?=\S)", section):
            key = entry.partition("\n")[0]
            if names.intersection(key.split(", ")):
                entries[key] = entry
    explained = [_SECTION + "\n".join(entries.values())] if entries else []
    return "\n\n".join([before.rstrip(), *explained, *after])


def parameters_of(record: Any) -> list[dict[str, str]]:
    """Return the parameters of a class of records, a frozen dataclass of pydantic's.

    Each has ``parameter``, ``allowed``, ``default`` and ``meaning``, in words; an empty meaning
    where the docstring alone tells it.
    """
    schema = TypeAdapter(record).json_schema()
    defined = schema.get("$defs", {})
    described = []
    for key, entry in schema.get("properties", {}).items():
        default = entry.get("default")
        text = default if isinstance(default, str) else json.dumps(default)
        described.append(
            {
                "parameter": key,
                "allowed": allowed(entry, defined),
                "default": text if "default" in entry else "(needed)",
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
