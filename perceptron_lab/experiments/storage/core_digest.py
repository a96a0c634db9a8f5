"""One hash of the code that numbers come from: rows of another one are stale.

It covers the syntax trees of the package without docstrings, so that comments, layout and
documentation change nothing and every other edit does; experiments, reports, commands and
estimators are left out, since no number of a row comes from them. Algorithms and oracles that were
registered from outside the package add the tree of their own module.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from threading import Lock
from types import CodeType
from typing import Any, Final

PACKAGE: Final = Path(__file__).resolve().parents[2]
OUTSIDE: Final = ("experiments", "reporting", "cli", "estimators")
"""The parts of the package that no number of a row comes from."""

_PARSING = Lock()  # in two threads at once Python 3.11 loses count of the depth of its trees
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def digest_of(*records: object) -> str:
    """Return the digest for a cell, 64 hexadecimal digits.

    Parameters
    ----------
    records
        Its algorithm and its oracles. Those of the package add nothing: it is in the digest anyway.
    """
    return digest_of_kinds(*map(type, records))


def digest_of_kinds(*kinds: type) -> str:
    """Return the digest for a cell whose algorithm and oracles are of these classes."""
    ours = __name__.partition(".")[0]
    added = {_source_of(kind) for kind in kinds if kind.__module__.partition(".")[0] != ours}
    if not added:
        return core_digest()
    return hashlib.sha256("\n".join([core_digest(), *sorted(added)]).encode()).hexdigest()


@cache
def core_digest(package: Path = PACKAGE) -> str:
    """Return the digest of the numeric core as it is on the disk, 64 hexadecimal digits.

    Parameters
    ----------
    package
        The folder of the package.
    """
    whole = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        within = path.relative_to(package)
        if within.parts[0] not in OUTSIDE:
            whole.update(f"{within.as_posix()}\n{tree_digest(path.read_bytes())}\n".encode())
    return whole.hexdigest()


def tree_digest(source: bytes | str) -> str:
    """Return the sha256 of the syntax tree of a source without its docstrings.

    Raises
    ------
    SyntaxError
        If it is no Python.
    """
    words: list[str] = []
    with _PARSING:
        tree = ast.parse(source)
    _write(tree, words)
    return hashlib.sha256("".join(words).encode(errors="backslashreplace")).hexdigest()


def _write(node: ast.AST, words: list[str]) -> None:
    """Add a tree as text, the same in all versions of Python: nothing is said of what is empty."""
    words.append(f"{type(node).__name__}(")
    for name in node._fields:
        value = getattr(node, name, None)
        if name == "body" and isinstance(node, _DOCUMENTED):
            value = _without_docstring(value)
        if value is None or value == []:
            continue
        words.append(f"{name}=")
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, ast.AST):
                _write(item, words)
            else:
                words.append(f"{item!r},")
    words.append(")")


def _without_docstring(body: Any) -> Any:
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return body[1:] if isinstance(first.value.value, str) else body
    return body


def _source_of(kind: type) -> str:
    """Return the digest of the module that a class from outside the package is defined in."""
    module = sys.modules.get(kind.__module__)
    try:
        if module is None:
            raise OSError("the module is gone")
        return tree_digest(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        # Defined in a notebook or at a prompt: what it was compiled to is known all the same.
        return hashlib.sha256("".join(_compiled(kind)).encode()).hexdigest()


def _compiled(kind: type) -> Iterator[str]:
    """Yield the code of a class's functions, and the rest of what it was given, by name."""
    for name, value in sorted(vars(kind).items()):
        function = inspect.unwrap(getattr(value, "fget", None) or getattr(value, "__func__", value))
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType):
            yield from (name, *_instructions(code))


def _instructions(code: CodeType) -> Iterator[str]:
    yield f"{code.co_code.hex()}{code.co_names}{code.co_varnames}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _instructions(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))
        else:
            yield repr(constant)
