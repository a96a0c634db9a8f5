"""Docstring and declared systems of a registered class, read from its source, not imported.

Importing all algorithms takes seconds, and compiles some of them on first use. Their docstrings and
the literal ``systems`` of their classes are in the source for everybody to read. A class whose
source cannot be had, or that computes what it declares, is loaded.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from perceptron_lab import registry
from perceptron_lab.errors import ConfigError

KINDS: Final = ("rows", "kernel", "second-order", "semidefinite", "product")
"""The kinds of systems that an algorithm runs on or not."""
HOLDS: Final = ("theorem", "runs", "coordinates: theorem", "coordinates: runs")
"""How an algorithm runs on a kind of system; ``-`` where it does not."""


@dataclass(frozen=True)
class Declared:
    """The declarations of a class.

    Parameters
    ----------
    documentation
        Its docstring.
    systems
        Kind of system -> what holds there, or ``-``; None where nothing is declared.
    """

    documentation: str
    systems: Mapping[str, str] | None = None

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.documentation.partition("\n")[0]


def declared(kind: str, name: str) -> Declared:
    """Return the declarations of the class that a name is registered for."""
    target = registry.target(kind, name)
    found = _read(*target.split(":", 1)) if isinstance(target, str) else None
    documentation, systems = found or _of_class(registry.load(kind, name))
    return Declared(documentation, None if systems is None else _by_kind(name, systems))


def _of_class(loaded: type) -> tuple[str, Any]:
    from perceptron_lab.algorithms.base import Algorithm  # here its modules are loaded anyway

    return inspect.getdoc(loaded) or "", loaded.systems if issubclass(loaded, Algorithm) else None


def _read(module: str, name: str) -> tuple[str, Any] | None:
    """Return docstring and ``systems`` of a class from its source; None if it has to be loaded."""
    node = _classes(module).get(name)
    documentation = None if node is None else ast.get_docstring(node)
    if node is None or documentation is None:  # it may inherit one
        return None
    try:
        values = [ast.literal_eval(value) for value in _assigned(node, "systems")]
    except ValueError:
        return None
    return documentation, values[-1] if values else None


@lru_cache(maxsize=4)
def _classes(module: str) -> Mapping[str, ast.ClassDef]:
    """Return the classes of a module by name; none if its source cannot be read."""
    try:
        spec = find_spec(module)
        source = Path(spec.origin).read_bytes() if spec and spec.origin else b""
        body = ast.parse(source).body
    except (ImportError, OSError, SyntaxError, ValueError):
        return {}
    return {node.name: node for node in body if isinstance(node, ast.ClassDef)}


def _assigned(node: ast.ClassDef, name: str) -> Iterable[ast.expr]:
    """Yield the values that are assigned to a name in the body of a class."""
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value):
                targets = [found]
            case ast.Assign(targets=names, value=value):
                targets = [one.id for one in names if isinstance(one, ast.Name)]
            case _:
                continue
        if name in targets:
            yield value


def _by_kind(name: str, systems: Any) -> dict[str, str]:
    """Return kind of system -> one of :data:`HOLDS`, or ``-``."""
    try:
        pairs = [(kind, holds) for holds, kinds in systems.items() for kind in kinds.split()]
    except AttributeError:
        pairs = [(repr(systems), "")]
    for kind, holds in pairs:
        if kind not in KINDS or holds not in HOLDS:
            raise ConfigError(
                f"the algorithm {name!r} declares systems = {systems!r}; give a mapping of "
                f"{' | '.join(HOLDS)} to names among {' '.join(KINDS)!r}"
            )
    return {kind: dict(pairs).get(kind, "-") for kind in KINDS}
