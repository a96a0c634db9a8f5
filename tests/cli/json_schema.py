"""JSON schemas as far as the published ones use them, with objects that have no other keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
SILENT = {"title", "description", "default", "$schema", "$defs"}
KEYWORDS = {
    *("$ref", "anyOf", "enum", "type", "properties", "required", "additionalProperties"),
    *("propertyNames", "items", "prefixItems", "minItems", "maxItems", "format"),
}


def faults(value: Any, schema: Any, root: Mapping[str, Any], at: str = "$") -> list[str]:
    """Return where a value is not what a schema says; unknown keys are faults."""
    if schema is True or not (stated := schema.keys() - SILENT):
        return []
    assert stated <= KEYWORDS, stated - KEYWORDS
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, at)
    if "anyOf" in schema:
        alternatives = [faults(value, choice, root, at) for choice in schema["anyOf"]]
        return [] if not all(alternatives) else min(alternatives, key=len)
    if "enum" in schema and value not in schema["enum"]:
        return [f"{at}: {value!r} of {schema['enum']}"]
    kinds = TYPES[schema["type"]]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        return [f"{at}: {value!r} is no {schema['type']}"]
    parts = {dict: _of_object, list: _of_array}.get(type(value))
    return [] if parts is None else list(parts(value, schema, root, at))


def _of_object(value: Any, schema: Any, root: Mapping[str, Any], at: str) -> Iterator[str]:
    properties, additional = schema.get("properties", {}), schema.get("additionalProperties", False)
    yield from (f"{at}: no {key}" for key in schema.get("required", []) if key not in value)
    for key, part in value.items():
        yield from faults(key, schema.get("propertyNames", True), root, f"{at}.{key}")
        if key not in properties and additional is False:
            yield f"{at}: unknown {key}"
        else:
            yield from faults(part, properties.get(key, additional), root, f"{at}.{key}")


def _of_array(value: Any, schema: Any, root: Mapping[str, Any], at: str) -> Iterator[str]:
    first = schema.get("prefixItems", [])
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{at}: {len(value)} items"
    for index, part in enumerate(value):
        kind = first[index] if index < len(first) else schema.get("items", True)
        yield from faults(part, kind, root, f"{at}[{index}]")
