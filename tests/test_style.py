"""What the linters do not hold: documented, short functions, telling names, no loose ends."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "perceptron_lab"
FILES = sorted(PACKAGE.rglob("*.py"))
LONGEST = 70
LOOSE_ENDS = re.compile(r"\b(?:TODO|FIXME)\b|/(?:home|root|work)/")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitions(source: str) -> Iterator[Definition]:
    return (node for node in ast.walk(ast.parse(source)) if isinstance(node, DEFINITIONS))


def public(scope: ast.Module | ast.ClassDef) -> Iterator[Definition]:
    """Yield what a reader can reach: no leading underscore on the way, not inside a function."""
    for node in scope.body:
        if isinstance(node, DEFINITIONS) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node)


def undocumented(source: str) -> list[str]:
    tree = ast.parse(source)
    missing = [node.name for node in public(tree) if not ast.get_docstring(node)]
    return missing if ast.get_docstring(tree) else ["the module", *missing]


def length(function: Definition) -> int:
    """Return the lines of a function without its docstring."""
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None
    docstring = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def too_long(source: str) -> list[str]:
    return [
        f"{node.name}: {length(node)} lines"
        for node in definitions(source)
        if not isinstance(node, ast.ClassDef) and length(node) > LONGEST
    ]


def loose_ends(source: str) -> list[str]:
    prints = [
        f"line {node.lineno}: print("
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print"
    ]
    return prints + [match[0] for match in LOOSE_ENDS.finditer(source)]


def findings(check: str) -> list[str]:
    checks = {"undocumented": undocumented, "too long": too_long, "loose end": loose_ends}
    return [
        f"{path.relative_to(PACKAGE.parent)}: {check}: {finding}"
        for path in FILES
        for finding in checks[check](path.read_text(encoding="utf-8"))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("check", ["undocumented", "too long", "loose end"])
def test_the_package_has_no(check: str) -> None:
    assert len(FILES) > 5
    found = findings(check)
    assert not found, "\n".join(found)


def test_no_module_is_named_after_nothing() -> None:
    vague = re.compile(r"_?(utils?|common|helpers?|misc)")
    assert not [path for path in FILES if vague.fullmatch(path.stem)]
    assert not [path for path in FILES if vague.fullmatch(path.parent.name)]


def test_the_checks_see_what_they_look_for() -> None:
    assert undocumented("class A:\n    def f(self): ...") == ["the module", "A", "f"]
    assert undocumented('"""M."""\ndef _f(): ...') == []
    assert too_long("def f():\n" + "    x = 1\n" * LONGEST) == [f"f: {LONGEST + 1} lines"]
    assert too_long("def f():\n    '''A" + "\n" * 80 + "    '''\n    return 1\n") == []
    assert loose_ends("print(1)") == ["line 1: print("]
    assert loose_ends("console.print(1)  # FIXME") == ["FIXME"]
    assert loose_ends("path = '/home" + "/me/x'") == ["/home/"]
    assert loose_ends("# the work/life of a root/leaf") == []
