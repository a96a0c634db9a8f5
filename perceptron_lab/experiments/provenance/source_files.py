"""Source files: the digest of their syntax tree, and what they import and name.

The digest is that of the tree without docstrings: comments, layout and documentation change
nothing, every other edit does.

To parse the modules of one cell takes most of a second. So each module has a cache file with its
digest, imports and texts, in ``__pycache__`` like its compiled code. The cache is valid for the
contents that it was made from; without permission to write it the module is parsed each time.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from importlib.util import cache_from_source, find_spec, resolve_name
from pathlib import Path
from threading import Lock
from typing import Final

from perceptron_lab.core.atomic_files import replacing

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
        Its file; the imports of an extension, which is not Python, cannot be known.
    """
    # A file that has changed has another time or size, and is parsed again
    state = path.stat()
    return _read(name, path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=2048)
def _read(name: str, path: Path, _modified: int, _size: int) -> SourceFile:
    content = path.read_bytes()
    if path.suffix == ".py":
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        # One that is no Python cannot run: its import raises the error
        with suppress(SyntaxError):
            return _cached(path, content, package)
    return SourceFile(hashlib.sha256(content).hexdigest())


def _cached(path: Path, content: bytes, package: str) -> SourceFile:
    """Return the source of a file from its cache; if it has none, parse the file and write one."""
    key = hashlib.sha256(b"\0".join((_reader(), package.encode(), content))).hexdigest()
    file = Path(cache_from_source(path)).with_suffix(".digest")
    # Whatever is wrong with the cache, the file itself is there
    with suppress(OSError, ValueError, TypeError):
        of, digest, imports, texts = json.loads(file.read_bytes())
        if of == key:
            return SourceFile(digest, frozenset(imports), frozenset(texts))
    source = parsed(content, package)
    if not sys.dont_write_bytecode:
        entry = [key, source.digest, sorted(source.imports), sorted(source.texts)]
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(file) as partial:
                partial.write_text(json.dumps(entry))
    return source


@cache
def _reader() -> bytes:
    """Return the digest of this module, which has to read a file again when it has changed."""
    return hashlib.sha256(Path(__file__).read_bytes()).digest()


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
                self.imports = set()  # the body is for type checkers alone
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
    # Most names are of no module, and strings are looked for three times as fast as paths
    path = os.path.join(folder, *name.split("."))
    files = (f"{path}.py", os.path.join(path, "__init__.py"))
    return next((Path(file) for file in files if os.path.isfile(file)), None)


def file_of(name: str, *, of: str = "") -> Path | None:
    """Return the file of a user's module, without importing it; None if it is none of the user's.

    Modules of Python are not the user's. Installed modules are only if the package has the user's
    class.

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
