"""The code version of a cell: a digest of the source code that its numbers depend on.

The code of a cell are the modules that its dataset, its algorithm or learner, its oracles and the
driver with its proofs import, transitively, also inside functions. What is named counts like what
is imported: registered names among the parameters (the inner algorithm of ``whitened``), and texts
in the package's sources that name its modules. Registries themselves do not count, nor does what no
number of a row comes from: experiments, reports and commands.

Components that were registered from outside the package add the modules of the user's that they
import (:func:`.file_of`).
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final

from perceptron_lab.core import registry
from perceptron_lab.experiments.provenance.source_files import (
    SourceFile,
    file_below,
    file_of,
    read_module,
)

PACKAGE: Final = Path(__file__).resolve().parents[2]
OUTSIDE: Final = ("experiments", "reporting", "cli")
"""The parts of the package that no number of a row comes from."""

_OURS: Final = f"{PACKAGE.name}."
_OUTSIDE: Final = tuple(f"{_OURS}{part}." for part in OUTSIDE)
# Modules that tell where others are, and add nothing to them.
_REGISTRIES: Final = (PACKAGE.name, f"{_OURS}core.registry", f"{_OURS}core.former_paths")
_DRIVERS: Final = {
    "algorithm": f"{_OURS}solving.driver",
    "learner": f"{_OURS}estimators.learners.learning",
    "optimiser": f"{_OURS}problems.optima.optimiser",
}
_KINDS: Final = (*registry.METHODS, "dataset", "oracle")
# Digests of earlier versions, of the whole package, are 64 digits without this mark.
_SCHEME: Final = "cell:"


def shown_digest(core: str) -> str:
    """Return the first 8 digits of a digest, as reports show it."""
    return core.removeprefix(_SCHEME)[:8]


def is_of_whole_package(core: str) -> bool:
    """Return whether a digest was made by an earlier version, which kept one for all cells."""
    return not core.startswith(_SCHEME)


def components_of(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return kind and name of the registered parts of a cell, of which settings are given."""
    algorithm, oracles = settings["algorithm"], settings["oracle"]
    kind = registry.kind_of_method(algorithm)
    parts = [settings["dataset_parameters"], settings["parameters"], oracles]
    named = registry.named_in(parts, _KINDS)
    components = [("dataset", settings["dataset"]), (kind, algorithm)]
    return [*components, *(("oracle", oracle["name"]) for oracle in oracles), *sorted(named)]


class CellCode:
    """The code of cells as it is on the disk, in the folder of the package.

    Every file is read once, when it is first needed.
    """

    def __init__(self, package: Path = PACKAGE) -> None:
        self._package = package
        self._sources: dict[str, SourceFile | None] = {}
        self._digests: dict[tuple[tuple[str, str], ...], str] = {}

    def digest_of(self, settings: Mapping[str, object]) -> str:
        """Return the digest of a cell: the scheme's mark and 64 hexadecimal digits."""
        components = tuple(components_of(settings))
        if components not in self._digests:
            digests = self.modules_of(settings)
            text = "".join(f"{name} {digest}\n" for name, digest in sorted(digests.items()))
            self._digests[components] = _SCHEME + hashlib.sha256(text.encode()).hexdigest()
        return self._digests[components]

    def modules_of(self, settings: Mapping[str, object]) -> dict[str, str]:
        """Return module -> digest of its source, of all that a cell's digest is made from.

        A class without a source, as in a notebook, has an entry ``module:class``.
        """
        digests: dict[str, str] = {}
        components = components_of(settings)
        for name in {_DRIVERS[kind] for kind, _ in components if kind in _DRIVERS}:
            self._follow(name, name, digests)
        for kind, name in components:
            target = registry.target(kind, name)
            root = registry.module_of(target)
            if not isinstance(target, type) or self.source(root, root) is not None:
                self._follow(root, root, digests)
                continue
            # A class without a source: that to which it was compiled, and the modules it names.
            functions = _functions(target)
            codes = (
                (name, *_instructions(function.__code__)) for name, function in functions.items()
            )
            text = "".join(chain.from_iterable(codes))
            digests[f"{root}:{target.__qualname__}"] = hashlib.sha256(text.encode()).hexdigest()
            for called in functions.values():
                named = (called.__globals__.get(name) for name in called.__code__.co_names)
                for module in filter(None, map(inspect.getmodule, named)):
                    self._follow(module.__name__, root, digests)
        return digests

    def source(self, name: str, root: str = "") -> SourceFile | None:
        """Return the source of a module of the package or the user's; None if it is neither.

        ``root`` is the module of the user's class that needs it.
        """
        if name not in self._sources:
            ours = _is_ours(name)
            path = file_below(self._package.parent, name) if ours else file_of(name, of=root)
            self._sources[name] = None if path is None else read_module(name, path)
        return self._sources[name]

    def _follow(self, name: str, root: str, digests: dict[str, str]) -> None:
        """Add a module and all that it imports."""
        todo, visited = [name], set()
        while todo:
            name = todo.pop()
            if name in visited or name in digests:
                continue
            # A package and its modules lead to each other
            visited.add(name)
            parent = name.rpartition(".")[0]
            source = None if f"{name}.".startswith(_OUTSIDE) else self.source(name, root)
            if parent and (parent != PACKAGE.name or (source is None and not _is_ours(root))):
                todo.append(parent)  # its package; or its module, where it is no module itself
            if source is None:
                continue
            # Registries name all components: followed, they would make every digest the same
            if name not in _REGISTRIES:
                digests[name] = source.digest
                todo += source.imports
            # Modules that are named in texts are resolved when the cell runs.
            if _is_ours(name):
                todo += self._modules_in(source.texts)
            elif any(map(_is_ours, source.imports)):
                for kind in _KINDS:
                    names = source.texts.intersection(registry.names(kind))
                    todo += (registry.module_of(registry.target(kind, name)) for name in names)

    def _modules_in(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the modules of the package that texts name, or all of a folder: ``package.``."""
        for text in texts:
            name = text.partition(":")[0]
            below = name.removeprefix(_OURS)
            if name == below or not below.replace(".", "").isidentifier():
                continue
            yield name.removesuffix(".")
            if name.endswith("."):
                folder = self._package.joinpath(*below.split("."))
                yield from (f"{name}{path.stem}" for path in folder.glob("[!_]*.py"))


def _is_ours(name: str) -> bool:
    return name == PACKAGE.name or name.startswith(_OURS)


def _functions(kind: type) -> dict[str, FunctionType]:
    """Return the functions of a class by name."""
    functions = {}
    for name, value in sorted(vars(kind).items()):
        match value:
            case property():
                value = value.fget
            case classmethod() | staticmethod():
                value = value.__func__
        function = inspect.unwrap(value) if callable(value) else None
        if isinstance(function, FunctionType):
            functions[name] = function
    return functions


def _instructions(code: CodeType) -> Iterator[str]:
    yield f"{code.co_code.hex()}{code.co_names}{code.co_varnames}"
    for constant in code.co_consts:
        match constant:
            case CodeType():
                yield from _instructions(constant)
            # The order of a set depends on the seed of hashes of the process
            case frozenset():
                yield repr(sorted(map(repr, constant)))
            case _:
                yield repr(constant)
