"""Source files as the digests of cells see them: a digest of each, and its imports.

The digest is that of the syntax tree without docstrings: comments, layout and documentation change
nothing, every other edit does.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, resolve_name
from pathlib import Path
from threading import Lock
from typing import Final

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
    state = path.stat()
    return _read(name, path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=2048)
def _read(name: str, path: Path, _modified: int, _size: int) -> SourceFile:
    content = path.read_bytes()
    if path.suffix == ".py":
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        try:
            return parsed(content, package)
        except SyntaxError:  # it cannot run: whoever imports it says so
            pass
    return SourceFile(hashlib.sha256(content).hexdigest())


def parsed(content: bytes | str, package: str = "") -> SourceFile:
    """Return a source, whose relative imports start from a package; SyntaxError if it is none."""
    with _PARSING:
        tree = ast.parse(content)
    reading = _Reading(package)
    reading.node(tree)
    whole = hashlib.sha256("".join(reading.words).encode(errors="backslashreplace")).hexdigest()
    return SourceFile(whole, frozenset(reading.imports), frozenset(reading.texts))


class _Reading:
    """One pass over a tree: it as text, and the names and texts in it."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.words: list[str] = []
        self.imports: set[str] = set()
        self.texts: set[str] = set()

    def node(self, node: ast.AST) -> None:
        """Add a tree as text, the same in all versions of Python: nothing is said of the empty."""
        known = self.imports
        match node:
            case ast.Import() | ast.ImportFrom():
                known.update(self.imported(node))
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
                self.imports = known
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
        whole = ".".join([top, *rest[:depth]])
        spec = PathFinder.find_spec(whole, list(spec.submodule_search_locations))
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    path = Path(spec.origin)
    installed = not _INSTALLED.isdisjoint(path.parts)
    return path if top == of.partition(".")[0] or not installed else None
