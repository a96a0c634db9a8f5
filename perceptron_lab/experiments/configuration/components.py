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
class Choice:
    """The choice of a component by a configuration, not checked yet.

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


def build(chosen: Choice, faults: list[Fault]) -> Component | None:
    """Return the component that is chosen, or None after adding to ``faults``."""
    try:
        kind = registry.load(chosen.kind, chosen.name)
    except PlabError as error:
        faults.append(Fault(chosen.at, str(error)))
        return None
    known = [field.name for field in fields(kind) if field.init]
    unknown = [key for key in chosen.parameters if key not in known]
    faults += [
        Fault(chosen.places[key], unknown_key((key,), known).message, at_key=True)
        for key in unknown
    ]
    given = {key: value for key, value in chosen.parameters.items() if key in known}
    try:
        record = validated(kind, given)
    except ValidationError as error:
        # Faults of parameters stand in the configuration that holds them.
        for fault in faults_of(error, given, {}):
            key, rest = str(fault.crumbs[0]) if fault.crumbs else "", fault.crumbs[1:]
            if key in chosen.places:
                at = (*chosen.places[key], *rest)
                faults.append(Fault(at, fault.message, fault.at_key))
            else:
                needed = f"{chosen.kind} {chosen.name!r} needs {key}: " if key else ""
                faults.append(Fault(chosen.at, needed + fault.message))
    except PlabError as error:
        faults.append(Fault(chosen.at, str(error)))
    else:
        return None if unknown else Component(chosen.kind, chosen.name, record)
    return None


def _default(field: Any) -> Any:
    default = field.default
    default = getattr(default, "default", default)  # pydantic's Field(...) as a default
    return field.default_factory() if field.default_factory is not MISSING else default
