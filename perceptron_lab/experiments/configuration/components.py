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
        return dict(TypeAdapter(type(self.record)).dump_python(self.record, mode="json"))

    @property
    def asks_oracles(self) -> bool:
        """Whether it asks separation oracles; learners and some algorithms do not."""
        from perceptron_lab.algorithms.base import Algorithm  # numpy, which `plab list` leaves out

        return isinstance(self.record, Algorithm) and self.record.uses_oracle

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
    parameters: Mapping[str, Any],
    places: Mapping[str, Crumbs],
    faults: list[Fault],
) -> Component | None:
    """Return the component that a configuration chooses, or None after adding to ``faults``.

    ``at`` are the crumbs of its name, ``places`` those of its parameters.
    """
    try:
        record = registry.load(kind, name)
        known = [field.name for field in fields(record) if field.init]
        unknown = [key for key in parameters if key not in known]
        for key in unknown:
            faults.append(Fault(places[key], unknown_key((key,), known).message, at_key=True))
        given = {key: value for key, value in parameters.items() if key in known}
        made = validated(record, given)
        return None if unknown else Component(kind, name, made)
    except ValidationError as error:
        # Faults of parameters stand in the configuration that holds them.
        for fault in faults_of(error, given, {}):
            key, rest = str(fault.crumbs[0]) if fault.crumbs else "", fault.crumbs[1:]
            if key in places:
                faults.append(Fault((*places[key], *rest), fault.message, fault.at_key))
            else:
                needed = f"{kind} {name!r} needs {key}: " if key else ""
                faults.append(Fault(at, needed + fault.message))
    except PlabError as error:
        faults.append(Fault(at, str(error)))
    return None
