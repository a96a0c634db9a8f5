"""The errors of a configuration, collected and reported together with their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from perceptron_lab.core.errors import ConfigError

Crumbs = tuple[str | int, ...]
"""The way to a value: keys of mappings and indices of lists, as in ``problems.0.instances.1``."""

_MOST_SHOWN = 20
_LONGEST_TEXT = 60
_LONGEST_MESSAGE = 2000


@dataclass(frozen=True)
class Fault:
    """One error of a configuration.

    Parameters
    ----------
    crumbs
        The way to the value at fault; empty for the whole file.
    message
        What was received, and what is allowed.
    at_key
        Whether the key itself is at fault, and not its value.
    unregistered
        The kind and the name that nothing is registered under, where that is the fault.
    suggests
        Whether the message suggests a name like it.
    """

    crumbs: Crumbs
    message: str
    at_key: bool = False
    unregistered: str = ""
    suggests: bool = False


@dataclass(frozen=True, order=True)
class FaultPlace:
    """The place of a value: ``-s`` overrides come after the lines of the file."""

    line: int
    column: int
    text: str


def dotted(crumbs: Crumbs) -> str:
    """Return the crumbs as users write them, ``problems.0.instances``; long keys are cut."""
    return ".".join(shortened(str(crumb)) for crumb in crumbs)


def received(value: object) -> str:
    """Return a value in the words of YAML, short enough for one line."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str():
            return f"the text {shortened(value)!r}"
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list" if value else "an empty list"
    return shortened(str(value))


def shortened(text: str) -> str:
    """Return the text, cut where it is too long for a message."""
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."


def _nowhere(fault: Fault) -> FaultPlace:
    return FaultPlace(1, 1, "")


def refuse(faults: Iterable[Fault], locate: Callable[[Fault], FaultPlace] = _nowhere) -> None:
    """Raise one error that lists every fault, in the order of their places.

    Parameters
    ----------
    faults
        The faults; repeated ones are listed once. With none of them nothing happens.
    locate
        Where a fault stands; by default in no file.
    """
    placed = sorted({(locate(fault), fault.message, dotted(fault.crumbs)) for fault in faults})
    if not placed:
        return
    lines = []
    for where, message, crumbs in placed[:_MOST_SHOWN]:
        if len(message) > _LONGEST_MESSAGE:  # it repeats a long text; its end has the remedy
            half = _LONGEST_MESSAGE // 2
            message = f"{message[:half]} ... {message[-half:]}"
        lines.append(": ".join(filter(None, (where.text, crumbs, message))))
    if len(placed) > _MOST_SHOWN:
        lines.append(f"... and {len(placed) - _MOST_SHOWN} more")
    raise ConfigError("\n".join(lines))
