"""The code version of a cell: a digest of the source code that its numbers depend on.

The code of a cell are the modules that its dataset, its algorithm or learner, its oracles and the
driver with its proofs import, transitively, also inside functions. What is named counts like what
is imported: registered names among the parameters (the inner algorithm of ``whitened``), and texts
in the package's sources that name its modules. Registries themselves do not count, nor does what no
number of a row comes from: experiments, reports and commands.

Components that were registered from outside the package add the modules of the user's that they
import (:func:`file_of`).

The digest of a source file is that of its syntax tree without docstrings: comments, layout and
documentation change nothing, every other edit does.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, resolve_name
from itertools import chain
from pathlib import Path
from threading import Lock
from types import CodeType, FunctionType
from typing import Any, Final

from perceptron_lab.core import registry

_PARSING = Lock()  # in two threads at once Python 3.11 loses count of the depth of its trees
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True)
class SourceFile:
    """One source file.

    Parameters
    ----------
    digest
        sha256 of its syntax tree, 64 hexadecimal digits.
    imports
        What it imports, also inside functions, but not where only types are checked: full names of
        modules, or of what is in them.
    texts
        Its literal texts: some name modules, or what is registered.
    """

    digest: str
    imports: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()


def read_module(name: str, path: Path) -> SourceFile:
    """Return the source of a module; as long as its file stays the same, it is read once.

    Parameters
    ----------
    name
        The full name of the module, from which its relative imports start.
    path
        Its file; one that is not Python (an extension) imports nothing that can be known.
    """
    # A file that has changed has another time or size, and is parsed again
    state = path.stat()
    return _read(name, path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=2048)
def _read(name: str, path: Path, _modified: int, _size: int) -> SourceFile:
    content = path.read_bytes()
    if path.suffix == ".py":
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        try:
            return parsed(content, package)
        except SyntaxError:  # it cannot run: its import raises the error
            pass
    return SourceFile(hashlib.sha256(content).hexdigest())


def parsed(content: bytes | str, package: str = "") -> SourceFile:
    """Return a source, whose relative imports start from a package; SyntaxError if it is none."""
    with _PARSING:
        tree = ast.parse(content)
    reading = _Reading(package)
    reading.node(tree)
    digest = hashlib.sha256("".join(reading.words).encode(errors="backslashreplace")).hexdigest()
    return SourceFile(digest, frozenset(reading.imports), frozenset(reading.texts))


class _Reading:
    """Traversal of a syntax tree that collects its text, its names and its strings."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.words: list[str] = []
        self.imports: set[str] = set()
        self.texts: set[str] = set()

    def node(self, node: ast.AST) -> None:
        """Add a tree as text, the same in all versions of Python: nothing is said of the empty."""
        outer = self.imports
        match node:
            case ast.Import() | ast.ImportFrom():
                outer.update(self.imported(node))
            case ast.Constant(value=str(text)):
                self.texts.add(text)
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                self.imports = set()  # those of the body are for type checkers alone
        self.words.append(f"{type(node).__name__}(")
        for name in node._fields:
            value = getattr(node, name, None)
            if name == "body" and isinstance(node, _DOCUMENTED):
                value = node.body[ast.get_docstring(node, clean=False) is not None :]
            elif name == "orelse":
                self.imports = outer
            # Newer versions of Python add optional fields, which must not change digests
            if value is None or value == []:
                continue
            self.words.append(f"{name}=")
            for item in value if isinstance(value, list) else (value,):
                if isinstance(item, ast.AST):
                    self.node(item)
                else:
                    self.words.append(f"{item!r},")
        self.words.append(")")

    def imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        """Yield the full names that an import asks for."""
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            return
        base = node.module or ""
        if node.level:
            try:
                base = resolve_name("." * node.level + base, self.package)
            except ImportError:  # it points out of its package, and fails when it is run
                return
        yield from (f"{base}.{alias.name}" for alias in node.names)


def file_below(folder: Path, name: str) -> Path | None:
    """Return the file of a module, by its full name, in a folder of packages; None without one."""
    path = folder.joinpath(*name.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def file_of(name: str, *, of: str = "") -> Path | None:
    """Return the file of a user's module, without importing it; None if it is none of the user's.

    Python's own modules are not the user's, nor installed ones, but for those of the package that
    the user's class is in.

    Parameters
    ----------
    name
        Full name of a module.
    of
        The module of the user's class.
    """
    top, *rest = name.split(".")
    if top == "__main__":  # a script, or a notebook, which has no file
        file = vars(sys.modules[top]).get("__file__")
        return None if file is None else Path(file)
    try:
        spec = None if top in sys.stdlib_module_names else find_spec(top)
    except (ImportError, ValueError):
        return None
    for depth in range(1, len(rest) + 1):
        if spec is None or spec.submodule_search_locations is None:
            return None
        full_name = ".".join([top, *rest[:depth]])
        spec = PathFinder.find_spec(full_name, list(spec.submodule_search_locations))
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    path = Path(spec.origin)
    installed = not _INSTALLED.isdisjoint(path.parts)
    return path if top == of.partition(".")[0] or not installed else None


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
