"""A registered algorithm, oracle or dataset, chosen by name and given its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter, ValidationError

from perceptron_lab import registry
from perceptron_lab.errors import PlabError
from perceptron_lab.experiments.configuration.faults import Crumbs, Fault
from perceptron_lab.experiments.configuration.validation import faults_of, unknown_key, validated


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
        """Every parameter, defaults among them, as JSON values; not to be changed."""
        kind = type(self.record)
        dumped: dict[str, Any] = TypeAdapter(kind).dump_python(self.record, mode="json")
        return dumped

    @property
    def asks_oracles(self) -> bool:
        """Whether it asks separation oracles; learners and some algorithms do not."""
        from perceptron_lab.algorithms.base import Algorithm  # numpy, which `plab list` leaves out

        return isinstance(self.record, Algorithm) and self.record.uses_oracle

    def __str__(self) -> str:
        """The name, followed by the parameters that are not the defaults."""
        changed = {
            field.name
            for field in fields(self.record)
            if getattr(self.record, field.name) != _default(field)
        }
        chosen = [f"{key}={value}" for key, value in self.parameters.items() if key in changed]
        return f"{self.name}({', '.join(chosen)})" if chosen else self.name


@dataclass(frozen=True)
class Mention:
    """Where and how a configuration names a component.

    Parameters
    ----------
    kind, name
        As in :class:`Component`.
    at
        The crumbs of the name.
    parameters
        The parameters as given.
    places
        Parameter -> its crumbs.
    """

    kind: str
    name: str
    at: Crumbs
    parameters: Mapping[str, Any]
    places: Mapping[str, Crumbs]


def build(mention: Mention, faults: list[Fault]) -> Component | None:
    """Return the component that is mentioned, or None after adding to ``faults``."""
    try:
        kind = registry.load(mention.kind, mention.name)
    except PlabError as error:
        faults.append(Fault(mention.at, str(error)))
        return None
    known = [field.name for field in fields(kind) if field.init]
    unknown = [key for key in mention.parameters if key not in known]
    faults += [
        Fault(mention.places[key], unknown_key((key,), known).message, at_key=True)
        for key in unknown
    ]
    given = {key: value for key, value in mention.parameters.items() if key in known}
    try:
        record = validated(kind, given)
    except ValidationError as error:
        faults += [_placed(fault, mention) for fault in faults_of(error, given, {})]
    except PlabError as error:
        faults.append(Fault(mention.at, str(error)))
    else:
        return None if unknown else Component(mention.kind, mention.name, record)
    return None


def _placed(fault: Fault, mention: Mention) -> Fault:
    """Move a fault from the parameters to the configuration that holds them."""
    if not fault.crumbs:
        return Fault(mention.at, fault.message)
    key, *rest = fault.crumbs
    if key not in mention.places:
        return Fault(mention.at, f"{mention.kind} {mention.name!r} needs {key}: {fault.message}")
    return Fault((*mention.places[str(key)], *rest), fault.message, fault.at_key)


def _default(field: Any) -> Any:
    default = field.default
    default = getattr(default, "default", default)  # pydantic's Field(...) as a default
    return field.default_factory() if field.default_factory is not MISSING else default
