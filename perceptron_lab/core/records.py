"""Classes of parameters: dataclasses that can be made from their fields alone."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Final

_SECTION: Final = "Parameters\n----------\n"
_HEADING: Final = re.compile(r"\n\n\w+\n---+\n")


def fault_of(kind: object) -> str:
    """Return why a class cannot be instantiated from its parameters; empty if it can.

    It has to be a class that leaves no method undefined, and a dataclass that defines no
    ``__init__``: its fields are its parameters.
    """
    if not isinstance(kind, type):
        return f"received {kind!r}; give its class"
    name, lacks = kind.__name__, sorted(getattr(kind, "__abstractmethods__", ()))
    if lacks:
        return f"{name} does not define {', '.join(lacks)}"
    if not is_dataclass(kind):
        return (
            f"{name} is no dataclass; write @dataclass(frozen=True) above the class: its fields "
            "are its parameters"
        )
    maker = next(ancestor for ancestor in kind.__mro__ if "__init__" in vars(ancestor))
    if "__dataclass_fields__" not in vars(maker):
        return (
            f"{name} has its own __init__; delete it, and write @dataclass(frozen=True) "
            "above the class: its fields are its parameters"
        )
    return ""


def needed_of(kind: Any) -> list[str]:
    """Return the parameters of a dataclass that have no default."""
    return [
        field.name
        for field in fields(kind)
        if field.init and field.default is MISSING and field.default_factory is MISSING
    ]


def documentation_of(record: type[Any]) -> str:
    """Return the docstring of a class of records, with the parameters that only bases document."""
    names = {field.name for field in fields(record)}
    entries: dict[str, str] = {}
    # From the bases on, so that a class may document an inherited parameter anew
    for kind in reversed(record.__mro__):
        # Each docstring in three parts, of which the record's own are the last.
        text = inspect.cleandoc(kind.__doc__ or "")
        before, stated, rest = text.partition(_SECTION)
        if not stated and (other := _HEADING.search(text)):
            before, rest = text[: other.start()], text[other.start() :]
        section, *after = re.split(r"\n\n(?=\S)", rest, maxsplit=1)
        for entry in re.split(r"\n(?=\S)", section):
            key = entry.partition("\n")[0]
            if names.intersection(key.split(", ")):
                entries[key] = entry
    explained = [_SECTION + "\n".join(entries.values())] if entries else []
    return "\n\n".join([before.rstrip(), *explained, *after])
