"""Registered names: algorithms, datasets, tables, figures and shipped configurations.

Importing all algorithms takes seconds, and compiles some of them on first use. Their summaries and
declared systems are read from the sources; only what computes its systems, or whose source or
docstring cannot be had, is loaded.
"""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias

from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, did_you_mean
from perceptron_lab.core.records import documentation_of
from perceptron_lab.datasets.regular_files import names_in
from perceptron_lab.experiments.configuration.yaml_source import mapping_in, read_source

_PACKAGE: Final = Path(__file__).resolve().parents[2]
_COUNTED: Final = ("algorithm", "learner", "optimiser", "oracle", "dataset", "table", "figure")
REGISTERED: Final = (*_COUNTED, "theory")
"""The kinds of registered names."""
KINDS: Final = (*(f"{kind}s" for kind in _COUNTED), "theory", "experiments")
"""The kinds of names that can be listed."""
SYSTEMS: Final = ("rows", "kernel", "second-order", "semidefinite", "product")
"""The kinds of systems that an algorithm runs on or not."""
HOLDS: Final = ("theorem", "runs", "coordinates: theorem", "coordinates: runs")
"""How an algorithm runs on a kind of system; ``-`` where it does not."""


def list_names(kind: str) -> list[dict[str, Any]]:
    """Return the registered names of a kind; ``plab list KIND --json`` prints them.

    Parameters
    ----------
    kind
        One of :data:`KINDS`.

    Returns
    -------
    list of dict
        ``name`` and ``summary`` each; for algorithms that declare it also ``systems``: kind of
        system -> what holds there (see ``plab list algorithms``).

    Raises
    ------
    ConfigError
        If there is no such kind.

    Examples
    --------
    >>> from perceptron_lab import list_names
    >>> [one["summary"] for one in list_names("experiments") if one["name"] == "quickstart"]
    ['Rescaled perceptron against the ellipsoid method on generated MAXCUT instances']
    """
    if kind not in KINDS:
        raise ConfigError(
            f"nothing is listed as {kind!r}{did_you_mean(kind, KINDS)}; known: {', '.join(KINDS)}"
        )
    items: list[dict[str, object]] = []
    if kind == "experiments":
        for name, path in gallery().items():
            title = mapping_in(read_source(path).tree).get("title", "")
            items.append({"name": name, "summary": str(title)})
        return items
    singular = kind.removesuffix("s")
    for name in registry.names(singular):
        declaration = declared(singular, name)
        items.append({"name": name, "summary": declaration.summary})
        if declaration.systems is not None:
            items[-1]["systems"] = declaration.systems
    return items


def show(name: str) -> list[dict[str, Any]]:
    """Return the meanings of a name, one entry each; ``plab show NAME --json`` prints them.

    Parameters
    ----------
    name
        Of something registered, or of a shipped configuration.

    Returns
    -------
    list of dict
        ``kind`` and ``name``; for a configuration (kind ``experiment``) its ``text``, otherwise
        ``documentation`` and ``parameters`` (none of tables and figures): ``parameter``,
        ``allowed``, ``default`` and ``meaning`` each, in words. Algorithms also have their
        ``guarantee``: ``formula``, ``theorem``, ``paper`` (a key) and ``note``.

    Raises
    ------
    ConfigError
        If nothing is called so; the message suggests the closest name.

    Examples
    --------
    >>> from perceptron_lab import show
    >>> [one["parameter"] for one in show("perceptron")[0]["parameters"]]
    ['normalized', 'initial']
    >>> show("perceptron")[0]["guarantee"]["formula"]
    '1 / rho^2'
    """
    if not isinstance(name, str):
        raise ConfigError(f"received {name!r}; give a name, as text")
    kinds = [kind for kind in REGISTERED if name in registry.names(kind)]
    shipped = gallery()
    if not kinds and name not in shipped:
        named = [
            *(registered for kind in REGISTERED for registered in registry.names(kind)),
            *shipped,
        ]
        names = list(dict.fromkeys(named))
        raise ConfigError(
            f"unknown name {name!r}{did_you_mean(name, names)}; `plab list KIND` lists the names "
            f"of a kind ({', '.join(KINDS)}), with --plugin FILE.py your own too"
        )
    meanings = []
    for kind in kinds:
        # Imported here: lists need no pydantic.
        from perceptron_lab.experiments.configuration import components

        record = registry.load(kind, name)
        documentation, parameters = inspect.getdoc(record) or "", []
        if isinstance(record, type) and is_dataclass(record):
            documentation = documentation_of(record)
            parameters = components.parameters_of(record)
        explained: dict[str, Any] = {"documentation": documentation, "parameters": parameters}
        if kind == "algorithm":
            # Algorithms of users may be written without the base class.
            guarantee = getattr(record, "guarantee", None)
            explained |= {"guarantee": asdict(guarantee) if guarantee else None}
        meanings.append({"kind": kind, "name": name} | explained)
    if name in shipped:
        text = shipped[name].read_text(encoding="utf-8")
        meanings.append({"kind": "experiment", "name": name, "text": text})
    return meanings


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
    documentation, source, systems = None, None, None
    if isinstance(target, str):
        module, _, attribute = target.partition(":")
        documentation, source = _definitions(module).get(attribute, (None, None))
    if source is not None:
        try:
            systems = ast.literal_eval(source)
        except (ValueError, SyntaxError):  # it computes its systems, and has to be loaded
            documentation = None
    if documentation is None:  # perhaps a base has them
        from perceptron_lab.algorithms.base import Algorithm  # here its modules are loaded anyway

        loaded = registry.load(kind, name)
        documentation = inspect.getdoc(loaded) or ""
        is_algorithm = isinstance(loaded, type) and issubclass(loaded, Algorithm)
        systems = loaded.systems if is_algorithm else None
    return Declared(documentation, None if systems is None else _by_kind(name, systems))


_Definitions: TypeAlias = Mapping[str, tuple[str | None, str | None]]
"""Class or function -> its docstring, and the source of the systems that it declares."""


@lru_cache(maxsize=1)
def _shared_systems() -> Mapping[str, str]:
    """Return the source of the declarations that algorithms share, by name."""
    body = ast.parse((_PACKAGE / "algorithms" / "base.py").read_bytes()).body
    assigned = (node for node in body if isinstance(node, ast.AnnAssign) and node.value)
    return {ast.unparse(node.target): ast.unparse(node.value or node) for node in assigned}


def _definitions(module: str) -> _Definitions:
    """Return the definitions in a module by name; none if its source cannot be read."""
    package, *inner = module.split(".")
    try:
        spec = find_spec(package)
        path = Path((spec and spec.origin) or "")
        if inner:  # whose own specification would import the packages around it
            path = path.parent.joinpath(*inner).with_suffix(".py")
        state = path.stat()
        return _definitions_in(path, state.st_mtime_ns, state.st_size)
    except (ImportError, OSError, SyntaxError, ValueError):
        return {}


@lru_cache(maxsize=512)
def _definitions_in(path: Path, _modified: int, _size: int) -> _Definitions:
    """Return the definitions in a file, which is read again when it has changed."""
    body = ast.parse(path.read_bytes()).body
    nodes = [node for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    return {node.name: (ast.get_docstring(node), _source_of_systems(node)) for node in nodes}


def _source_of_systems(node: ast.ClassDef | ast.FunctionDef) -> str | None:
    """Return the source of what a class declares as its systems; None where it declares nothing."""
    body = node.body if isinstance(node, ast.ClassDef) else []
    assigned = [
        statement for statement in body if isinstance(statement, ast.Assign | ast.AnnAssign)
    ]
    parts = [ast.unparse(statement).partition(" = ") for statement in assigned]
    sources = [source for left, _, source in parts if left.partition(":")[0] == "systems"]
    return _shared_systems().get(sources[-1], sources[-1]) if sources else None


def _by_kind(name: str, systems: Any) -> dict[str, str]:
    """Return kind of system -> one of :data:`HOLDS`, or ``-``."""
    try:
        systems_by_kind = {
            kind: holds for holds, kinds in systems.items() for kind in kinds.split()
        }
    except AttributeError:
        systems_by_kind = {repr(systems): ""}
    if not (set(systems_by_kind) <= set(SYSTEMS) and set(systems_by_kind.values()) <= set(HOLDS)):
        raise ConfigError(
            f"the algorithm {name!r} declares systems = {systems!r}; give a mapping of "
            f"{' | '.join(HOLDS)} to names among {' '.join(SYSTEMS)!r}"
        )
    return {kind: systems_by_kind.get(kind, "-") for kind in SYSTEMS}


def gallery() -> dict[str, Path]:
    """Return the shipped configurations, name -> file, of the clone or the installed package.

    The name of a file in a subfolder begins with that: ``benchmarks/peers``.
    """
    folders = (_PACKAGE.parent / "configs", _PACKAGE / "configs")
    folder = next((folder for folder in folders if folder.is_dir()), None)
    if folder is None:
        return {}
    files = [*sorted(folder.glob("*.yaml")), *sorted(folder.glob("*/*.yaml"))]
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in files}


def find_config(name: str | Path) -> Path:
    """Return the configuration file of a path or of a shipped name."""
    if os.path.exists(name):  # unlike Path.exists it is false where there can be no such path
        return Path(name)
    shipped = gallery()
    # configs/maxcut.yaml, as the documentation names it, is the shipped file elsewhere as well
    called = str(name).replace(os.sep, "/").removeprefix("configs/").removesuffix(".yaml")
    if called in shipped and str(name) in (called, f"configs/{called}.yaml"):
        path, current = shipped[called], Path.cwd()
        return path.relative_to(current) if path.is_relative_to(current) else path
    files = [file for file in names_in(Path(name).parent) if file.endswith((".yaml", ".yml"))]
    suggestion = did_you_mean(called, shipped) or did_you_mean(os.path.basename(name), files)
    raise ConfigError(
        f"{name}: no such file or shipped configuration{suggestion}; `plab list experiments` "
        "lists the shipped ones"
    )
