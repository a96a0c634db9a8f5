"""``plab show``: what a name stands for, and what can be said of it in a configuration."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from pydantic import TypeAdapter

from perceptron_lab import registry
from perceptron_lab.cli.rendering import show_table
from perceptron_lab.errors import ConfigError, did_you_mean
from perceptron_lab.experiments.gallery import gallery

_KINDS = ("algorithm", "learner", "oracle", "dataset")
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


@click.command("show")
@click.argument("name")
def show(name: str) -> int:
    """Explain an algorithm, learner, oracle or dataset, or print a shipped configuration.

    Where a name has several meanings, all are shown.
    """
    kinds = [kind for kind in _KINDS if name in registry.names(kind)]
    shipped = gallery()
    if not kinds and name not in shipped:
        named = [*(known for kind in _KINDS for known in registry.names(kind)), *shipped]
        known = list(dict.fromkeys(named))
        raise ConfigError(
            f"nothing is called {name!r}{did_you_mean(name, known)}; known: {', '.join(known)}"
        )
    for kind in kinds:
        _show_component(kind, name)
    if name in shipped:
        _show_config(name, shipped[name], headed=bool(kinds))
    return 0


def _show_component(kind: str, name: str) -> None:
    record = registry.load(kind, name)
    click.echo(f"{kind} {name}\n")
    click.echo(inspect.getdoc(record) or "")
    schema = TypeAdapter(record).json_schema()
    defined = schema.get("$defs", {})
    rows = [
        (key, allowed(prop, defined), _default(prop), " ".join(prop.get("description", "").split()))
        for key, prop in schema.get("properties", {}).items()
    ]
    if not fields(record):
        click.echo("\nIt has no parameters.")
        return
    described = any(row[-1] for row in rows)
    columns = ("parameter", "allowed", "default", "meaning")[: 4 if described else 3]
    show_table("", columns, [row[: len(columns)] for row in rows])


def _show_config(name: str, path: Path, headed: bool) -> None:
    if headed:
        click.echo(f"# configuration {name}")
    click.echo(path.read_text(encoding="utf-8"), nl=False)


def allowed(schema: dict[str, Any], defined: dict[str, Any]) -> str:
    """Say in words what a JSON schema allows.

    Parameters
    ----------
    schema
        The schema of one parameter.
    defined
        The schemas that it may refer to, by name.
    """
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


def _default(schema: dict[str, Any]) -> str:
    if "default" not in schema:
        return "(needed)"
    default = schema["default"]
    return default if isinstance(default, str) else json.dumps(default)
