"""Configurations as trees of values with places: YAML, or a mapping that is given in Python.

YAML is used by its 1.2 core schema, without indirections.

Anchors, aliases, merge keys, tags, duplicate keys and several documents are refused. ``1e-6`` is a
number; ``no``, ``on``, ``1:30`` and dates are text; ``010`` is ten.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.configuration.faults import (
    Crumbs,
    Fault,
    FaultPlace,
    dotted,
    received,
    shortened,
)

MOST_BYTES = 1_000_000
MOST_LEVELS = 32

_NULL = {"", "~", "null", "Null", "NULL"}
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGERS = {
    10: re.compile(r"[-+]?[0-9]+"),
    8: re.compile(r"0o[0-7]+"),
    16: re.compile(r"0x[0-9a-fA-F]+"),
}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)")
_NAN = {".nan", ".NaN", ".NAN"}
_READ_DIFFERENTLY = frozenset("!?\t\x85\u2028\u2029")
"""Characters that libyaml accepts where PyYAML does not, or counts otherwise."""
_MENDS = {
    "'\\t'": " (indent with spaces, not tabs)",
    "mapping values are not allowed": (" (check the indentation, and quote text that holds ': ')"),
}


@dataclass
class Source:
    """A parsed configuration that remembers where each value came from.

    Parameters
    ----------
    name
        What messages call it: a file, an override, or nothing.
    tree
        Its value: mappings, lists, text, numbers, truth values and None.
    keys, values
        Crumbs -> (line, column) of a key and of a value, both from 1.
    origins
        Crumbs -> the override that wrote the value there.
    faults
        What is wrong with it as YAML.
    """

    name: str
    tree: object = None
    keys: dict[Crumbs, tuple[int, int]] = field(default_factory=dict)
    values: dict[Crumbs, tuple[int, int]] = field(default_factory=dict)
    origins: dict[Crumbs, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def place(self, fault: Fault) -> FaultPlace:
        """Return where a fault stands: its own place, or that of the nearest value around it."""
        if fault.at_key and fault.crumbs in self.keys:
            return self._in_file(self.keys[fault.crumbs])
        for length in range(len(fault.crumbs), -1, -1):
            crumbs = fault.crumbs[:length]
            if crumbs in self.origins:
                return FaultPlace(2**31, 0, self.origins[crumbs])
            if crumbs in self.values:
                return self._in_file(self.values[crumbs])
        return FaultPlace(1, 1, self.name)

    def _in_file(self, mark: tuple[int, int]) -> FaultPlace:
        return FaultPlace(*mark, f"{self.name}:{mark[0]}:{mark[1]}")


def mapping_in(tree: object) -> dict[str, Any]:
    """Return a tree that is a mapping, or else an empty mapping."""
    return tree if isinstance(tree, dict) else {}


def list_in(tree: object) -> list[Any]:
    """Return a tree that is a list, or else an empty list."""
    return tree if isinstance(tree, list) else []


def read_source(path: Path) -> Source:
    """Read a configuration file."""
    try:
        if not path.is_file():
            reason = "no file" if path.exists() else "no such file"
            raise ConfigError(f"{path}: {reason}; give the path of a YAML file")
        with path.open("rb") as file:
            # One byte more shows that the file is too large, whatever its stated size
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from None
    if len(content) > MOST_BYTES:
        raise ConfigError(f"{path}: larger than {MOST_BYTES} bytes; shorten it")
    try:
        # Editors on Windows begin a file with a byte order mark
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text; save the file as UTF-8") from None
    return parse(str(path), text)


def parse(name: str, text: str) -> Source:
    """Parse YAML text of one document; faults that leave the rest readable are in ``faults``."""
    if hasattr(yaml, "CSafeLoader") and _READ_DIFFERENTLY.isdisjoint(text):
        # libyaml is ten times faster; its messages differ, so that PyYAML itself states faults
        with suppress(yaml.YAMLError, ConfigError, UnicodeError):
            return _Builder(name, yaml.CSafeLoader(text)).build()
    try:
        return _Builder(name, yaml.SafeLoader(text)).build()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        reason = "; ".join(filter(None, (error.context, error.problem)))
        remedy = next((remedy for sign, remedy in _MENDS.items() if sign in reason), "")
        raise ConfigError(f"{name}{where}: not valid YAML: {reason}{remedy}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(
            f"{name}:{line}: the character U+{ord(text[error.position]):04X} is not allowed; "
            "delete it"
        ) from None


def source_of_mapping(config: Mapping[str, object]) -> Source:
    """Return a mapping as if it had been read from a file without a name.

    It is copied: nothing that is done to the source reaches the caller's mapping. Tuples and
    arrays are lists, numpy's scalars are numbers, paths are text. What else is no value of YAML is
    a fault.
    """
    source = Source("")
    source.tree = _plain_value(config, (), source.faults)
    return source


def _plain_value(value: object, crumbs: Crumbs, faults: list[Fault]) -> object:
    """Return a value as YAML has it; None after a fault."""
    if len(crumbs) > MOST_LEVELS:
        raise ConfigError(f"{dotted(crumbs[:3])}: nested deeper than {MOST_LEVELS} levels")
    if hasattr(value, "tolist"):  # arrays and scalars of numpy, which need not be loaded
        value = value.tolist()
    match value:
        case None | str() | bool() | int() | float():
            return value
        case Path():
            return str(value)
        case Mapping():
            return _plain_mapping(value, crumbs, faults)
        case list() | tuple() | range():
            return [
                _plain_value(item, (*crumbs, index), faults) for index, item in enumerate(value)
            ]
    text = f"received {shortened(repr(value))} ({type(value).__name__})"
    faults.append(Fault(crumbs, f"{text}; allowed: text, numbers, truth values, lists, mappings"))
    return None


def _plain_mapping(
    mapping: Mapping[object, object], crumbs: Crumbs, faults: list[Fault]
) -> dict[str, object]:
    plain = {}
    for key, value in mapping.items():
        if isinstance(key, str):
            plain[key] = _plain_value(value, (*crumbs, key), faults)
        else:
            text = f"a key must be text, received {shortened(repr(key))}"
            faults.append(Fault((*crumbs, str(key)), text, at_key=True))
    return plain


class _Builder:
    """Turn the events of PyYAML's parser into a tree with places."""

    def __init__(self, name: str, loader: Any) -> None:
        self.source = Source(name)
        self._loader = loader

    def _next(self) -> yaml.Event:
        try:
            return self._loader.get_event()  # type: ignore[no-any-return]
        except (ValueError, OverflowError):
            # PyYAML lets these through for escapes and directives with absurd numbers.
            mark = ":".join(str(getattr(self._loader, at, 0) + 1) for at in ("line", "column"))
            raise ConfigError(
                f"{self.source.name}:{mark}: not valid YAML: an escape or directive with a number "
                "that is out of range; write the character itself"
            ) from None

    def build(self) -> Source:
        self._next()  # the start of the stream
        if isinstance(self._next(), yaml.StreamEndEvent):  # or the start of a document
            self.source.values[()] = (1, 1)
            return self.source
        self.source.tree = self._value(self._next(), ())
        self._next()  # the end of the document
        event = self._next()
        if not isinstance(event, yaml.StreamEndEvent):
            self.source.values[()] = _mark(event)
            self._fault((), "a second document begins here; one file holds one configuration")
        return self.source

    def _fault(self, crumbs: Crumbs, message: str, at_key: bool = False) -> None:
        self.source.faults.append(Fault(crumbs, message, at_key))

    def _check_level(self, event: yaml.Event, level: int) -> None:
        """Refuse deep nesting, on which recursion and PyYAML's own quadratic time would founder."""
        if level > MOST_LEVELS:
            mark = "{}:{}".format(*_mark(event))
            raise ConfigError(
                f"{self.source.name}:{mark}: nested deeper than {MOST_LEVELS} levels; "
                "a configuration needs fewer than ten"
            )

    def _value(self, event: yaml.Event, crumbs: Crumbs) -> object:
        self.source.values[crumbs] = _mark(event)
        self._check_level(event, len(crumbs))
        # Aliases can make a small file expand to gigabytes
        self._refuse_properties(event, crumbs)
        match event:
            case yaml.AliasEvent():
                return None
            case yaml.ScalarEvent():
                return self._scalar(event, crumbs)
            case yaml.SequenceStartEvent():
                entries: list[object] = []
                while not isinstance(event := self._next(), yaml.CollectionEndEvent):
                    entries.append(self._value(event, (*crumbs, len(entries))))
                return entries
        values: dict[str, object] = {}
        while not isinstance(event := self._next(), yaml.CollectionEndEvent):
            key = self._key(event, crumbs, values)
            if key is None:
                # Read on, so that all faults of a file are reported together
                self._skip(self._next(), len(crumbs) + 1)
            else:
                values[key] = self._value(self._next(), (*crumbs, key))
        return values

    def _refuse_properties(self, event: yaml.Event, crumbs: Crumbs, at_key: bool = False) -> None:
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if isinstance(event, yaml.AliasEvent):
            self._fault(crumbs, f"the alias *{anchor} is not allowed; repeat the value")
        elif anchor is not None:
            self._fault(crumbs, f"the anchor &{anchor} is not allowed; delete it", at_key)
        if tag is not None:
            printed = tag.replace("tag:yaml.org,2002:", "!!")
            self._fault(crumbs, f"the tag {shortened(printed)} is not allowed; delete it", at_key)

    def _key(self, event: yaml.Event, crumbs: Crumbs, keys: dict[str, object]) -> str | None:
        """Return a key, or None after a fault: the value that follows is then left out."""
        if not isinstance(event, yaml.ScalarEvent):
            self.source.keys[(*crumbs, "?")] = _mark(event)
            self._fault((*crumbs, "?"), "a key must be plain text", at_key=True)
            self._skip(event, len(crumbs) + 1)
            return None
        inner = (*crumbs, event.value)
        first = self.source.keys.get(inner, (0, 0))
        self.source.keys[inner] = _mark(event)
        self._refuse_properties(event, inner, at_key=True)
        key = self._scalar(event, inner, at_key=True)
        # A quoted "<<" is text like any other
        if not event.style and event.value == "<<":
            fault = "the merge key << is not allowed; write the keys out"
        elif not isinstance(key, str):
            fault = f"a key must be text, received {received(key)}; quote it or rename it"
        elif key in keys:
            fault = f"duplicate key, first given in line {first[0]}; keep one of the two"
        else:
            return key
        self._fault(inner, fault, at_key=True)
        return None

    def _skip(self, event: yaml.Event, level: int) -> None:
        """Skip a node that cannot be used, which begins at a level."""
        depth = 0
        while True:
            self._check_level(event, level + depth)
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth == 0:
                return
            event = self._next()

    def _scalar(self, event: yaml.ScalarEvent, crumbs: Crumbs, at_key: bool = False) -> object:
        if any("\ud800" <= character <= "\udfff" for character in event.value):
            text = "half of a surrogate pair is no character; write the character"
            self._fault(crumbs, text, at_key)
            return None
        # Quoted values are texts, also "1" and "true"
        if event.style:
            return event.value
        try:
            return resolve(event.value)
        except ValueError:
            text = "a whole number with too many digits; write it as 1e6 is written"
            self._fault(crumbs, text, at_key)
            return None


def resolve(text: str) -> object:
    """Return the value of an unquoted scalar by the YAML 1.2 core schema."""
    if text in _NULL:
        return None
    if text in _TRUTH:
        return _TRUTH[text]
    for base, pattern in _INTEGERS.items():
        if pattern.fullmatch(text):
            return int(text, base)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INFINITE.fullmatch(text):
        return float(text.replace(".", "", 1))
    return float("nan") if text in _NAN else text


def _mark(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    assert mark is not None
    return mark.line + 1, mark.column + 1
