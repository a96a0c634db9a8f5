"""Docstring and declared systems of a registered class or function, read from its source.

Importing all algorithms takes seconds, and compiles some of them on first use. Only what computes
its systems, or whose source or docstring cannot be had, is loaded.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from contextlib import suppress
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
    """The declarations of a class or function.

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
    """Return the declarations of the class or function that a name is registered for."""
    target = registry.target(kind, name)
    node, documentation, systems = None, None, None
    if isinstance(target, str):
        module, _, attribute = target.partition(":")
        node = _definitions(module).get(attribute)
    if node is not None:
        with suppress(ValueError):  # it computes its systems, and has to be loaded
            for statement in node.body:
                if isinstance(statement, ast.Assign | ast.AnnAssign):
                    left, _, right = ast.unparse(statement).partition(" = ")
                    if right and left.partition(":")[0] == "systems":
                        systems = ast.literal_eval(right)
            documentation = ast.get_docstring(node)
    if documentation is None:  # perhaps a base has them
        from perceptron_lab.algorithms.base import Algorithm  # here its modules are loaded anyway

        loaded = registry.load(kind, name)
        documentation = inspect.getdoc(loaded) or ""
        known = isinstance(loaded, type) and issubclass(loaded, Algorithm)
        systems = loaded.systems if known else None
    return Declared(documentation, None if systems is None else _by_kind(name, systems))


@lru_cache(maxsize=4)
def _definitions(module: str) -> Mapping[str, ast.ClassDef | ast.FunctionDef]:
    """Return classes and functions of a module by name; none if its source cannot be read."""
    package, *inner = module.split(".")
    try:
        spec = find_spec(package)
        path = Path((spec and spec.origin) or "")
        if inner:  # whose own specification would import the packages around it
            path = path.parent.joinpath(*inner).with_suffix(".py")
        body = ast.parse(path.read_bytes()).body
    except (ImportError, OSError, SyntaxError, ValueError):
        return {}
    return {node.name: node for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


def _by_kind(name: str, systems: Any) -> dict[str, str]:
    """Return kind of system -> one of :data:`HOLDS`, or ``-``."""
    try:
        found = {kind: holds for holds, kinds in systems.items() for kind in kinds.split()}
    except AttributeError:
        found = {repr(systems): ""}
    if not (set(found) <= set(KINDS) and set(found.values()) <= set(HOLDS)):
        raise ConfigError(
            f"the algorithm {name!r} declares systems = {systems!r}; give a mapping of "
            f"{' | '.join(HOLDS)} to names among {' '.join(KINDS)!r}"
        )
    return {kind: found.get(kind, "-") for kind in KINDS}
